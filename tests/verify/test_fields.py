"""Records as passages: what a field answers, whose value it is, and how its words are joined."""

from __future__ import annotations

import json

import pytest

import everyclaim as ec
from everyclaim.core.types import Verdict
from everyclaim.text.quantities import quantities

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


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize(
    ("right", "wrong", "field"),
    [
        ("It does not have a garage.", "It has a garage.", "Garage: no"),
        ("It has not been sold.", "It has been sold.", "Sold: no"),
        ("The house contains no asbestos.", "The house contains asbestos.", "Contains asbestos: no"),
        ("There are no warnings.", "There are warnings.", "Warnings: none"),
        ("It offers street parking.", "It offers valet parking.", "Parking, valet: no"),
        ("Backups are enabled.", "Backups are disabled.", "Backups enabled: yes"),
        ("Takeout is available.", "Takeout is not available.", "Restaurants take out: yes"),
        ("There is a garden, but no garage.", "There is a garage, but no garden.", "Garden: yes"),
    ],
)
def test_a_field_that_answers_no_speaks_against_what_its_label_says(right, wrong, field, judge):
    """The label is worded as the claim is, and its answer decides; the reason quotes the field."""
    good, bad = verdict(right, HOUSE, judge), verdict(wrong, HOUSE, judge)
    assert good.probabilities.supported > bad.probabilities.supported
    assert field in bad.rationale or bad.label == "SUPPORTED"
    assert field not in good.rationale


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
        assert good.probabilities.supported > bad.probabilities.supported + 0.15
    assert bad.label != "SUPPORTED"
    assert f"passage says {value}" in bad.rationale


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


def test_a_claim_about_several_records_is_read_with_all_of_them():
    """Both are named."""
    assert verdict("Postgres is running, and Redis is stopped.", SERVICES).label == "SUPPORTED"


@pytest.mark.parametrize("judge", JUDGES)
def test_a_bare_number_counts_what_its_label_says(judge):
    """Three bedrooms are not four."""
    good, bad = (verdict(f"The house has {number} bedrooms.", HOUSE, judge) for number in ("three", "four"))
    assert good.label == "SUPPORTED" != bad.label
    assert "passage says 3, claim says four" in bad.rationale


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


@pytest.mark.parametrize(
    ("record", "right", "wrong"),
    [
        ({"no_smoking": True, "pool": False}, "Smoking is not allowed.", "Smoking is allowed."),
        ({"non_refundable": True, "pool": False}, "The fare is non-refundable.", "The fare is refundable."),
        ({"not_available": False, "pool": True}, "It is available.", "It is not available."),
    ],
)
def test_a_label_may_deny_by_itself(record, right, wrong):
    """Fields such as "No smoking: yes" and "Not available: no" turn what they name around."""
    good, bad = (verdict(claim, record, "lexical") for claim in (right, wrong))
    assert good.probabilities.supported > bad.probabilities.supported
    assert "the passage says" not in good.rationale


@pytest.mark.parametrize(
    ("text", "unit"), [("1450 GB", "gigabyte"), ("a disk of 2000 MB", "megabyte"), ("1900 USD", "us_dollar")]
)
def test_a_number_before_a_unit_in_capitals_is_no_year(text, unit):
    """What looks like a year is an amount there; "in 2019 GB won" is not."""
    assert [one.unit for one in quantities(text)] == [unit]
    assert not quantities("In 2019 GB won four medals.")[0].unit


ORDER = {
    "order": {
        "id": 1042, "status": "shipped", "gift_wrap": None, "priority": "high", "payment_method": "credit_card",
        "shipping": {"state": "in_transit", "carrier": "DHL"}, "refund_status": "PARTIALLY_REFUNDED",
    },
    "user": {"plan": "premium", "subscription_status": "past_due", "newsletter": {"subscribed": False}},
}  # fmt: skip
TICKETS = [
    {"ticket": "A-1", "priority": "high", "state": "in_progress"},
    {"ticket": "A-2", "priority": "low", "state": "done"},
]


@pytest.mark.parametrize(
    ("record", "right", "wrong", "field"),
    [
        (ORDER, "The order's status is shipped.", "The order's status is delivered.", "Order, status: shipped"),
        (ORDER, "The order was shipped.", "The order was delivered.", "Order, status: shipped"),
        (ORDER, "The order was shipped.", "The order has been cancelled.", "Order, status: shipped"),
        (ORDER, "The order has high priority.", "The order has low priority.", "Order, priority: high"),
        (
            ORDER,
            "The order was partially refunded.",
            "The order was refunded in full.",
            "Order, refund status: partially refunded",
        ),
        (ORDER, "The user is on the premium plan.", "The user is on the basic plan.", "User, plan: premium"),
        (ORDER, "The subscription is past due.", "The subscription is active.", "User, subscription status: past due"),
        (TICKETS, "Ticket A-1 has high priority.", "Ticket A-1 has low priority.", "Priority: high"),
        (TICKETS, "A-2 is done.", "A-1 is done.", "State: in progress"),
    ],
)
@pytest.mark.parametrize("judge", JUDGES)
def test_a_field_holds_no_other_of_the_values_that_exclude_each_other(record, right, wrong, field, judge):
    """What was shipped is not said to be delivered, however near the words are; the reason quotes the field."""
    good, bad = (verdict(claim, record, judge) for claim in (right, wrong))
    assert good.label == "SUPPORTED" != bad.label
    assert field in bad.rationale


@pytest.mark.parametrize(
    "claim",
    ["The order is in transit.", "The order was partially refunded.", "The order was paid by credit card.",
     "The user is not subscribed to the newsletter."],
)  # fmt: skip
@pytest.mark.parametrize("judge", JUDGES)
def test_values_joined_by_underscores_are_words(claim, judge):
    """A name such as in_transit or PARTIALLY_REFUNDED is read as a claim words it."""
    assert verdict(claim, ORDER, judge).label == "SUPPORTED"


@pytest.mark.parametrize(
    "claim",
    [
        "The order was not delivered.",
        "The order is not cancelled yet.",
        "The order was placed and shipped.",
        "The order was sent.",
    ],
)
def test_what_a_value_does_not_exclude_is_not_held_against_a_claim(claim):
    """Nor is a value that the claim itself denies, or one that means the same."""
    assert "status: shipped" not in verdict(claim, ORDER).rationale


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("claim", ["The order is gift wrapped.", "Gift wrapping was chosen."])
def test_a_field_that_is_not_given_supports_nothing(claim, judge):
    """Its label is worded as the claim is, and nobody has answered; with an answer, that decides."""
    record = {"id": 7, "status": "shipped", "gift_wrap": None, "total_eur": 59.9}
    blank, no, yes = (verdict(claim, record | {"gift_wrap": value}, judge) for value in (None, False, True))
    assert yes.label == "SUPPORTED"
    assert blank.label != "SUPPORTED" != no.label
    assert "the passage says 'Gift wrap: not given'" in blank.rationale or "chosen" in claim
    assert "the passage says 'Gift wrap: no'" in no.rationale


def test_a_word_of_a_claim_that_only_looks_like_a_label_names_no_field():
    """What a guest is stating is no state, and "out of stock" is not said of a replacement that is pending."""
    record = {
        "name": "Hof",
        "state": "CA",
        "replacement": {"status": "pending"},
        "reviews": [{"text": "Charged extra."}],
    }
    claims = ("A guest left a review stating that the food was shipped cold.", "The lamp was shipped on Monday.")
    assert all("the passage says 'State" not in verdict(claim, record).rationale for claim in claims)
    assert all("status: pending" not in verdict(claim, record).rationale for claim in claims)
