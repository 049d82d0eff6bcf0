"""Records read as sentences that point back at their fields."""

import json

import pytest

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
