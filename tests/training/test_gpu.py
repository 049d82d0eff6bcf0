"""Training on a borrowed machine: what is packed, what a sitting does, and what comes back."""

import json
from pathlib import Path

import pytest
import torch
from test_encoder import CONFIG, row, tiny

from encoder import export, gpu, prepare, train
from encoder.network import CrossEncoder
from everyclaim.models.local.cross_encoder import Pair, load_cross_encoder

pytestmark = pytest.mark.slow
TOKENIZER = Path(__file__).parents[2] / "src" / "everyclaim" / "models" / "data" / "tokenizer.json"
STAGE = """
seed = {seed}
rate = 1e-2
pairs = 40
tokens = 120
[rows]
harbour = 8
"answers_{half}_*" = 6
"""


@pytest.fixture
def one_thread() -> object:
    """Training sets the number of threads; others' tests get theirs back."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def trained(seed: int = 0) -> CrossEncoder:
    """A tiny network no two of whose weights are alike, as after training."""
    reader = tiny(seed)
    with torch.no_grad():
        for parameter in reader.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return reader


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """A tiny network as it ships: 8-bit, exported."""
    full, path = tmp_path / "full.onnx", tmp_path / "shipped.onnx"
    export.write(trained(), full)
    export.quantize(full, path)
    return path


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A packed job of two stages, of which each reads the answers of its own half."""
    tokenizer, flat = prepare.load_tokenizer(TOKENIZER), prepare.Flat()
    names = ("harbour", "answers_a_right_qa", "answers_b_right_qa", "never_named")
    for i in range(40):
        it = row(i, dataset=names[i % 4], beside=f"twins {i // 8}")
        made = prepare.prepare(it, tokenizer)
        assert made is not None
        flat.add(it, made)
    flat.write(tmp_path / "rows.npz")
    torch.save({"model": tiny(3).state_dict(), "config": CONFIG}, tmp_path / "start.pt")
    stages = []
    for seed, half in enumerate("ab"):
        stages.append(tmp_path / f"gpu_{half}.toml")
        stages[-1].write_text(STAGE.format(seed=seed, half=half), "utf-8")
    given = [
        "--files",
        str(tmp_path / "rows.npz"),
        "--start",
        str(tmp_path / "start.pt"),
        "--out",
        str(tmp_path / "job"),
    ]
    gpu.pack(gpu.arguments(["pack", *given, "--stages", *map(str, stages)]))
    return tmp_path / "job"


def sitting(job: Path, network: Path, *more: str) -> None:
    """One call on the other machine."""
    folder = job.parent
    given = [str(job), "--work", str(folder / "kept"), "--out", str(folder / "back"), "--network", str(network)]
    gpu.run(gpu.arguments(["run", *given, "--device", "cpu", "--threads", "1", *more]))


@pytest.mark.usefixtures("one_thread")
def test_a_job_that_was_cut_goes_on_and_comes_back_whole(
    job: Path, network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in the second step, resumed, finished; the parts join to the weights that were trained, and export."""
    monkeypatch.setattr(gpu, "PART", 20_000)
    steps, real = [], train.step

    def killed(run: train.Run, batch: tuple[torch.Tensor, ...]) -> None:
        real(run, batch)
        steps.append(run.at.seen)
        if len(steps) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(train, "step", killed)
    with pytest.raises(KeyboardInterrupt):
        sitting(job, network)
    monkeypatch.setattr(train, "step", real)
    assert not list((tmp_path / "back").glob("*.json"))
    sitting(job, network)

    told = {path.stem: json.loads(path.read_text("utf-8")) for path in (tmp_path / "back").glob("*.json")}
    assert set(told) == {"gpu_a", "gpu_b"}
    assert all(it["seen"] >= 40 and len(it["parts"]) > 1 for it in told.values())
    assert max(path.stat().st_size for path in (tmp_path / "back").iterdir()) <= gpu.PART
    gpu.join(gpu.arguments(["join", str(tmp_path / "back"), "--out", str(tmp_path), "--network", str(network)]))
    for name in told:
        joined, kept = (
            torch.load(folder / f"{name}.pt", weights_only=True)["model"] for folder in (tmp_path, tmp_path / "kept")
        )
        assert joined.keys() == kept.keys()
        for key, value in kept.items():
            torch.testing.assert_close(joined[key], value, rtol=2e-3, atol=1e-4)
    out = tmp_path / "reader.onnx"
    monkeypatch.setattr("sys.argv", ["export.py", *(str(tmp_path / f"{name}.pt") for name in told), "--out", str(out)])
    export.main()
    assert load_cross_encoder(out, 1).read([Pair("The ferry leaves at noon.", "It leaves.")])
