"""Reading the one JSON object out of what a model wrote."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from everyclaim.core.errors import JudgeError
from everyclaim.models.chat.replies import parse_object

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
objects = st.dictionaries(st.text(max_size=8), values, max_size=4)
prose = st.text(st.characters(exclude_characters="{}"), max_size=40)


def code_of(text: str) -> str:
    with pytest.raises(JudgeError) as caught:
        parse_object(text)
    return caught.value.code


@given(objects, prose, prose, st.booleans(), st.booleans())
def test_an_object_comes_out_as_it_went_in(
    value: dict[str, Any], before: str, after: str, fence: bool, ascii_only: bool
) -> None:
    """Whatever prose or fence stands around it, and however it is escaped."""
    text = json.dumps(value, ensure_ascii=ascii_only)
    text = f"```json\n{text}\n```" if fence else text
    assert parse_object(before + text + after) == value


@given(objects.filter(bool), st.data())
def test_a_cut_object_is_truncated_and_nothing_of_it_is_kept(value: dict[str, Any], data: st.DataObject) -> None:
    """Wherever the cut falls, even where inner objects are whole."""
    text = json.dumps(value)
    cut = data.draw(st.integers(1, len(text) - 1))
    assert code_of(text[:cut]) == "truncated"


@given(st.text(max_size=300))
@example("{" * 100)
@example('{"a":' * 70)
@example('{"a": "\\')
def test_any_text_gives_an_object_or_a_judge_error(text: str) -> None:
    """Never another exception, never a hang."""
    try:
        value = parse_object(text)
    except JudgeError as error:
        value = {error.code: text}
        assert set(value) <= {"empty_reply", "truncated", "malformed"}
    assert isinstance(value, dict)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"a": NaN}',
        '{"a": 1e999}',
        "{'a': 1}",
        '{"a": 1} and {"a": 2}',
        '["a"]',
        '{"a": 1} Wait, corrected: {"a": 2,}',
        "{\"a\": 1} Wait, corrected: {'a': 2}",
        '{"a": 2,} Wait, corrected: {"a": 1}',
        '{"a": ' + "[" * 80 + "]" * 80 + "}",
    ],
)
def test_what_is_not_one_strict_object_is_malformed(text: str) -> None:
    """Duplicate keys, NaN, infinity, Python, trailing commas, two objects, arrays, depth."""
    assert code_of(text) == "malformed"


@pytest.mark.parametrize("text", ["", " \n", "\ufeff", "<think>hm {not this}</think>  "])
def test_blank_is_an_empty_reply(text: str) -> None:
    """Also when all there is was thought aloud."""
    assert code_of(text) == "empty_reply"


@pytest.mark.parametrize("text", ['[{"id": "a"}, {"id": "b"}]', '```\n{"id": "a"}\n{"id": "b"}\n```'])
def test_rows_without_an_object_around_them_are_rows(text: str) -> None:
    """A list of their own, or one after the other; one that comes twice is not taken for one."""
    assert parse_object(text) == {"rows": [{"id": "a"}, {"id": "b"}]}
    assert parse_object(text.replace("b", "a")) == {"rows": [{"id": "a"}, {"id": "a"}]}
    assert code_of(text[: text.rindex('"')]) == "truncated"
    claims = [{"sentence": "s1", "claim": "A."}, {"sentence": "s2", "claim": "B."}]
    assert parse_object(f"First: {json.dumps(claims[0])} Second: {json.dumps(claims[1])}") == {"rows": claims}


@pytest.mark.parametrize("text", ['{"a": [1, 2,], }', "{a: [1, 2]}", '{"a":[1,2,\n]}', 'Here: {"a": [1, 2],}'])
def test_slips_by_which_nothing_is_lost_need_no_second_call(text: str) -> None:
    """A comma too many, a key without quotes."""
    assert parse_object(text) == {"a": [1, 2]}
