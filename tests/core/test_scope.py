"""Scopes: what is opened on the way is closed once, and not while somebody still uses it."""

from __future__ import annotations

import asyncio

from everyclaim.core.lifetime import SharedScope, on_close, scope


def test_calls_that_overlap_share_a_scope_that_the_last_one_closes() -> None:
    """The first to open may end before the others."""
    shared, seen = SharedScope(), []

    async def close() -> None:
        seen.append("closed")

    async def call(name: str, turns: int) -> None:
        async with scope(), shared.joined() as is_first:
            if is_first:
                on_close(close)
                seen.append(f"{name} opens")
            for _ in range(turns):
                await asyncio.sleep(0)
            seen.append(f"{name} ends")

    async def main() -> None:
        await asyncio.gather(call("a", 1), call("b", 5))
        await call("c", 1)

    asyncio.run(main())
    assert seen == ["a opens", "a ends", "b ends", "closed", "c opens", "c ends", "closed"]
