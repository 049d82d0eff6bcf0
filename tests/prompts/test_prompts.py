"""What judges are told: data stays data, wordings have versions, replies are read strictly."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everyclaim.core.errors import ConfigError
from everyclaim.core.types import Claim, FailureMode, Label, Span
from everyclaim.decompose.checked import SplitSource, inventions
from everyclaim.models.chat.wires import is_strict
from everyclaim.prompts.domain import read_domain
from everyclaim.prompts.forms import document, template
from everyclaim.prompts.split import SplitPrompt, SplitTask
from everyclaim.prompts.verdicts import NliPrompt, OneCallPrompt, Strictness, VerdictPrompt
from everyclaim.prompts.writing import AgreementPrompt, AnswerPrompt, QuestionPrompt, RewritePrompt

ROW = {
    "id": "c1",
    "quotes": ["p1: words"],
    "why": "said",
    "label": "SUPPORTED",
    "mode": "none",
    "conflict": False,
    "support": 9,
}


def texts() -> st.SearchStrategy[str]:
    """Any text, lone surrogates too; two that stand next to each other as a pair would be read as one character."""
    return st.text(st.characters()).filter(lambda text: text == json.loads(json.dumps(text)))


@given(texts())
def test_a_document_parses_back_to_exactly_the_text(text: str) -> None:
    """Nothing is lost, added or changed on the way."""
    assert json.loads(document({"text": text})) == {"text": text}


@given(texts())
def test_a_document_is_one_line_without_anything_that_cannot_be_seen_or_sent(text: str) -> None:
    """No line break, control, direction or tag character and no lone surrogate is left as it is."""
    written = document({"text": text})
    written.encode()
    assert not any(c in written for c in "\n\r\x00\x7f\x85\u2028\u202e\u200b\u2066\ufeff\U000e0041")


@pytest.mark.parametrize(
    "marker", ["<|im_end|>", "<|eot_id|>", "</s>", "<s>", "<start_of_turn>", "[INST]", "[/INST]", "<<SYS>>", "<think>"]
)
def test_no_marker_of_a_chat_template_stands_in_a_document(marker: str) -> None:
    """Servers that read markers inside text find none."""
    written = document({"text": f"a{marker}b"})
    assert marker not in written
    assert json.loads(written)["text"] == f"a{marker}b"


VERDICT = "verdict-15/inference=allowed/numbers=rounded/hedges=flag/reasons=failing/probabilities=scale"
PINNED: list[tuple[Any, tuple[Any, ...], dict[str, Any], str, str]] = [
    (
        SplitPrompt(),
        (SplitTask({}, former={"s1": {"y": ["x"]}}),),
        {},
        "split-15/atomicity=high/coverage=high",
        "de60a85fc385",
    ),
    (SplitPrompt("low", "low"), (SplitTask({}),), {}, "split-15/atomicity=low/coverage=low", "af558e6a8852"),
    (VerdictPrompt(), ({}, {}, ""), {"shared": False}, VERDICT, "b52c3de4bb73"),
    (
        VerdictPrompt(Strictness("explicit", "exact", "strict")),
        ({}, {}, ""),
        {"shared": False},
        "verdict-15/inference=explicit/numbers=exact/hedges=strict/reasons=failing/probabilities=scale",
        "7e2923eabb06",
    ),
    (NliPrompt(), ({}, {}, ""), {"shared": False}, "nli-1", "a03633ac898a"),
    (
        OneCallPrompt(),
        (SplitTask({}), {}),
        {"shared": False},
        f"onecall-12/split-15/atomicity=high/coverage=high/{VERDICT}",
        "d043d20c7530",
    ),
    (QuestionPrompt(), ({}, ""), {}, "questions-1/per_sentence=3", "94d11eacf55e"),
    (AnswerPrompt(), ({}, {}), {}, "answers-1", "921fcd2a9599"),
    (AgreementPrompt(), ({},), {}, "agreement-1", "d8d0c213333a"),
    (RewritePrompt(), ({}, {}, "", ""), {}, "rewrite-1", "91befd22494f"),
]


@pytest.mark.parametrize(("prompt", "places", "named", "version", "digest"), PINNED, ids=[one[3] for one in PINNED])
def test_a_changed_wording_needs_a_new_version(
    prompt: Any, places: tuple[Any, ...], named: dict[str, Any], version: str, digest: str
) -> None:
    """Two wordings under one name could not be told apart: raise the number, then pin. Strict modes take every schema."""
    told = prompt.messages(*places, **named)[0].content + json.dumps(prompt.schema)
    assert (prompt.version, hashlib.sha256(told.encode()).hexdigest()[:12]) == (version, digest)
    assert is_strict(prompt.schema)
    assert prompt.schema["title"]


def test_the_fixed_part_of_two_calls_stays_below_1400_tokens() -> None:
    """Four characters a token, schemas and worked examples counted as well."""
    split = SplitPrompt().messages(SplitTask({}))[0].content + json.dumps(SplitPrompt().schema)
    judge = VerdictPrompt().messages({}, {}, "", shared=False)[0].content + json.dumps(VerdictPrompt().schema)
    assert (len(split) + len(judge)) / 4 < 1400


def test_claims_share_their_sentence_and_a_sentence_that_is_all_in_its_claims_is_left_out() -> None:
    """Nothing is sent twice that need not be; a sentence that says one word more than its claims is sent."""
    said = [("A.", "A, so B."), ("B.", "A, so B."), ("C.", "C."), ("D.", "D and E."), ("E.", "D and E.")]
    claims = {f"c{place}": Claim("", text, Span(0, 2), sentence) for place, (text, sentence) in enumerate(said, 1)}
    data = json.loads(VerdictPrompt().messages(claims, {"p1": "x"}, "Q?", shared=True)[2].content)
    assert data == {
        "question": "Q?",
        "claims": [
            {"sentence": "A, so B.", "claims": {"c1": "A.", "c2": "B."}},
            {"claims": {"c3": "C.", "c4": "D.", "c5": "E."}},
        ],
    }


def test_a_sentence_is_claims_or_skipped_with_a_known_reason() -> None:
    """Claims win over a reason; nothing at all, or a made-up reason, is no answer."""
    rows = [
        {"id": "s1", "claims": ["A  fact.", " ", "A fact."], "skip": "question"},
        {"id": "s2", "claims": [], "skip": "greeting"},
        {"id": "s3", "claims": [], "skip": "none"},
        {"id": "s4", "claims": [], "skip": "boring"},
        {"id": "s5", "claims": [], "skip": "minor"},
        {"id": "s6", "claims": ["ok", 3], "skip": "none"},
        {"id": "s7", "claims": "A fact."},
        {"id": " S8 ", "skip": " Greeting "},
        {"id": "s9"},
    ]
    ids = [f"s{number}" for number in range(1, 10)]
    fact, greeting = (("A fact.",), ""), ((), "greeting")
    found = {"s1": fact, "s2": greeting, "s7": fact, "s8": greeting}
    assert SplitPrompt().parse({"sentences": rows}, ids) == found
    assert "s5" in SplitPrompt(coverage="low").parse({"sentences": rows}, ids)


def test_a_conflict_is_a_label_of_its_own_and_a_kind_stands_before_its_reason() -> None:
    """What is supported and denied is supported, with the conflict said; the kind is the mode and no part of why."""
    both = VerdictPrompt().parse({"verdicts": [ROW | {"label": "both", "why": ""}]}, ["c1"])["c1"]
    assert (both.label, both.conflict, both.complete) == (Label.SUPPORTED, True, True)
    failing = {"label": "CONTRADICTED", "why": "Time: it was 1889", "mode": None}
    found = VerdictPrompt().parse({"verdicts": [ROW | failing]}, ["c1"])["c1"]
    assert (found.mode, found.why, found.complete) == (FailureMode.TEMPORAL, "it was 1889", True)
    plain = VerdictPrompt().parse({"verdicts": [ROW | failing | {"why": "certainly: not"}]}, ["c1"])["c1"]
    assert (plain.mode, plain.why, plain.complete) == (None, "certainly: not", False)


DOMAIN = """
[decompose]
rules = "Keep a drug together with its dose."
[[decompose.examples]]
sentence = "Take 5 mg, not with {alcohol}."
claims = ["Take 5 mg.", "Do not take it with {alcohol}."]
[verify]
rules = "A dose needs its route."
[[verify.examples]]
passage = "Adults: 5 mg by mouth."
claim = "Adults take 10 mg."
why = "The dose is 5 mg."
label = "CONTRADICTED"
"""


def test_a_domain_file_adds_rules_and_examples_to_its_own_prompt() -> None:
    """And a version: the hash of what it says."""
    domain = read_domain(DOMAIN, name="medical.toml")
    split, judge = SplitPrompt(domain=domain), VerdictPrompt(domain=domain)
    told = split.messages(SplitTask({}))[0].content
    assert "Keep a drug together" in told
    assert '{"sentence":"Take 5 mg, not with {alcohol}."' in told
    assert "A dose needs its route." not in told
    assert '"label":"CONTRADICTED"' in judge.messages({}, {}, "", shared=False)[0].content
    assert split.version.endswith(domain.version)
    assert read_domain(DOMAIN + "\n", name="x").version != domain.version


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rules = 1 =", "not valid TOML"),
        ("[judge]\nrules = 'x'", "unknown key 'judge'"),
        ("[verify]\nrule = 'x'", "unknown key 'rule'"),
        ("[verify]\nrules = 3", "'rules' must be a text, got 3"),
        ("[verify]\nexamples = 'x'", "'examples' must be a list, each item a mapping"),
        ("[[verify.examples]]\nclaim = 'x'", "'passage' must be a text, got None"),
        (
            "[[verify.examples]]\npassage='a'\nclaim='b'\nwhy='c'\nlabel='YES'",
            "'label' must be one of SUPPORTED, .*, got 'YES'",
        ),
        ("[[decompose.examples]]\nsentence = 'x'", "'claims' must be a list, each item a text, got None"),
    ],
)
def test_a_wrong_domain_file_is_one_clear_error(text: str, says: str) -> None:
    """It names the file and the place."""
    with pytest.raises(ConfigError, match=says) as raised:
        read_domain(text, name="legal.toml")
    assert "legal.toml" in str(raised.value)


def test_the_worked_examples_are_what_the_check_of_splits_believes() -> None:
    """A model that follows them passes; they take less than 75 tokens."""
    sentence, *claims = re.findall(r'"([^"]+)"', template("split")["examples"])
    assert len(claims) == 5
    assert not inventions(claims, sentence, SplitSource("", sentence))
    assert len(template("split")["examples"]) / 4 < 75
