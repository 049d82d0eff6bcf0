"""Quantities, dates and times: the same however they are written, and never made out of what is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from value_rows import rows

from everyclaim.text.agreement import conflict, relation, same
from everyclaim.text.dates import moments
from everyclaim.text.quantities import quantities
from everyclaim.text.tokens import word_set


def read(text):
    return [(text[q.start : q.end], q.low, q.dimension) for q in quantities(text)]


def one(text):
    (quantity,) = quantities(text)
    return quantity


@pytest.mark.parametrize(("text", "value", "dimension"), rows("quantity"))
def test_a_quantity_has_a_value_in_the_base_unit(text, value, dimension):
    """Digits, words, fractions, multipliers, currencies and units all end in one number and a dimension."""
    quantity = one(text)
    assert quantity.dimension == dimension
    assert quantity.low == pytest.approx(value)
    assert quantity.low == quantity.high


@pytest.mark.parametrize("text", [text for (text,) in rows("no quantity")])
def test_what_is_no_quantity_is_left_alone(text):
    """Pronouns, versions, telephone numbers, citations, names, dates and list marks are not quantities."""
    assert read(text) == []


@pytest.mark.parametrize(("text", "low", "high"), rows("range"))
def test_ranges_and_bounds_stay_whole(text, low, high):
    """A range is one quantity, and a bound is open at its other end."""
    quantity = one(text)
    assert (quantity.low, quantity.high) == (low, high)


@pytest.mark.parametrize(("left", "right", "verdict"), rows("compared quantities"))
def test_quantities_are_compared_within_the_precision_stated(left, right, verdict):
    """Equal values are the same in any unit; values that exclude each other conflict; the rest is neither."""
    a, b = one(left), one(right)
    assert same(a, b) == (verdict == "same")
    assert conflict(a, b) == (verdict == "conflict")


PIECES = st.lists(
    st.sampled_from(
        sorted(
            word_set(
                "1 2.8 1,000 350 8-10 to between and 10 at least up about million k two twenty hundred a half third one"
                " hours minutes min h ft in miles km °F °C degrees % $ € dollars of the people dogs - – / 1/2 ½ 3.11.2"
                " 5'11\" ~ + or more World War II the Eighth aged per /h daily nil out in 1:02:30 1.234,5 1'000 lakh 10^6 × 1889"
                " an every second day pint fortnight annually nearly just over \x00 \ud800 🙂 ה İ dozen and-a-half 5m 9999999999999999999999"
            )
        )
    ),
    max_size=14,
).flatmap(lambda words: st.sampled_from([" ", "", "  ", "\n"]).map(lambda gap: gap.join(words)))


@given(PIECES, PIECES)
def test_comparison_is_symmetric_and_consistent(left, right):
    """`same` is reflexive and symmetric, `conflict` is symmetric, and they never both hold."""
    for a in quantities(left):
        assert same(a, a)
        assert not conflict(a, a)
        for b in quantities(right):
            assert same(a, b) == same(b, a)
            assert conflict(a, b) == conflict(b, a)
            assert not (same(a, b) and conflict(a, b))


@pytest.mark.parametrize(("mine", "theirs", "expected"), rows("related quantities"))
def test_a_claim_may_round_convert_or_loosen_what_its_passage_states(mine, theirs, expected):
    """The relation of a claim's value to a passage's is named, and goes one way."""
    assert relation(one(mine), quantities(theirs)[-1]) == expected


def moments_of(text):
    return [[m.year, m.month, m.day, m.hour, m.minute] for m in moments(text)]


def one_moment(text):
    (moment,) = moments(text)
    return moment


@pytest.mark.parametrize(("text", "expected"), rows("moments"))
def test_dates_are_read_as_written(text, expected):
    """Each part is what was said; a part not said is None; a number of things is not a year."""
    assert moments_of(text) == expected


@pytest.mark.parametrize(("left", "right", "verdict"), rows("compared moments"))
def test_moments_are_compared_by_what_both_say(left, right, verdict):
    """Agreement needs a shared part; a difference in any shared part is a conflict."""
    a, b = one_moment(left), one_moment(right)
    assert same(a, b) == (verdict == "same")
    assert conflict(a, b) == (verdict == "conflict")


@pytest.mark.parametrize(("mine", "theirs", "expected"), rows("related moments"))
def test_about_a_time_is_a_few_minutes_to_either_side(mine, theirs, expected):
    """A claim may loosen what its passage gives to the minute; it may not be off without a word."""
    assert relation(one_moment(mine), one_moment(theirs)) == expected
