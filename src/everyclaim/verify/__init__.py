"""(claim, passages) → verdict: the verifiers, the ways to put passages to them, and the check on what they say."""

from everyclaim.verify.composed import Each, Ranked
from everyclaim.verify.verdicts import Policy, judged

__all__ = ["Each", "Policy", "Ranked", "judged"]
