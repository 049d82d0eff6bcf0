"""Sentences as they stand, rewritten, rounded, joined, as whole answers, and with names for pronouns."""

from __future__ import annotations

import random
import re
from itertools import pairwise

from training.synthesis.checks import clean
from training.synthesis.edit_names import kinds_of
from training.synthesis.editors import EDITORS
from training.synthesis.rewrites import detokenized, named, rewritten, rounded, weaker
from training.synthesis.shapes import Case, Spot
from training.synthesis.sources import Document, content, coverage, good_spans, spans
from training.synthesis.tags import tag
from training.synthesis.world import RESTATED, Draft, World


def verbatim(world: World, rng: random.Random) -> list[Draft]:
    """A sentence as it stands, or only tidied."""
    case = world.case(rng)
    if case is None:
        return []
    sentence = case.sentence()
    return [
        Draft("verbatim", detokenized(sentence) if rng.random() < 0.5 else sentence, "SUPPORTED", case, case.evidence)
    ]


def verbatim_negative(world: World, rng: random.Random) -> list[Draft]:
    """A sentence with a negation as it stands: `not` alone must tell nothing."""
    case = world.case(rng, wanted=lambda text: re.search(r"\b(?:not|no|never|without|neither)\b|n't", text) is not None)
    if case is None:
        return []
    claim = rewritten(case.sentence(), rng) if rng.random() < 0.4 else case.sentence()
    return [Draft("verbatim_negative", claim, "SUPPORTED", case, case.evidence)]


def light_rewrite(world: World, rng: random.Random) -> list[Draft]:
    """A sentence lightly rewritten."""
    case = world.case(rng)
    if case is None:
        return []
    claim = rewritten(case.sentence(), rng)
    return (
        []
        if claim in (case.sentence(), detokenized(case.sentence()))
        else [Draft("rewrite", claim, "SUPPORTED", case, case.evidence)]
    )


def weaker_claim(world: World, rng: random.Random) -> list[Draft]:
    """A sentence stated less surely."""
    case = world.case(rng)
    claim = weaker(case.sentence(), rng) if case else None
    return [Draft("weaker", claim, "SUPPORTED", case, case.evidence)] if case and claim else []


def rounding(world: World, rng: random.Random) -> list[Draft]:
    """A number rounded; beside it, one rounded to what it is not."""
    case = world.case(rng, wanted=lambda text: re.search(r"\d,\d{3}|\d\.\d", text) is not None)
    claim = rounded(case.sentence(), rng) if case else None
    if case is None or claim is None:
        return []
    rows = [Draft("rounding", claim, "SUPPORTED", case, case.evidence)]
    match = re.search(r"(?:about|around|approximately) [$€£]?(\d[\d.,]*)(?= |%)", claim)
    if match:
        value = float(match[1].replace(",", ""))
        other = value * rng.choice((0.5, 0.6, 1.5, 1.8, 2, 3))
        written = f"{other:,.0f}" if "." not in match[1] else f"{other:.1f}"
        wrong = claim[: match.start(1)] + written + claim[match.end(1) :]
        if other >= 1 and written != match[1]:
            errors = ((match.start(1), match.start(1) + len(written)),)
            rows.append(Draft("rounding_wrong", wrong, "CONTRADICTED", case, case.evidence, errors))
    return rows


def _two(world: World, rng: random.Random, count: int = 2) -> tuple[Case, list[str], str, list[int]] | None:
    """Contexts around two or more sentences, joined into one claim; and where each begins in it."""
    case = world.case(rng, count)
    if case is None:
        return None
    pieces = [world.base(case.sentence(i), rng) if rng.random() < 0.4 else case.sentence(i) for i in range(count)]
    if len(set(pieces)) < count or sum(map(len, pieces)) > 900:
        return None
    if rng.random() < 0.5:
        pieces = [detokenized(piece) for piece in pieces]
    gap = " "
    if count == 2 and rng.random() < 0.35 and pieces[0].endswith("."):
        first = tag(pieces[1])[0]
        if first.tag in ("DT", "PRP", "IN", "EX", "PRP$") and first.text != "I":
            gap = rng.choice((", and ", "; ", ", while ", " and "))
            pieces[0] = pieces[0].rstrip(". ")
            pieces[1] = pieces[1][0].lower() + pieces[1][1:]
    starts, claim = [], ""
    for i, piece in enumerate(pieces):
        claim += gap if i else ""
        starts.append(len(claim))
        claim += piece
    return case, pieces, claim, starts


def joined(world: World, rng: random.Random) -> list[Draft]:
    """Two sentences of the document as one claim; without one of them in the contexts it is unsupported."""
    found = _two(world, rng)
    if found is None:
        return []
    case, pieces, claim, starts = found
    rows = [Draft("joined", claim, "SUPPORTED", case, case.evidence)]
    gone = rng.randrange(2)
    less = case.without(gone)
    if (
        less.contexts
        and "".join(less.contexts).strip()
        and less.elsewhere(pieces[gone]) < RESTATED
        and coverage(pieces[gone], less.sentence(0)) < 0.5
    ):
        errors = ((starts[gone], starts[gone] + len(pieces[gone])),)
        rows.insert(0, Draft("one_of_two_missing", claim, "UNSUPPORTED", less, less.evidence, errors))
    return rows


