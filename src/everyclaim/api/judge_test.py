"""A judge on trial: short labelled claims of fifteen kinds that ship with the package, before it is trusted or paid for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Unpack

from everyclaim.analysis.judge_test import Answered, JudgeTest, judge_test
from everyclaim.api.components import DEFAULT_JUDGE, JudgeSpec, Strategy
from everyclaim.api.door import public
from everyclaim.api.given_claims import GivenClaims
from everyclaim.api.session import Session
from everyclaim.api.talking import Judging
from everyclaim.core.gather import gather
from everyclaim.core.protocols import Verifier
from everyclaim.core.spec import Spec
from everyclaim.core.types import Claim, Label, Outcome, Passage, Result, Sample, Span, Usage

CASES = 30
KINDS: Mapping[str, str] = {
    "paraphrase": "said in other words",
    "number": "numbers and units",
    "name": "who, and who said it",
    "time": "dates and order in time",
    "negation": "not, never, nobody, unless",
    "scope": "some and all, conditions",
    "addition": "plausible, but not there",
    "spread": "over several passages",
    "record": "records and tables",
    "orders": "text that gives orders",
    "value": "another value, where one can be true or several",
    "absence": "denied, or not mentioned",
    "background": "what follows, and what one has to know",
    "speaker": "claimed by whom, and by nobody",
    "correction": "what a passage takes back",
}


@dataclass(frozen=True, slots=True)
class Case:
    """A set of passages with the claims about it."""

    id: str
    kind: str
    question: str
    passages: tuple[Passage, ...]
    claims: tuple[Claim, ...]
    labels: tuple[Label, ...]


def cases() -> Iterator[Case]:
    """Read the claims of the test: 90 of fifteen kinds, half of each kind supported."""
    for line in files("everyclaim.api").joinpath("judge_test.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        texts = [claim["text"] for claim in row["claims"]]
        yield Case(
            row["id"],
            row["kind"],
            row["question"],
            tuple(Passage(f"p{i}", text) for i, text in enumerate(row["passages"], start=1)),
            tuple(Claim(f"c{i}", text, Span(0, len(text)), text) for i, text in enumerate(texts, start=1)),
            tuple(Label(claim["label"]) for claim in row["claims"]),
        )


class TryOptions(Judging, total=False):
    """What can be chosen about the judging; the names are those of `verify_claims`."""

    strategy: Strategy | None
    strict: bool
    on_case: Callable[[Result], object]  # told of every set of passages that was judged


@public
def try_judge(
    judge: JudgeSpec | Verifier | Callable[..., Any] = DEFAULT_JUDGE, **options: Unpack[TryOptions]
) -> JudgeTest:
    """Let a judge judge 90 short labelled claims of fifteen kinds, and say whether it is fit to judge.

    The claims were written for this, stand on 30 sets of passages, and go to the judge set by set, as those of an
    answer would: about 30 calls of a language model. The same claims go to `embedded`, whose figures stand beside.
    90 claims tell a judge that can judge from one that cannot; they do not rank two good ones, and nothing here knows
    your domain. Options are those of `verify_claims`.

    Raises `ConfigError` for an unknown judge or a wrong option, and `BudgetExceeded` at a limit.
    """
    on_case = options.pop("on_case", None)
    with closing(Session({**options, "judge": judge})) as session:
        found = session.run(_tried(session, on_case))
    if isinstance(judge, str) and Spec.parse(judge).name == DEFAULT_JUDGE:
        return found  # beside itself
    with closing(Session({})) as session:
        beside = session.run(_tried(session, None))
    return judge_test(found.judge, found.answered, found.usage, found.provenance, beside)


async def _tried(session: Session, on_case: Callable[[Result], object] | None) -> JudgeTest:
    ask = GivenClaims.of(session, "judge-test", labels_only=True)

    async def about(case: Case) -> Result:
        response = " ".join(claim.text for claim in case.claims)
        result = await ask.result(Sample(case.id, response, case.passages, case.question), case.claims)
        if on_case:
            on_case(result)
        return result

    everything = list(cases())
    results = await gather(about(case) for case in everything)
    answered = [one for case, result in zip(everything, results, strict=True) for one in _answers(case, result)]
    made_by = ask.provenance
    return judge_test(made_by.verifier, answered, sum((r.usage for r in results), Usage()), made_by)


def _answers(case: Case, result: Result) -> Sequence[Answered]:
    """Sort out what became of a case; where its judge failed no claim of it has a verdict."""
    asked = zip(case.claims, case.labels, strict=True)
    if result.outcome is not Outcome.SCORED:
        return [Answered(case.kind, case.id, claim.text, label, None, why=result.reason) for claim, label in asked]
    verdicts = {claim.id: claim.verdict for claim in result.claims}
    return [
        Answered(
            case.kind,
            case.id,
            claim.text,
            label,
            verdicts[claim.id].label,
            quotes_lost="quote_not_found" in verdicts[claim.id].flags,
            quotes_given=bool(verdicts[claim.id].evidence) or "quote_not_found" in verdicts[claim.id].flags,
            why=verdicts[claim.id].rationale,
        )
        for claim, label in asked
    ]
