"""Comparisons: what is more, sooner or cheaper is held against the values, and the comparisons, of the passages."""

from __future__ import annotations

import pytest

import everyclaim as ec

CHEESES = """| Cheese | Ripening (weeks) | Price (EUR per kg) | Fat |
| --- | --- | --- | --- |
| Almtaler | 16 | 24.50 | 48 % |
| Rotsepp | 6 | 31.00 | 52 % |
| Weissbart | 2 | 18.90 | 30 % |"""
REVENUE = """| | 2021 | 2022 |
| --- | --- | --- |
| Alpha revenue (million euros) | 14.2 | 17.9 |
| Beta revenue (million euros) | 8.1 | 6.4 |"""
BAGS = (
    '[{"name": "Osprey 20", "weight_kg": 1.1, "price_eur": 89, "warranty_years": 2},'
    ' {"name": "Heron 35", "weight_kg": 1.6, "price_eur": 74, "warranty_years": 5}]'
)
TOWNS = (
    '[{"city": "Visby", "population": 24000}, {"city": "Kalmar", "population": 41000},'
    ' {"city": "Lund", "population": 94000}]'
)
FLOWERS = '{"Tulip": {"planting_depth_cm": 15, "flowering_weeks": 3}, "Crocus": {"planting_depth_cm": 8, "flowering_weeks": 2}}'
RIPENS = "The Bergfried ripens for twelve months, the Graukar for four weeks."
HIGH = "Torvald Tower is 143 m high. Its neighbour, Halden House, is 97 m high."
STATIONS = "Station Ebnat opened in 1912, while Station Krummenau followed in 1931."
BIKES = "The Lyra costs 899 euros and the Vega 1,099 euros."
FOUNDED = "The library was founded in 1911. The museum was founded in 1934."
TWINS = [
    (BIKES, "The Lyra is 200 euros cheaper than the Vega.", "The Lyra is 300 euros cheaper than the Vega."),
    (BIKES, "The Lyra is about 18 % cheaper than the Vega.", "The Lyra is about 30 % cheaper than the Vega."),
    (FOUNDED, "The library is 23 years older than the museum.", "The library is 33 years older than the museum."),
    (
        "Unemployment stood at 3.1 % in 2019 and 4.2 % in 2023.",
        "Unemployment was 1.1 percentage points higher in 2023 than in 2019.",
        "Unemployment was 2.1 percentage points higher in 2023 than in 2019.",
    ),
    (
        "The red tent weighs 2.1 kg. The blue tent weighs 1.8 kg.",
        "The red tent is heavier than the blue one.",
        "The red tent is lighter than the blue one.",
    ),
    (RIPENS, "The Graukar is ready sooner than the Bergfried.", "The Graukar is ready later than the Bergfried."),
    (HIGH, "Torvald Tower is taller than Halden House.", "Halden House is taller than Torvald Tower."),
    (STATIONS, "Station Ebnat is older than Station Krummenau.", "Station Ebnat is newer than Station Krummenau."),
    (
        "The lake reaches 24 °C in August but only 6 °C in February.",
        "The lake is warmer in August than in February.",
        "The lake is colder in August than in February.",
    ),
    (
        "Sales of the Nimbus fell to 410 units in March from 560 units in January.",
        "Sales of the Nimbus were lower in March than in January.",
        "Sales of the Nimbus were higher in March than in January.",
    ),
    (
        "The Falke bicycle costs €640. The Habicht bicycle costs €1,280.",
        "The Habicht bicycle costs twice as much as the Falke bicycle.",
        "The Habicht bicycle costs half as much as the Falke bicycle.",
    ),
    (
        "Sesame oil contains much more vitamin E than butter.",
        "There is less vitamin E in butter than in sesame oil.",
        "There is more vitamin E in butter than in sesame oil.",
    ),
    (
        "Unemployment in the canton rose from 2.1 % to 2.8 %.",
        "Unemployment in the canton is higher than before.",
        "Unemployment in the canton is lower than before.",
    ),
    (
        "Norrby and Sandvik have 4,100 and 9,800 inhabitants respectively.",
        "Norrby has fewer inhabitants than Sandvik.",
        "Norrby has more inhabitants than Sandvik.",
    ),
    (CHEESES, "The Rotsepp is more expensive than the Almtaler.", "The Rotsepp is cheaper than the Almtaler."),
    (
        CHEESES,
        "The Weissbart is the cheapest of the three cheeses.",
        "The Almtaler is the cheapest of the three cheeses.",
    ),
    (REVENUE, "Beta revenue was lower in 2022 than in 2021.", "Beta revenue was higher in 2022 than in 2021."),
    (BAGS, "The Heron 35 costs less than the Osprey 20.", "The Heron 35 costs more than the Osprey 20."),
    (
        BAGS,
        "The warranty of the Heron 35 is longer than that of the Osprey 20.",
        "The warranty of the Heron 35 is shorter than that of the Osprey 20.",
    ),
    (TOWNS, "More people live in Kalmar than in Visby.", "Fewer people live in Kalmar than in Visby."),
    (TOWNS, "Lund is the most populous of the three cities.", "Visby is the most populous of the three cities."),
    (FLOWERS, "Tulips are planted deeper than crocuses.", "Tulips are planted shallower than crocuses."),
]
SILENT = [
    ("The oak table weighs 38 kg. The pine table is 210 cm long.", "The oak table is lighter than the pine table."),
    (
        "Station Ebnat opened in 1912. Station Krummenau was renovated in 1931.",
        "Station Ebnat is newer than Station Krummenau.",
    ),
    (
        "The Sonne guesthouse has 22 rooms, and the Adler has 35 parking spaces.",
        "The Sonne has more rooms than the Adler.",
    ),
    (
        "The Falke bicycle costs €640 and the Habicht bicycle $700.",
        "The Habicht bicycle costs less than the Falke bicycle.",
    ),
    ("Zurich is 85 km from Basel and Bern is 95 km from Basel.", "Zurich is larger than Bern."),
    (
        "The Lindau ferry takes 40 minutes and the Rorschach ferry takes an hour and ten minutes.",
        "The Lindau ferry is slower than the Rorschach ferry.",
    ),
    (CHEESES, "The Rotsepp is less salty than the Almtaler."),
    (BAGS, "The Osprey 20 is larger than the Heron 35."),
]