def answer(world: World, rng: random.Random) -> list[Draft]:
    """Three to five sentences as an answer: all right, one changed, or one that the contexts do not hold."""
    count = rng.randint(3, 5)
    found = _two(world, rng, count)
    if found is None:
        return []
    case, pieces, claim, starts = found
    rows = [Draft("answer", claim, "SUPPORTED", case, case.evidence, unit="answer")]
    at = rng.randrange(count)
    if rng.random() < 0.6:
        kind = rng.choice(
            ("number", "year", "name", "name", "percent", "date", "antonym", "comparative", "role", "unit")
        )
        edit = EDITORS[kind](pieces[at], world.pool(case, rng), rng)
        if edit and edit.label == "CONTRADICTED" and clean(edit, pieces[at], case):
            wrong = claim[: starts[at]] + edit.text + claim[starts[at] + len(pieces[at]) :]
            errors = tuple((s + starts[at], e + starts[at]) for s, e in edit.errors)
            rows.append(Draft("answer_wrong", wrong, "CONTRADICTED", case, (case.evidence[at],), errors, unit="answer"))
    else:
        less = case.without(at)
        if (
            less.elsewhere(pieces[at]) < RESTATED
            and max(coverage(pieces[at], less.sentence(i)) for i in range(count - 1)) < 0.5
        ):
            errors = ((starts[at], starts[at] + len(pieces[at])),)
            rows.append(Draft("answer_extra", claim, "UNSUPPORTED", less, less.evidence, errors, unit="answer"))
    return rows


def human_answer(world: World, rng: random.Random) -> list[Draft]:
    """An answer a person wrote from the passages, or one of its sentences."""
    number = rng.choice(world.by_source.get("clapnq", [world.draw(rng)]))
    document = world.documents[number]
    if document.source != "clapnq" or not document.answers:
        return []
    text = re.sub(r"\s+", " ", rng.choice(document.answers)).strip()
    pieces = [text[s:e] for s, e in spans(text)]
    claim = text if rng.random() < 0.4 else rng.choice(pieces)
    held = set().union(*(content(one) for one in document.texts))
    if not 25 < len(claim) < 700 or not content(claim) or len(content(claim) & held) < 0.85 * len(content(claim)):
        return []
    case = _nearest(world, document, number, claim, rng)
    if case is None:
        return []
    return [
        Draft(
            "human_answer",
            detokenized(claim),
            "SUPPORTED",
            case,
            case.evidence,
            unit="answer" if claim == text else "sentence",
        )
    ]


def _nearest(world: World, document: Document, number: int, claim: str, rng: random.Random) -> Case | None:
    """The whole document as contexts, with the sentence that covers a claim best as its evidence."""
    best = max(
        (Spot(p, s, e) for p, text in enumerate(document.texts) for s, e in spans(text)),
        key=lambda spot: coverage(claim, document.texts[spot.passage][spot.start : spot.end]),
        default=None,
    )
    return None if best is None else world.around(document, [best], number, rng, {"whole": 1.0})


def pronoun_resolved(world: World, rng: random.Random) -> list[Draft]:
    """The name in place of the pronoun; without the sentence that names it, nothing tells who it is."""
    number = world.draw(rng)
    document = world.documents[number]
    found = []
    for p, text in enumerate(document.texts):
        cut = spans(text)
        good = set(good_spans(text))
        for (a, b), (c, d) in pairwise(cut):
            resolved = named(text[c:d], text[a:b]) if (c, d) in good and b - a < 350 else None
            if resolved:
                found.append((Spot(p, a, b), Spot(p, c, d), *resolved))
    if not found:
        return []
    one, two, claim, who = rng.choice(found)
    case = world.around(document, [one, two], number, rng)
    if case is None:
        return []
    rows = [Draft("pronoun", claim, "SUPPORTED", case, case.evidence)]
    less = case.without(0)
    last = who.split()[-1]
    if less.contexts and not any(last in text for text in less.contexts):
        errors = ((0, len(who)),)
        rows.insert(0, Draft("pronoun_lost", claim, "UNSUPPORTED", less, less.evidence, errors))
    others = [
        name for name in case.names if len(name.split()) == len(who.split()) and name not in who and who not in name
    ]
    others = [one for one in others if kinds_of("\n".join(document.texts), one) >= {"acts", "inside"}]
    if others and rng.random() < 0.5:
        other = rng.choice(others)
        wrong = other + claim[len(who) :]
        if not set(other.split()) & set(who.split()) and other not in claim:
            rows.append(Draft("pronoun_wrong", wrong, "UNSUPPORTED", case, case.evidence, ((0, len(other)),)))
    return rows
