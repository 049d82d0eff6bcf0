"""FActScore: every claim against what a knowledge source has on it, with penalties for short answers."""

import math

import pytest

import everyclaim as ec
from everyclaim.core.types import Passage
from everyclaim.metrics.faithfulness import length_penalty
from scripted_judge import ByWords

FACTS = ["Rye bread is dense.", "Rye bread is dark.", "Oats are pale."]
DOCUMENTS = [
    {"title": "Rye bread", "text": "Rye bread is dense. Rye bread is dark."},
    {"title": "Oats", "text": "Oats are pale. Rye bread is light."},
]


def knowing(query):
    """A retriever that returns every fact that shares a word with the query."""
    return [fact for fact in FACTS if set(fact.split()) & set(query.replace("purple", "").split())]


def score(response, metric="factscore?gamma=0", **options):
    return ec.score(response=response, metric=metric, **({"knowledge": knowing, "judge": ByWords()} | options))


def test_the_penalty_has_the_values_of_the_paper():
    """One at γ claims, e⁻¹ at half of them, e⁻⁹ for a single one of ten; none without γ or beyond it."""
    assert length_penalty(10) == 1
    assert length_penalty(5) == pytest.approx(0.368, abs=0.0005)
    assert length_penalty(1) == pytest.approx(math.exp(-9))
    assert length_penalty(11) == length_penalty(1, 0) == 1


def test_claims_are_judged_by_what_is_found_for_each():
    """The score is the supported share times the penalty, both shown; the sample's passages play no part."""
    result = score("Rye bread is dense. Oats are purple.", "factscore", passages=["Oats are purple."])
    assert [claim.verdict.label for claim in result.claims] == ["SUPPORTED", "UNSUPPORTED"]
    assert result.components["factscore_unpenalised"] == 0.5
    assert result.components["length_penalty"] == pytest.approx(math.exp(1 - 10 / 2))
    assert result.score == result.components["factscore"] == pytest.approx(0.5 * math.exp(-4))
    assert result.details["counts"] == {"claims": 2, "supported": 1}


def test_a_topic_restricts_the_search_to_its_document():
    """By the question or a tag; in another article's light the claim is not supported."""
    corpus = ec.open_corpus(DOCUMENTS)
    light = {"response": "Rye bread is light.", "knowledge": corpus}
    assert score(**light).score == 1
    restricted = score(**light, metric="factscore?gamma=0&topic=question", question="Tell me about rye bread.")
    assert restricted.score == 0
    assert restricted.details["topic"] == "Tell me about rye bread."
    lost = score(**light, metric="factscore?topic=question", question="Tell me about trams.")
    assert (lost.outcome, lost.score) == ("failed", None)
    assert lost.reason.startswith("no_topic")


def test_expected_claims_come_from_a_number_or_a_tag(tmp_path):
    """A sample that does not say what was expected is failed, not scored by another rule."""
    assert score("Rye bread is dense.", "factscore?expected=4").score == pytest.approx(0.75)
    assert score("Rye bread is dense.", "factscore?expected=4&missing=1").score == pytest.approx(0.25)
    rows = [
        {"id": name, "response": "Rye bread is dense.", "tags": tags}
        for name, tags in [("a", {"n": "4"}), ("b", {"n": "1"}), ("c", {"n": "-2"}), ("d", {})]
    ]
    run = ec.score_file(
        rows, store=tmp_path / "r.db", metric="factscore?expected=tag:n", knowledge=knowing, judge=ByWords()
    )
    assert [(result.id, result.score) for result in run.results()] == [
        ("a", pytest.approx(0.75)), ("b", 1), ("c", None), ("d", None),
    ]  # fmt: skip
    assert run.summary.failures == {"no_expected_count": 2}
    assert not run.read.warnings  # contexts are not needed here


@pytest.mark.parametrize(
    ("metric", "says"),
    [
        ("factscore", "needs a knowledge source"),
        ("factscore?corpus=a&search=serper", "got several"),
        ("factscore?corpus=nowhere.db", "there is no file nowhere.db"),
        ("factscore?search=google", "unknown knowledge source 'google'"),
        ("factscore?corpus=.&gamma=5&expected=3", "both penalise"),
    ],
)
def test_what_cannot_be_scored_is_said_before(metric, says):
    """One line that says what to write."""
    with pytest.raises(ec.UserError, match=says):
        ec.score(response="x is y.", metric=metric)


def _async(query, k):
    async def found():
        return [{"url": "https://x.example", "title": "T", "snippet": "Rye bread is dense."}][:k]

    return found()


class _Source:
    spec = "mine:1"

    async def search(self, query, k, *, topic=None):
        return [Passage("p", "Rye bread is dense.")]


@pytest.mark.parametrize(
    "knowledge",
    [
        _async,
        _Source(),
        lambda query, **_: ("Rye bread is dense.",),
        lambda query, k=5: [Passage("a", "Rye bread is dense.")],
    ],
)
def test_knowledge_can_be_any_function_or_source(knowledge):
    """Sync or async; texts, passages or mappings; with `k` where it is wanted."""
    assert score("Rye bread is dense.", knowledge=knowledge).score == 1


@pytest.mark.parametrize(
    ("knowledge", "code"),
    [
        (lambda query: 1 / 0, "search_failed"),
        (lambda query: "text", "search_failed"),
        (lambda query: [3], "search_failed"),
        (type("S", (), {"spec": "s", "search": lambda self, *a, **k: _async("x", 1)})(), "bad_search"),
    ],
)
def test_a_retriever_that_fails_fails_the_sample(knowledge, code):
    """Never a score."""
    result = score("Rye bread is dense.", knowledge=knowledge)
    assert (result.outcome, result.score) == ("failed", None)
    assert result.reason.startswith(code)


def test_a_pronoun_takes_what_it_points_to_into_the_query():
    """The claim stays as it is; the search knows what "This" is."""
    queries = []
    score("Lebkuchen comes from Nuremberg. This is a spiced cake.", knowledge=lambda query: queries.append(query) or [])
    assert queries[0] == "Lebkuchen comes from Nuremberg."
    assert queries[1].endswith(". This is a spiced cake.")
    assert "Nuremberg" in queries[1]
