"""Which language a text is in."""

import subprocess
import sys

import pytest

from everyclaim.text.language import language_of

SPOKEN = {
    "de": "Der Turm ist 330 Meter hoch und steht in Paris.",
    "es": "El puente fue construido en el siglo XIX.",
    "fr": "Il ne faut pas boire le détartrant.",
    "it": "La pompa è stata richiamata nel 2021.",
    "pt": "O prazo de devolução é de 30 dias.",
    "nl": "De brug werd in de 19e eeuw gebouwd.",
    "pl": "Muzeum jest otwarte od 15 maja.",
    "sv": "Man får inte dricka avkalkningsmedlet.",
    "da": "Man må ikke drikke afkalkningsmidlet.",
    "cs": "Čerpadlo bylo v roce 2021 staženo z trhu.",
    "fi": "Kalkinpoistoainetta ei saa juoda.",
    "ja": "橋は19世紀に建てられました。",
    "zh": "该泵于2021年召回。",
    "ar": "بني الجسر في القرن التاسع عشر.",
    "hi": "पुल 19वीं सदी में बना था।",
    "ru": "Мост построен в XIX веке.",
    "ko": "반품 기간은 30일입니다.",
    "th": "สะพานสร้างขึ้นในปี 2021",
    "en": "The tower is 330 metres tall.",
}


@pytest.mark.parametrize(("language", "text"), SPOKEN.items(), ids=SPOKEN)
def test_one_short_sentence_tells_its_language(language, text):
    """A sentence of an answer is enough, in capitals and with markup too."""
    assert language_of(text) == language
    assert language_of(f"- **{text}** [1] https://example.org/the/of/and/this/that") == language
    assert language_of(text.upper()) == language


@pytest.mark.parametrize(
    "text",
    ["", " ", "1889", "Paris", "Albert Einstein", "Crème brûlée", "Gustav Mahler died in Vienna.", "H2O", "\x00\ud800",
     "Plan: Pro; Price: $9.", "São Paulo is in Brazil.", "Amoxicillin 500 mg", "E. coli and S. aureus"],
)  # fmt: skip
def test_names_and_formulas_are_no_foreign_language(text):
    """What does not tell its language is not said to be in one, except for plain English."""
    assert language_of(text) in {"", "en"}


def test_the_language_of_most_of_a_text_counts():
    """A title or a quotation in another language does not change the language of a text."""
    assert (
        language_of("The novel “Die Leiden des jungen Werthers” was written by Goethe and it made him famous.") == "en"
    )
    assert language_of("Der Film „The Lord of the Rings“ wurde in Neuseeland gedreht und ist sehr lang.") == "de"


def test_plain_english_loads_no_model():
    """An English answer is recognised without loading the detector."""
    code = (
        "import sys; from everyclaim.text.language import language_of;"
        "assert language_of('The tank holds 2 litres. It is made of steel.') == 'en';"
        "sys.exit('py3langid' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
