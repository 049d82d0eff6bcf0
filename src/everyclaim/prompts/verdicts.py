"""The prompt that judges claims against passages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, NamedTuple, Protocol

from everyclaim.core.protocols import Message
from everyclaim.core.types import FailureMode, Label, Probabilities
from everyclaim.prompts.documents import document
from everyclaim.prompts.domain import Domain, OwnRules
from everyclaim.prompts.reply_schemas import (
    TEXT,
    by_id,
    closed,
    described,
    listed,
    one_of,
    rows,
    text,
    whole_number,
    word,
)
from everyclaim.prompts.templates import filled, template

_WORD = re.compile(r"\w+")
_NAMED = re.compile(r"\s*\[?(p\d{1,6})\]?\s*:\s*")
_PASSAGE = re.compile(r"\s*p\d{1,6}\s*")
MAX_QUOTES = 20  # of one verdict; more is noise
READERS = 10
BOTH = "BOTH"  # supported, and the opposite is said as well
_LABELS = (*(label.value for label in Label), BOTH)


class Quote(NamedTuple):
    """Words of a passage, as the judge gave them; not yet looked for."""

    passage: str
    text: str


class Finding(NamedTuple):
    """What a reply says about one claim."""

    label: Label
    why: str = ""
    quotes: tuple[Quote, ...] = ()
    mode: FailureMode | None = None
    conflict: bool = False
    complete: bool = True  # whether everything that was asked for is there
    support: int | None = None  # how many of ten careful readers would call it supported
    chances: Probabilities | None = None  # of the labels, by the tokens of the reply


class AskedClaim(NamedTuple):
    """A claim as it is put to a judge: under an id that was made for this request."""

    id: str
    text: str
    sentence: str


class JudgePrompt(Protocol):
    """A prompt for verdicts; `VerdictPrompt` and `NliPrompt` are two."""

    @property
    def version(self) -> str:
        """Name the wording."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The form of a reply."""

    def messages(
        self, claims: Sequence[AskedClaim], passages: Mapping[str, Any], question: str, *, shared: bool
    ) -> list[Message]:
        """Write the request."""

    def parse(self, reply: Mapping[str, Any], asked: Sequence[str]) -> dict[str, Finding]:
        """Read a reply, by claim id."""


@dataclass(frozen=True, slots=True)
class Strictness:
    """What counts as support.

    `inference`: `allowed` (steps that anyone would take from the passages) or `explicit` (said in so many words).
    `numbers`: `rounded` (said to be about, or plainly rounded) or `exact`.
    `hedges`: `flag` (supported, but flagged, where only the certainty differs) or `strict` (then unsupported).
    """

    inference: Literal["allowed", "explicit"] = "allowed"
    numbers: Literal["rounded", "exact"] = "rounded"
    hedges: Literal["flag", "strict"] = "flag"

    @property
    def key(self) -> str:
        """Name the choice."""
        return f"inference={self.inference}/numbers={self.numbers}/hedges={self.hedges}"


KINDS: Mapping[str, FailureMode] = {
    "speaker": FailureMode.WRONG_ATTRIBUTION,
    "time": FailureMode.TEMPORAL,
    "number": FailureMode.NUMERIC_MISMATCH,
    "certainty": FailureMode.HEDGE_MISMATCH,
    "negation": FailureMode.NEGATION,
    "relation": FailureMode.RELATION,
    "entity": FailureMode.ENTITY_SWAP,
    "known": FailureMode.IMPLICIT_KNOWLEDGE,
    "added": FailureMode.INVENTION,
    "other": FailureMode.OTHER,
}  # the names that a reply uses
_KIND_WORDS: Mapping[str, FailureMode] = {**KINDS, **{mode.value: mode for mode in FailureMode}}

Reasons = Literal["failing", "all"]
Grading = Literal["scale", "none"]


