"""``hf:`` judges on tiny models of the published architectures, laid out as the published checkpoints are.

What is expected comes from the module itself, called one pair at a time the way each model's authors call it.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import tiny_models as tiny
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

import everyclaim as ec
from everyclaim.api.specs import create_verifier
from everyclaim.core.errors import ConfigError, EveryclaimError, OperatorError
from everyclaim.core.types import Claim, Label, Passage, Span, Verdict
from everyclaim.models.local.hf_files import KNOWN

pytestmark = pytest.mark.slow

PASSAGES = [
    "The kettle holds 2 litres. It is made of steel, and the lid is blue.",
    "Guarantee: 5 years.\nThe cable of the kettle is 90 cm long; it was made in 2019.",
]
CLAIMS = [
    "The kettle holds 2 litres.",
    "The lid is red.",
    "It has a guarantee of 5 years",
    "A {text2} in </s> braces {0}",
]


@dataclass(frozen=True)
class Model:
    """A model on disk, and the module that was saved."""

    folder: Path
    module: Any
    tokenizer: Any

    def spec(self, **options: object) -> str:
        query = f"?{urlencode(options)}" if options else ""
        return f"hf:{self.folder}{query}"

    def logits(self, *texts: str, **more: Any) -> torch.Tensor:
        """Run one input, unpadded, through the module."""
        inputs = self.tokenizer(*texts, return_tensors="pt")
        inputs.pop("token_type_ids", None)
        with torch.no_grad():
            return self.module(**inputs, **more).logits[0]


def claim(text: str, number: int = 1) -> Claim:
    return Claim(f"c{number}", text, Span(0, len(text)), text)


def judged(spec: str, claims: list[str], passages: list[str], question: str = "") -> list[Verdict]:
    given = [Passage(f"p{i}", text) for i, text in enumerate(passages, start=1)]
    asked = [claim(text, i) for i, text in enumerate(claims, start=1)]
    return list(asyncio.run(create_verifier(spec).verify(asked, given, question=question)))


def supports(verdicts: list[Verdict]) -> list[float]:
    return [verdict.probabilities.supported for verdict in verdicts if verdict.probabilities]


def softmax(logits: torch.Tensor) -> list[float]:
    return torch.softmax(logits, -1).tolist()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Model]:
    """Make a model once per session."""
    kept: dict[str, Model] = {}

    def make(name: str, build: Callable[[Path], Any], tokenizer: Path | None = None) -> Model:
        if name not in kept:
            folder = tmp_path_factory.mktemp("models") / name
            module = build(folder)
            kept[name] = Model(folder, module, AutoTokenizer.from_pretrained(tokenizer or folder))
        return kept[name]

    return make


@pytest.fixture(scope="session")
def foundation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.flan_t5(tmp_path_factory.mktemp("models") / "flan-t5-base")


@pytest.fixture
def hhem(made: Callable[..., Model], foundation: Path) -> Model:
    return made("hhem", lambda folder: tiny.hhem(folder, str(foundation)), foundation)


@pytest.fixture
def minicheck(made: Callable[..., Model]) -> Model:
    return made("MiniCheck-RoBERTa-Large", tiny.roberta)


@pytest.fixture
def nli(made: Callable[..., Model]) -> Model:
    return made("nli-deberta-v3-base", lambda f: tiny.deberta(f, {0: "contradiction", 1: "entailment", 2: "neutral"}))


@pytest.fixture
def lettuce(made: Callable[..., Model]) -> Model:
    return made("lettucedetect-base-modernbert-en-v1", tiny.modernbert)


def hhem_score(model: Model, premise: str, hypothesis: str) -> float:
    text = tiny.HHEM_PROMPT.replace("{text2}", hypothesis, 1).replace("{text1}", premise, 1)
    return softmax(model.logits(text)[0])[1]


def test_hhem_is_its_encoder_read_at_the_first_token(hhem: Model) -> None:
    """Class 1 at position 0 of the prompt; all passages are one premise; its own code is never run."""
    verdicts = judged(hhem.spec(), CLAIMS[:3], PASSAGES)
    expected = [hhem_score(hhem, "\n".join(PASSAGES), text) for text in CLAIMS[:3]]
    assert supports(verdicts) == pytest.approx(expected, abs=1e-4)
    assert len({round(score, 2) for score in expected}) == 3
    assert [verdict.label is Label.SUPPORTED for verdict in verdicts] == [score >= 0.5 for score in expected]
    assert all(verdict.probabilities and verdict.probabilities.contradicted == 0 for verdict in verdicts)


def changed(model: Model, folder: Path, change: Callable[[dict[str, torch.Tensor]], None]) -> str:
    shutil.copytree(model.folder, folder)
    state = load_file(folder / "model.safetensors")
    change(state)
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    return f"hf:{folder}"


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.pop("t5.classifier.weight"),
        lambda state: state.update({"t5.decoder.weight": torch.ones(2)}),
        lambda state: state.update({"t5.classifier.bias": torch.ones(3)}),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_refused(
    hhem: Model, tmp_path: Path, change: Callable[[dict[str, torch.Tensor]], None]
) -> None:
    """A head of random numbers would judge, too."""
    with pytest.raises(ConfigError, match="do not fit"):
        create_verifier(changed(hhem, tmp_path / "changed", change))


def test_minicheck_t5_compares_the_two_answers_at_the_first_step(made: Callable[..., Model]) -> None:
    """The tokens that 0 and 1 begin with; what else the model might say first does not count."""
    model = made("MiniCheck-Flan-T5-Large", tiny.minicheck_t5)
    no, yes = (model.tokenizer(text, add_special_tokens=False)["input_ids"][0] for text in "01")
    begin = torch.zeros((1, 1), dtype=torch.long)
    expected = []
    for text in CLAIMS[:3]:
        first = model.logits("predict: " + "\n".join(PASSAGES) + "</s>" + text, decoder_input_ids=begin)[0]
        expected.append(softmax(first[[no, yes]])[1])
    assert no != yes
    assert supports(judged(model.spec(), CLAIMS[:3], PASSAGES)) == pytest.approx(expected, abs=1e-4)


def test_the_order_of_nli_labels_is_the_models_own(nli: Model) -> None:
    """Three labels stay three, wherever each stands in the classifier's output."""
    verdicts = judged(nli.spec(), CLAIMS[:3], PASSAGES)
    for verdict, text in zip(verdicts, CLAIMS, strict=False):
        contradiction, entailment, neutral = softmax(nli.logits("\n".join(PASSAGES), text))
        assert verdict.probabilities == pytest.approx((entailment, neutral, contradiction), abs=1.1e-4)
        assert verdict.label is verdict.probabilities.label


