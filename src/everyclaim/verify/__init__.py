"""(claim, passages) → verdict: the verifiers, the ways to put passages to them, and the check on what they say."""

from everyclaim.verify.aligned import Policy, judged
from everyclaim.verify.strategies import Each, Ranked

__all__ = ["Each", "Policy", "Ranked", "judged"]
