"""Sentences of a passage."""

from hypothesis import given
from hypothesis import strategies as st

from everyclaim.text.windows import sentence_spans


def sentences(text: str) -> list[str]:
    """The texts of the sentences."""
    return [text[start:end] for start, end in sentence_spans(text)]


def test_full_stops_end_sentences():
    """Prose is cut after its full stops, and closing quotes stay with what they close."""
    assert sentences('It rained. "We left." Nobody saw 3.5 birds!') == [
        "It rained.",
        '"We left."',
        "Nobody saw 3.5 birds!",
    ]


def test_abbreviations_do_not_end_sentences():
    """Titles, initials and common abbreviations are followed by the rest of their sentence."""
    text = "Dr. Vane met J. Orr at 5 p.m. near St. Bride. They ate."
    assert sentences(text)[-1] == "They ate."
    assert len(sentences(text)) == 2


def test_rows_and_items_stay_apart():
    """Lines that begin anew are sentences of their own even without punctuation."""
    assert sentences("name: Orb\nweight: 3 kg\n- blue\n- round") == ["name: Orb", "weight: 3 kg", "- blue", "- round"]


def test_hard_wrapped_prose_stays_together():
    """A line that goes on in lower case belongs to the sentence before."""
    assert sentences("The river rises in the\nnorth and falls slowly.") == [
        "The river rises in the\nnorth and falls slowly."
    ]


@given(st.text(alphabet=st.sampled_from('aB1 .!?\n"”。é\u00a0'), max_size=1500))
def test_spans_are_ordered_trimmed_and_lose_only_white_space(text):
    """Spans never overlap, hold no outer white space, and leave out nothing but white space and quotes at breaks."""
    spans = sentence_spans(text)
    end_before = 0
    for start, end in spans:
        assert end_before <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        assert not text[end_before:start].strip()
        end_before = end
    assert not text[end_before:].strip()
