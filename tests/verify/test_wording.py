"""Words that say the same in another form are no reason of a verdict: acronyms, parts of a name, decimal commas."""

from __future__ import annotations

import pytest

import everyclaim as ec
from everyclaim.core.types import Label, Verdict

GAME = "Cameron Hardin left the house on Thursday. Before he left, Cameron warned Blue that she was the next target."
SHOT = "Debra Lobo, a native of California, was wounded in Karachi. Police found pamphlets in Lobo's car."
FIRM = "Ilse Varga founded the firm in Tolmark. Her nephew Henrik Varga ran it for years. Then Varga sold it in spring."


def judged(claim: str, *passages: str, judge: str = "lexical") -> Verdict:
    return ec.verify_claims(claim, list(passages), judge=judge)[0].verdict


@pytest.mark.parametrize(
    ("passage", "claim", "wrong"),
    [
        (
            "During World War I, soldiers took refuge in the carved-out rooms.",
            "During WWI, soldiers took refuge in the carved-out rooms.",
            "During WWII, soldiers took refuge in the carved-out rooms.",
        ),
        (
            "The WHO said on Monday that the outbreak in Kenya is over.",
            "The World Health Organization said on Monday that the outbreak in Kenya is over.",
            "The World Trade Organization said on Monday that the outbreak in Kenya is over.",
        ),
        (
            "The United Nations called for a ceasefire in Yemen on Saturday.",
            "The UN called for a ceasefire in Yemen on Saturday.",
            "The EU called for a ceasefire in Yemen on Saturday.",
        ),
        (
            "It was shot at a college in Goldsboro, North Carolina, on Monday.",
            "It was shot at a college in Goldsboro, NC, on Monday.",
            "It was shot at a college in Goldsboro, SD, on Monday.",
        ),
    ],
)
def test_an_acronym_is_what_it_stands_for(passage: str, claim: str, wrong: str) -> None:
    """As good as word for word; another acronym, or another name of like letters, is not."""
    copied, told, other = (judged(one, passage).probabilities for one in (passage, claim, wrong))
    assert copied is not None
    assert told is not None
    assert other is not None
    assert told.supported == pytest.approx(copied.supported, abs=0.05)
    assert other.supported < told.supported - 0.2


@pytest.mark.parametrize(
    ("passage", "copy", "claim"),
    [
        (GAME, "Cameron warned Blue that she was the next target.", "Hardin warned Blue that she was the next target."),
        (GAME, "Cameron warned Blue.", "Cameron Hardin warned Blue."),
        (SHOT, "Police found pamphlets in Lobo's car.", "Police found pamphlets in Debra Lobo's car."),
    ],
)
def test_one_person_may_be_called_by_either_name(passage: str, copy: str, claim: str) -> None:
    """Where the passages know one person of that name, first name, surname and both are alike."""
    copied, told = judged(copy, passage).probabilities, judged(claim, passage).probabilities
    assert copied is not None
    assert told is not None
    assert told.supported == pytest.approx(copied.supported, abs=0.15)


@pytest.mark.parametrize(
    ("passage", "claim", "name"),
    [
        (SHOT, "Police found pamphlets in Anna Lobo's car.", "Anna"),
        (GAME, "Jag warned Blue that she was the next target.", "Jag"),
    ],
)
def test_another_person_stays_another(passage: str, claim: str, name: str) -> None:
    """A name that the passages do not give that person is named as what differs."""
    verdict = judged(claim, passage)
    assert verdict.label is not Label.SUPPORTED
    assert name in verdict.rationale


@pytest.mark.parametrize(
    ("passage", "claim", "cut"),
    [
        (
            "The Boston Marathon is old. He ran in Boston in spring.",
            "He ran in Boston Marathon in spring.",
            "He ran in Boston in spring.",
        ),
        (FIRM, "Then Ilse Varga sold it in spring.", "Then Varga sold it in spring."),
    ],
)
def test_what_is_not_one_person_keeps_its_whole_name(passage: str, claim: str, cut: str) -> None:
    """The Boston Marathon is not Boston; of two Vargas, neither is simply Varga."""
    whole, shortened = judged(claim, passage).probabilities, judged(cut, passage).probabilities
    assert whole is not None
    assert shortened is not None
    assert whole.supported < shortened.supported - 0.02


def test_a_speaker_is_named_as_the_claim_names_him() -> None:
    """The reason quotes the claim, not the name that it was compared under."""
    said = judged("Hardin announced that Jag would be evicted.", GAME, "Felicia announced that Jag would be evicted.")
    assert "claim to Cameron" not in said.rationale
    assert "this to Cameron" not in said.rationale


def test_pronouns_are_not_missed_as_speakers() -> None:
    """That no passage attributes something to "She" tells nothing."""
    passage = "The jury said that riots in cities were wrong. Riots occurred in Miami in 1980. Later a court noted it."
    claim = "She notes that similar riots have occurred in other cities, including Los Angeles in 1992."
    assert "to She" not in judged(claim, passage).rationale


