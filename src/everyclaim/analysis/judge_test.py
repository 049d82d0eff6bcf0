"""How well a judge did on labelled claims of several kinds, and whether that is enough to let it judge.

Fit to judge is who meets all of `RULE`; `why_not` names what is missed. Right means: supported claims called
supported, all others not. Whether unsupported and contradicted are told apart is said beside it and decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from everyclaim.analysis.estimates import plain
from everyclaim.core.types import Label, Provenance, Usage
from everyclaim.core.wire import provenance_to_json
from everyclaim.stats.intervals import Estimate, clustered_mean

MOST_UNJUDGED = 3  # claims without a usable verdict, of 90
LEAST_RIGHT = 0.75  # the lower end of accuracy's 95 % interval
LEAST_OF_EACH = 0.8  # of the supported claims, and of the others
LEAST_OF_A_KIND = 0.5
LEAST_QUOTES = 0.9  # of the quotes given
RULE = (
    f"the interval of accuracy begins at {LEAST_RIGHT:.0%} or above; of the supported claims and of the others "
    f"at least {LEAST_OF_EACH:.0%} each are right, and {LEAST_OF_A_KIND:.0%} of every kind; of the verdicts with "
    f"quotes {LEAST_QUOTES:.0%} have them all from the passages; at most {MOST_UNJUDGED} claims have no usable verdict"
)


class TriedClaim(NamedTuple):
    """One claim of the test with what became of it; `given` is None without a usable verdict."""

    kind: str
    passages: str  # which set of passages
    claim: str
    expected: Label
    given: Label | None
    quotes_lost: bool = False
    quotes_given: bool = False
    why: str = ""  # the judge's reason, or why there is no verdict

    @property
    def is_right(self) -> bool:
        """Whether it was rightly called supported or not."""
        return self.given is not None and (self.given is Label.SUPPORTED) == (self.expected is Label.SUPPORTED)


@dataclass(frozen=True, slots=True)
class JudgeTest:
    """What a judge did, as shares of the claims with a verdict.

    Intervals are over sets of passages, those of `kinds`, which have two sets each, over claims.
    """

    judge: str
    accuracy: Estimate
    kinds: Mapping[str, Estimate]
    supported: Estimate  # of the supported claims: called so
    not_supported: Estimate  # of the others: not called supported
    told_apart: Estimate  # of the others that were found: unsupported and contradicted kept apart
    quotes_found: Estimate  # of the verdicts with quotes: all of them in the passages
    unjudged: int
    answered: tuple[TriedClaim, ...]
    usage: Usage
    provenance: Provenance
    beside: JudgeTest | None = None  # the offline judge, on the same claims

    @property
    def why_not(self) -> tuple[str, ...]:
        """What of the rule is missed; empty when the judge is fit to judge."""
        faults = []
        if self.unjudged > MOST_UNJUDGED:
            faults.append(f"{self.unjudged} claims have no usable verdict (at most {MOST_UNJUDGED})")
        if (low := self.accuracy.low or 0.0) < LEAST_RIGHT:
            faults.append(f"accuracy may be as low as {low:.0%} (at least {LEAST_RIGHT:.0%})")
        sides = (("supported claims", self.supported), ("claims that are not supported", self.not_supported))
        faults += [
            f"{share.value or 0.0:.0%} of the {name} are right (at least {LEAST_OF_EACH:.0%})"
            for name, share in sides
            if (share.value or 0.0) < LEAST_OF_EACH
        ]
        faults += [
            f"more often wrong than right on the kind '{kind}'"
            for kind, share in self.kinds.items()
            if (share.value or 0.0) < LEAST_OF_A_KIND
        ]
        if self.quotes_found.value is not None and self.quotes_found.value < LEAST_QUOTES:
            faults.append(
                f"{1 - self.quotes_found.value:.0%} of the verdicts with quotes have one that is in no passage "
                f"(at most {1 - LEAST_QUOTES:.0%})"
            )
        return tuple(faults)

    @property
    def is_fit(self) -> bool:
        """Whether it meets all of `RULE`."""
        return not self.why_not

    @property
    def wrong(self) -> list[TriedClaim]:
        """The claims that it judged wrongly, or not at all."""
        return [claim for claim in self.answered if not claim.is_right]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON: shares with their intervals, the rule, and every claim that was judged wrongly."""
        names = ("accuracy", "supported", "not_supported", "told_apart", "quotes_found")
        whole = {name: plain(getattr(self, name)) for name in ("judge", *names, "kinds", "unjudged")}
        beside = self.beside and {name: plain(getattr(self.beside, name)) for name in ("judge", "accuracy", "kinds")}
        wrong = [
            {name: getattr(claim, name) for name in ("kind", "claim", "expected", "given", "why")}
            for claim in self.wrong
        ]
        return whole | {
            "fit": self.is_fit,
            "why_not": list(self.why_not),
            "rule": RULE,
            "wrong": wrong,
            "beside": beside,
            "usage": plain(self.usage),
            "provenance": provenance_to_json(self.provenance),
        }


def judge_test(judge: str, answered: Sequence[TriedClaim], usage: Usage, provenance: Provenance) -> JudgeTest:
    """Count what a judge did."""
    judged = [claim for claim in answered if claim.given is not None]
    supported = [claim for claim in judged if claim.expected is Label.SUPPORTED]
    others = [claim for claim in judged if claim.expected is not Label.SUPPORTED]
    found = [claim for claim in others if claim.is_right]
    quoting = [claim for claim in judged if claim.quotes_given]
    kinds = dict.fromkeys(claim.kind for claim in answered)
    return JudgeTest(
        judge=judge,
        accuracy=_share(judged),
        kinds={kind: clustered_mean([claim.is_right for claim in judged if claim.kind == kind]) for kind in kinds},
        supported=_share(supported),
        not_supported=_share(others),
        told_apart=_share(found, [claim.given is claim.expected for claim in found]),
        quotes_found=_share(quoting, [not claim.quotes_lost for claim in quoting]),
        unjudged=len(answered) - len(judged),
        answered=tuple(answered),
        usage=usage,
        provenance=provenance,
    )


def _share(claims: Sequence[TriedClaim], right: Sequence[bool] | None = None) -> Estimate:
    values = [claim.is_right for claim in claims] if right is None else right
    return clustered_mean(values, [claim.passages for claim in claims])
