"""Rows for fitting the lexical verifier: the labelled claims, what is held out, and synthetic claims.

Nothing here copies data anywhere; the folder is an argument of `training/lexical.py`.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from everyclaim.text.windows import sentence_spans

FAMILIES = {
    "snli": "nli", "mnli_taxi": "nli", "conjnli": "nli",
    "fever_symmetric": "fever", "foolmetwice": "fever",
    "begin": "dialogue", "true_dialfact": "dialogue", "q2": "dialogue",
    "realsumm_scu": "realsumm", "realsumm_scu_ref": "realsumm",
    "defacto": "summaries", "bump": "summaries", "storysumm": "summaries",
    "wice_oracle": "wice", "wice_subclaim_tokens": "wice",
    "infotabs": "tables",
}  # fmt: skip
PADDED = 0.35  # share of the fitted rows that get strange passages
HELD_OUT = 0.3  # share of the groups of `written` that are never trained on
PROBED = 0.1  # share of the passage sets whose made claims no network is trained on


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled claim. `label` is one of the three, or NOT_SUPPORTED where which of two is unknown."""

    id: str
    dataset: str
    unit: str
    question: str
    contexts: tuple[str, ...]
    text: str
    label: str
    group: str
    slice: str = ""

    @property
    def family(self) -> str:
        """Kind of data, the unit of leave-one-family-out."""
        return FAMILIES.get(self.dataset, self.dataset)