def test_a_value_that_stands_elsewhere_does_not_differ() -> None:
    """The campaign's $300 is no other price of the jet, whose price stands in the passage beside."""
    campaign = "He noted that critics of the campaign seeking $300 to buy the jet are wrong. He is a pastor."
    claim = "The jet is worth $65 million, and critics of the campaign to buy the jet are wrong."
    beside = "The jet, a Gulfstream, sells for $65 million."
    assert "passage says $300, claim says $65 million" not in judged(claim, campaign, beside).rationale
    assert "passage says $300, claim says $65 million" in judged(claim, campaign).rationale


def test_denying_is_not() -> None:
    """To deny that he did is to say that he did not: no difference of negation."""
    passage = "His own lawyer said that Hernandez did not commit the crime in June."
    assert (
        "where the claim does not" not in judged("His lawyer denied that Hernandez did the crime.", passage).rationale
    )


def test_no_passage_is_said_to_be_silent_on_words_that_it_holds() -> None:
    """What stands in a passage may not be borne out; it is not said that no passage says it."""
    passages = ("The club moved to a plant at Essenby.", "Tolmark is a town by the sea.")
    said = judged("The club moved to Essenby with help from Tolmark.", *passages).rationale
    assert "no passage says 'Tolmark'" not in said
    assert "Tolmark" in said


@pytest.mark.parametrize("claim", ["The bridge will open before May.", "The bridge is to open before May."])
def test_a_contraction_without_its_apostrophe_denies(claim: str) -> None:
    """A missing apostrophe changes nothing in what is said, and next to nothing in the verdict."""
    plain, typed = (judged(claim, f"The bridge {word} open before May.").probabilities for word in ("won't", "wont"))
    assert plain is not None
    assert typed is not None
    assert typed.supported == pytest.approx(plain.supported, abs=0.01)


@pytest.mark.parametrize("judge", ["embedded", "lexical"])
def test_a_decimal_comma_reads_as_a_point(judge: str) -> None:
    """Whichever way a passage writes it, a number is read alike, and the evidence keeps what is written."""
    claims = ["The bolt is 3.5 mm thick.", "The bolt is 5.3 mm thick."]
    around = "The document was prepared by a small team. The bolt is {} mm thick. Readers may write to the publisher."
    with_comma, with_point = (
        [found.verdict for found in ec.verify_claims(claims, around.format(number), judge=judge)]
        for number in ("3,5", "3.5")
    )
    assert [one.probabilities for one in with_comma] == [one.probabilities for one in with_point]
    assert with_comma[0].evidence[0].quote == "The bolt is 3,5 mm thick."


def test_a_text_in_capitals_is_no_list_of_acronyms() -> None:
    """Shouted passages and long claims are compared in reasonable time, to a verdict that adds up."""
    verdict = judged(
        " ".join(["World Health Office"] * 400) + ".", "WHO SAYS HO AND HE AND WE ARE IN AN OLD WAR " * 300
    )
    assert verdict.probabilities is not None


@pytest.mark.parametrize("judge", ["embedded", "lexical"])
@pytest.mark.parametrize(
    ("passage", "same", "other"),
    [
        ("Never use bleach on the fabric.", "Avoid bleach on the fabric.", "Use bleach on the fabric."),
        ("Do not use bleach on the fabric.", "Refrain from using bleach on the fabric.", "Use bleach on the fabric."),
        ("Avoid bleach on the fabric.", "You should never use bleach on the fabric.", "Use bleach on the fabric."),
        ("Refrain from smoking before the test.", "Do not smoke before the test.", "Smoke before the test."),
        (
            "Skip breakfast on the day of the test.",
            "Don't eat breakfast on the day of the test.",
            "Eat breakfast on the day of the test.",
        ),
        (
            "Guests must not smoke in the lobby.",
            "Guests should refrain from smoking in the lobby.",
            "Guests should smoke in the lobby.",
        ),
        ("Stay away from the bridge at night.", "Avoid the bridge at night.", "Use the bridge at night."),
    ],
)
def test_what_is_forbidden_may_be_avoided(passage, same, other, judge):
    """To avoid something is not to use it; to use it is no way to avoid it."""
    good, bad = (ec.verify_claims(claim, passage, judge=judge)[0].verdict for claim in (same, other))
    assert good.label == "SUPPORTED"
    assert bad.probabilities.supported < good.probabilities.supported - 0.2
    assert judge == "lexical" or bad.label != "SUPPORTED"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("To avoid stains, blot the spill at once.", "To prevent stains, blot the spill at once."),
        ("Blotting helps to avoid stains.", "Blotting helps against stains."),
        ("You can skip the second coat.", "The second coat can be skipped."),
    ],
)
def test_what_something_is_good_for_forbids_nothing(claim, passage):
    """Where stains are avoided, that is an aim."""
    rationale = ec.verify_claims(claim, passage)[0].verdict.rationale
    assert "where the passage does not" not in rationale


def test_a_hedge_of_another_sentence_is_not_held_against_a_claim():
    """Only the sentences that hold what the claim says count."""
    passage = "The pump is rated for 40 litres per minute. It could fail when it runs dry. It has five seals of rubber."
    (one,) = ec.verify_claims("The pump is rated for 40 litres a minute and has seals.", passage)
    assert "hedge" not in one.verdict.rationale
    assert "hedge_mismatch" not in one.verdict.flags
