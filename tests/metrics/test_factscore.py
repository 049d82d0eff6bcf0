"""FActScore: every claim against what a knowledge source has on it, with penalties for short answers."""

import asyncio
import json
import math

import pytest
from bywords import ByWords
from hypothesis import given
from hypothesis import strategies as st

import everyclaim as ec
from everyclaim.core.types import Passage, Sample
from everyclaim.core.wire import result_from_json, result_to_json
from everyclaim.metrics.penalty import length_penalty, shortfall_penalty
from everyclaim.testing import JudgeServer, play

COUNTS = st.integers(1, 10_000)
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


def test_five_claims_of_twenty_lose_as_much_as_a_quarter_of_twenty_wrong():
    """Both answers score .75; with missing=1, a missing claim costs what a wrong one does."""
    five_of_twenty_right = 5 / 5 * shortfall_penalty(5, 20)
    quarter_wrong = 15 / 20 * shortfall_penalty(20, 20)
    assert five_of_twenty_right == pytest.approx(quarter_wrong) == pytest.approx(0.75)
    assert shortfall_penalty(5, 20, missing=1) == pytest.approx(5 / 20)
    assert shortfall_penalty(30, 20) == 1


@given(COUNTS, st.floats(0.01, 1000))
def test_a_longer_answer_is_never_penalised_more(claims, gamma):
    """Both penalties are within (0, 1], grow with the claims, and meet 1 without a jump."""
    assert 0 <= length_penalty(claims, gamma) <= length_penalty(claims + 1, gamma) <= 1
    assert 0 < shortfall_penalty(claims, gamma) <= shortfall_penalty(claims + 1, gamma) <= 1
    assert length_penalty(claims, claims * 1.000001) == pytest.approx(1, abs=1e-5)
    assert shortfall_penalty(claims, claims * 1.000001) == pytest.approx(1, abs=1e-5)


def test_claims_are_judged_by_what_is_found_for_each():
    """The score is the supported share times the penalty, both shown; the sample's passages play no part."""
    result = score("Rye bread is dense. Oats are purple.", "factscore", passages=["Oats are purple."])
    assert [claim.verdict.label for claim in result.claims] == ["SUPPORTED", "UNSUPPORTED"]
    assert result.components["factscore_unpenalised"] == 0.5
    assert result.components["length_penalty"] == pytest.approx(math.exp(1 - 10 / 2))
    assert result.score == result.components["factscore"] == pytest.approx(0.5 * math.exp(-4))
    assert result.details["counts"] == {"claims": 2, "supported": 1}


def test_what_was_found_is_kept_with_the_result():
    """Evidence points into passages whose text is there, and survives being stored."""
    result = score("Rye bread is dense. Oats are pale.")
    again = result_from_json(json.loads(json.dumps(result_to_json(result))))
    assert again == result
    for claim in again.claims:
        evidence = claim.verdict.evidence[0]
        assert evidence.passage_id in result.details["retrieved"][claim.id]
        assert again.details["passages"][evidence.passage_id]["text"][evidence.start : evidence.end] == evidence.quote
    assert result.provenance.parameters["knowledge"].startswith("python:")


def test_nothing_found_is_unsupported_and_calls_no_judge():
    """An empty corpus knows nothing; a judge that cannot be reached is not needed to say so."""
    result = score("Zebras have stripes.", knowledge=lambda query: [])
    assert (result.score, result.claims[0].verdict.flags) == (0, ("no_passages",))
    assert score("Zebras have stripes.", knowledge=ec.open_corpus([{"text": "x"}])).score == 0


def test_answers_without_claims_are_left_out():
    """Declined and fact-less answers have no score; the response ratio is the rest."""
    assert score("I don't know.").outcome == "abstained"
    assert score("").outcome == "no_claims"


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


def test_faithfulness_has_the_same_penalty_for_vague_answers() -> None:
    """One claim where 20 were expected: the components say what it is without; half of a penalty is refused."""
    row = {"response": "The kettle is red.", "passages": ["The kettle is red."], "judge": "lexical"}
    found = ec.score(**row, metric="faithfulness?expected=20")
    assert found.score == pytest.approx(1 - 19 / 60)
    assert list(found.components) == ["faithfulness", "faithfulness_unpenalised", "length_penalty"]
    assert found.components["faithfulness_unpenalised"] == 1
    assert ec.score(**row, metric="faithfulness?expected=20&missing=1").score == pytest.approx(0.05)
    assert ec.score(**row, metric="faithfulness?gamma=10").score == pytest.approx(math.exp(-9))
    assert not ec.score(**row).components
    with pytest.raises(ec.ConfigError, match="missing says"):
        ec.score(**row, metric="faithfulness?missing=1")


