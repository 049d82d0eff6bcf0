"""What the judge does not read gets no number: answers and claims in another language, and between two."""

import pytest

import everyclaim as ec
from everyclaim.verify.languages import unread_language_warning

GERMAN = "Die Pumpe wurde 2021 zurückgerufen. Sie ist rot."
ENGLISH = "The tank holds 5 litres and it is made of steel."


@pytest.mark.parametrize("judge", ["lexical", "embedded"])
@pytest.mark.parametrize("metric", ["faithfulness", "nli", "attribution"])
@pytest.mark.parametrize(
    ("response", "passage", "language"),
    [
        (GERMAN, GERMAN, "German"),
        ("Le comité a approuvé le plan en 2019.", "Le comité a rejeté le plan en 2019.", "French"),
        ("El museo abrió sus puertas en 1956.", "El museo abrió sus puertas en 1956.", "Spanish"),
        ("塔高330米。", "塔高330米。", "Chinese"),
        (GERMAN, "The pump was recalled in 2021. It is red.", "German"),
        ("The pump was recalled in 2021.", GERMAN, "German"),
    ],
)
def test_an_answer_that_the_judge_does_not_read_is_unread(judge, metric, response, passage, language):
    """It has no score under any metric, names language and judge, and no sentence of it counts as checked."""
    result = ec.score(response=response, passages=[passage], judge=judge, metric=metric, empty="one")
    assert (result.outcome, result.score) == ("unread", None)
    assert language in result.reason
    assert judge in result.reason
    assert result.unchecked


@pytest.mark.parametrize(
    ("question", "response", "passage"),
    [
        ("Wie groß ist der Tank?", "Der Tank fasst 2,5 Liter.", "Der Tank fasst 1,8 Liter."),
        ("", "Der Tank fasst 1,8 Liter.", "The tank holds 1.8 litres."),
        ("", "The tank holds 1.8 litres.", "Der Tank fasst 1,8 Liter."),
        ("Wie viel Liter fasst der Tank?", "1,8 Liter", "The tank holds 1.8 litres."),
        ("", "Cuesta 12 euros.", "The ticket costs 12 euros."),
        ("", "Deux ans.", "Two years."),
        ("", "Der Smoker kostet 25 Euro.", "The smoker costs 30 euros."),
        ("Quel est le prix ?", "499 euros", "The price is 499 euros."),
    ],
)
def test_short_answers_tell_their_language_by_their_spelling_or_their_question(question, response, passage):
    """Four words are enough, and a bare value is in the language of its question."""
    result = ec.score(question=question, response=response, passages=[passage])
    assert (result.outcome, result.score) == ("unread", None)


@pytest.mark.parametrize(
    ("response", "passage", "ours", "theirs"),
    [
        ("Der Tank fasst 2,5 Liter.", "Der Tank fasst 1,8 Liter.", "2,5", "1,8"),
        ("水箱容量为2.5升。", "该咖啡机的水箱容量为1.8升，由玻璃制成。", "2.5", "1.8"),
        ("保修期为三年。", "保修期为两年。", "三", "两"),
        ("博物馆于1998年5月3日开馆。", "博物馆于1998年5月4日开馆。", "3", "4"),
        ("タンクの容量は2.5リットルです。", "タンクの容量は1.8リットルです。", "2.5", "1.8"),
        ("टंकी में 2.5 लीटर पानी आता है।", "टंकी में 1.8 लीटर पानी आता है।", "2.5", "1.8"),
        ("Escriba un mensaje a ayuda@acme.example.", "Escriba a soporte@acme.example.", "ayuda@", "soporte@"),
    ],
)
def test_another_value_or_address_is_contradicted_in_every_language(response, passage, ours, theirs):
    """The claim is shown with what differs; the answer has no number all the same."""
    result = ec.score(response=response, passages=[passage])
    assert (result.outcome, result.score) == ("unread", None)
    assert [claim.verdict.label for claim in result.claims] == ["CONTRADICTED"]
    assert ours in result.claims[0].verdict.rationale
    assert theirs in result.claims[0].verdict.rationale
    mixed = ec.score(response=f"It is made of steel. {response}", passages=[ENGLISH, passage])
    assert [claim.verdict.label for claim in mixed.claims] == ["SUPPORTED", "CONTRADICTED"]


@pytest.mark.parametrize(
    ("response", "passage"),
    [
        ("水箱容量为1.8升。", "水箱容量为1.8升。"),
        ("保修期为2年。", "保修期为两年。"),
        ("水箱容量为2.5升。", "水箱容量为2500毫升。"),
        ("小杯拿铁的价格为5元。", "大杯拿铁的价格为8元。"),
        ("价格为5元。", "大杯价格为8元，小杯价格为5元。"),
        ("塔高三百三十米。", "塔高330米。"),
    ],
)
def test_the_same_value_or_one_of_another_thing_contradicts_nothing(response, passage):
    """Numerals, other units and sentences about something else."""
    result = ec.score(response=response, passages=[passage])
    assert (result.outcome, result.claims) == ("unread", ())


def test_a_sentence_of_two_languages_is_read_in_part():
    """The English half has a verdict, the German one has none."""
    response = "Der Tank fasst zwei Liter; the warranty lasts two years."
    result = ec.score(response=response, passages=["The tank is made of steel. The warranty lasts two years."])
    assert "unread" in {piece.reason for piece in result.skipped} or result.outcome == "unread"


def test_of_an_answer_in_two_languages_the_part_that_is_read_is_scored():
    """What is left out is listed, and a guard does not call the answer validated."""
    response = f"{ENGLISH} {GERMAN}"
    result = ec.score(response=response, passages=[ENGLISH, "It is red."])
    assert (result.outcome, result.score) == ("scored", 1.0)
    assert {piece.reason for piece in result.unchecked} == {"unread"}
    assert any("German" in warning for warning in result.warnings)
    guard = ec.Guard(None)
    assert guard.answer("", [ENGLISH], response=ENGLISH).checked
    assert not guard.answer("", [ENGLISH], response=response).checked
    assert not guard.answer("", [GERMAN], response=GERMAN).checked


@pytest.mark.parametrize(
    ("response", "passage"),
    [
        (ENGLISH, ENGLISH),
        ("Paris", "Paris"),
        ("Goethe wrote 'Die Leiden des jungen Werthers' in 1774.", "Goethe wrote it."),
        ("The chapter 'Das ist ein schöner Tag' was written in 1901.", "It was written in 1901."),
    ],
)
def test_english_with_foreign_names_is_read(response, passage):
    """A title or a name in another language leaves a sentence English."""
    assert ec.score(response=response, passages=[passage]).outcome == "scored"


@pytest.mark.parametrize(
    ("response", "judge", "said"),
    [
        (GERMAN, "cascade:embedded:2>openai:m?low=0.1", "the answer is in German"),
        (GERMAN, "panel:openai:a|lexical:1", "the answer is in German"),
        ("The tank is red. 塔高330米。", "panel:openai:a|lexical:1", "part of the answer is in Chinese"),
        (GERMAN, "openai:gpt-5-mini", ""),
        (GERMAN, "hf:MoritzLaurer/mDeBERTa-v3-base-xnli", ""),
        (ENGLISH, "cascade:embedded:2>openai:m", ""),
        ("", "cascade:embedded:2>openai:m", ""),
    ],
)
def test_judges_made_of_judges_warn_of_the_one_that_does_not_read(response, judge, said):
    """One of them may read the language: there are verdicts, and a warning."""
    warning = unread_language_warning(response, judge)
    assert said in warning
    assert bool(said) == bool(warning)
