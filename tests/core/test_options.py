"""One reader of what specs say: the same rules and the same words for every component."""

from __future__ import annotations

import pytest

import everyclaim as ec

TEXT = "The kettle is red."


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have one, so that it is not what is missed first."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")


def refusal(**options: object) -> str:
    """Return what is said of options that are refused."""
    with pytest.raises(ec.ConfigError) as raised:
        ec.score(response=TEXT, passages=[TEXT], **options)  # type: ignore[arg-type]
    return str(raised.value)


@pytest.mark.parametrize(
    ("option", "value", "allowed"),
    [
        ("repeats", 0, "a whole number from 1 to 1,000, got 0"),
        ("evidence", "maybe", "one of flag, required, got 'maybe'"),
        ("hedges", "strickt", "one of flag, strict, got 'strickt'; did you mean 'strict'?"),
    ],
)
def test_a_wrong_value_gets_the_same_words_in_a_spec_and_in_python(option: str, value: object, allowed: str) -> None:
    """Only whose option it is differs."""
    assert refusal(judge=f"openai:m?{option}={value}") == f"{option} of 'openai' must be {allowed}"
    assert refusal(judge="openai:m", **{option: value}) == f"{option} of score() must be {allowed}"
