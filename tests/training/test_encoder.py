"""The encoder's training: what rows become, what the loss asks for, that runs resume, that the export agrees."""

import json
import math
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
LABELS = (0, 2, 1, 3)  # of the rows made here, in turn
STAGE = """
seed = 4
rate = 1e-2
pairs = 60
tokens = 120
dropout = 0.3
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


def test_errors_and_evidence_mark_their_tokens(tokenizer: prepare.Tokenizer) -> None:
    """Spans in characters become marks on the tokens that touch them, in whichever passage they stand."""
    passages = ["Dogs board when the ferry leaves.", "The harbour is old. The ferry leaves at noon. Tea is served."]
    claim, fact = "The ferry leaves at midnight.", "The ferry leaves at noon."
    start, at = claim.index("midnight"), passages[1].index(fact)
    it = row(1, contexts=passages, text=claim, label="CONTRADICTED", errors=[[start, start + len("midnight")]],
             evidence=[{"passage": 1, "start": at, "end": at + len(fact)}])  # fmt: skip
    made = prepare.prepare(it, tokenizer, 96)
    assert made is not None
    assert made.found
    assert words(tokenizer, made, 1) == "the ferry leaves at noon. midnight"
    ours = [tokenizer.decode([i]) for i, t in zip(made.ids, made.targets, strict=True) if t == 0]
    assert ours[-5:] == ["the", "ferry", "leaves", "at", "."]
    assert "dogs" in ours
    assert made.label == prepare.LABELS["CONTRADICTED"]


def test_training_reads_what_the_verifier_reads(tokenizer: prepare.Tokenizer) -> None:
    """A record as its fields, equal values in one spelling, without words that point at the sources; marks go along."""
    record = json.dumps({"name": "Blue Boat Cafe", "hours": {"Monday": "9:0-17:0"}, "seats": 24})
    claim = "According to the passage, the Blue Boat Cafe has two dozen seats and a terrace."
    start = claim.index("a terrace")
    it = row(1, contexts=[record], text=claim, label="UNSUPPORTED", errors=[[start, start + len("a terrace")]])
    made = prepare.prepare(it, tokenizer, 96)
    assert made is not None
    assert tokenizer.decode(made.ids[1 : made.claim_at - 1]).startswith("name : blue boat cafe hours, monday")
    assert tokenizer.decode(made.ids[made.claim_at : -1]) == "the blue boat cafe has 24 seats and a terrace."
    assert words(tokenizer, made, 1) == "a terrace"


def test_what_is_not_known_is_not_taught(tokenizer: prepare.Tokenizer) -> None:
    """A claim that fails without a word marked, in a row without evidence, has no target at any token."""
    made = prepare.prepare(row(2, text="The ferry is blue.", label="NOT_SUPPORTED"), tokenizer)
    assert made is not None
    assert set(made.targets) == {-1}
    assert made.label == prepare.LABELS["NOT_SUPPORTED"]


def test_a_supported_claim_whose_evidence_is_not_read_is_left_out(tokenizer: prepare.Tokenizer) -> None:
    """Its label would be false for what the network sees."""
    filler = " ".join(f"The ferry leaves pier {i} for the island at noon." for i in range(30))
    fact = "Cheap tickets were printed in blue ink by the office of a town that has long since lost its last printer."
    text = f"{filler} {fact}"
    it = row(3, contexts=[text], text="The ferry leaves for the island at noon.",
             evidence=[{"passage": 0, "start": len(filler) + 1, "end": len(text)}])  # fmt: skip
    made = prepare.prepare(it, tokenizer, 48)
    assert made is not None
    assert made.found is False
    assert made.label == prepare.LEFT_OUT


def test_a_supported_claim_that_needs_a_passage_which_is_not_read_is_left_out(tokenizer: prepare.Tokenizer) -> None:
    """Every passage that it needs must be there; a claim that fails needs none."""
    filler = " ".join(f"The ferry leaves pier {i} for the island at noon." for i in range(30))
    other = "Cheap tickets were printed in blue ink by the office of a town that has long since lost its last printer."
    claim = "The ferry leaves for the island at noon."
    labels = {}
    for label in ("SUPPORTED", "UNSUPPORTED"):
        for needs in ([0], [0, 1]):
            it = row(3, contexts=[filler, other], text=claim, label=label, needs=needs)
            made = prepare.prepare(it, tokenizer, 48)
            assert made is not None
            labels[label, len(needs)] = made.label
    assert labels == {
        ("SUPPORTED", 1): prepare.LABELS["SUPPORTED"], ("SUPPORTED", 2): prepare.LEFT_OUT,
        ("UNSUPPORTED", 1): prepare.LABELS["UNSUPPORTED"], ("UNSUPPORTED", 2): prepare.LABELS["UNSUPPORTED"],
    }  # fmt: skip


def test_the_parent_sentence_stands_between_premise_and_claim(tokenizer: prepare.Tokenizer) -> None:
    """It is context: neither judged nor evidence; some rows go without it, and all that can be understood alone."""
    parent = "On Sundays the ferry leaves at nine, unless it snows."
    leaning = "On Sundays they leave at nine."
    made = [prepare.prepare(row(i, text=leaning, sentence=parent), tokenizer) for i in range(20)]
    parts = [tokenizer.decode(it.ids, skip_special_tokens=False).split(" [SEP]") for it in made if it is not None]
    assert {len(part) for part in parts} == {3, 4}
    assert {part[1].strip() for part in parts if len(part) == 4} == {parent.lower()}
    alone = [prepare.prepare(row(i, sentence=parent), tokenizer) for i in range(20)]
    assert not any(parent.lower() in tokenizer.decode(it.ids) for it in alone if it is not None)
    for it in made:
        assert it is not None
        assert set(it.targets[: it.claim_at]) == {-1}


def test_a_written_file_gives_back_its_rows(prepared: Path, tokenizer: prepare.Tokenizer) -> None:
    """Offsets lead to each row's tokens; in a batch the claim's tokens have type 1 and padding is masked."""
    rows = Rows([prepared], {"rows": {}}, 0)
    assert len(rows.label) == 20
    batch = np.array([3, 11, 14])
    ids, types, mask, targets, label, *_ = rows.tensors(batch)
    numbers = [int(key[1:]) for key in np.load(prepared)["key"][batch]]
    for i, number in enumerate(numbers):
        made = prepare.prepare(row(number), tokenizer)
        assert made is not None
        size = len(made.ids)
        assert ids[i][mask[i] == 1].tolist() == made.ids
        assert ids[i][types[i] == 1].tolist() == made.ids[made.claim_at : -1]
        assert targets[i, size:].tolist() == [-1] * (ids.shape[1] - size)
    assert label.tolist() == [LABELS[number % 4] for number in numbers]


def test_an_epoch_takes_what_the_stage_asks_for(prepared: Path) -> None:
    """Names, names that end in a star, and no row twice; two processes share the batches."""
    rows = Rows([prepared], {"rows": {"harbour": 8, "ferry_*": 6}}, 1)
    drawn = rows.epoch()
    assert len(set(drawn.tolist())) == 14
    assert (rows.dataset[drawn] == "harbour").sum() == 8
    one, two = (Rows([prepared], {"rows": {"harbour": 8, "ferry_*": 6}}, 1).batches(60, rank, 2) for rank in (0, 1))
    assert len(one) == len(two) > 1
    assert not {int(i) for batch in one for i in batch} & {int(i) for batch in two for i in batch}


def test_twins_stay_in_one_batch(tmp_path: Path, tokenizer: prepare.Tokenizer) -> None:
    """Whatever else is drawn, a claim and what was made from it are learned from together."""
    flat = prepare.Flat()
    for i in range(60):
        made = prepare.prepare(row(i), tokenizer)
        assert made is not None
        flat.add({**row(i), "beside": f"group {i % 20}"}, made)
    flat.write(tmp_path / "twins.npz")
    rows = Rows([tmp_path / "twins.npz"], {"rows": {"*": 60}}, 3)
    for _ in range(2):
        batches = rows.batches(150, 0, 1)
        assert sorted(int(i) for batch in batches for i in batch) == list(range(60))
        assert len(batches) > 4
        places = {int(i): n for n, batch in enumerate(batches) for i in batch}
        assert all(places[i] == places[i + 20] == places[i + 40] for i in range(20))


# The network and its loss


def test_padding_changes_nothing(prepared: Path) -> None:
    """A pair among longer ones, masked, is read as it is alone and unpadded."""
    rows, reader = Rows([prepared], {"rows": {}}, 0), tiny()
    batch = np.array([rows.sizes.argmin(), rows.sizes.argmax()])
    ids, types, mask, *_ = rows.tensors(batch)
    assert mask.sum(1).tolist() == rows.sizes[batch].tolist()
    assert (mask == 0).any()
    with torch.no_grad():
        labels, tokens = reader(ids, types, mask)
        for i, size in enumerate(rows.sizes[batch]):
            alone, alone_tokens = reader(ids[i : i + 1, :size], types[i : i + 1, :size], None)
            torch.testing.assert_close(alone[0], labels[i], rtol=1e-4, atol=1e-4)
            torch.testing.assert_close(alone_tokens[0], tokens[i, :size], rtol=1e-4, atol=1e-4)


Odds = tuple[float, float, float]


def losses(odds: list[Odds], label: list[int], twins: list[int]) -> tuple[float, float]:
    """The loss, and its part from labels, of pairs whose probabilities are given, without smoothing and token targets."""
    ids = torch.tensor([[101, 7, 102, 8, 102]] * len(odds))
    types = torch.tensor([[0, 0, 0, 1, 0]] * len(odds))
    unknown, one = torch.full_like(ids, -1), torch.ones(len(odds))
    batch = (ids, types, torch.ones_like(ids), unknown, torch.tensor(label), one, torch.tensor(twins))
    said = torch.log(torch.tensor(odds))
    total, labels = train.loss_of(lambda *_: (said, torch.zeros(ids.shape)), batch, {"smooth": 0.0, "twin_loss": 1.0})
    return float(total), float(labels)


def loss(odds: Odds, label: int) -> float:
    """The loss of one pair."""
    total, labels = losses([odds], [label], [0])
    assert total == labels
    return total


def test_not_supported_asks_for_the_sum_of_the_other_two() -> None:
    """Which of the two it is does not matter where it is not known, and matters where it is."""
    unknown, contradicted = 3, 2
    assert loss((0.3, 0.6, 0.1), unknown) == pytest.approx(-math.log(0.7), rel=1e-5)
    assert loss((0.3, 0.6, 0.1), unknown) == pytest.approx(loss((0.3, 0.1, 0.6), unknown), rel=1e-5)
    assert loss((0.3, 0.6, 0.1), contradicted) == pytest.approx(-math.log(0.1), rel=1e-5)


def test_a_twin_that_is_not_supported_must_score_below_its_claim() -> None:
    """Softplus of the difference of log-odds, for twins of different labels and for nobody else."""
    one, other = (0.8, 0.1, 0.1), (0.5, 0.25, 0.25)
    total, labels = losses([one, other], [0, 2], [7, 7])
    assert total - labels == pytest.approx(math.log(1 + 1 / 4), rel=1e-4)  # odds 4 and 1
    total, labels = losses([one, other], [1, 0], [7, 7])
    assert total - labels == pytest.approx(math.log(1 + 4), rel=1e-4)
    for label, twins in (([0, 2], [7, 8]), ([0, 0], [7, 7]), ([1, 2], [7, 7])):
        total, labels = losses([one, other], label, twins)
        assert total == labels


# Training


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
def test_a_checkpoint_says_what_it_is_made_of(tmp_path: Path, prepared: Path) -> None:
    """Configuration, the stage as it was used, seed, starts, files and rows; no folder of the machine."""
    starts = [str(saved(tmp_path, seed)) for seed in (1, 2)]
    train.work(0, 1, options(tmp_path, prepared, "--tokens", "90", "--start", *starts))
    made = torch.load(tmp_path / "out.pt", weights_only=True)
    assert made["config"] == CONFIG
    assert made["stage"]["tokens"] == 90
    assert made["stage"]["rows"] == {"harbour": 8, "ferry_*": 6}
    about = made["about"]
    assert (about["seed"], about["start"], about["rows"]) == (4, "tiny1.pt tiny2.pt", 20)
    assert about["files"] == ["prepared.npz"]
    assert "optimiser" not in made


@pytest.mark.usefixtures("one_thread")
def test_a_run_resumes_only_as_what_it_was(tmp_path: Path, prepared: Path) -> None:
    """A checkpoint of another stage is refused with what differs; a finished one stays as it is."""
    train.work(0, 1, options(tmp_path, prepared))
    before = (tmp_path / "out.pt").read_bytes()
    train.work(0, 1, options(tmp_path, prepared, "--resume"))
    assert (tmp_path / "out.pt").read_bytes() == before
    with pytest.raises(SystemExit, match="tokens was 120, is 90"):
        train.work(0, 1, options(tmp_path, prepared, "--resume", "--tokens", "90"))


def test_a_stage_that_names_nothing_there_is_refused(prepared: Path) -> None:
    """Instead of an endless run over no rows."""
    with pytest.raises(SystemExit, match="stage names: airport"):
        Rows([prepared], {"rows": {"airport": 5}}, 0).epoch()


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
    out = tmp_path / "reader.onnx"
    monkeypatch.setattr(sys, "argv", ["export.py", str(saved(tmp_path, 0)), "--out", str(out), *flags])
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


def test_the_mean_of_checkpoints_is_the_mean_of_every_weight(tmp_path: Path) -> None:
    """A checkpoint that is named twice counts twice."""
    first, second = saved(tmp_path, 1), saved(tmp_path, 2)
    one, two = tiny(1).state_dict(), tiny(2).state_dict()
    for name, value in from_stages([first, second]).state_dict().items():
        torch.testing.assert_close(value, (one[name] + two[name]) / 2)
    for name, value in from_stages([first, first, second]).state_dict().items():
        torch.testing.assert_close(value, (2 * one[name] + two[name]) / 3)
