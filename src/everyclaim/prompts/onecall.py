"""The prompt that splits an answer and judges its claims in one request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from everyclaim.core.protocols import Message
from everyclaim.prompts.documents import document
from everyclaim.prompts.reply_schemas import by_id, closed, described, listed, rows, text
from everyclaim.prompts.split import Split, SplitPrompt, SplitTask, named_claim, skipped_schema, task_data
from everyclaim.prompts.templates import template
from everyclaim.prompts.verdicts import Finding, Grading, Reasons, VerdictPrompt, finding_fields


@dataclass(frozen=True, slots=True)
class OneCallPrompt:
    """The rules of the two prompts, once each."""

    split: SplitPrompt = field(default_factory=SplitPrompt)
    verdict: VerdictPrompt = field(default_factory=VerdictPrompt)

    @property
    def version(self) -> str:
        """Name the wording."""
        return f"{template('onecall')['version']}/{self.split.version}/{self.verdict.version}"

    @property
    def schema(self) -> Mapping[str, Any]:
        """The form of a reply."""
        return _schema(self.split.reasons, self.verdict.reasons, self.verdict.probabilities)

    def messages(self, task: SplitTask, passages: Mapping[str, Any], *, shared: bool) -> list[Message]:
        """Write the request: instructions, passages, sentences. `shared`: others follow with the same passages."""
        words = template("onecall")
        system = "\n".join([words["opening"], self.split.rules(), words["between"], self.verdict.rules()])
        return [
            Message("system", system),
            Message("user", document({"passages": passages}), cache=shared),
            Message("user", document(task_data(task))),
        ]

    def parse(self, reply: Mapping[str, Any], asked: Sequence[str]) -> dict[str, tuple[Split, tuple[Finding, ...]]]:
        """Return, by sentence id, its claims and their verdicts; sentences without a usable row are left out.

        A sentence with one unusable verdict is unusable as a whole: its claims belong together.
        Raises `JudgeError` (`bad_reply`) when the reply has another form or answers for ids that were not given.
        """
        found = {key: self._read(row) for key, row in by_id(_by_sentence(reply), asked).items()}
        skipped = {key: (split, ()) for key, split in self.split.skipped(reply, asked).items()}
        return skipped | {key: value for key, value in found.items() if value}

    def _read(self, row: Mapping[str, Any]) -> tuple[Split, tuple[Finding, ...]] | None:
        given = row.get("claims")
        if not isinstance(given, list):
            return None
        judged: dict[str, Finding] = {}
        for item in given:
            claim = text(item, "claim") if isinstance(item, Mapping) else None
            finding = self.verdict.read(item) if claim else None
            if not claim or not finding:
                return None
            judged.setdefault(" ".join(claim.split()), finding)
        split = self.split.read({"claims": list(judged), "skip": row.get("skip")})
        return (split, tuple(judged.values())) if split else None


def _by_sentence(reply: Mapping[str, Any]) -> list[Any]:
    """Return a row for each sentence with its judged claims; some models write it so themselves."""
    given = rows(reply, "claims", "claims")
    grouped: dict[str, list[Any]] = {}
    for item in given:
        key, claim = named_claim(item)
        if key and claim and isinstance(item, Mapping):
            grouped.setdefault(key, []).append({**item, "claim": claim})
    rest = [item for item in given if isinstance(item, Mapping) and "claims" in item]
    return [*({"id": key, "claims": items} for key, items in grouped.items()), *rest]


@cache
def _schema(skips: tuple[str, ...], reasons: Reasons, probabilities: Grading) -> Mapping[str, Any]:
    words = template("split")["fields"]
    claim = {"sentence": described(words["sentence"]), "claim": described(words["claim"])}
    claims = listed(closed("", {**claim, **finding_fields(reasons, probabilities)}))
    return closed("judged_claims", {"claims": claims, "skipped": skipped_schema(skips)})
