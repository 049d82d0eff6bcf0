"""What judges are told: versioned prompts, each with its reply schema and the strict reader of its replies.

A prompt is pure: data in, messages out; a reply's JSON in, typed values out. Text under test is only ever
data inside a JSON document (`documents`). Change the words of a prompt and its version changes with them.
"""

from everyclaim.prompts.domain import Domain, OwnRules, read_domain, read_own_rules
from everyclaim.prompts.split import SplitPrompt, SplitTask
from everyclaim.prompts.verdicts import Finding, JudgePrompt, NliPrompt, OneCallPrompt, Strictness, VerdictPrompt

__all__ = [
    "Domain", "Finding", "JudgePrompt", "NliPrompt", "OneCallPrompt", "OwnRules", "SplitPrompt", "SplitTask",
    "Strictness", "VerdictPrompt", "read_domain", "read_own_rules",
]  # fmt: skip
