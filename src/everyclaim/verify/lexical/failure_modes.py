"""Why a claim failed: one of the failure modes, the two places that differ, and the reason in words.

    a failing claim beside its passages ──► parting (what differs, in place) ──► signals ──► model ──► mode
                                                  └─────────────────────────► differences: places, reason

Implicit knowledge is told from invention by form, since nothing here knows what is true: a general statement (a kind of
thing as its subject, a definition, the present tense, names the world knows) is taken for common knowledge; a detail
of the very thing the passages speak of (its name, "the", "it", what happened or is offered) for an invention.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everyclaim.core.types import Difference, FailureMode, Label, Passage, Span
from everyclaim.models.local.cross_encoder import TokenScore
from everyclaim.text.tokens import STOPWORDS, stem, word_set
from everyclaim.verify.lexical.checks import facts
from everyclaim.verify.lexical.comparison import LexicalComparison
from everyclaim.verify.lexical.differences import find
from everyclaim.verify.lexical.parting import DifferencePlace, Doubt, Parting, doubt_of, is_time
from everyclaim.verify.lexical.passages import Piece
from everyclaim.verify.lexical.reading import NAME, NUMBER, negating
from everyclaim.verify.lexical.speech import reports

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ModeModel:
    """Weights of shape (modes × signals) over standardised signals, each held within ±`bound`."""

    version: str
    modes: tuple[FailureMode, ...]
    signals: tuple[str, ...]
    mean: Doubles
    scale: Doubles
    weight: Doubles
    intercept: Doubles
    bound: float

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> ModeModel:
        """Read a model file's content."""
        mean, scale, weight, intercept = (
            np.array(data[name], dtype=np.float64) for name in ("mean", "scale", "weight", "intercept")
        )
        modes = tuple(FailureMode(mode) for mode in data["modes"])
        return cls(data["version"], modes, tuple(data["signals"]), mean, scale, weight, intercept, data["bound"])

    def ranked(self, row: Mapping[str, float]) -> Sequence[FailureMode]:
        """Order the modes, the likeliest first."""
        values = np.array([row[name] for name in self.signals])
        scores = self.weight @ np.clip((values - self.mean) / self.scale, -self.bound, self.bound) + self.intercept
        return [self.modes[i] for i in np.argsort(-scores, kind="stable")]


@lru_cache(maxsize=1)
def shipped_model() -> ModeModel:
    """Load the model that comes with the package; `training/modes/fit.py` made it."""
    path = files("everyclaim.verify.lexical").joinpath("data", "modes.json")
    return ModeModel.parse(json.loads(path.read_text(encoding="utf-8")))


