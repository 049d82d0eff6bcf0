"""Validate and repair one answer before it is shown.

`everyclaim.Guard` puts a guard together from specs; the parts are here: `Loop` for whole answers, `stream` for
answers that are checked while they are written, `Rules` for what may pass.
"""

from everyclaim.guard.answers import GuardedAnswer, GuardedSentence
from everyclaim.guard.authors import FunctionAuthor, Task
from everyclaim.guard.claim_removal import cut
from everyclaim.guard.loop import Loop
from everyclaim.guard.rules import Rules
from everyclaim.guard.streaming import stream

__all__ = ["FunctionAuthor", "GuardedAnswer", "GuardedSentence", "Loop", "Rules", "Task", "cut", "stream"]
