"""Blocks and sentences with true offsets."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everyclaim.text.segment import blocks, sentences


def read(text, language="en"):
    return [text[found.start : found.end] for found in sentences(text, language)]


def kinds(text):
    return [(found.kind, text[found.start : found.end]) for found in blocks(text)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("It weighs 900 g.", "It was made in 1990."),
        ("It reaches 90 km/h.", "Drag is what holds it back."),
        ("The tank holds 5 l.", "The pump is new."),
        ("Heat to 93 °C.", "This takes a minute."),
        ("The part costs 3 euros per cm.", "It is steel."),
    ],
)
def test_a_unit_at_the_end_ends_its_sentence(first, second):
    """`900 g.` is neither an initial nor an abbreviation."""
    assert read(f"{first} {second}") == [first, second]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("It has been open since May.", "Florists sell tulips there."),
        ("It was sold in Dec.", "Sales rose."),
        ("They sell tea, cakes, etc.", "Customers like it."),
        ("Bake it for 10 min.", "Serve it warm."),
        ("Roll it out to 3 mm.", "Bake it."),
        ("The shop is on Main St.", "The owner is old."),
        ("The shop is at 12 Oak Dr.", "The owner is old."),
        ("Many like the Pad Woon Sen.", "However, the curry is bland."),
        ("He lives in the U.S.", "Overall, he likes it."),
        ("It was bought by Acme Inc.", "Later, it was sold."),
        ("They travel as Annex B says and as in Annex B.", "Meals are paid."),
        ("An orange has vitamin C.", "Additionally, it is sweet."),
        ("He was called Malcolm X.", "Its author died."),
        ("It is found at www.example.org.", "Enter the name there."),
        ("He lives in the U.S.", "He moved there."),
        ("It starts at 5 p.m.", "The doors open at 4."),
        ("It closes at 5 p.m.", "Monday is a holiday."),
        ("He wears No. 5.", "The house is red."),
    ],
)
def test_an_abbreviation_at_the_end_ends_its_sentence(first, second):
    """What cannot go on with the sentence's name or number begins the next."""
    assert read(f"{first} {second}") == [first, second]


@pytest.mark.parametrize(
    "text",
    [
        "It opens at 5 p.m. Monday.",
        "It opens at 9 a.m. Monday through Friday.",
        "The alert, scheduled for 2:20 p.m. EDT, was a test.",
        "It ran until 9 p.m. July 5 in Graz.",
        "Acme Inc. Chairman Bob Lane left.",
        "Mount St. Joseph University is small.",
        "It was written by Dr. Emily, the head of the clinic.",
        "It was written by J. Kelly, the head of the clinic.",
        "It was found by Dr. He in Graz.",
        "The U.S. Customs office is old.",
        "Q. Where should the cart be placed?",
        "Bring soap, towels, etc. before May.",
        "Dr. Marsh met Prof. Lane at noon.",
        "Use soft fruit, e.g. ripe plums.",
        "She moved to the U.S. Army base.",
        "The trail is approx. 5 km long.",
        "It stands at No. 5 Mill Lane.",
        "The valve is shown in Fig. 2 below.",
        "The tank holds 2.8 litres.",
        "The book by J. R. Lane sold well.",
        "See Vol. 3, pp. 5-7 for the plan.",
        "It opened on Jan. 5 at the pier.",
        "They met at St. Mark's Square.",
        "He stopped (why? nobody knows) and left.",
        "This line is wrapped\nover two lines.",
    ],
)
def test_one_sentence_stays_one(text):
    """Abbreviations, initials, decimals, brackets and wrapped lines end no sentence."""
    assert read(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rained... Then it stopped.", ["It rained...", "Then it stopped."]),
        ("The pier is long .  It is old .", ["The pier is long .", "It is old ."]),
        ("`` It is late . '' He went home .", ["`` It is late . ''", "He went home ."]),
        ('"Stop!" she cried. He went on.', ['"Stop!" she cried.', "He went on."]),
        ("(This is a note.) The text goes on.", ["(This is a note.)", "The text goes on."]),
        ('"The pier opened. The mayor spoke."', ['"The pier opened.', 'The mayor spoke."']),
        ("Is it open? Yes! It is.", ["Is it open?", "Yes!", "It is."]),
        ("They live in the U.S. The house is old.", ["They live in the U.S.", "The house is old."]),
    ],
)
def test_sentences_are_split(text, expected):
    """Ellipses, tokenised text, quotes and brackets do not hide a boundary."""
    assert read(text) == expected


@pytest.mark.parametrize("mark", ["[1]", "[2, 3]", "[1][2]", "[4-6]", "(1)"])
def test_citation_stays_with_the_sentence_before(mark):
    """A citation mark after the full stop belongs to the sentence it supports."""
    assert read(f"The pier is long. {mark} It is old.") == [f"The pier is long. {mark}", "It is old."]
    assert read(f"It is old. {mark}") == [f"It is old. {mark}"]


