"""Claims made from passages, of which it is known what a verifier must say: copies, edited copies, good answers.

    python benchmarks/accuracy/probes.py DATA/passages [--judge lexical] [--judge …] [--sets 300] [--json FILE]

The folder holds `*.jsonl.xz` with `id`, `question`, `contexts`, `answers`. Only passages that no shipped model was
fitted on are used (`--all` takes all). Prints for each probe the share of claims that get the wanted label:

- a sentence copied from a passage, two sentences copied from the passages: supported;
- the same sentence with one number, date or name changed to one that occurs nowhere in the passages, or negated (or its
  negation taken away): not supported; and the same with the passage edited and the claim left as it was;
- good answers of people to questions (CLAPNQ, MT-RAG), whole and sentence by sentence: not contradicted. How many are
  supported is printed too, but these answers may say a little more than the passages do.

The edits are made by plain patterns of this file and not by the code that verifiers use to find numbers and names.
Numbers that stand alone (not in a name such as "B-52"), years, months, capitalised words inside sentences, and the
first auxiliary verb of a sentence without other negations are what is edited; a sample of them was read.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import edits
from judging import answers
from labelled import HELD_OUT, Labelled, share, texts

from everyclaim.api.specs import create_verifier
from everyclaim.core.errors import EveryclaimError
from everyclaim.text.stops import sentence_spans

ANSWERED = ("CLAPNQ", "MT-RAG UN")


@dataclass(frozen=True, slots=True)
class Aim:
    """The label whose share is measured, and the bound it should keep."""

    label: str
    least: float = 0.0
    most: float = 1.0


AIMS = {
    "copied": Aim("SUPPORTED", least=0.97),
    "two copied": Aim("SUPPORTED", least=0.95),
    **{f"{kind} changed": Aim("SUPPORTED", most=0.10) for kind in ("number", "date", "name")},
    "negated": Aim("SUPPORTED", most=0.10),
    **{f"{kind} changed in the passage": Aim("SUPPORTED", most=0.10) for kind in ("number", "date", "name")},
    "negated in the passage": Aim("SUPPORTED", most=0.10),
    "good answer": Aim("CONTRADICTED", most=0.05),
    "sentence of a good answer": Aim("CONTRADICTED", most=0.05),
}


@dataclass(frozen=True, slots=True)
class Source:
    """A question with its passages and good answers."""

    id: str
    origin: str
    question: str
    contexts: tuple[str, ...]
    answers: tuple[str, ...]


def read_sources(folder: Path, *, everything: bool) -> list[Source]:
    """Read the passages, in order of the hash of their ids, so that the first so many are a fair sample of all.

    Unless `everything` is asked for, a source is left out when its id, or another with one of its passages, is
    on the side that models are fitted on.
    """
    found = []
    for path in sorted(folder.glob("*.jsonl.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                contexts = tuple(text for text in texts(row["contexts"]) if text.strip())
                if contexts:
                    given = tuple(row.get("answers") or ())
                    found.append(Source(row["id"], row["source"], row.get("question") or "", contexts, given))
    fitted = {text for source in found if share(source.id) >= HELD_OUT for text in source.contexts}
    found.sort(key=lambda source: share("probe " + source.id))
    return [source for source in found if everything or not fitted.intersection(source.contexts)]


def good_sentences(contexts: Sequence[str]) -> list[str]:
    """Sentences that look like statements, each once."""
    found = [text[start:end] for text in contexts for start, end in sentence_spans(text)]
    return list(
        dict.fromkeys(
            sentence
            for sentence in found
            if 40 <= len(sentence) <= 300 and sentence[0].isupper() and sentence.rstrip().endswith(".")
        )
    )


def copies(sources: Sequence[Source]) -> Iterator[tuple[str, Labelled]]:
    """Copied and edited sentences, at most one of each kind from a source."""
    names = edits.names(text for source in sources for text in source.contexts)
    for source in sources:
        rng = random.Random(source.id)
        sentences = good_sentences(source.contexts)
        if len(sentences) < 2 or sum(map(len, source.contexts)) > 20_000:
            continue
        rng.shuffle(sentences)
        yield "copied", _claim(source, sentences[0])
        yield "two copied", _claim(source, f"{sentences[0]} {sentences[1]}")
        held = "\n".join(source.contexts)
        for kind in ("number", "date", "name", "negation"):
            for sentence in sentences:
                edited = edits.edit(kind, sentence, held, names, rng)
                if edited:
                    name = "negated" if kind == "negation" else f"{kind} changed"
                    yield name, _claim(source, edited)
                    contexts = tuple(text.replace(sentence, edited) for text in source.contexts)
                    yield f"{name} in the passage", replace(_claim(source, sentence), contexts=contexts)
                    break


def good_answers(sources: Sequence[Source]) -> Iterator[tuple[str, Labelled]]:
    """The first answer of a source, whole and by sentences; refusals are left out."""
    for source in sources:
        if source.origin in ANSWERED and source.answers and not edits.REFUSAL.search(source.answers[0]):
            answer = source.answers[0].strip()
            yield "good answer", _claim(source, answer)
            for start, end in sentence_spans(answer):
                if end - start >= 20 and not answer[:end].endswith(("?", ":")):
                    yield "sentence of a good answer", _claim(source, answer[start:end])


def _claim(source: Source, text: str) -> Labelled:
    return Labelled(text, source.contexts, "", group=source.id, question=source.question)


def rows(names: Sequence[str], predicted: Sequence[str]) -> list[dict[str, Any]]:
    """Per probe: claims, share of each label, and whether the aim is kept."""
    found = []
    for name, aim in AIMS.items():
        labels = Counter(label for probe, label in zip(names, predicted, strict=True) if probe == name)
        total = labels.total()
        if total:
            got = labels[aim.label] / total
            found.append(
                {
                    "probe": name,
                    "claims": total,
                    **{label.lower(): round(labels[label] / total, 5) for label in edits.LABELS},
                    "aim": f"{aim.label.lower()} " + (f"≥ {aim.least:.0%}" if aim.least else f"≤ {aim.most:.0%}"),
                    "kept": aim.least <= got <= aim.most,
                }
            )
    return found


def show(judge: str, found: Sequence[dict[str, Any]]) -> None:
    """Print one table."""
    print(f"\n{judge:32s}claims  supported  unsupported  contradicted  aim")
    for one in found:
        shares = f"{one['supported']:11.1%}{one['unsupported']:13.1%}{one['contradicted']:14.1%}"
        print(f"{one['probe']:32s}{one['claims']:6d}{shares}  {one['aim']:20s} {'' if one['kept'] else 'MISSED'}")


def main() -> None:
    """Make the claims, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--judge", action="append", help="spec of a verifier; may be given several times")
    parser.add_argument("--sets", type=int, default=300, help="passage sets for copies, and as many answers")
    parser.add_argument("--all", action="store_true", help="use passages that models may have been fitted on, too")
    parser.add_argument("--show", type=int, default=0, help="print so many claims of each probe")
    parser.add_argument("--json", type=Path, help="also write all figures here")
    options = parser.parse_args()
    sources = read_sources(options.folder, everything=options.all)
    answered = [source for source in sources if source.origin in ANSWERED]
    probes = [*copies(sources[: options.sets]), *good_answers(answered[: options.sets])]
    if not probes:
        parser.error(f"no passages to make claims from in {options.folder}")
    names, claims = [name for name, _ in probes], [claim for _, claim in probes]
    report = []
    for spec in dict.fromkeys(options.judge or ["lexical"]):
        try:
            said = answers(create_verifier(spec), claims)
        except EveryclaimError as error:
            parser.error(str(error))
        found = rows(names, list(said.predicted))
        show(said.judge, found)
        report.append({"judge": said.judge, "spec": spec, "sets": options.sets, "rows": found})
        for name in AIMS if options.show else ():
            for place in [i for i, probe in enumerate(names) if probe == name][: options.show]:
                print(f"{name}: {said.predicted[place]}: {claims[place].text}")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
