"""Records as passages: what a field answers, whose value it is, and how its words are joined."""

from __future__ import annotations

import json

import pytest

import everyclaim as ec
from everyclaim.core.types import Verdict

JUDGES = ("embedded", "lexical")
HOUSE = {
    "address": "9 Mill Lane", "bedrooms": 3, "garden": True, "garage": False, "sold": False, "containsAsbestos": False,
    "smokers": "no", "RestaurantsTakeOut": True, "RestaurantsDelivery": None, "backups_enabled": True, "parking": {"valet": False, "street": True},
    "accidents": 0, "warnings": [], "WiFi": True,
}  # fmt: skip
TIMES = {
    "check_in": "15:00", "check_out": "11:00", "seats": {"business": 20, "economy": 160},
    "prices_chf": {"single": 140, "double": 190}, "max_students": 40, "enrolled": 37,
}  # fmt: skip
SERVICES = [
    {"service": "postgres", "status": "running", "port": 5432, "encrypted": True},
    {"service": "redis", "status": "stopped", "port": 6379, "encrypted": False},
]


def verdict(claim: str, record: object, judge: str = "embedded") -> Verdict:
    return ec.verify_claims(claim, json.dumps(record), judge=judge)[0].verdict


@pytest.mark.parametrize(
    "claim",
    ["It has a garage.", "It has been sold.", "The house contains asbestos.", "It offers valet parking."],
)
def test_what_a_field_denies_is_not_supported(claim):
    """The difference is the field."""
    found = verdict(claim, HOUSE)
    assert found.label != "SUPPORTED"
    span = found.difference.passage
    assert json.dumps(HOUSE)[span.start : span.end].endswith("false")


@pytest.mark.parametrize(
    ("right", "crossed", "value"),
    [
        ("Check-in is from 3 PM.", "Check-in is from 11 AM.", "15:00"),
        ("There are 160 economy seats.", "There are 20 economy seats.", "160"),
        ("A double room costs CHF 190.", "A double room costs CHF 140.", "190"),
        ("37 students are enrolled.", "40 students are enrolled.", "37"),
        ("It has 20 business and 160 economy seats.", "Check-out is at 3 PM.", "11:00"),
    ],
)
def test_the_value_of_another_field_supports_nothing(right, crossed, value):
    """A value that stands under another label than the claim names is in conflict with the one that stands there."""
    for judge in JUDGES:
        good, bad = verdict(right, TIMES, judge), verdict(crossed, TIMES, judge)
        assert good.label == "SUPPORTED"
        assert good.probabilities.supported > bad.probabilities.supported + 0.1
    assert bad.label != "SUPPORTED"
    assert f"the passage says {value}" in bad.rationale


@pytest.mark.parametrize(
    ("right", "crossed"),
    [
        ("Postgres is running.", "Redis is running."),
        ("Redis is stopped.", "Postgres is stopped."),
        ("Postgres listens on port 5432.", "Postgres listens on port 6379."),
        ("Redis is not encrypted.", "Redis is encrypted."),
    ],
)
@pytest.mark.parametrize("judge", JUDGES)
def test_what_is_said_of_another_record_of_a_list_supports_nothing(right, crossed, judge):
    """Redis is stopped, and only Postgres is running: in a list, and in records one after another."""
    lines = "\n".join(map(json.dumps, SERVICES))
    for passage in (json.dumps({"services": SERVICES}), lines):
        good, bad = (ec.verify_claims(claim, passage, judge=judge)[0].verdict for claim in (right, crossed))
        assert good.probabilities.supported > bad.probabilities.supported
        assert all("5432" not in it.quote and "running" not in it.quote for it in bad.evidence) or "Postgres" in crossed


@pytest.mark.parametrize("judge", JUDGES)
def test_a_bare_number_counts_what_its_label_says(judge):
    """Three bedrooms are not four."""
    good, bad = (verdict(f"The house has {number} bedrooms.", HOUSE, judge) for number in ("three", "four"))
    assert good.label == "SUPPORTED" != bad.label
    assert "the passage says 3, the claim says four" in bad.rationale


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Wi-Fi is available.", '{"WiFi": true, "pool": false}'),
        ("Takeout is available.", '{"RestaurantsTakeOut": true, "pool": false}'),
        ("Guests may order takeout.", "Guests may order take-out until ten. The pool is closed."),
        ("Guests receive an e-mail.", "Every guest receives an email. The pool is closed."),
    ],
)
def test_compounds_are_compared_as_the_passage_joins_them(claim, passage):
    """No word is said to be missing that the passage writes as two, or as one."""
    wrong = ec.verify_claims(claim.replace(".", " on the moon."), passage)[0].verdict
    assert "moon" in wrong.rationale
    assert not {"'Fi'", "'takeout'", "'Takeout'", "'mail'"} & set(wrong.rationale.replace(",", "").split())
    assert ec.verify_claims(claim, passage)[0].verdict.label == "SUPPORTED"


ORDER = {
    "order": {
        "id": 1042, "status": "shipped", "gift_wrap": None, "priority": "high", "payment_method": "credit_card",
        "shipping": {"state": "in_transit", "carrier": "DHL"}, "refund_status": "PARTIALLY_REFUNDED",
    },
    "user": {"plan": "premium", "subscription_status": "past_due", "newsletter": {"subscribed": False}},
}  # fmt: skip


@pytest.mark.parametrize(
    "claim",
    ["The order is in transit.", "The order was partially refunded.", "The order was paid by credit card.",
     "The user is not subscribed to the newsletter."],
)  # fmt: skip
@pytest.mark.parametrize("judge", JUDGES)
def test_values_joined_by_underscores_are_words(claim, judge):
    """A name such as in_transit or PARTIALLY_REFUNDED is read as a claim words it."""
    assert verdict(claim, ORDER, judge).label == "SUPPORTED"