def judged(claim: str, passage: str, judge: str = "embedded") -> ec.Verdict:
    return ec.verify_claims(claim, passage, judge=judge)[0].verdict


@pytest.mark.parametrize(("passage", "true", "false"), TWINS)
def test_a_comparison_is_supported_the_right_way_round_only(passage, true, false):
    """Of two claims that differ in a comparative, the one that the values bear out is supported; the other fails so."""
    assert judged(true, passage).label == "SUPPORTED"
    turned = judged(false, passage)
    assert turned.label == "CONTRADICTED"
    assert turned.failure_mode == "relation"


@pytest.mark.parametrize("judge", ["embedded", "lexical"])
def test_both_values_are_named(judge):
    """The rationale of a comparison names what the passage says of either thing; of a turned one it points there."""
    right = judged("The Graukar is ready sooner than the Bergfried.", RIPENS, judge)
    assert right.rationale == "the passage says four weeks for Graukar and twelve months for Bergfried"
    turned = judged("The Bergfried is ready sooner than the Graukar.", RIPENS, judge)
    assert "twelve months for Bergfried and four weeks for Graukar" in turned.rationale
    assert turned.difference is not None
    assert turned.difference.passage is not None
    assert RIPENS[slice(*turned.difference.passage)] == "twelve months, the Graukar for four weeks"


@pytest.mark.parametrize(("passage", "claim"), SILENT)
def test_values_that_do_not_belong_together_compare_nothing(passage, claim):
    """Values of something else, of another kind or currency, or of two parts, contradict no comparison."""
    verdict = judged(claim, passage)
    assert " for " not in verdict.rationale or "the passage says" not in verdict.rationale
    assert verdict.label != "CONTRADICTED"
