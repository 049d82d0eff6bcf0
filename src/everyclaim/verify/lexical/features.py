"""The numbers the fitted model looks at, for one claim and all its passages together.

Few, since few carry to text of another kind: how much of the claim the passages hold, whether it is a passage's
statement with another value, and whether one side alone is negated. Nothing depends on how many passages there are or
in which order they come, except through what the best of them say.
"""

from __future__ import annotations

import re

import numpy as np

from everyclaim.models.local.parser import parse
from everyclaim.models.local.tree import tree_of
from everyclaim.text.cues import Cue, cues
from everyclaim.text.stops import sentence_spans
from everyclaim.text.tokens import content_stems, stem
from everyclaim.verify.lexical.comparison import LexicalComparison, beside, cues_beside
from everyclaim.verify.lexical.reading import LEXICAL_NEGATIONS, NAME, NUMBER, Reading, negating

_MEASURES = ("soft", "soft_low", "soft_missing", "missing_max")
COVERAGE = (
    *(f"{what}_{where}" for where in ("main", "all") for what in _MEASURES),
    "soft_1", "trailing", "aligned",
)  # fmt: skip
_CLAUSE_END = re.compile(r"[.;:!?]")
_POSSIBLE = frozenset({"may", "might", "can", "could"})
_PERMITTING = frozenset(map(stem, ("allow", "permit", "forbid", "forbidden", "prohibit", "ban")))
_BLANK = re.compile(r"not given$", re.MULTILINE)  # of a field: neither yes nor no


def measure(it: LexicalComparison) -> dict[str, float]:
    """Measure how a claim stands to its passages: shares within [0, 1], and weights and counts of what is missing."""
    length, changed = len(it.claim.keys), _changed_value(it)
    aligned = len(it.edits.pairs) / length
    return {
        **_coverage(it),
        "trailing": _trailing(it),
        "aligned": aligned,
        "verbatim": it.edits.in_runs / length,
        "changed_value": changed,
        "changed_copy": aligned if changed else 0.0,
        "negation_parity": float(is_negated_alone(it)),
    }


def _coverage(it: LexicalComparison) -> dict[str, float]:
    """How much of the claim's weight the best sentence, the main window and the whole source hold."""
    weights, exact, soft = it.alignment.weights, it.alignment.exact, it.alignment.soft
    first, last = it.alignment.main
    row = {"soft_1": float(weights @ soft[:, it.alignment.best[1][0]])}
    for name, part in (("main", slice(first, last + 1)), ("all", slice(None))):
        held, near = exact[:, part].max(axis=1), soft[:, part].max(axis=1)
        row[f"soft_{name}"] = float(weights @ near)
        row[f"soft_low_{name}"] = float(np.sort(near)[:3].mean())
        row[f"soft_missing_{name}"] = float(it.claim.weights @ (1 - near))
        row[f"missing_max_{name}"] = float((it.claim.weights * (1 - held)).max())
    is_name = np.array([it.claim.kinds[at] == NAME for at in it.claim.content])
    row["name_missing"] = float((held[is_name] == 0).sum())
    return row


def _trailing(it: LexicalComparison) -> float:
    """Weight of the claim's words behind the last that is aligned which the passage does not have from there on."""
    if not it.edits.pairs:
        return 0.0
    last, there = it.edits.pairs[-1][0], set(it.reading.keys[it.start :])
    behind = [at > last and it.claim.keys[at] not in there for at in it.claim.content]
    return float(it.claim.weights[behind].sum())


def _changed_value(it: LexicalComparison) -> float:
    """Share of the claim's other words that the main window has, where it states another value; 0 where it does not.

    Of a claim that concludes or computes little is in the passage's words, whatever its values.
    """
    if all(check.status != "conflict" for check in it.checks):
        return 0.0
    first, last = it.alignment.main
    held = it.alignment.exact[:, first : last + 1].max(axis=1)
    others = np.array([it.claim.kinds[at] != NUMBER for at in it.claim.content])
    return float(held[others].mean()) if others.any() else 0.0


def is_negated_alone(it: LexicalComparison) -> bool:
    """Whether the claim, or the stretch of the passage aligned with it, is negated and the other is not."""
    if it.answers:
        return not all(answer.agrees for answer in it.answers)
    negated, denied = negations(it)
    return bool(negated) != bool(denied) and not denies_by_verb(it)[1 if negated else 0]


def hedges(it: LexicalComparison) -> tuple[list[Cue], list[Cue]]:
    """Find the words of the claim and of the window that doubt whether something is true; not those that permit it."""
    ours, theirs = ([cue for cue in found if cue.kind == "hedge"] for found in (cues(it.claim.text), cues_beside(it)))
    shift = it.reading.spans[it.start][0]
    return (
        [cue for cue in ours if not _is_no_doubt(it.claim, cue.start, it.text)],
        [cue for cue in theirs if not _is_no_doubt(it.reading, cue.start + shift, it.claim.text)],
    )


def _is_no_doubt(reading: Reading, place: int, other: str) -> bool:
    """Whether a modal verb doubts nothing of another text: its clause is about something else, or it permits.

    It is taken to permit beside another "may" or "can", and beside words such as "allowed".
    """
    low, high = next(one for one in reading.sentences if one[0] <= place < one[1])
    tree = tree_of(reading.text[low:high])
    modal = next((i for i, token in enumerate(tree.tokens) if token.start + low == place), None)
    if modal is None or tree.tag(modal) != "MD":
        return False
    if tree.low(modal) == "may" and reading.text.startswith(" not ", low + tree.tokens[modal].end):
        return True  # a prohibition
    clause = " ".join(map(tree.text, tree.clause(modal if modal == tree.root else tree.head(modal))))
    if not content_stems(clause) & content_stems(other):
        return True
    return any(
        stem(word.text) in _PERMITTING or (word.tag == "MD" and word.text.lower() in _POSSIBLE)
        for words in parse([other[start:end] for start, end in sentence_spans(other)])
        for word in words
    )


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
