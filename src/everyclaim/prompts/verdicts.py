"""The prompts that judge claims against passages: ours, entailment alone, MiniCheck's, ours with the split."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, Literal, NamedTuple

from everyclaim.core.protocols import Message
from everyclaim.core.types import Claim, FailureMode, Label, Probabilities
from everyclaim.prompts import forms
from everyclaim.prompts.domain import Domain, OwnRules
from everyclaim.prompts.split import Split, SplitPrompt, SplitTask, claim_text, task_data

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
class VerdictPrompt(forms.RowPrompt[Finding]):
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
    rows_name: ClassVar[str] = "verdicts"

    @property
    def version(self) -> str:
        """Name the wording, so that a result can say which one made it."""
        rules = f"own={self.own.version}" if self.own.version else self.strictness.key
        added = f"+{self.domain.version}" if self.domain.version else ""
        version = forms.template("verdict")["version"]
        return f"{version}/{rules}/reasons={self.reasons}/probabilities={self.probabilities}{added}"

    @property
    def schema(self) -> Mapping[str, Any]:
        """The form of a reply: evidence first, then the reason, then the label they lead to."""
        row = {"id": forms.TEXT, **finding_fields(self.reasons, self.probabilities)}
        return forms.closed("verdicts", {self.rows_name: forms.listed(forms.closed("", row))})

    def rules(self) -> str:
        """Say what the labels mean and what a verdict holds, with what the domain adds."""
        words = forms.template("verdict")
        parts = [self._labels(words), words["context"], words["reply"]]
        parts += [words["support"]] if self.probabilities == "scale" else []
        return "\n".join([*parts, *([self.domain.verify] if self.domain.verify else [])])

    def _labels(self, words: Mapping[str, Any]) -> str:
        if self.own.text:
            return f"{self.own.text}\n{words['both']}"
        return forms.filled(
            words["labels"],
            both=words["both"],
            inference=words["inference"][self.strictness.inference],
            numbers=words["numbers"][self.strictness.numbers],
            hedges=words["hedges"][self.strictness.hedges],
        )

    def messages(
        self, claims: Mapping[str, Claim], passages: Mapping[str, Any], question: str, *, shared: bool
    ) -> list[Message]:
        """Write the request: instructions, passages, claims by their ids in it.

        `shared`: others follow with the same passages.
        """
        system = f"{forms.template('verdict')['opening']}\n{self.rules()}"
        asked: dict[str, Any] = {"question": question} if question else {}
        asked["claims"] = by_sentence(claims)
        return forms.request(system, {"passages": passages}, asked, shared=shared)

    def read(self, row: Mapping[str, Any]) -> Finding | None:
        """Read one verdict; None without one of the labels, or with a number that is out of range.

        The rest serves people: what is missing or of another kind is left empty and makes the finding incomplete;
        nothing is made up. A kind or a conflict in a field of its own (`mode`, `conflict`) says the same.
        """
        said = forms.word(row, "label", _LABELS)
        support = forms.whole_number(row, "support") if self.probabilities == "scale" else None
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
    words = forms.template("verdict")["fields"]
    fields = {
        "quotes": forms.listed(forms.TEXT, words["quotes"]),
        "why": forms.described(words["why_all" if reasons == "all" else "why"]),
        "kind": forms.one_of((*KINDS, "none"), words["kind"]),
        "label": forms.one_of(_LABELS),
    }
    return fields if probabilities == "none" else {**fields, "support": {"type": "integer"}}


def by_sentence(claims: Mapping[str, Claim]) -> list[dict[str, Any]]:
    """Lay out claims with their sentences, each sentence once; one whose words are all in its claims is left out."""
    said: dict[str, set[str]] = {}
    for claim in claims.values():
        said.setdefault(claim.sentence, {"and"}).update(_words(claim.text))
    laid: list[dict[str, Any]] = []
    shown = {sentence: "" if words.issuperset(_words(sentence)) else sentence for sentence, words in said.items()}
    for name, claim in claims.items():
        sentence = shown[claim.sentence]
        if not laid or laid[-1].get("sentence", "") != sentence:
            laid.append({"sentence": sentence, "claims": {}} if sentence else {"claims": {}})
        laid[-1]["claims"][name] = claim.text
    return laid


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _reason(row: Mapping[str, Any]) -> tuple[str | None, FailureMode | None]:
    """Return the reason and the failure mode, which some models write before the reason: ``kind: few words``."""
    why = forms.text(row, "why")
    mode = next((_KIND_WORDS[one] for name in ("kind", "mode") if (one := forms.word(row, name, _KIND_WORDS))), None)
    head, colon, rest = (why or "").partition(":")
    kind = forms.word({"kind": head}, "kind", _KIND_WORDS)
    if kind is None:
        return why, mode
    return (rest.strip() if colon else head), mode or _KIND_WORDS[kind]


def _any_quote(given: Any) -> Quote:
    """Read a quote as small models write it, too: an object that names the passage and the words."""
    if isinstance(given, Mapping):
        texts = sorted((one for one in given.values() if isinstance(one, str)), key=len)
        passage = next((one.strip() for one in texts if _PASSAGE.fullmatch(one)), "")
        return Quote(passage, texts[-1].strip()) if texts and texts[-1].strip() != passage else Quote("", "")
    if not isinstance(given, str):
        return Quote("", "")
    found = _NAMED.match(given)  # without an id the words are looked for in every passage
    return Quote(found[1], given[found.end() :].strip()) if found else Quote("", given.strip())


_RELATIONS: Mapping[str, Label] = {
    "entailment": Label.SUPPORTED,
    "neutral": Label.UNSUPPORTED,
    "contradiction": Label.CONTRADICTED,
}


@dataclass(frozen=True, slots=True)
class NliPrompt(forms.RowPrompt[Finding]):
    """Premises and hypotheses; the three relations are our three labels. No quotes and no reasons are asked for."""

    version = "nli-1"
    title = rows_name = "relations"
    row: ClassVar[Mapping[str, Any]] = {"relation": forms.one_of(tuple(_RELATIONS))}

    def messages(
        self, claims: Mapping[str, Claim], passages: Mapping[str, Any], question: str, *, shared: bool
    ) -> list[Message]:
        """Write the request; the question plays no part in entailment and is not sent."""
        del question
        premises = [one if isinstance(one, str) else f"{one['title']}\n{one['text']}" for one in passages.values()]
        hypotheses = {"hypotheses": {name: claim.text for name, claim in claims.items()}}
        return forms.request(forms.template("plain")["nli"], {"premises": premises}, hypotheses, shared=shared)

    def read(self, row: Mapping[str, Any]) -> Finding | None:
        """Read the relation of one hypothesis."""
        relation = forms.word(row, "relation", _RELATIONS)
        return Finding(_RELATIONS[relation]) if relation else None


JudgePrompt = VerdictPrompt | NliPrompt

_ANSWERS = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class MiniCheckPrompt:
    """One claim beside all passages, answered in a word."""

    version = "minicheck-1"
    schema = None  # a reply is plain words

    def messages(self, claims: Mapping[str, str], passages: Sequence[str]) -> list[Message]:
        """Write the request about one claim; it comes last, so a provider can keep what is before it."""
        (claim,) = claims.values()
        text = "\n".join(passages)
        words = forms.template("plain")["minicheck"]
        return [Message("system", words), Message("user", f"Document: {text}\nClaim: {claim}")]

    def parse(self, reply: Mapping[str, Any], asked: Sequence[str]) -> dict[str, bool]:
        """Return whether the claim is supported. Raises `JudgeError` (`bad_reply`) for anything but yes or no."""
        (claim,) = asked
        word = reply["words"].strip().strip(".!\"'*").casefold()
        if word not in _ANSWERS:
            raise forms.bad_reply(f"it answers {reply['words'][:60]!r} about {claim}, not Yes or No")
        return {claim: _ANSWERS[word]}


@dataclass(frozen=True, slots=True)
class OneCallPrompt(forms.RowPrompt[tuple[Split, tuple[Finding, ...]]]):
    """The rules of the two prompts, once each. A row is a sentence's claims with their verdicts."""

    split: SplitPrompt = field(default_factory=SplitPrompt)
    verdict: VerdictPrompt = field(default_factory=VerdictPrompt)

    @property
    def version(self) -> str:
        """Name the wording."""
        return f"{forms.template('onecall')['version']}/{self.split.version}/{self.verdict.version}"

    @property
    def schema(self) -> Mapping[str, Any]:
        """The form of a reply."""
        finding = finding_fields(self.verdict.reasons, self.verdict.probabilities)
        return self.split.schema_of("judged_claims", lambda claim: forms.closed("", {"claim": claim, **finding}))

    def messages(self, task: SplitTask, passages: Mapping[str, Any], *, shared: bool) -> list[Message]:
        """Write the request: instructions, passages, sentences. `shared`: others follow with the same passages."""
        words = forms.template("onecall")
        system = "\n".join([words["opening"], self.split.rules(), words["between"], self.verdict.rules()])
        return forms.request(system, {"passages": passages}, task_data(task), shared=shared)

    def parse(self, reply: Mapping[str, Any], asked: Sequence[str]) -> dict[str, tuple[Split, tuple[Finding, ...]]]:
        """Return what a reply says, by sentence id, as `RowPrompt` does, with what it skips."""
        skipped = {key: (split, ()) for key, split in self.split.skipped(reply, asked).items()}
        return {**skipped, **forms.RowPrompt.parse(self, reply, asked)}

    def rows_of(self, reply: Mapping[str, Any]) -> list[Any]:
        """Return a reply's rows, as the split has them."""
        return self.split.rows_of(reply)

    def read(self, row: Mapping[str, Any]) -> tuple[Split, tuple[Finding, ...]] | None:
        """Read a sentence; None with one unusable verdict, since its claims belong together."""
        judged: dict[str, Finding] = {}
        for item in row["claims"]:
            claim = claim_text(item)
            finding = self.verdict.read(item) if claim and isinstance(item, Mapping) else None
            if not claim or not finding:
                return None
            judged.setdefault(claim, finding)
        split = self.split.read(row)
        return (split, tuple(judged.values())) if split else None
