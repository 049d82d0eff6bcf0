"""The numbers the fitted model looks at, for one claim and all its passages together.

`measure` gives a row of floats in the order of `FEATURES`. Nothing here depends on how many passages there are or in
which order they come, except through what the best of them say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from rapidfuzz import fuzz
from rapidfuzz.distance import JaroWinkler, LCSseq

from everyclaim.text.cues import Cue, antonyms, cues
from everyclaim.text.quantities import Quantity
from everyclaim.text.tokens import tokenize
from everyclaim.verify.lexical.alignment import AlignedSource, Alignment, portions, sentence, widen_by_neighbours
from everyclaim.verify.lexical.checks import FactCheck
from everyclaim.verify.lexical.comparison import LexicalComparison, beside, cues_beside
from everyclaim.verify.lexical.fields import label_of
from everyclaim.verify.lexical.reading import (
    CUES,
    LEXICAL_NEGATIONS,
    NAME,
    NUMBER,
    PLAIN,
    PRONOUNS,
    Float32Array,
    Reading,
    WordVectors,
    negating,
    number_value,
)

_CLAUSE_END = re.compile(r"[.;:!?]")
_BLANK = re.compile(r"not given$", re.MULTILINE)  # of a field: neither yes nor no


def measure(it: LexicalComparison) -> dict[str, float]:
    """Measure how a claim stands to its passages."""
    row = {
        **_coverage(it.claim, it.alignment),
        **_context(it),
        **_facts(it),
        **_phrases(it),
        **_differences(it),
        **_cue_words(it),
        **_order(it),
        **_shape(it),
        **_likeness(it),
        **_checked(it),
    }
    first, last = it.alignment.main
    in_fields = all(label_of(sentence(it.source, column)) for column in range(first, last + 1))
    row |= near_copies(row, in_fields=in_fields)
    if it.answers:
        row["sharp_negation"] = row["negation_parity"]
    return row


def near_copies(row: Mapping[str, float], *, in_fields: bool) -> dict[str, float]:
    """Tell changes in what is otherwise a copy: the closer the copy, the more each single change means.

    Fields of a record are no sentence that a claim could copy: there it is near where it shares their words.
    The fitted model is kept monotone in coverage, so it could not learn this by itself.
    """
    near = min(1.0, max(0.0, 2 * row["aligned"] - 1.0))
    shared = min(1.0, max(0.0, 2 * row["share_main"] - 1.0))

    value = max(near, shared) if in_fields else near

    def sharp(*names: str, near: float = near) -> float:
        return near * min(1.0, sum(row[name] for name in names))

    return {
        "sharp_negation": sharp("negation_parity", near=value),
        "sharp_number": max(
            sharp("quantity_conflict", near=value), sharp("quantity_conflict", "swapped_number", "displaced_number")
        ),
        "sharp_moment": sharp("moment_conflict", near=value),
        "sharp_name": sharp("swapped_name", "displaced_name"),
        "sharp_swap": sharp("swapped"),
        "sharp_added": sharp("added"),
        "sharp_missing": near * min(1.0, row["missing_main"]),
        "sharp_opposite": sharp("opposites"),
        "sharp_speaker": shared * row["speaker_conflict"],
        "sharp_cue": sharp("quantifier_only_claim", "comparative_only_claim", "denial_only_claim"),
        "sharp_turn": shared * max(0.0, row["share_main"] - row["content_common"]),
        "sharp_reversed": shared * row["reversed"],
    }


def _coverage(claim: Reading, alignment: Alignment) -> dict[str, float]:
    """How much of the claim's weight the best windows and the whole source hold."""
    weights, exact, soft = alignment.weights, alignment.exact, alignment.soft
    row: dict[str, float] = {}
    for size, (first, last) in alignment.best.items():
        covered = exact[:, first : last + 1].max(axis=1)
        row[f"exact_{size}"] = float(weights @ covered)
        row[f"soft_{size}"] = float(weights @ soft[:, first : last + 1].max(axis=1))
    whole_exact, whole_soft = exact.max(axis=1), soft.max(axis=1)
    row["exact_all"] = float(weights @ whole_exact)
    row["soft_all"] = float(weights @ whole_soft)
    row["share_all"] = float(whole_exact.mean())
    first, last = alignment.main
    main_exact, main_soft = exact[:, first : last + 1].max(axis=1), soft[:, first : last + 1].max(axis=1)
    row["share_main"] = float(main_exact.mean())
    row["exact_main"] = float(weights @ main_exact)
    row["soft_main"] = float(weights @ main_soft)
    for count, (greedy_exact, greedy_soft) in enumerate(_greedy(alignment), start=2):
        row[f"exact_greedy_{count}"], row[f"soft_greedy_{count}"] = greedy_exact, greedy_soft
    for name, covered in (("main", main_soft), ("all", whole_soft)):
        lowest = np.sort(covered)
        row[f"soft_min_{name}"] = float(lowest[0])
        row[f"soft_second_{name}"] = float(lowest[min(1, len(lowest) - 1)])
        row[f"soft_low_{name}"] = float(lowest[:3].mean())
        row[f"soft_missing_{name}"] = float(((1 - covered) * claim.weights).sum())
    for name, covered in (("main", main_exact), ("all", whole_exact)):
        missing = claim.weights * (1 - covered)
        row[f"missing_{name}"] = float(missing.sum())
        row[f"missing_max_{name}"] = float(missing.max())
        row[f"missing_count_{name}"] = float((covered == 0).sum())
    row["close_main"] = float(weights @ (main_soft >= 0.6))
    row["close_all"] = float(weights @ (whole_soft >= 0.6))
    row["sentence_min"], row["sentence_mean"] = _by_sentence(claim, alignment)
    third = max(1, len(weights) // 3)
    row["soft_opening"], row["soft_closing"] = float(main_soft[:third].mean()), float(main_soft[-third:].mean())
    row["exact_spread"] = row["exact_all"] - row["exact_main"]
    row["soft_spread"] = row["soft_all"] - row["soft_main"]
    return row


def _by_sentence(claim: Reading, alignment: Alignment) -> tuple[float, float]:
    """Coverage of each sentence of the claim by the sentence that suits it best: the lowest, and the mean."""
    held = (alignment.exact + alignment.soft) / 2
    if len(claim.sentences) < 2:
        best = float((alignment.weights @ held).max())
        return best, best
    member = np.array([claim.sentence[i] for i in claim.content])
    found = []
    for number in sorted(set(member.tolist())):
        here = member == number
        weights = alignment.weights[here]
        found.append(float((weights @ held[here]).max() / weights.sum()))
    return min(found), sum(found) / len(found)


def _greedy(alignment: Alignment) -> list[tuple[float, float]]:
    """Coverage by the best two and three sentences from anywhere."""
    exact, soft, weights = alignment.exact, alignment.soft, alignment.weights
    chosen = alignment.best[1][0]
    have_exact, have_soft = exact[:, chosen], soft[:, chosen]
    found = []
    for _ in range(2):
        wide_exact, wide_soft = np.maximum(exact, have_exact[:, None]), np.maximum(soft, have_soft[:, None])
        chosen = int(np.argmax(weights @ (wide_exact + wide_soft)))
        have_exact, have_soft = wide_exact[:, chosen], wide_soft[:, chosen]
        found.append((float(weights @ have_exact), float(weights @ have_soft)))
    return found


def _context(it: LexicalComparison) -> dict[str, float]:
    """Whether the words stand among similar words: each word's vector is mixed with its neighbours' first."""
    claim, source, alignment = it.claim, it.source, it.alignment
    own = widen_by_neighbours(it.vectors.matrix[claim.rows])
    first, last = alignment.main
    start = source.starts[first]
    end = source.starts[last + 1] if last + 1 < len(source.starts) else len(source.ids)
    likeness = (own[rows] @ source.mixed.T for rows in portions(len(own), len(source.ids)))
    most = [(part.max(axis=1), part[:, start:end].max(axis=1)) for part in likeness]
    whole, main = (np.concatenate(part) for part in zip(*most, strict=True))
    lowest = np.sort(main)
    return {
        "context_all": float(alignment.weights @ whole),
        "context_main": float(alignment.weights @ main),
        "context_min": float(lowest[0]),
        "context_low": float(lowest[:3].mean()),
    }


def _facts(it: LexicalComparison) -> dict[str, float]:
    """Numbers and names: how many, how many are nowhere, and what the window has in their place."""
    claim, alignment, reading, window = it.claim, it.alignment, it.reading, range(it.start, it.end)
    kinds = np.array([claim.kinds[i] for i in claim.content])
    first, last = alignment.main
    main, whole = alignment.exact[:, first : last + 1].max(axis=1), alignment.exact.max(axis=1)
    wide = alignment.exact[:, slice(alignment.best[3][0], alignment.best[3][1] + 1)].max(axis=1)
    said = {claim.keys[i] for i in claim.content}
    row: dict[str, float] = {}
    for name, kind in (("number", NUMBER), ("name", NAME), ("plain", PLAIN)):
        here = kinds == kind
        count = int(here.sum())
        row[f"{name}_count"] = float(count)
        row[f"{name}_missing_main"] = float((main[here] == 0).sum())
        row[f"{name}_missing_wide"] = float((wide[here] == 0).sum())
        row[f"{name}_missing_all"] = float((whole[here] == 0).sum())
        row[f"{name}_missing_share"] = row[f"{name}_missing_main"] / count if count else 0.0
        others = {reading.keys[j] for j in window if reading.kinds[j] == kind} - said
        row[f"{name}_other_main"] = float(len(others)) if kind != PLAIN else 0.0
        row[f"{name}_swap"] = float(row[f"{name}_missing_main"] > 0 and bool(others)) if kind != PLAIN else 0.0
    return row


def _phrases(it: LexicalComparison) -> dict[str, float]:
    """Share of the claim's word pairs and triples that the window, or the source anywhere, has too."""
    claim, source, window = it.claim, it.source, it.keys
    row: dict[str, float] = {}
    for size, name in ((2, "pairs"), (3, "triples")):
        own = list(zip(*(claim.keys[k:] for k in range(size)), strict=False))
        near = set(zip(*(window[k:] for k in range(size)), strict=False))
        row[f"{name}_main"] = sum(gram in near for gram in own) / len(own) if own else 0.0
        far = set()
        for reading in source.readings:
            far |= set(zip(*(reading.keys[k:] for k in range(size)), strict=False))
        row[f"{name}_all"] = sum(gram in far for gram in own) / len(own) if own else 0.0
    return row


def _differences(it: LexicalComparison) -> dict[str, float]:
    """What is replaced, added or left out in place."""
    claim, edits, reading, start = it.claim, it.edits, it.reading, it.start
    length = len(claim.keys)
    content = {position: number for number, position in enumerate(claim.content)}
    in_window, said = set(reading.keys[start:]), set(claim.keys)
    row = {
        "common": edits.common / length,
        "aligned": len(edits.pairs) / length,
        "longest_run": edits.longest_run / length,
        "verbatim": edits.in_runs / length,
        "run_length": float(min(edits.longest_run, 20)),
        "swapped": 0.0, "swapped_weight": 0.0, "swapped_number": 0.0, "swapped_name": 0.0, "swapped_likeness": -0.2,
        "displaced_name": 0.0, "displaced_number": 0.0, "added": 0.0, "added_weight": 0.0,
        "leading": 0.0, "trailing": 0.0, "dropped": 0.0, "moved": 0.0,
    }  # fmt: skip
    for gap in edits.gaps:
        own = [content[i] for i in range(gap.a0, gap.a1) if i in content]
        theirs = range(start + gap.b0, start + gap.b1)
        new = [n for n in own if claim.keys[claim.content[n]] not in in_window]
        weight = float(claim.weights[new].sum()) if new else 0.0
        row["moved"] += len(own) - len(new)
        if len(new) < len(own):
            beside = _content_positions(reading, theirs[-4:] if gap.a0 == 0 else theirs[: 8 if gap.closed else 4])
            beside = [n for n in beside if reading.keys[reading.content[n]] not in said]
            old = [n for n in own if n not in new]
            row["displaced_name"] += _both(NAME, claim, old, reading, beside)
            row["displaced_number"] += _both(NUMBER, claim, old, reading, beside)
        if not gap.closed:
            row["leading" if gap.a0 == 0 else "trailing"] += weight
            continue
        replaced = _content_positions(reading, theirs)
        if new and replaced and len(theirs) <= 8:
            row["swapped"] += len(new)
            row["swapped_weight"] += weight
            row["swapped_number"] += _both(NUMBER, claim, new, reading, replaced)
            row["swapped_name"] += _both(NAME, claim, new, reading, replaced)
            row["swapped_likeness"] = max(row["swapped_likeness"], _likest(claim, new, reading, replaced, it.vectors))
        elif new:
            row["added"] += len(new)
            row["added_weight"] += weight
        elif not own:
            row["dropped"] += len(replaced)
    return row


def _content_positions(reading: Reading, tokens: Sequence[int]) -> list[int]:
    """Indices, among the reading's content words, of those at the given token positions."""
    if not tokens:
        return []
    low, high = np.searchsorted(reading.content, (tokens[0], tokens[-1] + 1))
    return list(range(int(low), int(high)))


def _both(kind: int, claim: Reading, own: list[int], reading: Reading, theirs: list[int]) -> float:
    """1 when both sides of a substitution hold a number (or a name)."""
    return float(
        any(claim.kinds[claim.content[n]] == kind for n in own)
        and any(reading.kinds[reading.content[n]] == kind for n in theirs)
    )


def _likest(claim: Reading, own: list[int], reading: Reading, theirs: list[int], vectors: WordVectors) -> float:
    """Similarity of the two most similar words of a substitution."""
    left, right = vectors.matrix[claim.rows[own]], vectors.matrix[reading.rows[theirs]]
    return float((left @ right.T).max())


def _checked(it: LexicalComparison) -> dict[str, float]:
    """How the exact checks of amounts, dates and speakers came out, and whether an opposite stands in the window."""
    row = {f"{kind}_{status}": 0.0 for kind in ("quantity", "moment") for status in ("found", "conflict", "missing")}
    for check in it.checks:
        row[f"{check.kind}_{check.status}"] += 1.0
    row["unstated"] = float(any(_is_unstated(check, it.source) for check in it.checks))
    for status in ("found", "conflict", "missing"):
        row[f"speaker_{status}"] = float(it.attribution.status == status)
    window = set(it.keys)
    alone = [it.claim.norms[i] for i in it.claim.content if it.claim.keys[i] not in window]
    row["opposites"] = float(sum(bool(antonyms(word) & window) for word in alone))
    return row


def _is_unstated(check: FactCheck, source: AlignedSource) -> bool:
    """Whether a year, or an amount in digits with a unit, is not found, nor its number anywhere in the passages."""
    fact = check.fact
    if check.status == "found" or (isinstance(fact, Quantity) and fact.dimension == "count"):
        return False
    if not isinstance(fact, Quantity):
        return fact.year is not None and str(fact.year) in check.said and f"#{fact.year}" not in source.index
    numbers = [number_value(token.norm) for token in tokenize(check.said) if token.norm[0].isdigit()]
    return any(number is not None and f"#{number}" not in source.index for number in numbers)


def _cue_words(it: LexicalComparison) -> dict[str, float]:
    """Cue words the claim has and the aligned stretch has not, and the reverse."""
    claim, reading, start, end = it.claim, it.reading, it.start, it.end
    own, near, window = claim.norms, [reading.norms[at] for at in beside(it)], set(reading.norms[start:end])
    row: dict[str, float] = {}
    for name, listed in CUES.items():
        mine, theirs = [word for word in own if word in listed], [word for word in near if word in listed]
        row[f"{name}_claim"] = float(len(mine))
        row[f"{name}_only_claim"] = float(sum(word not in window for word in mine))
        row[f"{name}_only_source"] = float(sum(word not in own for word in theirs))
    negated, denied = negations(it)
    differ = bool(negated) != bool(denied) and not denies_by_verb(it)[1 if negated else 0]
    turned = not all(answer.agrees for answer in it.answers) if it.answers else differ
    row["negation_parity"] = float(turned)
    row["pronouns"] = float(sum(word in PRONOUNS for word in own)) / len(own)
    return row


def hedges(it: LexicalComparison) -> tuple[list[Cue], list[Cue]]:
    """Find the words of doubt of the claim and of the window. Where the other side denies, "may" is a permission."""
    denied = [bool(places) or by_verb for places, by_verb in zip(negations(it), denies_by_verb(it), strict=True)]
    ours, theirs = (
        [cue for cue in found if cue.kind == "hedge" and not (denies and cue.text.casefold() == "may")]
        for found, denies in ((cues(it.claim.text), denied[1]), (cues_beside(it), denied[0]))
    )
    return ours, theirs


def denies_by_verb(it: LexicalComparison) -> tuple[bool, bool]:
    """Say for the claim and for the window whether a word such as "denied", "failed to" or "forbidden" is there."""
    near = [it.reading.norms[at] for at in beside(it)]
    ours, theirs = (any(word in LEXICAL_NEGATIONS for word in norms) for norms in (it.claim.norms, near))
    return ours, theirs


def negations(it: LexicalComparison) -> tuple[list[int], list[int]]:
    """Place the words that negate the claim, and those that negate the stretch of the window that is aligned with it.

    Places are those of tokens, of the claim and of the window's reading.
    The stretch ends with its clause. What follows the last word they share ("without undue delay") negates nothing of
    the claim, and "no later than" nothing at all.
    """
    ours = [place for _, place in negating(it.claim.norms)]
    if not it.edits.pairs:
        return ours, [at for _, at in negating(it.reading.norms, it.start, it.end)]
    spans, text = it.reading.spans, it.reading.text
    first, last = it.start + it.edits.pairs[0][1], it.start + it.edits.pairs[-1][1]
    low, high = first, last
    sentence = it.reading.sentence

    def is_apart(at: int) -> bool:
        return sentence[at] != sentence[at + 1] or bool(_CLAUSE_END.search(text, spans[at][1], spans[at + 1][0]))

    while low > max(it.start, first - 4) and not is_apart(low - 1):
        low -= 1
    while high + 1 < min(it.end, last + 6) and not is_apart(high):
        high += 1
    found = negating(it.reading.norms, low, high + 1)
    said = {sentence[it.start + at] for _, at in it.edits.pairs}
    theirs = [at for word, at in found if word != "without" or at < last]
    return ours, [at for at in theirs if sentence[at] in said and not _BLANK.match(text, spans[at][0])]


def _order(it: LexicalComparison) -> dict[str, float]:
    """Whether the shared content words come in the same order, and next to the same neighbours."""
    claim, window = it.claim, it.keys
    own = [claim.keys[i] for i in claim.content]
    theirs = [it.reading.keys[it.reading.content[n]] for n in _content_positions(it.reading, range(it.start, it.end))]
    places: dict[str, int] = {}
    for position, key in enumerate(window):
        places.setdefault(key, position)
    shared = [places[key] for key in own if key in places]
    steps = [b - a for a, b in pairwise(shared)]
    turns = sum(step < 0 for step in steps)
    return {
        "reversed": turns / len(steps) if steps else 0.0,
        "reversed_count": float(turns),
        "near_steps": sum(0 < step <= 4 for step in steps) / len(steps) if steps else 0.0,
        "content_common": LCSseq.similarity(own, theirs) / len(own),
        "span": math.log1p(max(shared) - min(shared)) - math.log1p(len(shared)) if shared else 0.0,
    }


def _shape(it: LexicalComparison) -> dict[str, float]:
    """How long the claim and its window are, and how much of the claim only repeats the question."""
    claim, alignment = it.claim, it.alignment
    first, last = alignment.main
    held = set(it.question.keys) if it.question is not None else set()
    echoed = np.array([claim.keys[i] in held for i in claim.content], dtype=np.float32)
    return {
        "claim_words": math.log(len(claim.keys)),
        "claim_content": float(len(claim.content)),
        "claim_sentences": float(len(claim.sentences)),
        "window_sentences": float(last - first + 1),
        "echo": float(alignment.weights @ echoed),
        "rarest": float(claim.weights.max()),
        "weight_mean": float(claim.weights.mean()),
    }


def _likeness(it: LexicalComparison) -> dict[str, float]:
    """Likeness of whole texts: mean word vectors, characters, and how much of the window the claim covers."""
    claim, reading, start, end = it.claim, it.reading, it.start, it.end
    own = _mean(claim, range(len(claim.content)), it.vectors)
    positions = _content_positions(reading, range(start, end))
    theirs = _mean(reading, positions, it.vectors)
    row = {"mean_cosine": float(own @ theirs)}
    said = {claim.keys[i] for i in claim.content}
    weights = reading.weights[positions]
    held = np.array([reading.keys[reading.content[n]] in said for n in positions], dtype=np.float32)
    row["window_used"] = float(weights @ held / weights.sum()) if positions else 0.0
    row["window_unused"] = float(weights @ (1 - held)) if positions else 0.0
    near = it.text.lower()
    row["characters"] = fuzz.partial_ratio(claim.text.lower()[:400], near[:1500]) / 100
    row["word_set"] = fuzz.token_set_ratio(claim.norms, reading.norms[start:end]) / 100
    missing = [
        claim.norms[i] for i in claim.content if claim.keys[i] not in it.source.index and claim.kinds[i] != NUMBER
    ]
    nearby = {reading.norms[reading.content[n]] for n in positions}
    close = [max((JaroWinkler.similarity(word, other) for other in nearby), default=0.0) for word in missing[:6]]
    row["spelled_like_min"] = min(close, default=1.0)
    row["spelled_like_mean"] = sum(close) / len(close) if close else 1.0
    return row


def _mean(reading: Reading, positions: Sequence[int], vectors: WordVectors) -> Float32Array:
    """Unit mean vector of some content words, each by its weight."""
    chosen = list(positions)
    total = reading.weights[chosen] @ vectors.matrix[reading.rows[chosen]]
    unit: Float32Array = (total / np.maximum(np.linalg.norm(total), 1e-6)).astype(np.float32)
    return unit