def test_layout_is_read_into_blocks():
    """Headings, paragraphs, items, rows, code and quotes are told apart and lose their markers."""
    text = (
        "# Plan\n\nFirst line\ngoes on.\n\n- one\n  more\n2. two\n(a) three\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx = 1\n```\n> said\n> so\n\n**Notes**\n\nEnd\n===\n***\nLast."
    )
    assert kinds(text) == [
        ("heading", "Plan"),
        ("paragraph", "First line\ngoes on."),
        ("item", "one\n  more"),
        ("item", "two"),
        ("item", "three"),
        ("table_row", "| a | b |"),
        ("table_row", "| 1 | 2 |"),
        ("code", "```py\nx = 1\n```"),
        ("quote", "said\n> so"),
        ("heading", "**Notes**"),
        ("heading", "End"),
        ("paragraph", "Last."),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["The pier is long [1]. ", "( . ", "> x\n", "- a\n", "```\n", "|-", '" ', "A. ", "`", "'"]
)
def test_huge_text_is_read(piece):
    """A megabyte of anything is segmented; the work is linear."""
    text = piece * (1_000_000 // len(piece))
    found = sentences(text)
    assert all(a.end <= b.start for a, b in pairwise(found))


LAYOUT = st.text(alphabet="aB. \n\r?!|-#>*`\"'()[]1:,“”\t\x00\ud800😀é。", max_size=80)


@given(st.one_of(st.text(max_size=200), LAYOUT))
def test_spans_are_true_ordered_and_trimmed(text):
    """Any text in: trimmed, ordered, non-overlapping, non-empty spans out."""
    last = 0
    for found in sentences(text):
        piece = text[found.start : found.end]
        assert piece
        assert piece == piece.strip()
        assert last <= found.start < found.end <= len(text)
        last = found.end


@given(st.text(alphabet='aBé. \n?!-*`"“”\t\x00😀。', max_size=80))
def test_nothing_readable_is_lost(text):
    """Every letter of the text stands in a sentence; only markers and rules are dropped."""
    covered = set()
    for found in sentences(text):
        covered.update(range(found.start, found.end))
    assert all(index in covered for index, character in enumerate(text) if character.isalpha())


ELSEWHERE = """
de: Das Museum ist vom 15. Mai bis 10. September geöffnet.
de: Im 19. Jahrhundert wurde die Brücke gebaut.
de: Sie wurde im 2. Weltkrieg zerstört und danach neu gebaut.
de: Nach Art. 5 Abs. 2 ist das z.B. Kindern verboten.
de: Die Firma machte ca. 5 Mio. Euro Gewinn und bzw. Sie rufen an.
de: Kaiser Wilhelm II. regierte bis 1918 und starb um 1941 n. Chr. im Exil.
es: Los EE. UU. y México firmaron el acuerdo con el Sr. García.
es: Nació en el año 50 a. C. en Roma, véase la pág. 12 del libro.
fr: Le musée a ouvert en janv. 2024 à Paris.
fr: La ville fut fondée en 52 av. J.-C. par les Romains.
it: Il Sig. Rossi abita in via Roma n. 5, vedi pag. 12 del manuale.
pt: O Sr. Silva mora na Av. Paulista n.º 5 desde o séc. XIX.
nl: De prijs is bijv. Amsterdam, ca. 30 euro, voor dhr. Jansen.
pl: Pompę wycofano w 2021 r. z rynku, np. Polska i ul. Długa.
sv: Bron är ca. 30 meter lång, t.ex. Stockholm har en från nr. 5 kl. 12.
da: Museet er åbent fra den 15. maj til den 10. september, f.eks. København.
no: Museet er åpent fra den 15. mai til den 10. september.
cs: Např. most byl postaven v 19. století a otevřen 15. května 1901.
fi: Museo on auki 15. toukokuuta alkaen, esim. Helsinki klo 12.
ru: А. С. Пушкин родился в 1799 г. в Москве, т. е. давно.
ja: 彼は「行く。」と言った。
zh: 塔高330.5米，建于1889年。
ar: بني الجسر في عام 2021 م. من قبل د. أحمد علي.
hi: डॉ. शर्मा ने 19वीं सदी में पुल बनाया था।
"""


@pytest.mark.parametrize("line", ELSEWHERE.strip().splitlines())
def test_dates_and_abbreviations_of_other_languages_end_no_sentence(line):
    """The language is found, and its ordinals, abbreviations and initials are not taken for ends."""
    language, text = line.split(": ", 1)
    assert read(text, "") == [text]
    assert read(text, language) == [text]


@pytest.mark.parametrize(
    "sentences_of",
    [
        ["Er nahm Vitamin C.", "Danach ging er nach Hause."],
        ["Der Sohn ist 19.", "Die Firma ist alt.", "Es gibt Ausnahmen usw.", "Der Rest ist frei."],
        ["Vive en EE. UU.", "El puente es largo.", "¿Dónde está?", "¡Está en Madrid!"],
        ["La ville est née en 52 av. J.-C.", "La tour est grande."],
        ["La torre è alta.", "È vecchia."],
        ["Most zbudowano w 1890 r.", "Jest długi i jest stary."],
        ["Torni on korkea.", "Se on vanha."],
        ["塔很高。", "它很旧！", "是吗？"],
        ["الجسر قديم.", "هو طويل.", "هل هذا صحيح؟"],
        ["पुल लंबा है।", "यह पुराना है।"],
    ],
)
def test_sentences_of_other_languages_are_told_apart(sentences_of):
    """What protects abbreviations does not glue sentences."""
    text = ("" if "。" in sentences_of[0] else " ").join(sentences_of)
    assert read(text, "") == sentences_of
