"""Models of the published architectures, tiny and with random weights, saved as the published checkpoints are."""

from __future__ import annotations

import json
import string
import warnings
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    ModernBertConfig,
    ModernBertForTokenClassification,
    RobertaConfig,
    RobertaForSequenceClassification,
    T5Config,
    T5ForConditionalGeneration,
    T5ForTokenClassification,
)

HHEM_PROMPT = "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {text1}\n\nHypothesis: {text2}"
SIZE = 32


def write(file: Path, value: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value), "utf-8")


def unigram(folder: Path, kind: str, specials: list[str], *, pair: bool) -> None:
    """A tokenizer of single characters with SentencePiece's blank, and a few whole pieces, as T5's and DeBERTa's."""
    letters = ["▁", *string.ascii_letters, *string.digits, *string.punctuation, "é"]
    pieces = ["▁1", "▁the", "▁is", "▁of", "ing"]
    vocabulary = [(token, 0.0) for token in specials]
    vocabulary += [(token, -1.0) for token in pieces] + [(token, -3.0) for token in letters]
    unknown = specials.index("<unk>" if "<unk>" in specials else "[UNK]")
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(specials)
    if pair:
        ends = [(token, specials.index(token)) for token in ("[CLS]", "[SEP]")]
        tokenizer.post_processor = processors.TemplateProcessing(
            "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
        )
        told = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
        told |= {"bos_token": "[CLS]", "eos_token": "[SEP]", "mask_token": "[MASK]"}
    else:
        tokenizer.post_processor = processors.TemplateProcessing(
            "$A </s>", special_tokens=[("</s>", specials.index("</s>"))]
        )
        told = {"eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    tokenizer.save(str(folder / "tokenizer.json"))
    write(folder / "tokenizer_config.json", {"tokenizer_class": kind, "model_max_length": 512, **told})


def byte_level(folder: Path, kind: str, start: str, pad: str, end: str) -> None:
    """A tokenizer of bytes, as RoBERTa's and ModernBERT's."""
    specials = [start, pad, end, "<unk>" if start == "<s>" else "[UNK]", "<mask>" if start == "<s>" else "[MASK]"]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: i for i, token in enumerate([*specials, *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(specials)
    if start == "<s>":
        tokenizer.post_processor = processors.RobertaProcessing((end, 2), (start, 0), add_prefix_space=False)
    else:
        tokenizer.post_processor = processors.TemplateProcessing(
            f"{start} $A {end}", f"{start} $A {end} $B {end}", special_tokens=[(start, 0), (end, 2)]
        )
    tokenizer.save(str(folder / "tokenizer.json"))
    told = {"cls_token": start, "sep_token": end, "pad_token": pad, "unk_token": specials[3], "mask_token": specials[4]}
    if start == "<s>":
        told |= {"bos_token": start, "eos_token": end}
        write(folder / "vocab.json", vocabulary)
        (folder / "merges.txt").write_text("#version: 0.2\n", "utf-8")
    write(folder / "tokenizer_config.json", {"tokenizer_class": kind, "model_max_length": 512, **told})


def loud(module: Any, seed: int) -> Any:
    """Give a module's weights a spread that makes different inputs come out differently."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in module.parameters():
        if parameter.dim() > 1:
            parameter.data = torch.randn(parameter.shape, generator=generator) * 0.35
    return module.eval()


def t5_config(**more: Any) -> T5Config:
    size = {"d_model": SIZE, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 4}
    config = T5Config(vocab_size=128, feed_forward_proj="gated-gelu", **size, **more)
    config.pad_token_id, config.eos_token_id, config.decoder_start_token_id = 0, 1, 0
    return config


T5_SPECIALS = ["<pad>", "</s>", "<unk>", "<extra_id_0>"]


def flan_t5(folder: Path) -> Path:
    """Configuration and tokenizer of the foundation, with no weights."""
    folder.mkdir(parents=True)
    unigram(folder, "T5Tokenizer", T5_SPECIALS, pair=False)
    write(folder / "config.json", {**t5_config().to_dict(), "architectures": ["T5ForConditionalGeneration"]})
    return folder


def hhem(folder: Path, foundation: str) -> Any:
    """A checkpoint as HHEM-2.1-Open's: everything under ``t5.``, the shared matrix once, remote code beside it."""
    folder.mkdir(parents=True)
    module = loud(T5ForTokenClassification(t5_config(num_labels=2)), seed=5)
    state = {f"t5.{key}": value.contiguous() for key, value in module.state_dict().items()}
    del state["t5.transformer.encoder.embed_tokens.weight"]
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    config = {
        "architectures": ["HHEMv2ForSequenceClassification"],
        "auto_map": {"AutoModelForSequenceClassification": "modeling_hhem_v2.HHEMv2ForSequenceClassification"},
        "foundation": foundation,
        "id2label": {"0": "hallucinated", "1": "consistent"},
        "model_type": "HHEMv2",
        "prompt": HHEM_PROMPT,
    }
    write(folder / "config.json", config)
    (folder / "modeling_hhem_v2.py").write_text("raise SystemExit('remote code was run')\n", "utf-8")
    return module


def roberta(folder: Path, labels: dict[int, str] | None = None, *, seed: int = 1) -> Any:
    """A RoBERTa classifier; without labels as MiniCheck's, whose configuration names none."""
    folder.mkdir(parents=True)
    byte_level(folder, "RobertaTokenizer", "<s>", "<pad>", "</s>")
    size = {"hidden_size": SIZE, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
    config = RobertaConfig(
        vocab_size=300, max_position_embeddings=514, type_vocab_size=1, pad_token_id=1, bos_token_id=0, eos_token_id=2,
        num_labels=len(labels or "01"), **size,
    )  # fmt: skip
    if labels:
        config.id2label, config.label2id = labels, {name: i for i, name in labels.items()}
    module = loud(RobertaForSequenceClassification(config), seed)
    module.save_pretrained(folder)
    return module


def deberta(folder: Path, labels: dict[int, str]) -> Any:
    """A DeBERTa-v3 cross-encoder for natural language inference."""
    folder.mkdir(parents=True)
    unigram(folder, "DebertaV2Tokenizer", ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"], pair=True)
    size = {"hidden_size": SIZE, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
    config = DebertaV2Config(
        vocab_size=128, max_position_embeddings=512, type_vocab_size=0, relative_attention=True, position_buckets=32,
        pos_att_type=["p2c", "c2p"], share_att_key=True, norm_rel_ebd="layer_norm", position_biased_input=False,
        num_labels=len(labels), **size,
    )  # fmt: skip
    config.id2label, config.label2id = labels, {name: i for i, name in labels.items()}
    module = loud(DebertaV2ForSequenceClassification(config), seed=3)
    module.save_pretrained(folder)
    return module


def minicheck_t5(folder: Path) -> Any:
    """A Flan-T5 that generates, with its weights pickled, as MiniCheck's are."""
    folder.mkdir(parents=True)
    unigram(folder, "T5Tokenizer", T5_SPECIALS, pair=False)
    module = loud(T5ForConditionalGeneration(t5_config()), seed=7)
    write(folder / "config.json", {**module.config.to_dict(), "architectures": ["T5ForConditionalGeneration"]})
    torch.save(module.state_dict(), folder / "pytorch_model.bin")
    return module


def modernbert(folder: Path) -> Any:
    """A ModernBERT token classifier, as LettuceDetect's."""
    folder.mkdir(parents=True)
    byte_level(folder, "PreTrainedTokenizerFast", "[CLS]", "[PAD]", "[SEP]")
    size = {"hidden_size": SIZE, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}
    config = ModernBertConfig(
        vocab_size=300, max_position_embeddings=1024, pad_token_id=1, cls_token_id=0, sep_token_id=2, bos_token_id=0,
        eos_token_id=2, num_labels=2, local_attention=64, **size,
    )  # fmt: skip
    module = loud(ModernBertForTokenClassification(config), seed=11)
    module.save_pretrained(folder)
    return module


def exported(folder: Path, module: Any, *inputs: str) -> None:
    """Export a classifier beside its tokenizer, and take its torch weights away."""
    example = torch.ones((2, 7), dtype=torch.long)

    class Logits(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, *values: Any) -> Any:
            return self.module(**dict(zip(inputs, values, strict=True))).logits

    axes = {name: {0: "inputs", 1: "tokens"} for name in inputs}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Logits().eval(), tuple(example for _ in inputs), str(folder / "model.onnx"), input_names=list(inputs),
            output_names=["logits"], dynamic_axes=axes, dynamo=False,
        )  # fmt: skip
    for file in folder.glob("*.safetensors"):
        file.unlink()
