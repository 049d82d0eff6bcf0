"""The encoder's training: what rows become, what the loss asks for, that runs resume, that the export agrees."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from encoder import export, prepare, train
from encoder.network import CrossEncoder, from_stages
from encoder.rows import Rows
from everyclaim.models.local.cross_encoder import Pair, load_cross_encoder

pytestmark = pytest.mark.slow
TOKENIZER = Path(__file__).parents[2] / "src" / "everyclaim" / "models" / "data" / "tokenizer.json"
CONFIG = {"hidden_size": 16, "vocab_size": 30522, "max_position_embeddings": 512, "num_attention_heads": 2,
          "intermediate_size": 32, "num_hidden_layers": 2}  # fmt: skip
STAGE = """
seed = 4
rate = 1e-2
pairs = 60
tokens = 120
dropout = 0.3
rename = 0.5
[rows]
harbour = 8
"ferry_*" = 6
"""


def tiny(seed: int = 0) -> CrossEncoder:
    """A network of the real shape, random and small, loud enough that its parts can be told apart."""
    torch.manual_seed(seed)
    reader = CrossEncoder(CONFIG, 0.0).eval()
    with torch.no_grad():
        for parameter in reader.parameters():
            if parameter.ndim == 2:
                parameter.mul_(4.0 if parameter.shape[0] < 100 else 1.0)
    return reader


def row(number: int, **more: object) -> dict[str, object]:
    """A labelled claim as the data files hold it."""
    text = f"The ferry leaves at {number} and costs nine euros."
    claim = text if number % 3 == 0 else f"The ferry leaves at {number}."
    usual = {"id": f"r{number}", "dataset": "harbour", "unit": "sentence", "question": "", "contexts": [text],
             "text": claim, "label": "SUPPORTED", "group": f"g{number}", "slice": ""}  # fmt: skip
    return {**usual, **more}


@pytest.fixture(scope="module")
def tokenizer() -> prepare.Tokenizer:
    """The tokenizer that ships."""
    return prepare.load_tokenizer(TOKENIZER)


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A prepared file of twenty rows of two data sets, written by the command."""
    names = ("SUPPORTED", "CONTRADICTED", "UNSUPPORTED", "NOT_SUPPORTED")
    rows = [row(i, label=names[i % 4], dataset="harbour" if i % 2 else "ferry_times") for i in range(20)]
    source, out = tmp_path / "rows.jsonl", tmp_path / "prepared.npz"
    source.write_text("".join(json.dumps(it) + "\n" for it in rows), "utf-8")
    arguments = ["prepare.py", str(source), "--model", str(TOKENIZER.parent), "--out", str(out)]
    monkeypatch.setattr(sys, "argv", arguments)
    prepare.main()
    return out


# Rows


def words(tokenizer: prepare.Tokenizer, made: prepare.Prepared, value: int) -> str:
    """The tokens whose target is `value`."""
    return tokenizer.decode([i for i, target in zip(made.ids, made.targets, strict=True) if target == value])


def test_a_row_is_laid_out_as_the_network_reads_it(tokenizer: prepare.Tokenizer) -> None:
    """[CLS] premise [SEP] claim [SEP], the claim where the row says it begins, and nothing known of the premise."""
    made = prepare.prepare(row(8), tokenizer)
    assert made is not None
    text = tokenizer.decode(made.ids, skip_special_tokens=False)
    assert text == "[CLS] the ferry leaves at 8 and costs nine euros. [SEP] the ferry leaves at 8. [SEP]"
    assert tokenizer.decode(made.ids[made.claim_at : -1]) == "the ferry leaves at 8."
    assert made.targets[: made.claim_at] == [-1] * made.claim_at
    assert made.targets[made.claim_at :] == [0] * (len(made.ids) - made.claim_at - 1) + [-1]
    assert made.label == prepare.LABELS["SUPPORTED"]


def test_training_reads_what_the_verifier_reads(tokenizer: prepare.Tokenizer) -> None:
    """A record as its fields, equal values in one spelling, without words that point at the sources; marks go along."""
    record = json.dumps({"name": "Blue Boat Cafe", "hours": {"Monday": "9:0-17:0"}, "seats": 24})
    claim = "According to the passage, the Blue Boat Cafe has two dozen seats and a terrace."
    start = claim.index("a terrace")
    it = row(1, contexts=[record], text=claim, label="UNSUPPORTED", errors=[[start, start + len("a terrace")]])
    made = prepare.prepare(it, tokenizer, 96)
    assert made is not None
    assert tokenizer.decode(made.ids[1 : made.claim_at - 1]).startswith("name : blue boat cafe … seats : 24")
    assert tokenizer.decode(made.ids[made.claim_at : -1]) == "the blue boat cafe has 24 seats and a terrace."
    assert words(tokenizer, made, 1) == "a terrace"


# Training


def test_renaming_changes_claim_and_premise_alike(prepared: Path, tokenizer: prepare.Tokenizer) -> None:
    """A rare word that both have becomes the same other word in both; all else stays, and the same rows change alike."""
    stage = {"rows": {}, "rename": 1.0}
    ids, _, mask, *_ = Rows([prepared], stage, 3).tensors(np.arange(20))
    again = Rows([prepared], stage, 3).tensors(np.arange(20))[0]
    texts = [tokenizer.decode(row[here == 1].tolist()) for row, here in zip(ids, mask, strict=True)]
    assert torch.equal(ids, again)
    assert not any("ferry" in text for text in texts)
    for premise, claim in (text[:-1].split(". ") for text in texts):
        assert premise.split()[:4] == claim.split()[:4]
        assert claim.split()[3] == "at"


