"""Validate and repair one answer before it is shown.

`everyclaim.Guard` puts a guard together from specs; the parts are here: `Loop` for whole answers, `stream` for
answers that are checked while they are written, `Rules` for what may pass.
"""

from everyclaim.guard.answers import Attempt, GuardedAnswer, GuardedSentence, Removed
from everyclaim.guard.authors import Author, ChatAuthor, FunctionAuthor, Generate, SplitAuthors, Task
from everyclaim.guard.claim_removal import Cut, cut
from everyclaim.guard.loop import Loop
from everyclaim.guard.rules import Action, Repair, Rules
from everyclaim.guard.streaming import stream

__all__ = [
    "Action",
    "Attempt",
    "Author",
    "ChatAuthor",
    "Cut",
    "FunctionAuthor",
    "Generate",
    "GuardedAnswer",
    "GuardedSentence",
    "Loop",
    "Removed",
    "Repair",
    "Rules",
    "SplitAuthors",
    "Task",
    "cut",
    "stream",
]