def share(text: str) -> float:
    """Place a text within [0, 1) by its hash: the same on every machine."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:12], 16) / 16**12


def probed(group: str) -> bool:
    """Whether made claims about a passage set are kept from networks, to ask about."""
    return share("side " + group) < PROBED


def fitted_half(group: str) -> bool:
    """Whether a group of development claims takes part in the last fit; the other half is only tested on."""
    return share("half " + group) < 0.5


def read_rows(path: Path) -> Iterator[Row]:
    """Read a file of labelled claims."""
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as stream:
        for line in stream:
            row = json.loads(line)
            texts = tuple(text if isinstance(text, str) else text.get("text", "") for text in row["contexts"])
            yield Row(
                row["id"], row["dataset"], row["unit"], row.get("question") or "", texts, row["text"], row["label"],
                row["group"], str(row.get("slice") or ""),
            )  # fmt: skip


def split(data: Path) -> tuple[list[Row], list[Row]]:
    """Give the rows to fit on and the rows to test on: `dev`, and part of the groups of `written`."""
    fit = list(read_rows(data / "claims" / "train.jsonl.xz"))
    test = list(read_rows(data / "claims" / "dev.jsonl.xz"))
    for row in read_rows(data / "claims" / "written.jsonl.xz"):
        (test if share(row.group) < HELD_OUT else fit).append(row)
    return fit, test


def capped(rows: list[Row], most: int) -> list[Row]:
    """Keep about `most` rows of every data set, whole groups at a time, chosen by hash."""
    groups: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        groups[row.dataset][row.group].append(row)
    kept: list[Row] = []
    for name in sorted(groups):
        taken = 0
        for group in sorted(groups[name], key=share):
            if taken >= most:
                break
            kept += groups[name][group]
            taken += len(groups[name][group])
    return kept


def padded(rows: list[Row]) -> list[Row]:
    """Put the passages of some rows, chosen by hash, among one to three passages of other groups of their data set.

    Retrieval brings passages that do not matter; without such rows the model trusts what any of them holds.
    """
    others: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        others[row.dataset].append(row)
    result = []
    for row in rows:
        if share("pad " + row.id) >= PADDED or sum(map(len, row.contexts)) > 4000:
            result.append(row)
            continue
        rng = random.Random(row.id)
        drawn = [rng.choice(others[row.dataset]) for _ in range(rng.randint(1, 3))]
        texts = [*row.contexts, *(other.contexts[0][:3000] for other in drawn if other.group != row.group)]
        rng.shuffle(texts)
        result.append(replace(row, contexts=tuple(texts)))
    return result


_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w]|[.,]\d)")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-zA-Z'’-]{2,}(?: [A-Z][a-zA-Z'’-]+)*")
_VERB = re.compile(r"\b(is|are|was|were|has|have|had|can|could|will|would|should|did|does|do)\b(?! not\b)")
_NEGATED = re.compile(r"\b(is|are|was|were|has|have|had|could|will|would|should|did|does|do) not ")
_ASIDE = re.compile(r" \([^()]{2,80}\)")


def synthetic(data: Path, fit: list[Row], *, tested: bool, most: int) -> list[Row]:
    """Make claims from passages: copies, and copies with one thing changed.

    `tested` chooses the side: the passages kept for the probe, or those to fit on. Never made from the groups of
    `written` that are held out.
    """
    documents = [d for d in _documents(data, fit) if (share("side " + d[0]) < 0.2) == tested]
    documents.sort(key=lambda document: share(document[0]))
    documents = documents[:most]
    names = sorted({name for _, texts in documents[:400] for text in texts for name in _NAME.findall(text)})
    rows: list[Row] = []
    for number, (group, texts) in enumerate(documents):
        rng = random.Random(f"{group}")
        other = documents[(number * 7 + 13) % len(documents)][1]
        rows += _variants(group, texts, other, names, rng)
    return rows


def _documents(data: Path, fit: list[Row]) -> list[tuple[str, tuple[str, ...]]]:
    """Passage sets long enough to be worth it: the retrieval passages, and the contexts of the fitted claims."""
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted((data / "passages").glob("*.jsonl.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as stream:
            for line in stream:
                row = json.loads(line)
                texts = row.get("contexts") or row.get("passages") or []
                plain = tuple(text if isinstance(text, str) else text.get("text", "") for text in texts)
                found[row["id"]] = plain
    held = {row_id for row_id in found if share(row_id) < HELD_OUT}
    found = {key: texts for key, texts in found.items() if key not in held}
    for row in fit:
        if row.dataset in {"begin", "defacto", "bump", "citint", "true_dialfact", "wice_oracle", "factcheck_bench"}:
            found.setdefault(row.group, row.contexts)
    return [(key, texts) for key, texts in found.items() if 200 < sum(map(len, texts)) < 12000]


def _variants(
    group: str, texts: tuple[str, ...], other: tuple[str, ...], names: list[str], rng: random.Random
) -> list[Row]:
    """All synthetic claims of one passage set."""
    sentences = _good_sentences(texts)
    strange = _good_sentences(other)
    if len(sentences) < 3 or not strange:
        return []
    rows: list[Row] = []

    def add(kind: str, claim: str, label: str, contexts: tuple[str, ...] = texts) -> None:
        rows.append(Row(f"{group}-{kind}", f"made_{kind}", "sentence", "", contexts, claim, label, f"made-{group}"))

    chosen = rng.sample(sentences, min(4, len(sentences)))
    add("copy", chosen[0], "SUPPORTED")
    add("two", f"{chosen[1]} {chosen[2]}", "SUPPORTED")
    if _ASIDE.search(chosen[1]):
        add("trimmed", _ASIDE.sub("", chosen[1]), "SUPPORTED")
    padded = texts + other if rng.random() < 0.5 else other + texts
    add("padded", chosen[2], "SUPPORTED", padded)
    add("strange", rng.choice(strange), "UNSUPPORTED")
    add("extended", f"{chosen[1].rstrip('.')}, and {rng.choice(strange)}", "UNSUPPORTED")
    for sentence in sentences:
        changed = _swap_number(sentence, rng)
        if changed and changed not in " ".join(texts):
            add("number", changed, "CONTRADICTED")
            _twin(add, "number", texts, sentence, changed)
            break
    rng.shuffle(sentences)
    for sentence in sentences:
        changed = _swap_name(sentence, names, rng)
        if changed:
            add("name", changed, "CONTRADICTED")
            _twin(add, "name", texts, sentence, changed)
            break
    for sentence in sentences:
        changed = _negate(sentence)
        if changed:
            add("negation", changed, "CONTRADICTED")
            if rng.random() < 0.5:
                _twin(add, "negation", texts, sentence, changed)
            break
    _speakers(add, texts, sentences[0], names, rng)
    for sentence in sentences:
        found = sorted(set(_NAME.findall(sentence)))
        if len(found) == 2:
            swapped = sentence.replace(found[0], "\0").replace(found[1], found[0]).replace("\0", found[1])
            add("roles", swapped, "CONTRADICTED")
            break
    return rows


def _twin(add: object, kind: str, texts: tuple[str, ...], sentence: str, changed: str) -> None:
    """Edit the document instead: the original sentence is now contradicted, the changed one supported."""
    edited = tuple(text.replace(sentence, changed) for text in texts)
    if edited != texts and callable(add):
        add(f"{kind}_twin", sentence, "CONTRADICTED", edited)
        add("copy_twin", changed, "SUPPORTED", edited)


_SAID = ("{who} said {what}.", "{who} said that {what}.", "{who} told reporters that {what}.", "{What}, {who} said.",
         "{who} argued that {what}.", "According to {who}, {what}.", "{who} announced that {what}.")  # fmt: skip
_BESIDE = ("{who} only attended the meeting.", "{who} was also present.", "{who} did not comment.",
           "{who} joined the team a year later.", "The report was sent to {who}.")  # fmt: skip


def _speakers(add: object, texts: tuple[str, ...], sentence: str, names: list[str], rng: random.Random) -> None:
    """Put a sentence of the document into someone's mouth, and claim that someone else said it."""
    if not callable(add) or len(names) < 2 or len(sentence) > 160:
        return
    one, two = rng.sample(names, 2)
    what = sentence.rstrip(".")
    first = what.split()[0]
    inner = what if first.isupper() or first in names else what[0].lower() + what[1:]

    def say(who: str) -> str:
        return rng.choice(_SAID).format(who=who, what=inner, What=what)

    beside = rng.choice(_BESIDE).format(who=two)
    said = say(one)
    told = f"{said} {beside}" if rng.random() < 0.5 else f"{beside} {said}"
    place = rng.randrange(len(texts))
    context = told if rng.random() < 0.4 else texts[place].replace(sentence, told)
    if said in context:
        add("speaker", say(two), "NOT_SUPPORTED", (context,))
        add("speaker_copy", say(one), "SUPPORTED", (context,))


