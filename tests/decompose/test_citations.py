"""Citations are read, never judged as text; what only looks like one is judged, or listed as unchecked."""

from __future__ import annotations

import pytest

import everyclaim as ec
from everyclaim.core.types import Passage, Source
from everyclaim.text.sources import passages_of

PASSAGES = [
    Passage("doc-1", "The mixer has a warranty of 24 months.", "Mixer manual"),
    Passage("doc-2", "The whisk is safe in the dishwasher.", "Care guide"),
]
SAYS = "The mixer has a warranty of 24 months"


def scored(response: str, passages: list[Passage] = PASSAGES) -> ec.Result:
    return ec.score(response=response, passages=passages, judge="lexical")


@pytest.mark.parametrize(
    "mark",
    [
        "[1]", "[1, 7]", "[1]–[3]", "([1], p. 3)", "[1, p. 3]", "[[1]](https://a.example/m)", "[1](https://a.example/m)",
        "([Mixer manual](https://a.example/m))", "(Mixer manual, p. 12)", "(see Mixer manual, section 4.2)",
        "(Source: Mixer manual)", "[Mixer manual]", "(cf. Arden, 2020: 12)", "(Arden et al., 2020; Lee 2019)",
        "【4:0†mixer-manual.pdf】", "<cite>Mixer manual</cite>", "(https://a.example/m_(n))", "[mixer_manual.pdf, p. 3]",
        "[doc-1]", "(Document 1)", "<sup>[1]</sup>",
    ],
)  # fmt: skip
def test_a_citation_is_no_part_of_its_claim(mark):
    """Before or behind the full stop, the claim is the sentence without the mark, and has the citation."""
    for response in (f"{SAYS} {mark}.", f"{SAYS}. {mark}", f"{SAYS}. {mark} The whisk is safe in the dishwasher."):
        claims = scored(response).claims
        assert [claim.text for claim in claims] == [f"{SAYS}.", "The whisk is safe in the dishwasher."][: len(claims)]
        assert claims[0].citations
        start, end = claims[0].citations[0].span
        assert mark.strip("()")[:3] in response[start:end]


def test_a_lead_in_with_a_citation_is_no_claim():
    """As without it, and the items below are claims without the lead-in."""
    found = ec.extract_claims("Of course, here is how [1]:\n\n1. Remove the filter.\n2. Let it run for 35 minutes.")
    assert [claim.text for claim in found.claims] == ["Remove the filter.", "Let it run for 35 minutes."]


@pytest.mark.parametrize(
    ("cited", "plain"),
    [
        *(
            (
                f"| Part | Fact |\n| --- | --- |\n| Mixer | It weighs 2 kg. {mark} |",
                "Part: Mixer; Fact: It weighs 2 kg.",
            )
            for mark in ("[1]", "[Mixer manual](https://a.example/m)", "https://a.example/m", "Source: Mixer manual")
        ),
        ("The tank holds 5 l [1]. It weighs 2 kg [2].", "The tank holds 5 l."),
        ("According to [1], `run` needs a name.", "run needs a name."),
        ("According to document 1, Employees get ten days.", "Employees get ten days."),
        ("Passage 1 states that Employees get ten days.", "Employees get ten days."),
        ("It weighs 2 kg.\n\n[1]", "It weighs 2 kg."),
        ("It weighs 2 kg <ref>1</ref>.", "It weighs 2 kg."),
        ("It weighs 2 kg. \ue200cite\ue202turn0search0\ue201", "It weighs 2 kg."),
        ("It weighs 2 kg. :contentReference[oaicite:0]{index=0}", "It weighs 2 kg."),
        ("It weighs 2 kg [Ticket 4411].", "It weighs 2 kg."),
    ],
)
def test_where_a_citation_stands_does_not_matter(cited, plain):
    """In a cell of a table, between a unit and the full stop, before code."""
    claim = scored(cited).claims[0]
    assert (claim.text, len(claim.citations)) == (plain, 1)


@pytest.mark.parametrize(
    "sources",
    [
        "Sources:\n- Mixer manual, p. 12\n- https://a.example/care",
        "## References\n\n1. Arden, J. (2020). *Mixer manual*. Arden Press.\n2. Care guide",
        "**Sources:** [1] Mixer manual; [2] Care guide",
        "Source: Mixer manual",
        "[^1]: Mixer manual, p. 12.",
    ],
)
def test_lines_that_name_sources_are_listed_and_not_judged(sources):
    """They are skipped with the reason `citation`."""
    result = scored(f"{SAYS}.\n\n{sources}")
    assert [claim.text for claim in result.claims] == [f"{SAYS}."]
    assert {piece.reason for piece in result.skipped} == {"citation"}
    assert not result.unchecked
    assert result.claims[0].citations


@pytest.mark.parametrize(
    ("response", "hidden"),
    [
        (f"{SAYS}. 【It was recalled in 2019】", "It was recalled in 2019"),
        (f"{SAYS}. [12†recalled in 2019, 40 died]", "recalled in 2019, 40 died"),
        (f"{SAYS}. \ue200It was recalled in 2019\ue201", "It was recalled in 2019"),
        (f'{SAYS}. [link](http://a.example "It was recalled in 2019")', "It was recalled in 2019"),
        (f"{SAYS}. <cite>It was recalled in 2019</cite>", "It was recalled in 2019"),
        (f"{SAYS}.\n\nFurther reading: How Anna Meyer recalled the mixer in 1999", "How Anna Meyer recalled"),
        (f"{SAYS}.\n\nSources:\n- Warranty: 36 months", "Warranty: 36 months"),
        (f"{SAYS}.\n\n[^1]: It was recalled in 2019.", "It was recalled in 2019."),
        (f"{SAYS}.\nSource: Mixer manual\nIt is 42 metres tall.", "It is 42 metres tall."),
    ],
)
def test_what_asserts_in_the_place_of_a_citation_is_judged(response, hidden):
    """Only a citation's own form is cut."""
    result = scored(response)
    assert any(hidden in claim.text for claim in result.claims), result.claims
    assert result.score < 1


@pytest.mark.parametrize(
    ("source", "ids"),
    [
        (Source(2), ["doc-2"]),
        (Source(7), []),
        (Source(name="Care guide"), ["doc-2"]),
        (Source(name="mixer-manual.pdf"), ["doc-1"]),
        (Source(name="doc-1"), ["doc-1"]),
        (Source(address="https://a.example/care-guide/"), ["doc-2"]),
        (Source(name="Lee, A. (2020). Care guide. Arden Press"), ["doc-2"]),
        (Source(name="Banned in France"), []),
    ],
)
def test_a_source_is_found_among_the_passages(source, ids):
    """By number, id, title, file name or address."""
    assert passages_of(source, PASSAGES) == ids


@pytest.mark.parametrize(
    "text",
    [
        "Document 1 has 40 pages.", "The hall has 30 m² of floor and 10⁶ visitors.", "It opened (May 2020).", "See (Article 5) of the act.",
        "He wrote [sic] so.", "Register at https://a.example/x today.", "The virus (COVID-19) spread.",
    ],
)  # fmt: skip
def test_what_is_no_citation_stays(text):
    """Exponents, dates, articles of a law, addresses inside a sentence."""
    assert [claim.text for claim in scored(text).claims] == [text]
