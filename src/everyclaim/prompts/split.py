"""The prompts that split an answer into claims, sentence by sentence, and that make claims stand alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

from everyclaim.core.protocols import Message
from everyclaim.prompts import forms
from everyclaim.prompts.domain import Domain, OwnRules

Degree = Literal["high", "low"]

REASONS = ("question", "greeting", "meta", "opinion", "instruction", "abstention", "heading", "citation", "lead_in")
MINOR = "minor"
_LINE = re.compile(r"\s*\[?([a-zA-Z]\d{1,9})\]?\s*:")
_MARKED = re.compile(r"^\s*[=＝]+[\s,:]*(?=\w)")  # a claim behind the mark that was to stand in its place
AS_IT_STANDS = frozenset({"=", "==", "＝"})  # in the place of a claim: its sentence, word for word


class SplitTask(NamedTuple):
    """One request: sentences by id, what stands before them in the answer, and the question."""

    sentences: Mapping[str, str]
    before: str = ""
    question: str = ""
    former: Mapping[str, Mapping[str, Sequence[str]]] = {}  # earlier claims of a sentence, each with what it invents


class Split(NamedTuple):
    """What became of one sentence: claims, or the reason to skip it. A claim may be `AS_IT_STANDS`; see `spelt_out`."""

    claims: tuple[str, ...]
    skip: str = ""


@dataclass(frozen=True, slots=True)
class SplitPrompt(forms.RowPrompt[Split]):
    """`atomicity`: one fact per claim, or about one claim per sentence. `coverage`: every fact, or what matters.

    `own` is a user's wording of what a claim is, in the place of ours; how texts are treated and what a reply holds
    stays. The worked examples are those of the domain, where it has some.
    """

    atomicity: Degree = "high"
    coverage: Degree = "high"
    domain: Domain = field(default_factory=Domain)
    own: OwnRules = field(default_factory=OwnRules)

    @property
    def version(self) -> str:
        """Name the wording, so that a result can say which one made it."""
        added = f"+{self.domain.version}" if self.domain.version else ""
        rules = (
            f"own={self.own.version}" if self.own.version else f"atomicity={self.atomicity}/coverage={self.coverage}"
        )
        return f"{forms.template('split')['version']}/{rules}{added}"

    @property
    def schema(self) -> Mapping[str, Any]:
        """The form of a reply."""
        return self.schema_of("claims", lambda claim: claim)

    def schema_of(self, title: str, claim: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Mapping[str, Any]:
        """Return the form of a reply whose claims have the form that `claim` makes of that of their text."""
        text = forms.described(forms.template("split")["fields"]["claim"])
        sentence = forms.closed("", {"id": forms.TEXT, "claims": forms.listed(claim(text))})
        skipped = forms.closed("", {"id": forms.TEXT, "reason": forms.one_of(self.reasons)})
        return forms.closed(title, {"sentences": forms.listed(sentence), "skipped": forms.listed(skipped)})

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why a sentence may be skipped."""
        return REASONS if self.coverage == "high" else (*REASONS, MINOR)

    def rules(self) -> str:
        """Say what a claim is, with the worked examples and what the domain adds."""
        words = forms.template("split")
        rules = self.own.text or forms.filled(
            words["rules"], atomicity=words["atomicity"][self.atomicity], coverage=words["coverage"][self.coverage]
        )
        is_usual = not self.domain.splits and not self.own.text and self.atomicity == "high"
        return "\n".join(filter(None, [rules, words["examples"] if is_usual else "", self.domain.decompose]))

    def messages(self, task: SplitTask) -> list[Message]:
        """Write the request: instructions, then one JSON document."""
        words = forms.template("split")
        system = "\n".join([words["opening"], self.rules(), *([words["again"]] if task.former else [])])
        return forms.request(system, task_data(task), shared=True)

    def parse(self, reply: Mapping[str, Any], asked: Sequence[str]) -> dict[str, Split]:
        """Return what a reply says, by sentence id, as `RowPrompt` does, with what it skips."""
        return self.skipped(reply, asked) | forms.RowPrompt.parse(self, reply, asked)

    def rows_of(self, reply: Mapping[str, Any]) -> list[Any]:
        """Return a reply's rows, one for each sentence. Raises `JudgeError` when it has another form."""
        beside = {key: value for key, value in reply.items() if key != "skipped"}
        return _by_sentence(forms.rows(beside, "sentences", "claims"), "claims")

    def skipped(self, reply: Mapping[str, Any], asked: Sequence[str]) -> dict[str, Split]:
        """Return the sentences that a reply skips for a reason that there is.

        Raises `JudgeError` (`bad_reply`) when it answers for ids that were not given.
        """
        given = reply.get("skipped")
        named = forms.by_id(_by_sentence(given, "reason"), asked) if isinstance(given, list) else {}
        found = {key: self.read(row) for key, row in named.items()}
        return {key: split for key, split in found.items() if split and split.skip}

    def read(self, row: Mapping[str, Any]) -> Split | None:
        """Read the row of one sentence; None when it cannot be used."""
        claims = [claim_text(item) for item in row.get("claims", [])]
        if None in claims:
            return None
        if texts := tuple(dict.fromkeys(filter(None, claims))):
            return Split(texts)
        skip = forms.word(row, "reason", self.reasons) or forms.word(row, "skip", self.reasons)
        return Split((), skip) if skip else None