_MEASURED = ("negation_parity", "soft_main", "soft_all")
_DOUBTED = (
    "time_value", "amount_value", "held", "new", "elsewhere", "negation", "hedge", "booster", "quantifier",
    "comparative", "speaker", "first", "last", "subject", "common_word",
)  # fmt: skip
# Words of time, of permission and existence, of certainty and so on, by stem: what only one side has tells the mode.
_KINDS: dict[str, str] = {
    "time": """
    before after during until since then later earlier first last begin beginning start end early late previous
    previously next following subsequently prior ago already still yet yearly monthly weekly daily annual annually
    morning noon afternoon evening night midnight day week month year decade century spring summer autumn fall winter
    january february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday today yesterday tomorrow once twice while when whenever soon immediately now
    recently formerly initially finally always hour minute second half-hour weekend often
    """,
    "polar": """
    not no never none without cannot allowed forbidden prohibited banned permitted required optional mandatory possible
    impossible included excluded contain lack free safe dangerous available unavailable refuse refused accept accepted
    reject rejected deny denied grant granted agree open closed remain removed stop fail failed succeed able unable
    necessary need must may exempt blocked enabled disabled automatic manual kept lost valid invalid support oppose
    """,
    "universal": """
    all every always each any everyone everything never only solely exclusively entirely completely whole whatever
    invariably guaranteed certain certainly definitely proven proves clearly will undoubtedly overwhelmingly
    significantly must everywhere nobody none without exception
    """,
    "weak": """
    some may might could can possibly perhaps probably likely usually often sometimes most many few partly mostly
    generally typically tend tends suggest suggests suggested believe believes think thinks thought expect expects
    expected hope hopes plan plans aim appear appears seem seems roughly slightly several occasionally if unless
    suspects suspect considers fear feared reportedly said claims legend tradition
    """,
    "judgement": """
    best ideal perfect great good excellent wonderful worth should ought deserve deserves fair unfair reasonable
    overdue strict well right wrong therefore thus hence so easily choice recommend suits suitable beats better
    reliable dependable impressive remarkable enjoyable romantic foregone conclusion follow clearly obviously bargain
    disappointing promising undervalued overpriced sensible wise simply nothing far probably
    """,
    "general": """
    often usually many most when which that because so why is are can people called type kind form known common
    commonly generally works work help helps make makes lead process part word term means
    """,
    "reporting": """
    said says say told tells according states stated claimed claims argues argued noted notes believes thinks thought
    found finds reported wrote writes warned warns recommends recommended advises advised suggests suggested explained
    admits admitted holds held points pointed called calls describes described considers promised expects predicted
    regards credits attributes blames put puts measured discovered announced confirmed concluded asked asks wanted
    """,
}
_LISTS = {name: frozenset(stem(word) for word in word_set(words)) for name, words in _KINDS.items()}
_PRONOUN = re.compile(r"^(?:it|they|he|she|this|these|its|their|his|her|you|your|we|i)\b", re.IGNORECASE)
_DEFINITE = re.compile(r"^(?:the|this|that|these|those)\b", re.IGNORECASE)
_DEFINING = re.compile(r"\b(?:is|are) (?:an? |the |known |called |home |made |used |commonly |defined )", re.IGNORECASE)
_PAST = re.compile(r"\b(?:was|were|had|did|\w{3,}ed)\b", re.IGNORECASE)
_FUTURE = re.compile(r"\b(?:will|would|shall|is going to|are going to)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"\b(?:which|because|since|so that|when|who|that)\b", re.IGNORECASE)
_GENERIC = re.compile(r"^(?:[A-Z][a-z]+s|[A-Z][a-z]+ing|Many|Most|Some|An?|People|In many|When)\b")


def signals(parting: Parting, row: Mapping[str, float], doubts: Sequence[Doubt]) -> dict[str, float]:
    """Measure a failing claim. `row` is what `lexical.features.measure` gave for it; `doubts` its words."""
    found = {name: row[name] for name in _MEASURED}
    found |= {f"speaker_{it}": float(parting.it.attribution.status == it) for it in ("found", "conflict", "missing")}
    said = _values(parting) | _words(parting) | _cues(parting) | _wording(parting)
    return found | _doubted(parting, doubts) | said | _meaning(parting, doubts)


def _doubted(parting: Parting, doubts: Sequence[Doubt]) -> dict[str, float]:
    """Say of what kind the words are that fail: each kind gets the weight of its most doubted word."""
    it = parting.it
    found = dict.fromkeys((f"fails_{name}" for name in _DOUBTED), 0.0)

    def note(name: str, weight: float) -> None:
        found[f"fails_{name}"] = max(found[f"fails_{name}"], weight)

    window, source = set(it.keys), set(it.source.index)
    weights = [doubt_of(low, high, doubts) for low, high in it.claim.spans]
    for place, weight in enumerate(weights):
        key = it.claim.keys[place]
        if it.claim.norms[place] in STOPWORDS:
            note("common_word", weight)
        else:
            note("held" if key in window else "elsewhere" if key in source else "new", weight)
        if place < 2:
            note("first", weight)
        if place >= len(weights) - 3:
            note("last", weight)
        if place < len(weights) / 3:
            note("subject", weight)
    for check in it.checks:
        weight = max((one.weight for one in doubts if one.at[0] < check.at[1] and check.at[0] < one.at[1]), default=0.0)
        note("time_value" if is_time(check.fact) else "amount_value", weight)
    for cue in parting.cues[0]:
        if cue.kind != "conditional":
            note(cue.kind, doubt_of(cue.start, cue.end, doubts))
    for one in parting.reports:
        note("speaker", doubt_of(*one.speaker_span, doubts))
    found["fails_total"] = min(sum(weights), 12.0)
    found["fails_share"] = sum(weights) / max(1, len(weights))
    return found


def _meaning(parting: Parting, doubts: Sequence[Doubt]) -> dict[str, float]:
    """Give the direction of the doubted words' vectors, each by its doubt: what the listed words leave out."""
    claim, vectors = parting.it.claim, parting.it.vectors
    total = np.zeros(vectors.matrix.shape[1])
    for norm, (low, high) in zip(claim.norms, claim.spans, strict=True):
        row = vectors.rows.get(norm)
        if row is not None:
            total += doubt_of(low, high, doubts) * vectors.matrix[row]
    length = float(np.linalg.norm(total)) or 1.0
    return {f"meaning_{place}": value / length for place, value in enumerate(total.tolist())}


def _values(parting: Parting) -> dict[str, float]:
    """Say how the values of the claim fared: of time, and amounts."""
    found: dict[str, float] = {}
    for status in ("found", "conflict", "missing"):
        for name, time in (("time", True), ("amount", False)):
            found[f"{name}_{status}"] = float(min(len(parting.checks(status, time=time)), 3))
    for name, time in (("time", True), ("amount", False)):
        off = [check for check in parting.off if is_time(check.fact) == time]
        found[f"{name}_off"] = float(bool(off))
        found[f"{name}_off_alone"] = float(bool(off)) / (1.0 + len(parting.strange))
        rivals = any(is_time(fact) == time for fact in facts(parting.it.text))
        found[f"{name}_off_rival"] = float(bool(off) and rivals)
    theirs = facts(parting.it.text)
    found["window_times"] = float(any(is_time(fact) for fact in theirs))
    found["window_amounts"] = float(any(not is_time(fact) for fact in theirs))
    lone = [parting.it.claim.kinds[at] for at in parting.lone]
    found["lone_numbers"], found["lone_names"] = float(lone.count(NUMBER)), float(lone.count(NAME))
    return found


def _words(parting: Parting) -> dict[str, float]:
    """Say of what kind the words are that only one side has, and what may stand in whose place."""
    it = parting.it
    window, said = set(it.keys), set(it.claim.keys)
    mine = {key for key in it.claim.keys if key not in window}
    theirs = {key for key in it.keys if key not in said}
    source = set(it.source.index)
    found: dict[str, float] = {}
    for name, words in _LISTS.items():
        found[f"{name}_mine"] = float(min(len(mine & words), 3))
        found[f"{name}_theirs"] = float(min(len(theirs & words), 3))
        found[f"{name}_said"] = float(min(len(said & words), 3))
    best = parting.swaps[0] if parting.swaps else None
    found["swap"] = best.likeness if best else 0.0
    found["swap_name"] = float(bool(best) and it.claim.kinds[best.mine] == NAME) if best else 0.0
    found["swap_number"] = float(it.claim.kinds[best.mine] == NUMBER) if best else 0.0
    found["swap_alone"] = found["swap"] / (1.0 + max(0, len(parting.strange) - 1))
    found["swap_name_alone"] = found["swap_name"] / (1.0 + max(0, len(parting.strange) - 1))
    strange = parting.strange
    found["strange"] = float(min(len(strange), 6))
    found["strange_share"] = len(strange) / max(1, len(it.claim.content))
    found["strange_none"] = float(not strange)
    found["strange_one"] = float(len(strange) == 1)
    found["strange_runs"] = float(min(sum(b - a > 2 for a, b in pairwise(strange)) + bool(strange), 4))
    found["strange_last"] = float(bool(strange) and strange[-1] == it.claim.content[-1])
    found["strange_first"] = float(bool(strange) and strange[0] == it.claim.content[0])
    found["strange_all"] = float(sum(it.claim.keys[at] not in source for at in strange)) / max(1, len(it.claim.content))
    found["calm"] = float(not strange and not parting.off)
    found["lone"] = float(min(len(parting.lone), 8))
    found["lone_share"] = len(parting.lone) / max(1, len(it.claim.content))
    elsewhere = [at for at in parting.lone if it.claim.keys[at] in source]
    found["lone_elsewhere"] = float(min(len(elsewhere), 4))
    found["lone_names_elsewhere"] = float(sum(it.claim.kinds[at] == NAME for at in elsewhere))
    absent = [at for at in it.claim.content if it.claim.kinds[at] == NAME and it.claim.keys[at] not in source]
    found["strange_names"] = float(sum(it.claim.norms[at] not in it.vectors.rows for at in absent))
    return found


def _cues(parting: Parting) -> dict[str, float]:
    """Count the small words that one side has and the other has not, by kind."""
    found = {
        f"cue_{kind}_{'mine' if mine else 'theirs'}": float(min(len(parting.only(kind, mine=mine)), 3))
        for kind in ("negation", "hedge", "booster", "quantifier", "comparative", "conditional")
        for mine in (True, False)
    }
    found["negated"] = float(bool(negating(parting.it.claim.norms)))
    return found


def _wording(parting: Parting) -> dict[str, float]:
    """Describe how a claim is worded: as a general truth, or as a detail of this very thing."""
    it = parting.it
    text = it.claim.text
    held = [at for at in it.claim.content if it.claim.kinds[at] == NAME and it.claim.keys[at] in it.source.index]
    opening = it.claim.content[: max(1, len(it.claim.content) // 3)]
    return {
        "pronoun_first": float(_PRONOUN.match(text) is not None),
        "definite_first": float(_DEFINITE.match(text) is not None),
        "definite_held": float(_DEFINITE.match(text) is not None and it.claim.keys[opening[0]] in it.source.index),
        "bare_first": float(
            not _DEFINITE.match(text) and not _PRONOUN.match(text) and it.claim.kinds[opening[0]] != NAME
        ),
        "name_first_held": float(it.claim.kinds[opening[0]] == NAME and it.claim.keys[opening[0]] in it.source.index),
        "first_held": float(it.claim.keys[opening[0]] in it.source.index),
        "generic_first": float(_GENERIC.match(text) is not None),
        "defining": float(_DEFINING.search(text) is not None),
        "past": float(_PAST.search(text) is not None),
        "future": float(_FUTURE.search(text) is not None),
        "clause": float(_CLAUSE.search(text) is not None),
        "held_names": float(min(len(held), 3)),
        "opening_held": sum(it.claim.keys[at] in it.source.index for at in opening) / len(opening),
        "length": math.log(max(1, len(it.claim.keys))),
    }


_FAINT = -6.0  # log-odds below the most doubted token from which on all are alike
_SOME = 0.05  # doubt below which a word is not doubted


class Failure(NamedTuple):
    """A failing claim beside its passages, as a verifier has it.

    `row` holds the measurements of `lexical.features`; `against`, within [0, 1], how likely it is contradicted rather
    than just not said; `read` the log-odds of its tokens to fail, where a network has read it.
    """

    text: str
    label: Label
    compared: LexicalComparison
    row: Mapping[str, float]
    pieces: Sequence[Piece]
    against: float
    read: Sequence[TokenScore] = ()


class Classified(NamedTuple):
    """Why a claim fails, and where it parts from its passages."""

    mode: FailureMode
    difference: Difference


def classify(failure: Failure, passages: Sequence[Passage], given: FailureMode | None = None) -> Classified:
    """Name the mode, unless it is `given` and can be, and the two places that differ."""
    whole = tuple(piece.text for piece in failure.pieces)
    parting = Parting(failure.compared, whole, failure.label is Label.CONTRADICTED)
    doubts = doubts_of(failure)
    mode = given
    if mode is None or not plausible(mode, failure):
        ranked = shipped_model().ranked(measured(failure, parting, doubts))
        mode = next(mode for mode in ranked if plausible(mode, failure))
    found = find(mode, parting, doubts)
    where = _located(found.theirs, failure.pieces, passages) if found.theirs else None
    mine = _as_given(found.mine, failure.compared.spelling.written, failure.text) if found.mine else None
    passage_id, theirs = where or (None, None)
    return Classified(found.mode or mode, Difference(found.reason, mine, passage_id, theirs))


def plausible(mode: FailureMode, failure: Failure) -> bool:
    """Say whether a claim can fail so: what is contradicted is not left unsaid; a clash of numbers has a number."""
    if failure.label is Label.CONTRADICTED and mode in (FailureMode.IMPLICIT_KNOWLEDGE, FailureMode.INVENTION):
        return False
    it = failure.compared
    has_number = bool(it.checks) or NUMBER in it.claim.kinds
    return mode is not FailureMode.NUMERIC_MISMATCH or has_number


def measured(failure: Failure, parting: Parting, doubts: Sequence[Doubt]) -> dict[str, float]:
    """Measure everything that the model weighs."""
    likely = min(max(failure.against, 0.02), 0.98)
    return signals(parting, failure.row, doubts) | {
        "against": math.log(likely / (1 - likely)),
        "read": float(bool(failure.read)),
    }


def doubts_of(failure: Failure) -> list[Doubt]:
    """Weigh the words of a claim by how much they are doubted: by the network, else by what the window lacks.

    A speaker whom the passages have say the same is not doubted, in whatever form either names them.
    """
    it, doubts = failure.compared, _weighed(failure)
    if it.attribution.status != "found":
        return doubts
    said = [report.content_span for report in reports(it.claim.text)]
    return [one for one in doubts if any(low < one.end and one.start < high for low, high in said)] or doubts


def _weighed(failure: Failure) -> list[Doubt]:
    it = failure.compared
    if failure.read:
        top = max(token.logit for token in failure.read)
        return [
            Doubt(token.start, token.end, it.spelling.origin(token.start, token.end),
                  math.exp(max(_FAINT, token.logit - top)))
            for token in failure.read
        ]  # fmt: skip
    first, last = it.alignment.main
    alike = it.alignment.soft[:, first : last + 1].max(axis=1)
    spans = [it.claim.spans[at] for at in it.claim.content]
    weighed = zip(spans, (1.0 - max(0.0, float(one)) for one in alike), strict=True)
    return [Doubt(*span, it.spelling.origin(*span), weight) for span, weight in weighed if weight > _SOME]


def _located(place: DifferencePlace, pieces: Sequence[Piece], passages: Sequence[Passage]) -> tuple[str, Span] | None:
    """Find the place in its passage; None for a title, which is context."""
    piece = pieces[place.reading]
    at = piece.place(place.start, place.end)
    return (passages[piece.passage].id, Span(*at)) if at else None


def _as_given(at: tuple[int, int], written: str, text: str) -> Span | None:
    """Find a stretch of a claim, as it is read, in the claim as it was given, which may point at its sources, too."""
    if written == text:
        return Span(*at)
    shift = text.casefold().find(written.casefold())
    if shift >= 0 and len(text.casefold()) == len(text):
        return Span(at[0] + shift, at[1] + shift)
    found = text.find(written[slice(*at)])
    return Span(found, found + at[1] - at[0]) if found >= 0 else None
