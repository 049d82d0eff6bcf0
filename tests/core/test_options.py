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


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"judge": "lexical?treshold=0.4"}, "unknown option 'treshold' of 'lexical'; it takes threshold; did you mean"),
        ({"judge": "embedded?tokens=1_28"}, "tokens of 'embedded' must be a whole number from 32 to 384, got '1_28'"),
        ({"judge": "embedded?tokens=١٢٨"}, "tokens of 'embedded' must be a whole number"),
        ({"judge": "lexical?threshold=nan"}, "threshold of 'lexical' must be a number above 0 and below 1, got 'nan'"),
        ({"judge": "lexical?threshold="}, "threshold of 'lexical' must be a number above 0 and below 1, got ''"),
        ({"judge": "lexical?threshold=1e999"}, "threshold of 'lexical' must be a number above 0 and below 1, got inf"),
        ({"judge": "cascade:lexical>openai:m?audit=2"}, "audit of 'cascade' must be a number from 0 to 1, got 2.0"),
        ({"judge": "openai:m?timeout=soon"}, "timeout of 'openai:m' must be a number of at least 0.001, got 'soon'"),
        ({"judge": "openai:m?reply_tokens=1.5"}, "reply_tokens of 'openai:m' must be a whole number of at least 1"),
        ({"judge": "openai:m?header=X"}, "unknown option 'header' of 'openai:m'"),
        ({"judge": "openai:m?prompt=minicheck&repeats=2"}, "unknown option 'repeats' of a judge with the prompt 'mini"),
        ({"decomposer": "embedded?language=English"}, "language of 'embedded' must be an ISO 639-1 code such as 'en'"),
        ({"decomposer": "embedded?atomicity=mid"}, "atomicity of 'embedded' must be one of high, low, got 'mid'"),
        ({"metric": "nli?unit=word"}, "unit of the metric 'nli' must be one of sentence, claim, got 'word'"),
        ({"metric": "combined?qa=-1"}, "qa of the metric 'combined' must be a number of at least 0, got -1.0"),
        ({"metric": "safe?k=mean"}, "k of the metric 'safe' must be a whole number from 1 to 100,000 or one of median"),
        ({"metric": "safe?settle=maybe"}, "settle of the metric 'safe' must be True or False, got 'maybe'"),
        ({"metric": "factscore?topic=title"}, "topic of the metric 'factscore' must be one of open, question or tag:N"),
    ],
)
def test_every_component_says_what_it_takes(options: dict[str, object], says: str) -> None:
    """Which option, of what, what it may be, and what was said."""
    assert refusal(**options).startswith(says)
