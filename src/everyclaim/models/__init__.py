"""Chat models at OpenAI, Anthropic and every endpoint that speaks like them, and networks that run in this process.

`build` puts a chat model together; `Provider` is what a package registers to add one.
"""

from everyclaim.models.chat.providers import Provider

__all__ = ["Provider"]
