"""What the generators draw from: documents by source, their neighbours, strange names and phrases."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from training.synthesis.edits import Pool
from training.synthesis.rewrites import detokenized, rewritten
from training.synthesis.shapes import Case, Spot, build
from training.synthesis.sources import RECORDS, Document, good_spans, names_of


@dataclass(frozen=True, slots=True)
class Draft:
    """A claim made, before it is a row."""

    kind: str
    claim: str
    label: str
    case: Case
    evidence: tuple[tuple[int, int, int], ...] = ()
    errors: tuple[tuple[int, int], ...] = ()
    sentence: str = ""
    unit: str = "sentence"
    question: str | None = None


@lru_cache(maxsize=60_000)
def _tidied(text: str) -> str:
    return detokenized(text)


@lru_cache(maxsize=30_000)
def _text(texts: tuple[str, ...]) -> str:
    return "\n".join(texts)[:8_000]


class World:
    """Documents of one side, and everything drawn from them."""

    def __init__(self, documents: Sequence[Document], mix: Mapping[str, Any]) -> None:
        self.mix = mix
        self.by_source: dict[str, list[int]] = {}
        self.documents = tuple(documents)
        for number, document in enumerate(self.documents):
            if document.source in RECORDS or any(good_spans(text) for text in document.texts):
                self.by_source.setdefault(document.source, []).append(number)
        weights = {name: weight for name, weight in mix["sources"].items() if name in self.by_source}
        self._prose = [name for name in weights if name not in RECORDS]
        self._weights = [weights[name] for name in self._prose]
        self._first: dict[tuple[str, ...], int] = {}
        for number, document in enumerate(self.documents):
            self._first.setdefault(document.texts, number)
        self._near: dict[int, tuple[int, ...]] = {}

    def draw(self, rng: random.Random) -> int:
        """The number of a prose document."""
        source = rng.choices(self._prose, self._weights)[0]
        return rng.choice(self.by_source[source])

    def case(
        self,
        rng: random.Random,
        count: int = 1,
        wanted: Callable[[str], bool] | None = None,
        *,
        document: int | None = None,
        shapes: Mapping[str, float] | None = None,
    ) -> Case | None:
        """Contexts around `count` chosen sentences of a drawn document; None where it has no such sentences."""
        number = self.draw(rng) if document is None else document
        chosen = self.documents[number]
        if rng.random() < 0.5 and any(" ," in text for text in chosen.texts):
            chosen = replace(chosen, texts=tuple(map(_tidied, chosen.texts)))
        spots = [Spot(p, s, e) for p, text in enumerate(chosen.texts) for s, e in good_spans(text)]
        if wanted is not None:
            spots = [spot for spot in spots if wanted(chosen.texts[spot.passage][spot.start : spot.end])]
        if len(spots) < count:
            return None
        picked = rng.sample(spots, count)
        picked.sort(key=lambda spot: (spot.passage, spot.start))
        return self.around(chosen, picked, number, rng, shapes)

    def around(
        self,
        document: Document,
        spots: Sequence[Spot],
        number: int,
        rng: random.Random,
        shapes: Mapping[str, float] | None = None,
    ) -> Case | None:
        """Contexts around given sentences; None where they cannot be found again in them."""
        case = build(
            document,
            spots,
            lambda: [self.documents[o] for o in self.neighbours(number)],
            rng,
            shapes or self.mix["shapes"],
        )
        for index, spot in enumerate(spots):
            if case.sentence(index) != document.texts[spot.passage][spot.start : spot.end]:
                return None
        return case

    def neighbours(self, number: int) -> tuple[int, ...]:
        """Documents of other groups that are nearest in words, nearest first."""
        number = self._first[self.documents[number].texts]
        found = self._near.get(number)
        if found is None:
            matrix = self._matrix
            scores = np.asarray((matrix[number] @ self._turned).todense()).ravel()
            most = min(400, len(scores))
            order = np.sort(np.argpartition(-scores, most - 1)[:most])
            order = order[np.argsort(-scores[order], kind="stable")]
            mine = self.documents[number]
            groups: dict[str, int] = {}
            for other in order:
                document = self.documents[int(other)]
                if document.group != mine.group and document.source not in RECORDS and scores[other] < 0.9:
                    groups.setdefault(document.group, int(other))
                if len(groups) == 12:
                    break
            found = tuple(groups.values()) or ((number + 1) % len(self.documents),)
            self._near[number] = found
        return found

    @cached_property
    def _matrix(self) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(
            stop_words="english",
            max_df=0.1 if len(self.documents) > 200 else 1.0,
            min_df=1 if len(self.documents) < 200 else 2,
            max_features=30_000,
            sublinear_tf=True,
            dtype=np.float32,
        )
        return vectorizer.fit_transform([" ".join(document.texts)[:4_000] for document in self.documents])

    @cached_property
    def _turned(self) -> Any:
        return self._matrix.T.tocsr()

    @cached_property
    def strange_names(self) -> tuple[str, ...]:
        """Names of many documents."""
        rng = random.Random(5)
        found: dict[str, None] = {}
        for _ in range(2_500):
            text = rng.choice(self.documents[self.draw(rng)].texts)[:3_000]
            names = [
                name for name, start, _ in names_of(text) if start > 0 and re.fullmatch(r"[A-Z][\w .'’-]{2,28}", name)
            ]
            found.update(dict.fromkeys(names[:3]))
        return tuple(found)

    def pool(self, case: Case, rng: random.Random) -> Pool:
        """What may take the place of a piece of a sentence of this case."""
        return Pool(
            _text(case.document.texts), case.names, rng.sample(self.strange_names, min(60, len(self.strange_names)))
        )

    def base(self, sentence: str, rng: random.Random) -> str:
        """The claim before anything is made wrong: the sentence as it stands, tidied, or rewritten."""
        way = rng.random()
        if way < self.mix["claims"]["verbatim"]:
            return sentence
        if way < self.mix["claims"]["verbatim"] + self.mix["claims"]["tidied"]:
            return detokenized(sentence)
        return rewritten(sentence, rng)


Maker = Callable[[World, random.Random], list[Draft]]
RESTATED = 0.62  # a claim this far covered by one sentence elsewhere may be supported by it
