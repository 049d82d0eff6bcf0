"""Tables in passages: what stands in one row or column says nothing of another."""

from __future__ import annotations

import pytest

import everyclaim as ec

LEAGUE = """The final table:

| Team | Pts | GF |
| --- | ---: | ---: |
| Man City | 91 | 96 |
| Arsenal | 89 | 91 |
| Liverpool | 82 | 86 |

The season ended in May."""
PLANS = "| Plan | Price | Users |\n|---|---|---|\n| Basic | $10 | 5 |\n| Pro | $20 | 25 |\n| Pro Max | $99 | 500 |"
MODELS = "| | Piccola | Classica | Doppia |\n|---|---|---|---|\n| Heating | 1 thermoblock | 1 boiler | 2 boilers |\n| Heat-up time | 45 seconds | 6 minutes | 11 minutes |\n| Weight | 4.2 kg | 8.9 kg | 14.6 kg |"
YEARS = "| # | Year | Revenue | Staff |\n|---|---|---|---|\n| 1 | 2021 | 4.2 million | 31 |\n| 2 | 2022 | 5.0 million | 40 |\n| 3 | 2023 | 6.3 million | 44 |"


def judged(claim: str, passage: str, judge: str) -> ec.Result:
    return ec.verify_claims(claim, passage, judge=judge)[0]


@pytest.mark.parametrize(
    ("table", "right", "crossed", "value"),
    [
        (LEAGUE, "Arsenal have 89 points.", "Arsenal have 82 points.", "82"),
        (PLANS, "The Pro plan costs $20.", "The Pro plan costs $10.", "$10"),
        (PLANS, "The Pro Max plan has 500 users.", "The Pro Max plan has 25 users.", "25"),
        (MODELS, "The Doppia takes 11 minutes to heat up.", "The Doppia takes 6 minutes to heat up.", "6 minutes"),
        (MODELS, "The Classica weighs 8.9 kg.", "The Classica weighs 14.6 kg.", "14.6 kg"),
        (YEARS, "In 2022 revenue was 5 million.", "In 2022 revenue was 6.3 million.", "6.3 million"),
    ],
)
def test_the_value_of_another_row_or_column_supports_nothing(table, right, crossed, value):
    """A claim with the values of what it names is supported; with those of something else it is not, and is told why."""
    assert judged(right, table, "embedded").verdict.label == "SUPPORTED"
    for judge in ("embedded", "lexical"):
        verdict = judged(crossed, table, judge).verdict
        assert verdict.label != "SUPPORTED"
        assert value in verdict.difference.reason
        assert "not stated" not in verdict.rationale


@pytest.mark.parametrize(
    ("claim", "table"),
    [
        ("Revenue rose from 4.2 million in 2021 to 6.3 million in 2023.", YEARS),
        ("Man City have 91 points and Liverpool have 82.", LEAGUE),
        ("The season ended in May.", LEAGUE),
    ],
)
def test_a_claim_about_several_rows_or_none_is_read_with_all_of_them(claim, table):
    """Rows that a claim names stay together, and so does the text around the table."""
    assert judged(claim, table, "embedded").verdict.label == "SUPPORTED"


BY_BLANKS = """The final table:

Team          Pts   GF   GA
Man City       91   96   34
Arsenal        89   91   29
Liverpool      82   86   41

The season ended in May."""
RULED = "Plan       Price     Users    Support\n---------  --------  -------  ---------\nBasic      $10       5        email\nPro        $20       25       phone\n                              and chat\nPro Max    $99       500      24/7 phone\n"
BY_TABS = "Plan\tPrice\tUsers\nBasic\t$10\t5\nPro\t$20\t25\nPro Max\t$99\t500"


@pytest.mark.parametrize(
    ("table", "right", "crossed"),
    [
        (BY_BLANKS, "Arsenal have 89 points.", "Arsenal have 82 points."),
        (BY_BLANKS, "Liverpool have a GA of 41.", "Liverpool have a GA of 29."),
        (BY_BLANKS, "The season ended in May.", "Man City have 82 points."),
        (RULED, "The Pro plan costs $20.", "The Pro plan costs $10."),
        (RULED, "The Pro Max plan costs $99.", "The Pro Max plan has 25 users."),
        (BY_TABS, "The Pro plan costs $20.", "The Pro plan costs $10."),
    ],
)
def test_columns_laid_out_by_blanks_or_tabs_are_a_table(table, right, crossed):
    """They are read by row and column as those with pipes are."""
    assert judged(right, table, "embedded").verdict.label == "SUPPORTED"
    assert judged(crossed, table, "embedded").verdict.label != "SUPPORTED"