def options(folder: Path, prepared: Path, *more: str) -> train.argparse.Namespace:
    """Arguments of a short run from a tiny checkpoint."""
    stage, start = folder / "stage.toml", folder / "start.pt"
    stage.write_text(STAGE, "utf-8")
    if not start.exists():
        torch.save({"model": tiny().state_dict(), "config": CONFIG}, start)
    given = ["--files", str(prepared), "--start", str(start), "--out", str(folder / "out.pt")]
    return train.arguments([str(stage), *given, *more])


@pytest.fixture
def one_thread() -> object:
    """Training sets the number of threads; others' tests get theirs back."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("one_thread")
def test_a_killed_run_goes_on_as_if_it_had_never_stopped(
    tmp_path: Path, prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights, optimiser, batches and dropout go on from the checkpoint: the end is the same to the last bit."""
    whole = tmp_path / "whole"
    whole.mkdir()
    train.work(0, 1, options(whole, prepared))
    expected = torch.load(whole / "out.pt", weights_only=True)

    steps, real = [], train.step

    def killed(run: train.Run, batch: tuple[torch.Tensor, ...]) -> None:
        if len(steps) == 8:  # in the second epoch
            raise KeyboardInterrupt
        steps.append(real(run, batch))

    monkeypatch.setattr(train, "step", killed)
    with pytest.raises(KeyboardInterrupt):
        train.work(0, 1, options(tmp_path, prepared, "--save-every", "0"))
    monkeypatch.setattr(train, "step", real)
    half = torch.load(tmp_path / "out.pt", weights_only=True)
    assert half["step"] == 8
    assert half["seen"] > 14  # one epoch
    torch.manual_seed(99)  # another process has another random state
    train.work(0, 1, options(tmp_path, prepared, "--resume"))

    resumed = torch.load(tmp_path / "out.pt", weights_only=True)
    assert (resumed["seen"], resumed["step"]) == (expected["seen"], expected["step"])
    for name, value in expected["model"].items():
        assert torch.equal(value, resumed["model"][name]), name


@pytest.mark.usefixtures("one_thread")
def test_a_run_resumes_only_as_what_it_was(tmp_path: Path, prepared: Path) -> None:
    """A checkpoint of another stage is refused with what differs; a finished one stays as it is."""
    train.work(0, 1, options(tmp_path, prepared))
    before = (tmp_path / "out.pt").read_bytes()
    train.work(0, 1, options(tmp_path, prepared, "--resume"))
    assert (tmp_path / "out.pt").read_bytes() == before
    with pytest.raises(SystemExit, match="tokens was 120, is 90"):
        train.work(0, 1, options(tmp_path, prepared, "--resume", "--tokens", "90"))


# Export


def saved(folder: Path, seed: int) -> Path:
    """A checkpoint of a tiny network."""
    path = folder / f"tiny{seed}.pt"
    torch.save({"model": tiny(seed).state_dict(), "config": CONFIG}, path)
    return path


PAIRS = [
    Pair("The ferry leaves at noon.", "The ferry leaves at noon."),
    Pair("Dogs are welcome on board. Tea is served.", "Nobody may bring a dog.", "What about animals?"),
]


@pytest.mark.parametrize(("flags", "tolerance"), [(["--full"], 1e-3), ([], 0.25)])
def test_the_export_reads_as_the_network_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str], tolerance: float
) -> None:
    """What onnxruntime says of a pair is what torch says, exactly in full precision and nearly in 8 bits."""
    out, pairs = tmp_path / "reader.onnx", tmp_path / "pairs.npz"
    np.savez(pairs, ids=np.arange(1000, 1040, dtype=np.uint16), sizes=[20, 20], claim=[12, 9])
    arguments = [str(saved(tmp_path, 0)), "--pairs", str(pairs), "--out", str(out), *flags]
    monkeypatch.setattr(sys, "argv", ["export.py", *arguments])
    export.main()
    exported, reader = load_cross_encoder(out, 1), from_stages([tmp_path / "tiny0.pt"]).eval()
    seen = []
    for pair, scores in zip(PAIRS, exported.read(PAIRS), strict=True):
        encode = exported.tokenizer.encode
        parts = [encode(text, add_special_tokens=False).ids for text in (pair.premise, pair.context, pair.claim)]
        first, middle, claim = parts
        ids = [101, *first, 102, *([*middle, 102] if middle else []), *claim, 102]
        types = torch.zeros((1, len(ids)), dtype=torch.long)
        types[0, -1 - len(claim) : -1] = 1
        with torch.no_grad():
            labels, tokens = reader(torch.tensor([ids]), types, None)
        said = [*scores.labels, *(it.logit for it in scores.premise), *(it.logit for it in scores.claim)]
        expected = [*labels[0].tolist(), *tokens[0, 1 : 1 + len(first)].tolist(), *tokens[0, types[0] == 1].tolist()]
        assert said == pytest.approx(expected, abs=tolerance)
        seen.append(expected)
    assert max(abs(a - b) for a, b in zip(*(it[:3] for it in seen), strict=True)) > 2 * 1e-3  # the pairs differ
