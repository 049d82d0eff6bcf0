"""Waiting for several things at once."""

import asyncio

import pytest

from everyclaim.core.gather import gather


async def after(turns, value, done):
    for _ in range(turns):
        await asyncio.sleep(0)
    done.append(value)
    if isinstance(value, Exception):
        raise value
    return value


def test_results_come_in_the_order_asked():
    """Whatever was ready first."""
    assert asyncio.run(gather(after(5 - i, i, []) for i in range(5))) == [0, 1, 2, 3, 4]


def test_an_error_waits_for_the_others_and_the_first_one_is_raised():
    """Nothing is left running behind it."""
    done = []
    errors = [ValueError("early"), KeyError("late")]
    with pytest.raises(KeyError):
        asyncio.run(gather([after(9, "slow", done), after(5, errors[1], done), after(1, errors[0], done)]))
    assert done == [errors[0], errors[1], "slow"]