@dataclass(frozen=True, slots=True)
class VerdictPrompt:
    """Three labels with quotes, a reason and a failure mode.

    `own` is a user's wording of what the labels mean, in the place of ours; how texts are treated and what a reply
    holds stays. `reasons`: of every claim, or (`failing`) only of those that are not supported. `probabilities`:
    `scale` asks how many of ten readers would call a claim supported, `none` does not.
    """

    strictness: Strictness = field(default_factory=Strictness)
    domain: Domain = field(default_factory=Domain)
    own: OwnRules = field(default_factory=OwnRules)
    reasons: Reasons = "failing"
    probabilities: Grading = "scale"

    @property
    def version(self) -> str:
        """Name the wording, so that a result can say which one made it."""
        rules = f"own={self.own.version}" if self.own.version else self.strictness.key
        added = f"+{self.domain.version}" if self.domain.version else ""
        version = template("verdict")["version"]
        return f"{version}/{rules}/reasons={self.reasons}/probabilities={self.probabilities}{added}"

    @property
    def schema(self) -> Mapping[str, Any]:
        """The form of a reply: evidence first, then the reason, then the label they lead to."""
        return _schema(self.reasons, self.probabilities)

    def rules(self) -> str:
        """Say what the labels mean and what a verdict holds, with what the domain adds."""
        words = template("verdict")
        parts = [self._labels(words), words["context"], words["reply"]]
        parts += [words["support"]] if self.probabilities == "scale" else []
        return "\n".join([*parts, *([self.domain.verify] if self.domain.verify else [])])

    def _labels(self, words: Mapping[str, Any]) -> str:
        if self.own.text:
            return f"{self.own.text}\n{words['both']}"
        return filled(
            words["labels"],
            both=words["both"],
            inference=words["inference"][self.strictness.inference],
            numbers=words["numbers"][self.strictness.numbers],
            hedges=words["hedges"][self.strictness.hedges],
        )

    def messages(
        self, claims: Sequence[AskedClaim], passages: Mapping[str, Any], question: str, *, shared: bool
    ) -> list[Message]:
        """Write the request: instructions, passages, claims. `shared`: others follow with the same passages."""
        system = f"{template('verdict')['opening']}\n{self.rules()}"
        asked: dict[str, Any] = {"question": question} if question else {}
        asked["claims"] = by_sentence(claims)
        return [
            Message("system", system),
            Message("user", document({"passages": passages}), cache=shared),
            Message("user", document(asked)),
        ]

    def parse(self, reply: Mapping[str, Any], asked: Sequence[str]) -> dict[str, Finding]:
        """Return what a reply says, by claim id; claims it says nothing usable about are left out.

        Raises `JudgeError` (`bad_reply`) when it has another form or answers for ids that were not given.
        """
        found = {key: self.read(row) for key, row in by_id(rows(reply, "verdicts"), asked).items()}
        return {key: finding for key, finding in found.items() if finding}

    def read(self, row: Mapping[str, Any]) -> Finding | None:
        """Read one verdict; None without one of the labels, or with a number that is out of range.

        The rest serves people: what is missing or of another kind is left empty and makes the finding incomplete;
        nothing is made up. A kind or a conflict in a field of its own (`mode`, `conflict`) says the same.
        """
        said = word(row, "label", _LABELS)
        support = whole_number(row, "support") if self.probabilities == "scale" else None
        if said is None or (support is not None and not 0 <= support <= READERS):
            return None
        label = Label.SUPPORTED if said == BOTH else Label(said)
        given = row.get("quotes")
        listed_quotes = given if isinstance(given, list) else [given]
        quotes = tuple(quote for quote in map(_any_quote, listed_quotes[:MAX_QUOTES]) if quote.text)
        whole = isinstance(given, list) and all(isinstance(one, str) for one in given)
        why, mode = _reason(row)
        if label == Label.SUPPORTED:
            reasoned = self.reasons == "failing" or why is not None
        else:
            reasoned = bool(why) and mode is not None
        return Finding(
            label,
            why or "",
            quotes,
            mode,
            said == BOTH or row.get("conflict") is True,
            complete=whole and reasoned and (support is not None or self.probabilities == "none"),
            support=support,
        )


@cache
def finding_fields(reasons: Reasons, probabilities: Grading) -> Mapping[str, Any]:
    """Return the form of one finding, without the id."""
    words = template("verdict")["fields"]
    fields = {
        "quotes": listed(TEXT, words["quotes"]),
        "why": described(words["why_all" if reasons == "all" else "why"]),
        "kind": one_of((*KINDS, "none"), words["kind"]),
        "label": one_of(_LABELS),
    }
    return fields if probabilities == "none" else {**fields, "support": {"type": "integer"}}


@cache
def _schema(reasons: Reasons, probabilities: Grading) -> Mapping[str, Any]:
    row = {"id": TEXT, **finding_fields(reasons, probabilities)}
    return closed("verdicts", {"verdicts": listed(closed("", row))})


def by_sentence(claims: Sequence[AskedClaim]) -> list[dict[str, Any]]:
    """Lay out claims with their sentences, each sentence once; one whose words are all in its claims is left out."""
    said: dict[str, set[str]] = {}
    for claim in claims:
        said.setdefault(claim.sentence, {"and"}).update(_words(claim.text))
    laid: list[dict[str, Any]] = []
    shown = {sentence: "" if words.issuperset(_words(sentence)) else sentence for sentence, words in said.items()}
    for claim in claims:
        sentence = shown[claim.sentence]
        if not laid or laid[-1].get("sentence", "") != sentence:
            laid.append({"sentence": sentence, "claims": {}} if sentence else {"claims": {}})
        laid[-1]["claims"][claim.id] = claim.text
    return laid


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _reason(row: Mapping[str, Any]) -> tuple[str | None, FailureMode | None]:
    """Return the reason and the failure mode, which some models write before the reason: ``kind: few words``."""
    why = text(row, "why")
    mode = next((_KIND_WORDS[one] for name in ("kind", "mode") if (one := word(row, name, _KIND_WORDS))), None)
    head, colon, rest = (why or "").partition(":")
    kind = word({"kind": head}, "kind", _KIND_WORDS)
    if kind is None:
        return why, mode
    return (rest.strip() if colon else head), mode or _KIND_WORDS[kind]


def _any_quote(given: Any) -> Quote:
    """Read a quote as small models write it, too: an object that names the passage and the words."""
    if isinstance(given, Mapping):
        texts = sorted((one for one in given.values() if isinstance(one, str)), key=len)
        passage = next((one.strip() for one in texts if _PASSAGE.fullmatch(one)), "")
        return Quote(passage, texts[-1].strip()) if texts and texts[-1].strip() != passage else Quote("", "")
    return read_quote(given) if isinstance(given, str) else Quote("", "")


def read_quote(given: str) -> Quote:
    """Take ``p1: words`` apart; without an id the words are looked for in every passage."""
    named = _NAMED.match(given)
    return Quote(named[1], given[named.end() :].strip()) if named else Quote("", given.strip())