def named(model: Model, folder: Path, names: dict[int, str]) -> str:
    shutil.copytree(model.folder, folder)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config |= {"id2label": names, "label2id": {name: i for i, name in names.items()}}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    return f"hf:{folder}"


@pytest.mark.parametrize(
    "names",
    [
        {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"},
        {0: "entailment", 1: "neutral", 2: "toxic"},
        {0: "entailment", 1: "entailment", 2: "neutral"},
    ],
)
def test_classes_that_say_nothing_must_be_named(nli: Model, tmp_path: Path, names: dict[int, str]) -> None:
    """A guess would turn support into contradiction; the message says how to name them."""
    with pytest.raises(ConfigError, match="labels=contradiction,entailment,neutral"):
        create_verifier(named(nli, tmp_path / "a", names))


@pytest.mark.parametrize("names", [{0: "entailment", 1: "not_entailment"}, {0: "entailment"}])
def test_models_with_fewer_classes_give_two_labels(tmp_path: Path, names: dict[int, str]) -> None:
    """Two classes are p and 1 - p; one output is a probability of its own. Contradiction is never claimed."""
    module = tiny.roberta(tmp_path / "two", names, seed=2)
    model = Model(tmp_path / "two", module, AutoTokenizer.from_pretrained(tmp_path / "two"))
    logits = model.logits("\n".join(PASSAGES), CLAIMS[0])
    expected = softmax(logits)[0] if len(names) == 2 else torch.sigmoid(logits)[0].item()
    (verdict,) = judged(model.spec(), CLAIMS[:1], PASSAGES)
    assert verdict.probabilities == pytest.approx((expected, 1 - expected, 0), abs=1e-4)


def test_lettucedetect_marks_the_tokens_of_the_answer(lettuce: Model) -> None:
    """A claim has the probability of its worst token, as the token classifier gives it."""
    response = "The lid is red. It holds 2 litres."
    question = "What about the kettle?"
    prompt = (
        f"Briefly answer the following question:\n{question}\nBear in mind that your response should be strictly based "
        f"on the following 2 passages:\npassage 1: {PASSAGES[0]}\npassage 2: {PASSAGES[1]}\nIn case the passages do "
        "not contain the necessary information to answer the question, please reply with: "
        '"Unable to answer based on given passages."\noutput:'
    )
    encoded = lettuce.tokenizer(prompt, response, return_offsets_mapping=True)
    share = torch.softmax(lettuce.logits(prompt, response), -1)[:, 1].tolist()
    found = zip(encoded["offset_mapping"], encoded.sequence_ids(), share, strict=True)
    words = [(start, p) for (start, end), part, p in found if part == 1 and response[start:end].strip(" .")]
    result = ec.score(response=response, passages=PASSAGES, question=question, judge=lettuce.spec())
    for judged_claim in result.claims:
        worst = max(p for start, p in words if judged_claim.span.start <= start < judged_claim.span.end)
        assert judged_claim.verdict.probabilities == pytest.approx((1 - worst, worst, 0), abs=1e-4)
        assert (judged_claim.verdict.label is Label.SUPPORTED) is (worst < 0.5)


@pytest.mark.parametrize("name", ["minicheck", "nli"])
def test_an_exported_network_says_the_same(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """A folder with model.onnx is run by onnxruntime, without its torch weights."""
    model: Model = request.getfixturevalue(name)
    folder = tmp_path / model.folder.name
    shutil.copytree(model.folder, folder)
    tiny.exported(folder, model.module, "input_ids", "attention_mask")
    verifier = create_verifier(f"hf:{folder}")
    assert verifier.parameters["hf_runtime"].startswith("onnxruntime")  # type: ignore[attr-defined]
    exported = judged(f"hf:{folder}", CLAIMS[:3], PASSAGES)
    assert supports(exported) == pytest.approx(supports(judged(model.spec(), CLAIMS[:3], PASSAGES)), abs=2e-4)


def test_a_known_model_is_fetched_at_its_commit(hhem: Model, foundation: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Model and foundation are pinned, no Python file is asked for, and the commit that came is kept."""
    asked: dict[str, tuple[str | None, list[str]]] = {}
    commit = KNOWN["vectara/hallucination_evaluation_model"].revision
    snapshot = hhem.folder.parent / str(commit)
    if not snapshot.exists():
        shutil.copytree(hhem.folder, snapshot)

    def download(model: str, *, revision: str | None, allow_patterns: list[str], local_files_only: bool) -> str:
        asked[model] = revision, allow_patterns
        return str(foundation if "flan" in model else snapshot)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    config = json.loads((snapshot / "config.json").read_text("utf-8"))
    (snapshot / "config.json").write_text(json.dumps(config | {"foundation": "google/flan-t5-base"}), "utf-8")
    verifier = create_verifier("hf:vectara/hallucination_evaluation_model")
    assert asked["vectara/hallucination_evaluation_model"][0] == commit
    assert asked["google/flan-t5-base"][0] == "7bcac572ce56db69c1ea7c8af255c5d7c9672fc2"
    assert not any(".py" in pattern or pattern == "*" for _, patterns in asked.values() for pattern in patterns)
    assert verifier.parameters["hf_revision"] == commit  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("hf", ConfigError, "name a model"),
        ("hf:./nowhere", ConfigError, "there is no folder"),
        ("hf:not an id", ConfigError, "not a Hugging Face model id"),
        ("hf:nobody/has-this?local_files_only=true", OperatorError, "not in the local cache"),
        ("hf:x/y?family=bert", ConfigError, "family of 'hf' must be one of hhem, .* got 'bert'"),
        ("hf:x/y?batch_size=0", ConfigError, "batch_size of 'hf' must be a whole number from 1 to 4,096, got 0"),
    ],
)
def test_a_wrong_spec_says_what_is_wrong(spec: str, error: type[EveryclaimError], message: str) -> None:
    """One line each, before anything is loaded."""
    with pytest.raises(error, match=message) as caught:
        create_verifier(spec)
    assert "\n" not in str(caught.value)