@pytest.mark.parametrize(
    ("metric", "says"),
    [
        ("factscore", "needs a knowledge source"),
        ("factscore?corpus=a&search=serper", "got several"),
        ("factscore?corpus=nowhere.db", "there is no file nowhere.db"),
        ("factscore?search=google", "unknown name 'google'"),
        ("factscore?corpus=.&gamma=5&expected=3", "two penalties"),
    ],
)
def test_what_cannot_be_scored_is_said_before(metric, says):
    """One line that says what to write."""
    with pytest.raises(ec.UserError, match=says):
        ec.score(response="x is y.", metric=metric)


@pytest.mark.parametrize(
    "option",
    [
        "k=0",
        "gamma=-1",
        "gamma=nan",
        "expected=0",
        "expected=tag:",
        "missing=2&expected=3",
        "topic=title",
        "kk=3",
        "missing=0.5",
    ],
)
def test_wrong_options_are_refused(option):
    """Each by its name."""
    with pytest.raises(ec.ConfigError, match=option.partition("=")[0]):
        score("x is y.", f"factscore?{option}")


def test_knowledge_for_a_metric_that_does_not_search_is_refused():
    """It would do nothing."""
    with pytest.raises(ec.ConfigError, match="knowledge is for the metrics factscore and safe"):
        ec.score(response="x is y.", knowledge=knowing)


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


def test_texts_under_one_id_stay_apart():
    """A retriever that numbers its results anew each time does not mix them up."""
    result = score(
        "Rye bread is dense. Oats are pale.", knowledge=lambda query: [{"id": "1", "text": knowing(query)[-1]}]
    )
    assert set(result.details["passages"]) == {"1", "1#2"}
    texts = result.details["passages"]
    for claim in result.claims:
        for e in claim.verdict.evidence:
            assert texts[e.passage_id]["text"][e.start : e.end] == e.quote


@given(st.permutations(["Rye bread is dense.", "Oats are pale.", "Zebras have stripes.", "Rye bread is purple."]))
def test_the_order_of_claims_does_not_matter(sentences):
    """Each is searched and judged by itself."""
    assert score(" ".join(sentences)).score == 0.5


def test_a_pronoun_takes_what_it_points_to_into_the_query():
    """The claim stays as it is; the search knows what "This" is."""
    queries = []
    score("Lebkuchen comes from Nuremberg. This is a spiced cake.", knowledge=lambda query: queries.append(query) or [])
    assert queries[0] == "Lebkuchen comes from Nuremberg."
    assert queries[1].endswith(". This is a spiced cake.")
    assert "Nuremberg" in queries[1]


def test_a_language_model_is_asked_once_per_set_of_passages():
    """Three claims, two of them found in the same document: one call to split, two to judge."""
    corpus = ec.open_corpus(
        [{"title": "A", "text": "Rye bread is dense. Rye bread is dark."}, {"text": "Oats are pale."}]
    )
    with JudgeServer(lambda request: play(request.messages)) as server:
        result = score(
            "Rye bread is dense. Rye bread is dark. Oats are pale.",
            knowledge=corpus,
            judge="openai:any",
            base_url=server.base_url,
        )
        assert result.score == 1
        assert server.calls == 3


def test_the_same_sample_gives_the_same_result_byte_for_byte():
    """However its searches overtake each other."""

    async def slow(query, k):
        await asyncio.sleep(0.02 if query.startswith("Rye") else 0)
        return [{"id": "1", "text": fact} for fact in knowing(query)]

    written = {
        json.dumps(result_to_json(score("Rye bread is dense. Oats are pale.", knowledge=slow))) for _ in range(5)
    }
    assert len(written) == 1


def test_samples_are_scored_in_any_number(tmp_path):
    """A run keeps the corpus's version, so that another corpus is another configuration."""
    ec.build_corpus(DOCUMENTS, tmp_path / "c.db")
    samples = [Sample(str(i), "Rye bread is dense.") for i in range(20)]
    run = ec.score_file(samples, store=tmp_path / "r.db", metric=f"factscore?corpus={tmp_path / 'c.db'}&gamma=0")
    assert run.summary.overall.score.value == 1
    version = ec.open_corpus(tmp_path / "c.db").version
    assert run.record.provenance.parameters["knowledge_version"] == version
