"""Gates for citations and for answers that the judge does not read."""

import pytest
from command_line import write_jsonl

PASSAGES = ["The museum opened in 1956.", "The museum has 400 paintings."]
ANSWERS = ["The museum opened in 1956 [1]. It has 400 paintings [1].", "Das Museum wurde 1956 eröffnet und ist groß."]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--min-citation-precision", "0.5", "--min-citation-recall", "0.5"], 0, "citation recall 0.500"),
        (["--min-citation-precision", "0.6"], 1, "citation precision 0.500"),
        (["--min-citation-recall", "0.6"], 1, "below the threshold 0.6"),
        (["--min-citation-recall", "0.6", "--metric", "faithfulness"], 2, "no citation_recall"),
        (["--min-citation-recall", "1.6"], 2, "1.6"),
        (["--max-unread", "0"], 1, "1 of 2 answers"),
        (["--max-unread", "0.5"], 0, "within the limit"),
    ],
)
def test_a_run_that_cites_wrongly_or_is_unread_fails(everyclaim, options, code, said):
    """A bar that is missed exits with 1; a part that the metric has not, or a share that is none, with 2."""
    write_jsonl("answers.jsonl", [{"response": text, "contexts": PASSAGES} for text in ANSWERS])
    metric = [] if "--metric" in options else ["--metric", "attribution"]
    given = ["--judge", "embedded", "--decomposer", "embedded", *metric, *options]
    done = everyclaim("score", "answers.jsonl", *given)
    assert done.code == code
    assert code != 2 or "run " not in done.out  # nothing was scored
    assert said in " ".join((done.out + done.err).split())