def spelt_out(split: Split, sentence: str) -> Split:
    """Return a split with the sentence's own words where it says that they are the claim; other claims repeat them."""
    return split if stands_at(split) is None else Split((" ".join(sentence.split()),))


def stands_at(split: Split) -> int | None:
    """Return the place of the claim that is its sentence as it stands, None where there is none."""
    return next((i for i, claim in enumerate(split.claims) if claim.strip(" .\"'`") in AS_IT_STANDS), None)


def claim_text(item: Any) -> str | None:
    """Read a claim, alone or in an object with more about it; None when it is no text."""
    said = item.get("claim") if isinstance(item, Mapping) else item
    return " ".join(_MARKED.sub("", said).split()) if isinstance(said, str) else None


def _by_sentence(given: Sequence[Any], field: Literal["claims", "reason"]) -> list[Any]:
    """Gather the rows of each sentence: small models write one for each claim, or a line ``s1: claim``."""
    gathered: dict[str, dict[str, Any]] = {}
    for item in given:
        line = _LINE.match(item) if isinstance(item, str) else None
        row = {"id": line[1], field: item[line.end() :]} if line else item
        if not isinstance(row, Mapping) or (key := forms.given_id(row.get("id", row.get("sentence")))) is None:
            continue
        claims = row.get("claims", [row] if "claim" in row else [])
        group = gathered.setdefault(key, {**row, "id": key, "claims": []})
        group["claims"] += claims if isinstance(claims, list) else [claims]
    return list(gathered.values())


def task_data(task: SplitTask) -> dict[str, Any]:
    """Lay out a request's data, leaving out what is empty."""
    data: dict[str, Any] = {}
    if task.question:
        data["question"] = task.question
    if task.before:
        data["before"] = task.before
    data["sentences"] = dict(task.sentences)
    if task.former:
        data["former_claims"] = {
            key: [
                {"claim": claim, "not_in_sentence": list(odd)} if odd else {"claim": claim}
                for claim, odd in rows.items()
            ]
            for key, rows in task.former.items()
        }
    return data


class Standing(NamedTuple):
    """What a reply says about one claim."""

    text: str
    relevant: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class StandingPrompt(forms.RowPrompt[Standing]):
    """Self-containment and relevance in one request, as the first of the two must come before the second."""

    version = "standing-1"
    title = "standing_claims"
    rows_name = "claims"
    row: ClassVar[Mapping[str, Any]] = {"text": forms.TEXT, "relevant": forms.one_of(("yes", "no")), "why": forms.TEXT}

    def messages(self, claims: Mapping[str, str], answer: str, question: str, *, shared: bool) -> list[Message]:
        """Write the request. `shared`: others follow with the same answer."""
        around = {"question": question, "answer": answer} if question else {"answer": answer}
        return forms.request(forms.template("plain")["standing"], around, {"claims": dict(claims)}, shared=shared)

    def read(self, row: Mapping[str, Any]) -> Standing | None:
        """Read what is said of one claim."""
        claim, said = " ".join((forms.text(row, "text") or "").split()), forms.text(row, "relevant")
        return Standing(claim, said == "yes", forms.text(row, "why") or "") if claim and said in {"yes", "no"} else None
