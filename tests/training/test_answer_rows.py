"""Marked answers as rows for the network: labels, marks, halves by document."""

from answers.claims import split_answers
from answers.read import Fault, MarkedAnswer
from answers.rows import half, rows

RESPONSE = "The ferry leaves at noon. It carries cars, and dogs travel free. Tickets are sold on board."


def answer(number: int) -> MarkedAnswer:
    """An answer with one fault, to a document of its own."""
    words = "dogs travel free"
    start = RESPONSE.index(words)
    fault = Fault(start, start + len(words), "UNSUPPORTED", "add", "nothing is said of dogs")
    return MarkedAnswer(f"a{number}", "composed", "own", f"document {number}", "When?", ("It leaves at noon.",), RESPONSE,
                        (fault,))  # fmt: skip


def test_the_marked_words_of_a_claim_are_its_errors() -> None:
    """Also where the claim is only part of its sentence; supported claims have none, and all are each other's twins."""
    made = list(rows(split_answers([answer(1)])))
    wrong = [row for row in made if row["label"] == "UNSUPPORTED"]
    assert [[row["text"][low:high] for low, high in row["errors"]] for row in wrong] == [["dogs travel free"]]
    assert {row["label"] for row in made} == {"SUPPORTED", "UNSUPPORTED"}
    assert all(row["errors"] == [] for row in made if row["label"] == "SUPPORTED")
    assert {row["beside"] for row in made} == {"a1"}


def test_a_document_belongs_to_one_half() -> None:
    """All claims of its answers are read by one network, and either network gets about half of the documents."""
    made = list(rows(split_answers([answer(number) for number in range(60)])))
    for row in made:
        assert row["dataset"].split("_")[1] == half(row["group"])
    groups = {row["group"] for row in made}
    assert 18 < sum(half(group) == "a" for group in groups) < 42