def _good_sentences(texts: tuple[str, ...]) -> list[str]:
    """Sentences that look like statements."""
    found = []
    for text in texts:
        for start, end in sentence_spans(text):
            sentence = text[start:end]
            if 40 <= len(sentence) <= 300 and sentence[0].isupper() and sentence.endswith("."):
                found.append(sentence)
    return list(dict.fromkeys(found))


def _swap_number(sentence: str, rng: random.Random) -> str | None:
    """Change one number to another of the same shape."""
    places = list(_NUMBER.finditer(sentence))
    if not places:
        return None
    place = rng.choice(places)
    digits = place.group()
    for _ in range(10):
        at = rng.choice([i for i, char in enumerate(digits) if char.isdigit()])
        changed = digits[:at] + rng.choice("123456789") + digits[at + 1 :]
        if changed != digits and changed not in sentence:
            return sentence[: place.start()] + changed + sentence[place.end() :]
    return None


def _swap_name(sentence: str, names: list[str], rng: random.Random) -> str | None:
    """Put another name of as many words in place of one."""
    places = list(_NAME.finditer(sentence))
    if not places:
        return None
    place = rng.choice(places)
    alike = [name for name in names if len(name.split()) == len(place.group().split()) and name not in sentence]
    return sentence[: place.start()] + rng.choice(alike) + sentence[place.end() :] if alike else None


def _negate(sentence: str) -> str | None:
    """Negate the first verb that can be, or take a negation away."""
    if _NEGATED.search(sentence):
        return _NEGATED.sub(r"\1 ", sentence, count=1)
    if re.search(r"\b(no|not|never|n't|nor)\b|n't", sentence):
        return None
    place = _VERB.search(sentence)
    return None if place is None else f"{sentence[: place.end()]} not{sentence[place.end() :]}"
