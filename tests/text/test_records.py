"""Records read as sentences that point back at their fields."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import everyclaim as ec
from everyclaim.text.records import fields

CLINIC = {
    "name": "Harbour Clinic",
    "hours": {"Monday": "9:0-17:0", "Sunday": None},
    "attributes": {"StreetParking": True, "DogsAllowed": False, "WiFi": "free"},
    "languages": ["Dutch", "Frisian"],
    "reviews": [
        {
            "stars": 4,
            "text": "The staff were kind and explained everything twice. I waited for an hour, though, with a small child.",
        }
    ],
}
SAID = [
    "Name: Harbour Clinic",
    "Hours, Monday: 9:00–17:00",
    "Hours, Sunday: not given",
    "Street parking: yes",
    "Dogs allowed: no",
    "WiFi: free",
    "Languages: Dutch, Frisian",
    "Stars: 4",
    "Text: The staff were kind and explained everything twice.",
    "I waited for an hour, though, with a small child.",
]


@pytest.mark.parametrize("text", [json.dumps(CLINIC), json.dumps(CLINIC, indent=2), repr(CLINIC), "\n " + repr(CLINIC)])
def test_a_record_reads_as_one_sentence_a_field(text):
    """JSON, pretty or not, and a Python literal say the same."""
    found = fields(text)
    assert [it.text for it in found] == SAID
    assert [text[it.start : it.end][-4:].strip("\"'").lower() for it in found][3:5] == ["true", "alse"]


def test_units_in_the_names_of_fields_stand_behind_their_numbers():
    """`weight_kg` and prices under `prices_gbp` are measured values."""
    text = '{"weight_kg": 11.4, "prices_gbp": {"day": 18, "office": null, "plan": "basic"}, "minutes": 5, "weight_class": 3}'
    assert [it.text for it in fields(text)] == [
        "Weight: 11.4 kg", "Prices, day: 18 gbp", "Prices, office: not given", "Prices, plan: basic", "Minutes: 5",
        "Weight class: 3",
    ]  # fmt: skip


def test_units_of_several_words_and_what_is_empty_are_said():
    """Billions of dollars, degrees; an empty list holds nothing, an empty string is not given."""
    text = '{"gdp_usd_billion": 485, "temperature_c": {"min": -1.5}, "warnings": [], "gate": "", "more": {}}'
    assert [it.text for it in fields(text)] == [
        "Gdp: 485 billion usd", "Temperature, min: -1.5 °C", "Warnings: none", "Gate: not given",
    ]  # fmt: skip


def test_fields_know_the_records_of_lists_they_belong_to():
    """The list by its place, the record by its number; records one after another are a list, too."""
    found = fields('{"to": [{"a": 1}, {"a": 2, "of": [{"b": 3}]}], "c": 4}')
    assert [[item for _, item in it.rows] for it in found] == [[1, 1], [1, 2], [1, 2, 1], [1]]


def test_records_after_each_other_are_read():
    """JSON lines are one record after another."""
    text = '{"town": "Aba", "inhabitants": 12}\n{"town": "Boe", "inhabitants": 40}'
    assert [it.text for it in fields(text)] == ["Town: Aba", "Inhabitants: 12", "Town: Boe", "Inhabitants: 40"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain text",
        "[1] The pump was recalled: see page 4.",
        "[09:02] Chair: Morning. Only one item today.",
        '{"name": "cut off in the mid',
        '{"a": 1',
        '{"a" 1}',
        '{"a": 1]',
        '{"a": {1}}',
        "{}",
        "[1, 2, 3]",
        "[" * 5000,
        '{"a":' * 5000,
        "{" + '"' * 100_000,
    ],
)
def test_other_texts_are_no_records(text):
    """What only begins like a record, or is broken, or nested without end, stays plain text."""
    assert fields(text) is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda it: st.lists(it) | st.dictionaries(st.text(), it),
        max_leaves=20,
    )
)
def test_places_of_fields_lie_in_the_record(value):
    """Whatever the values, every field lies within the record, in order."""
    text = json.dumps({"it": value}, ensure_ascii=False)
    found = fields(text) or []
    assert all(0 <= it.start < it.end <= len(text) and it.text for it in found)
    assert [it.end for it in found] == sorted(it.end for it in found)


@pytest.mark.parametrize("judge", ["lexical", "embedded"])
def test_evidence_in_a_record_is_the_field(judge):
    """A claim about one field is judged by it, and points at it rather than at the whole record."""
    record = json.dumps(CLINIC)
    result = ec.score(response="Dogs are allowed. Street parking is there.", passages=[record], judge=judge)
    dogs, parking = result.claims
    allowing = json.dumps(CLINIC).replace('"DogsAllowed": false', '"DogsAllowed": true')
    allowed = ec.score(response="Dogs are allowed.", passages=[allowing], judge=judge).claims[0]
    assert dogs.verdict.probabilities.supported < allowed.verdict.probabilities.supported
    assert allowed.verdict.label == parking.verdict.label == "SUPPORTED"
    assert [it.quote for it in dogs.verdict.evidence] == ['"DogsAllowed": false']
    assert [it.quote for it in parking.verdict.evidence] == ['"StreetParking": true']


def test_evidence_in_a_large_record_is_a_field():
    """A record of many pieces is searched, and its fields are found where they stand."""
    rows = [
        {"station": f"Station {n}", "depth_m": n * 7 % 400, "note": f"Inspected by crew {n % 13}."} for n in range(3000)
    ]
    rows[1777]["keeper"] = "Ottoline Vane"
    record = json.dumps(rows)
    result = ec.score(response="The keeper is Ottoline Vane.", passages=[record])
    assert result.claims[0].verdict.label == "SUPPORTED"
    assert '"keeper": "Ottoline Vane"' in [it.quote for it in result.claims[0].verdict.evidence]


def test_keys_without_end_make_no_record() -> None:
    """Every field would repeat them: a hundred kilobytes above thousands of fields."""
    text = '{"' + "key " * 20_000 + '": {' + ", ".join(f'"a{i}": {i}' for i in range(3000)) + "}}"
    assert fields(text) is None


def test_a_field_without_name_and_value_is_none():
    """There is nothing to say of it."""
    assert [it[:3] for it in fields('{"it": [{"": ""}, {"a": 1}]}')] == [("A: 1", 19, 25)]
