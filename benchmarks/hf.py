"""HHEM on a stand-in: pairs per second against the way Ragas 0.4 drives it. Prints one table.

    pip install 'everyclaim[hf]'
    python benchmarks/hf.py

The stand-in has HHEM-2.1-Open's architecture and checkpoint layout, random weights and fewer, narrower layers, because
the real weights cannot be fetched everywhere; `--model` names real ones. Both sides get the same model in memory, the
same pairs (claims of the example answers, all passages of an answer as the premise) and the same number of threads, in
turns within one run; the ratio is what counts. The other side is `FaithfulnesswithHHEM` as of 0.4.3: one answer after
the other, its pairs in batches of ten in the order given, padded to the longest, through `predict`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import everyclaim as ec
from everyclaim.api.specs import create_verifier
from everyclaim.core.types import Claim, Passage, Span
from everyclaim.io import read_samples

EXAMPLE = Path(__file__).parents[1] / "examples" / "support_bot" / "answers.jsonl"
PROMPT = "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {text1}\n\nHypothesis: {text2}"
BATCH = 10  # Ragas' usual
IN_FLIGHT = 32

Answer = tuple[list[str], list[str]]  # passages, claims


def answers(times: int) -> list[Answer]:
    """Return the example answers as passages and claims, `times` over with a mark that makes each different."""
    found = []
    for turn in range(times):
        for sample in read_samples(EXAMPLE):
            claims = [claim.text for claim in ec.extract_claims(sample.response).claims]
            if claims:
                found.append(([f"({turn}) {passage.text}" for passage in sample.passages], claims))
    return found


def stand_in(folder: Path, texts: Sequence[str], layers: int, width: int) -> Path:
    """Save a checkpoint laid out as the published one, with a tokenizer of the texts' words and all characters."""
    import torch
    from safetensors.torch import save_file
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import T5Config, T5ForTokenClassification

    torch.manual_seed(0)
    words = sorted({f"▁{word}" for text in [*texts, PROMPT] for word in text.split()})
    letters = sorted({letter for text in [*texts, PROMPT] for letter in text} | {"▁"})
    pieces = dict.fromkeys([*letters, *words])
    vocabulary = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *((piece, -float(len(piece) < 2)) for piece in pieces)]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=2))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.add_special_tokens(["<pad>", "</s>", "<unk>"])
    tokenizer.post_processor = processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 1)])
    foundation = folder / "foundation"
    foundation.mkdir()
    tokenizer.save(str(foundation / "tokenizer.json"))
    names = {"eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>", "tokenizer_class": "T5Tokenizer"}
    (foundation / "tokenizer_config.json").write_text(json.dumps(names), "utf-8")
    config = T5Config(
        vocab_size=len(vocabulary), d_model=width, d_kv=width // 8, d_ff=2 * width, num_layers=layers, num_heads=8,
        feed_forward_proj="gated-gelu", num_labels=2, pad_token_id=0,
    )  # fmt: skip
    (foundation / "config.json").write_text(json.dumps(config.to_dict()), "utf-8")
    state = {f"t5.{name}": value for name, value in T5ForTokenClassification(config).state_dict().items()}
    del state["t5.transformer.encoder.embed_tokens.weight"]
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    told = {"model_type": "HHEMv2", "foundation": str(foundation), "prompt": PROMPT}
    (folder / "config.json").write_text(json.dumps(told), "utf-8")
    return folder


def same_model(folder: str) -> tuple[Any, Any]:
    """Return a second copy of the model, and its tokenizer, as transformers gives them to whoever calls `predict`."""
    from safetensors.torch import load_file
    from transformers import AutoTokenizer, T5Config, T5ForTokenClassification

    foundation = json.loads(Path(folder, "config.json").read_text("utf-8"))["foundation"]
    module = T5ForTokenClassification(T5Config.from_pretrained(foundation, num_labels=2)).eval()
    state = {name.removeprefix("t5."): value for name, value in load_file(Path(folder, "model.safetensors")).items()}
    module.load_state_dict(state | {"transformer.encoder.embed_tokens.weight": state["transformer.shared.weight"]})
    return module, AutoTokenizer.from_pretrained(foundation)


