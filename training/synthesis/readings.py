"""Claims from questions and answers, from tables and records, and claims that say nothing."""

from __future__ import annotations

import random
import re

from training.synthesis.edit_names import alike_names
from training.synthesis.editors import EDITORS
from training.synthesis.edits import Pool
from training.synthesis.lexicon_claims import IDLE
from training.synthesis.questions import statement
from training.synthesis.shapes import Case, Spot
from training.synthesis.sources import Document, spans
from training.synthesis.tables import invented, reads, rendered
from training.synthesis.world import Draft, World


def question_answer(world: World, rng: random.Random) -> list[Draft]:
    """A statement made of a question and its answer; and with another answer of the same form."""
    number = rng.choice(world.by_source.get("xquad", [world.draw(rng)]))
    document = world.documents[number]
    for text in document.answers[:1]:
        made = statement(document.question, text)
        hits = [(p, one.find(text)) for p, one in enumerate(document.texts) if text in one]
        if made is None or not hits:
            return []
        claim, (start, end) = made
        p, at = hits[0]
        spot = next((Spot(p, s, e) for s, e in spans(document.texts[p]) if s <= at < e), None)
        case = world.around(document, [spot], number, rng) if spot else None
        if case is None:
            return []
        asked = rng.random() < 0.7
        rows = [Draft("question_answer", claim, "SUPPORTED", case, case.evidence)]
        if asked:
            short = text[0].upper() + text[1:]
            rows.append(
                Draft(
                    "short_answer", short, "SUPPORTED", case, case.evidence, unit="answer", question=document.question
                )
            )
        pool = world.pool(case, rng)
        edit = None
        for kind in ("year", "percent", "number", "date", "name"):
            edit = edit or EDITORS[kind](text, pool, rng)
        others = alike_names(text, pool.names, claim) if text in pool.names else []
        other = rng.choice(others).rstrip(".") if others else edit.text if edit else None
        if other and other not in claim:
            wrong = claim[:start] + other + claim[end:]
            rows.append(
                Draft(
                    "question_other_answer", wrong, "CONTRADICTED", case, case.evidence, ((start, start + len(other)),)
                )
            )
            if asked:
                short = other[0].upper() + other[1:]
                rows.append(
                    Draft(
                        "short_other_answer",
                        short,
                        "CONTRADICTED",
                        case,
                        case.evidence,
                        ((0, len(short)),),
                        unit="answer",
                        question=document.question,
                    )
                )
        return rows
    return []


def idle(world: World, rng: random.Random) -> list[Draft]:
    """Nothing the passages could support: an order to the judge, a truism, an empty phrase."""
    case = world.case(rng)
    return [Draft("idle", rng.choice(IDLE), "UNSUPPORTED", case)] if case else []


def table(world: World, rng: random.Random) -> list[Draft]:
    """Claims from the cells of a table or of records."""
    made = invented(rng)
    texts, places = rendered(made, rng)
    number = world.draw(rng)
    document = Document(f"invented-{rng.randrange(10**9)}", "table", tuple(texts))
    contexts, shift = list(texts), 0
    if rng.random() < 0.3:
        extra = world.case(rng, document=number, shapes={"passage": 1.0})
        if extra is not None:
            before = rng.random() < 0.5
            contexts = [*extra.contexts, *texts] if before else [*texts, *extra.contexts]
            shift = len(extra.contexts) if before else 0
    case = Case(document, tuple(contexts), ())
    rows = []
    for read in reads(made, rng):
        evidence = [places[r][c] for r, c in read.cells]
        kind = {"SUPPORTED": "table", "CONTRADICTED": "table_wrong", "UNSUPPORTED": "table_missing"}[read.label]
        rows.append(
            Draft(kind, read.claim, read.label, case, tuple((p + shift, s, e) for p, s, e in evidence), read.errors)
        )
    rng.shuffle(rows)
    return rows


_RECORD_SAYS = ("The {key} of {title} is {value}.", "{title}: {key} is {value}.", "For {title}, the {key} is {value}.",
                "{title} has {value} as its {key}.", "The {key} given for {title} is {value}.")  # fmt: skip


def _fields(text: str) -> dict[str, str]:
    pairs = (line.partition(": ") for line in text.split("\n"))
    return {key.strip(): value.strip() for key, _, value in pairs if 2 < len(key) < 40 and 0 < len(value) < 90}


def record(world: World, rng: random.Random) -> list[Draft]:
    """A field of an information box, with another box's value for the same field, and a field it does not have."""
    numbers = world.by_source.get("infotabs", [])
    if not numbers:
        return []
    document = world.documents[rng.choice(numbers)]
    text = document.texts[0]
    fields = _fields(text)
    title = fields.pop("title", "")
    others = [world.documents[rng.choice(numbers)].texts[0] for _ in range(24)]
    if not title or not fields:
        return []
    key = rng.choice(sorted(fields))
    value = fields[key].split(";")[0].strip()
    at = text.find(f"{key}: {fields[key]}")
    others = [one for one in others if title not in one]
    beside = rng.sample(others, min(len(others), rng.choice((0, 0, 1, 2, 4))))
    contexts = [text, *beside]
    rng.shuffle(contexts)
    place = contexts.index(text)
    case = Case(document, tuple(one[:1_400] if one != text else one for one in contexts), ())
    evidence = ((place, at, at + len(key) + 2 + len(fields[key])),)
    odd = re.match(r"In |By |No |Born|Died|Years|Written|Directed", key) or key.endswith((" by", " in", "ed"))
    says = _RECORD_SAYS[1] if odd else rng.choice(_RECORD_SAYS)

    def claim(name: str, held: str) -> tuple[str, tuple[int, int]]:
        made = says.format(key=name.lower(), title=title, value="\0")
        start = made.index("\0")
        return made.replace("\0", held), (start, start + len(held))

    right, _ = claim(key, value)
    rows = [Draft("record", right, "SUPPORTED", case, evidence)]
    held = [_fields(one) for one in others]
    wrong = [one[key].split(";")[0].strip() for one in held if key in one]
    wrong += [edit.text for kind in ("number", "year") if (edit := EDITORS[kind](value, Pool(text, (), ()), rng))]
    wrong = [one for one in wrong if one.lower() not in fields[key].lower() and value.lower() not in one.lower()]
    if wrong:
        false, span = claim(key, rng.choice(wrong))
        rows.append(Draft("record_wrong", false, "CONTRADICTED", case, evidence, (span,)))
    absent = [(name, one[name]) for one in held for name in sorted(one) if name != "title" and name not in fields]
    if absent and rng.random() < 0.4:
        name, other = rng.choice(absent)
        false, span = claim(name, other.split(";")[0].strip())
        rows.append(Draft("record_missing", false, "UNSUPPORTED", case, (), (span,)))
    return rows
