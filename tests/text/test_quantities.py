"""Quantities: the same however they are written, and never made out of what is no quantity."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everyclaim.text.agreement import conflict, relation, same
from everyclaim.text.quantities import quantities
from everyclaim.text.tokens import word_set


def read(text):
    return [(text[q.start : q.end], q.low, q.dimension) for q in quantities(text)]


def one(text):
    (quantity,) = quantities(text)
    return quantity


@pytest.mark.parametrize(
    ("text", "value", "dimension"),
    [
        ("twenty-one dogs", 21, "count"),
        ("two hundred and five thousand people", 205_000, "count"),
        ("a hundred and one nights", 101, "count"),
        ("two and a half million users", 2_500_000, "count"),
        ("half a million users", 500_000, "count"),
        ("2.8 million people", 2_800_000, "count"),
        ("1k users", 1000, "count"),
        ("a half dozen users", 6, "count"),
        ("half a dozen users", 6, "count"),
        ("1,5 Mio. Euro", 1_500_000, "money:EUR"),
        ("drei Milliarden: 3 Milliarden Euro", 3_000_000_000, "money:EUR"),
        ("48.35+/-3.82%", 48.35, "percent"),
        ("5.1 ± 0.3 kg", 5100, "mass"),
        ("24 Monate", 24 * 2_629_800, "duration"),
        ("2 Jahre", 2 * 31_557_600, "duration"),
        ("3 semaines", 3 * 604_800, "duration"),
        ("2 años", 2 * 31_557_600, "duration"),
        ("the P-1700", 1700, "label"),
        ("GPT-3.5", 3.5, "label"),
        ("two dozen eggs", 24, "count"),
        ("1,234,567 rows", 1_234_567, "count"),
        ("about 1500 people", 1500, "count"),
        ("they met twice", 2, "count"),
        ("the third attempt", 3, "ordinal"),
        ("the 22nd attempt", 22, "ordinal"),
        ("the twenty-first attempt", 21, "ordinal"),
        ("20%", 20, "percent"),
        ("20 per cent", 20, "percent"),
        ("half of the users", 50, "percent"),
        ("three quarters of the users", 75, "percent"),
        ("5 percentage points", 5, "percentage_point"),
        ("$5 million", 5_000_000, "money:USD"),
        ("USD 5m", 5_000_000, "money:USD"),
        ("€1.2bn", 1_200_000_000, "money:EUR"),
        ("10 € each", 10, "money:EUR"),
        ("5 dollars and 20 cents", 5.2, "money:USD"),
        ("two hours forty minutes", 9600, "duration"),
        ("2h 40m", 9600, "duration"),
        ("an hour and a half", 5400, "duration"),
        ("half an hour", 1800, "duration"),
        ("two and a half hours", 9000, "duration"),
        ("a 25-year-old man", 25 * 31_557_600, "duration"),
        ("5 ft 11 in", 1.8034, "length"),
        ("5'11\" tall", 1.8034, "length"),
        ("1/2 cup of sugar", 0.11829412, "volume"),
        ("2 ½ cups of sugar", 0.5914706, "volume"),
        ("177 °C", 177, "temperature"),
        ("minus 5 degrees Celsius", -5, "temperature"),
        ("the fare minus €39", 39, "money:EUR"),
        ("it is minus €39", -39, "money:EUR"),
        ("€-39", -39, "money:EUR"),
        ("-€39", -39, "money:EUR"),
        ("60 miles an hour", 26.8224, "speed"),
        ("3 square miles", 7769964.33, "area"),
        ("16GB of memory", 16e9, "data"),
        ("section 3", 3, "label"),
        ("12 lakh households", 1_200_000, "count"),
        ("₹5 crore", 50_000_000, "money:INR"),
        ("14.5m passengers", 14_500_000, "count"),
        ("5.6 × 10^9 cells", 5_600_000_000, "count"),
        ("10⁶ cells", 1_000_000, "count"),
        ("1.234,5 km²", 1_234.5e6, "area"),
        ("12 500 hectares", 125e6, "area"),
        ("1'250'000 francs", 1_250_000, "money:CHF"),
        ("1.500.000 euros", 1_500_000, "money:EUR"),
        ("3,50 €", 3.5, "money:EUR"),
        (".5 volts", 0.5, "voltage"),
        ("a couple of nurses", 2, "count"),
        ("half a dozen eggs", 6, "count"),
        ("fifteen hundred workers", 1500, "count"),
        ("three times that week", 3, "count"),
        ("on 14 occasions", 14, "count"),
        ("One in five adults", 20, "percent"),
        ("4 out of ten students", 40, "percent"),
        ("half a year", 15_778_800, "duration"),
        ("a minute and a half", 90, "duration"),
        ("two-and-a-half weeks", 1_512_000, "duration"),
        ("the surgery took two hours forty.", 9600, "duration"),
        ("she ran it in 2:03:59", 7439, "duration"),
        ("the song lasts 3:45", 225, "duration"),
        ("aged 34", 34 * 31_557_600, "duration"),
        ("350F", 176.666667, "temperature"),
        ("a 10k race", 10_000, "length"),
        ("25p", 0.25, "money:GBP"),
        ("World War II", 2, "label"),
        ("the World War 2 ended", 2, "label"),
        ("King Henry the Eighth married", 8, "label"),
        ("type II diabetes", 2, "label"),
    ],
)
def test_a_quantity_has_a_value_in_the_base_unit(text, value, dimension):
    """Digits, words, fractions, multipliers, currencies and units all end in one number and a dimension."""
    quantity = one(text)
    assert quantity.dimension == dimension
    assert quantity.low == pytest.approx(value)
    assert quantity.low == quantity.high


@pytest.mark.parametrize(
    "text",
    [
        "one of them, no one, another one",
        "version 3.11.2",
        "call 555-1234 or 555-123-4567",
        "as shown in [12] and [3, 4]",
        "vitamin B12, R-2D2, AB-12-C, sub-5",
        "born on 14 March 1879, died in 1955",
        "at 3 pm on Monday, in the 1990s",
        "1. Mix the flour",
        "open 24/7",
        "nobody counted anything here",
        "At home I saw him, in Berlin I waited",
        "a year ago, a month later",
        "call at 3:45 pm",
        "",
    ],
)
def test_what_is_no_quantity_is_left_alone(text):
    """Pronouns, versions, telephone numbers, citations, names, dates and list marks are not quantities."""
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("8 to 10 minutes", 480, 600),
        ("8–10 minutes", 480, 600),
        ("between 8 and 10 minutes", 480, 600),
        ("$5-10 million", 5e6, 1e7),
        ("5 to 10 million dollars", 5e6, 1e7),
        ("200-300 people", 200, 300),
        ("at least 5 users", 5, math.inf),
        ("more than 3 cats", 3, math.inf),
        ("no more than 3 cats", -math.inf, 3),
        ("up to 10 users", -math.inf, 10),
        ("5 or more users", 5, math.inf),
        ("under 2 km", -math.inf, 2000),
    ],
)
def test_ranges_and_bounds_stay_whole(text, low, high):
    """A range is one quantity, and a bound is open at its other end."""
    quantity = one(text)
    assert (quantity.low, quantity.high) == (low, high)


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        ("two hours forty minutes", "2 h 40 min", "same"),
        ("two hours forty minutes", "160 minutes", "same"),
        ("three hours", "about three hours", None),
        ("about 3 hours", "approximately three hours", "same"),
        ("about three hours", "five hours", "conflict"),
        ("26.2 miles", "42.2 km", "same"),
        ("26.2 miles", "45 km", "conflict"),
        ("5 miles", "8 km", "same"),
        ("12 months", "one year", "same"),
        ("8 to 10 minutes", "8-10 min", "same"),
        ("8 to 10 minutes", "9 minutes", None),
        ("8 to 10 minutes", "12 minutes", "conflict"),
        ("8 to 10 minutes", "8 to 12 minutes", "conflict"),
        ("350 degrees F", "350 degrees", "same"),
        ("375 degrees F", "350 degrees", "conflict"),
        ("375 degrees F", "350 degrees F", "conflict"),
        ("177 °C", "350 °F", "same"),
        ("2.8 million people", "2,812,345 people", "same"),
        ("2.8 million people", "3 million people", "conflict"),
        ("at least 5 users", "7 users", None),
        ("at least 5 users", "3 users", "conflict"),
        ("five dogs", "six dogs", "conflict"),
        ("five dogs", "six cats", None),
        ("half of the users", "50%", "same"),
        ("a third of the users", "33%", "same"),
        ("$5", "€5", "conflict"),
        ("$5", "€6", None),
        ("5%", "5 percentage points", None),
        ("14 people", "15 people", "conflict"),
        ("section 3", "section 4", "conflict"),
        ("the P-1700", "the P-1699", "conflict"),
        ("GPT-4", "GPT 4", "same"),
        ("the P-1700", "the B-1699", None),
        ("24 Monate", "2 Jahre", "same"),
        ("24 Monate", "3 Jahre", "conflict"),
        ("3,5 mm", "5.3 mm", "conflict"),
        ("under the age of 18", "younger than 18", "same"),
    ],
)
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


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        ("2,800,000 people", "2.8 million people", "equal"),
        ("2.3 million people", "2,314,000 people", "rounded"),
        ("2,314,000 people", "2.3 million people", "none"),
        ("8,849 m", "8,848.86 metres", "rounded"),
        ("42.2 km", "26.2 miles", "converted"),
        ("3.05 metres", "10 feet", "converted"),
        ("4 litres", "10 feet", "none"),
        ("nearly 50,000 fans", "49,870 fans", "about"),
        ("nearly 50,000 fans", "50,200 fans", "none"),
        ("just over 50,000 fans", "50,200 fans", "about"),
        ("about 2.3 million people", "3.2 million people", "differs"),
        ("more than 5,000 homes", "5,212 homes", "within"),
        ("more than 6,000 homes", "5,212 homes", "differs"),
        ("more than 80 countries", "15 million copies", "none"),
        ("at least 40 people", "no fewer than 40 people", "equal"),
        ("at least 17 ships", "at least 27 ships", "differs"),
        ("a maximum of 300 guests", "up to 200 guests", "differs"),
        ("0.57 litres", "a pint and 1 pint", "converted"),
        ("450 pounds", "£450", "equal"),
        ("7,500", "£7,500", "equal"),
        ("$30 per hour", "$30/hour", "equal"),
        ("$30 per hour", "$30 per day", "differs"),
        ("34 years old", "aged 34", "equal"),
        ("over 4 years", "age 31", "none"),
        ("the third phase", "phase 3", "equal"),
        ("chapter IV", "chapter 6", "differs"),
        ("1,234 people", "1.234 people", "equal"),
    ],
)
def test_a_claim_may_round_convert_or_loosen_what_its_passage_states(mine, theirs, expected):
    """The relation of a claim's value to a passage's is named, and goes one way."""
    assert relation(one(mine), quantities(theirs)[-1]) == expected