def as_ragas(module: Any, tokenizer: Any, given: Sequence[Answer]) -> list[float]:
    """Score as `FaithfulnesswithHHEM` does: one answer at a time, ten pairs at a time, in their order."""
    import torch

    def predict(pairs: Sequence[tuple[str, str]]) -> Any:
        texts = [PROMPT.format(text1=premise, text2=hypothesis) for premise, hypothesis in pairs]
        inputs = tokenizer(texts, return_tensors="pt", padding=True)
        with torch.no_grad():
            logits = module(**inputs).logits[:, 0, :]
        return torch.softmax(logits, dim=-1)[:, 1]

    scores: list[float] = []
    for passages, claims in given:
        pairs = [("\n".join(passages), claim) for claim in claims]
        for start in range(0, len(pairs), BATCH):
            scores += predict(pairs[start : start + BATCH]).cpu().detach().tolist()
    return scores


def as_verifier(verifier: Any, given: Sequence[Answer]) -> list[float]:
    """Score as a run does: many answers in flight, each asking for its own claims, evidence included."""
    slots = asyncio.Semaphore(IN_FLIGHT)

    async def one(passages: list[str], claims: list[str]) -> list[float]:
        asked = [Claim(f"c{i}", text, Span(0, len(text)), text) for i, text in enumerate(claims)]
        async with slots:
            verdicts = await verifier.verify(asked, [Passage(f"p{i}", text) for i, text in enumerate(passages)])
        return [verdict.probabilities.supported for verdict in verdicts]

    async def every() -> list[float]:
        return [score for scores in await asyncio.gather(*(one(*answer) for answer in given)) for score in scores]

    return asyncio.run(every())


def as_pairs(verifier: Any, given: Sequence[Answer]) -> list[float]:
    """Score the pairs alone, through the same queue, without chunks and evidence."""
    pairs = [("\n".join(passages), claim) for passages, claims in given for claim in claims]
    return [found.supported for found in asyncio.run(verifier.model.judge(pairs))]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a checkpoint instead of the stand-in, with its foundation in a folder beside")
    parser.add_argument("--times", type=int, default=1, help="how often the example answers are taken")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=128)
    asked = parser.parse_args()

    import torch

    torch.set_num_threads(asked.threads)
    given = answers(asked.times)
    texts = [text for passages, claims in given for text in (*passages, *claims)]
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.model or str(stand_in(Path(scratch), texts, asked.layers, asked.width))
        verifier = create_verifier(f"hf:{folder}?device=cpu")
        module, tokenizer = same_model(folder)
        ways: dict[str, Callable[[], list[float]]] = {
            "as Ragas drives it": lambda: as_ragas(module, tokenizer, given),
            "everyclaim, pairs": lambda: as_pairs(verifier, given),
            "everyclaim, verdicts with evidence": lambda: as_verifier(verifier, given),
        }
        scores = {name: way() for name, way in ways.items()}  # warm, and the same numbers
        taken: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(asked.turns):
            for name, way in ways.items():
                start = time.perf_counter()
                way()
                taken[name].append(time.perf_counter() - start)
    report(scores, taken, len(given))


def report(scores: dict[str, list[float]], taken: dict[str, list[float]], count: int) -> None:
    """Print pairs per second, the ratio to the first way turn by turn, and how far the scores are apart."""
    first = next(iter(scores))
    print(f"{len(scores[first])} pairs of {count} answers, median of {len(taken[first])} turns\n")
    print(f"{'':36}{'pairs/s':>9}{'ratio':>8}   largest difference")
    for name, seconds in taken.items():
        rate = len(scores[name]) / statistics.median(seconds)
        ratio = statistics.median(theirs / ours for theirs, ours in zip(taken[first], seconds, strict=True))
        apart = max(abs(a - b) for a, b in zip(scores[first], scores[name], strict=True))
        print(f"{name:36}{rate:9.0f}{ratio:8.2f}   {apart:.5f}")


if __name__ == "__main__":
    main()
