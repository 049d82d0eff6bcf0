"""One row → one `Sample` or `ClaimRow`: text, passages, tags and ids made from whatever the cells hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from everyclaim.core.kinds import Kind, kind_of
from everyclaim.core.limits import SizeLimits
from everyclaim.core.plaintext import did_you_mean, one_line
from everyclaim.core.types import FailureMode, Label, Passage, Sample, SplitMark, Tag, tag_values
from everyclaim.io.fields import Fields, look_up, shown
from everyclaim.io.messages import citations_of, turns_of
from everyclaim.io.values import (
    RowError,
    as_scalar_text,
    holds_passages,
    kind,
    list_in_text,
    named,
    objects_of_columns,
    passage_of,
    plain,
    tag_value,
    tags_of,
)
from everyclaim.io.writing import FORMULA

_OF_SAMPLE: Mapping[str, Kind] = {
    **dict.fromkeys(("id", "response", "question"), kind_of(str)),
    **dict.fromkeys(("reference", "model", "release", "timestamp"), kind_of(str | None)),
    "passages": kind_of(Sequence[Passage]),
    "tags": kind_of(Mapping[str, str | Sequence[str]]),
}
_SAID = ("sample_id", "claim", "annotator", "note", "failure_mode", "chosen")
_NO_MODE = "none"
MOST_OTHERS, MOST_VALUES, LONGEST_OTHER = 20, 200, 100  # fields that nobody named, as tags: values of one, characters


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim given as such, with the passages to judge it against; the input of `verify`."""

    id: str
    claim: str
    passages: tuple[Passage, ...] = ()
    question: str = ""
    sentence: str = ""
    label: str = ""  # as it is written; several are joined
    sample_id: str = ""  # the answer that it is of


class DocumentRow(NamedTuple):
    """One document of a knowledge source."""

    id: str
    title: str
    text: str


class LabelRow(NamedTuple):
    """What one person says of one claim, as a file has it: a label, or a mark of how the claim was split."""

    number: int
    value: Label | SplitMark | None  # None: still empty
    sample_id: str
    claim: str | None  # None: the whole answer
    span: tuple[int, int] | None
    annotator: str
    note: str
    chosen: str
    failure_mode: str | None = None
    better: tuple[str, ...] = ()  # what the claims of its sentence should be; empty: not said


class RowMaker:
    """Makes samples, claims, labels and documents of the rows of one source, and keeps their ids unique.

    `warn(text, example)` is told about everything that was decided for the caller.
    """

    def __init__(self, fields: Fields, warn: Callable[[str, str], None], limits: SizeLimits) -> None:
        self._fields = fields
        self.limits = limits
        self.reads_cells = False  # of a delimited file, where a list can be nothing but text
        self._warn = warn
        self._seen = SeenIds()
        self._others: dict[str, set[str]] = {}  # fields that nobody named, with their values

    def sample(self, number: int, row: Mapping[str, Any]) -> Sample:
        """Make a sample. Raises `RowError` saying why the row cannot be one."""
        texts, passages = self._judged(number, row, "response", ("question", "reference"))
        return Sample(
            response=texts["response"],
            passages=passages,
            question=texts["question"],
            reference=texts["reference"] or None,
            tags=self._tags(row),
            **{name: text or None for name, text in self._texts(row, ("model", "release", "timestamp")).items()},
            history=self._beside(number, row, "history", turns_of),
            citations=self._beside(number, row, "citations", citations_of),
            id=self._id(number, row),  # last: a row that is kept out takes no id
        )

    def claim(self, number: int, row: Mapping[str, Any]) -> ClaimRow:
        """Make a claim. Raises `RowError` saying why the row cannot be one."""
        texts, passages = self._judged(number, row, "claim", ("question", "sentence"))
        said = {
            name: ", ".join(tag_values(named(name, tag_value, self._fields.get(row, name)) or ""))
            for name in ("label", "sample_id")
        }
        return ClaimRow(self._id(number, row), passages=passages, **texts, **said)

    def document(self, number: int, row: Mapping[str, Any]) -> DocumentRow:
        """Make a document. Raises `RowError` saying why the row cannot be one."""
        self._tell_rivals(number, row)
        text = self._judged_text(number, row, "text")
        if not text.strip():
            raise RowError("the text is empty")
        title = self._texts(row, ("title",))["title"]
        return DocumentRow(self._id(number, row), title, text)

    def said(
        self, number: int, row: Mapping[str, Any], kind: str, words: type[Label | SplitMark], needed: Sequence[str]
    ) -> LabelRow:
        """Make a label, or a mark of how a claim was cut. Raises `RowError` saying why the row cannot be one."""
        texts = self._texts(row, (kind, *_SAID))
        if absent := next((name for name in needed if not texts[name].strip()), None):
            raise RowError(f"there is no {absent}")
        sample, claim = _unescaped(texts["sample_id"]), _unescaped(texts["claim"])
        try:
            value = _one_of(kind, texts[kind], [*words])
            mode = _one_of("failure_mode", texts["failure_mode"], [*FailureMode, _NO_MODE])
            span = _span(self._fields.get(row, "span"))
        except RowError as error:
            where = f"answer '{one_line(sample, 60)}'" + (f", claim '{one_line(claim, 80)}'" if claim else "")
            raise RowError(f"{where}: {error}") from None
        return LabelRow(
            number,
            words(value) if value else None,
            sample,
            claim or None,
            span,
            texts["annotator"].strip(),
            texts["note"],
            texts["chosen"].strip(),
            None if mode == _NO_MODE else mode,
            _lines(self._fields.get(row, "better")),
        )

    def _judged(
        self, number: int, row: Mapping[str, Any], ours: str, beside: Sequence[str]
    ) -> tuple[dict[str, str], tuple[Passage, ...]]:
        """Return the text under test with the texts beside it, and its passages; all within the limits."""
        self._tell_rivals(number, row)
        texts = {ours: self._judged_text(number, row, ours)}
        if ours == "claim" and not texts[ours].strip():
            raise RowError("the claim is empty")
        texts |= {name: self._text(number, row, name) or "" for name in beside}
        passages = self._passages(number, row)
        if fault := self.limits.fault(texts, passages):
            raise RowError(fault)
        return texts, passages

    def _texts(self, row: Mapping[str, Any], names: Sequence[str]) -> dict[str, str]:
        return {name: named(name, as_scalar_text, self._fields.get(row, name)) or "" for name in names}

    def again(self, number: int, sample: Sample) -> Sample:
        """Return a sample that was made elsewhere, its ids made unique.

        Raises `RowError` for what it cannot hold, and for one that is too large.
        """
        checked = {
            name: kind.check(getattr(sample, name), f"the {name} of a Sample", error=RowError)
            for name, kind in _OF_SAMPLE.items()
        }
        for place, passage in enumerate(checked["passages"], 1):
            for name in ("id", "text", "title"):
                kind_of(str).check(getattr(passage, name), f"the {name} of passage {place} of a Sample", error=RowError)
        if fault := self.limits.fault_of(sample):
            raise RowError(fault)
        checked["passages"] = self._with_unique_ids(number, checked["passages"])
        return replace(sample, **checked | {"id": self._unique_id(number, sample.id)})

    def _unique_id(self, number: int, identifier: str) -> str:
        """Return the id, or the id with the first free ``#2``, ``#3``, … when it was used before."""
        unique = self._seen.make_unique(identifier)
        if unique != identifier:
            self._warn("repeated ids were made unique", f"row {number}, {shown(identifier)} became {shown(unique)}")
        return unique

    def _id(self, number: int, row: Mapping[str, Any]) -> str:
        given = named("id", as_scalar_text, self._fields.get(row, "id"))
        return self._unique_id(number, given or str(number))

    def _judged_text(self, number: int, row: Mapping[str, Any], ours: str) -> str:
        """Return the text under test. Only text will do: a number is more likely the wrong column."""
        value = named(ours, plain, self._fields.get(row, ours))
        value = self._first_text(number, ours, value)
        if isinstance(value, str):
            return value
        if value is None:
            raise RowError(f"the {ours} is missing (null)" if self._fields.has(row, ours) else f"there is no {ours}")
        raise RowError(f"the {ours} is {kind(value)}, not text")

    def _text(self, number: int, row: Mapping[str, Any], ours: str) -> str | None:
        value = named(ours, plain, self._fields.get(row, ours))
        if isinstance(value, list) and not value:
            return None
        return named(ours, as_scalar_text, self._first_text(number, ours, value))

    def _first_text(self, number: int, ours: str, value: Any) -> Any:
        """Take the first of a list of strings; leave everything else as it is."""
        texts = [plain(item) for item in value] if isinstance(value, list) else []
        if not texts or not all(isinstance(text, str) for text in texts):
            return value
        which, count = ("only", "") if len(texts) == 1 else ("first", f", {len(texts)} texts")
        self._warn(f"the {ours} is a list; its {which} text is used", f"row {number}{count}")
        return texts[0]

    def _passages(self, number: int, row: Mapping[str, Any]) -> tuple[Passage, ...]:
        value = named("contexts", plain, self._fields.get(row, "contexts"))
        if isinstance(value, str):
            held = named("contexts", list_in_text, value)
            if held is None or not holds_passages(held):
                return (Passage("p1", value),) if value else ()
            if not self.reads_cells:
                self._warn("contexts are a text with a list in it; they are read as that list", f"row {number}")
            value = held
        if isinstance(value, Mapping):
            value = objects_of_columns(value)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise RowError(f"contexts is {kind(value)}, not a list of passages")
        passages = [passage_of(place, plain(item)) for place, item in enumerate(value, 1) if item is not None]
        return self._with_unique_ids(number, passages)

    def _with_unique_ids(self, number: int, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        if len({passage.id for passage in passages}) == len(passages):
            return tuple(passages)
        seen = SeenIds()
        unique = tuple(replace(passage, id=seen.make_unique(passage.id)) for passage in passages)
        example = next((old.id, new.id) for old, new in zip(passages, unique, strict=True) if old.id != new.id)
        self._warn(
            "passages with the same id in one row got new ids",
            f"row {number}, {shown(example[0])} became {shown(example[1])}",
        )
        return unique

    def _beside(self, number: int, row: Mapping[str, Any], name: str, read: Callable[[Any], Any]) -> tuple[Any, ...]:
        """Read what may come beside an answer; in another form it is somebody's own, and left out with a warning."""
        given = self._fields.get(row, name)
        if given is None:
            return ()
        try:
            return tuple(read(given))
        except (RowError, TypeError, ValueError, KeyError):
            self._warn(f"the {name} have an unknown format and are ignored", f"row {number}")
            return ()

    def _tags(self, row: Mapping[str, Any]) -> dict[str, Tag]:
        tags = named("tags", tags_of, self._fields.get(row, "tags"))
        for name in self._fields.slices:
            value = named(name, tag_value, look_up(row, name))
            if value is not None:
                tags[name] = value
        for name in self._fields.others(row):
            if name not in tags and (text := self._other_tag(name, row[name])):
                tags[name] = text
        return tags

    def _other_tag(self, name: str, given: Any) -> str:
        """Return what a field that nobody named is as a tag; empty where it cannot be one, or would be one too many."""
        known = self._others.get(name)
        if known is None and len(self._others) >= MOST_OTHERS:
            return ""
        try:
            value = plain(given)
            text = "" if isinstance(value, list | Mapping) else (as_scalar_text(value) or "").strip()
        except RowError:
            return ""
        if not text.isprintable() or not 0 < len(text) <= LONGEST_OTHER or not 0 < len(name) <= LONGEST_OTHER:
            return ""
        known = self._others.setdefault(name, set())
        if text not in known and len(known) >= MOST_VALUES:
            return ""
        known.add(text)
        return text

    def _tell_rivals(self, number: int, row: Mapping[str, Any]) -> None:
        for used, ignored in self._fields.rivals(row):
            self._warn(f"both {used!r} and {ignored!r} exist; {used!r} is used", f"row {number}")


def _one_of(name: str, text: str, known: Sequence[str]) -> str | None:
    """Return the word that is meant, None where there is none. Raises `RowError` for any other."""
    by_spelling = {word.lower(): word for word in known}
    given = text.strip().lower().replace(" ", "_").replace("-", "_")
    if given and given not in by_spelling:
        raise RowError(
            f"the {name} {one_line(text, 60)!r} is not one of {', '.join(known)}{did_you_mean(given, by_spelling)}"
        )
    return by_spelling.get(given)


def _unescaped(text: str) -> str:
    """Take the quote away that keeps a spreadsheet from running a text as a formula."""
    return text[1:] if text[:1] == "'" and text[1:2] in FORMULA else text


def _lines(value: Any) -> tuple[str, ...]:
    """Read claims: a list of texts, or a text with one in each line."""
    if isinstance(value, str):
        return tuple(line.strip() for line in _unescaped(value).splitlines() if line.strip())
    if not isinstance(value, Sequence):
        return ()
    return tuple(str(one).strip() for one in value if str(one).strip())


def _span(value: Any) -> tuple[int, int] | None:
    """Read a span as a file of either kind has it. Raises `RowError` for what is none."""
    given = plain(value)
    if given is None or given == "":
        return None
    try:
        start, end = json.loads(given) if isinstance(given, str) else given
    except (ValueError, TypeError):
        start, end = -1, -1
    if not all(isinstance(one, int) and not isinstance(one, bool) for one in (start, end)) or not 0 <= start <= end:
        raise RowError(f"the span is {given!r:.60}, not two offsets in the response such as [0, 12]")
    return start, end


class SeenIds:
    """The ids given out so far, as hashes of 64 bits: about one in 10^7 sources of a million rows has two alike."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._next: dict[int, int] = {}  # by hash: the next number to try

    def make_unique(self, identifier: str) -> str:
        """Return the id if it is new, else the id with the first free number appended."""
        key = unique_key = hash(identifier)
        unique = identifier
        while unique_key in self._seen:
            number = self._next[key] = self._next.get(key, 1) + 1
            unique = f"{identifier}#{number}"
            unique_key = hash(unique)
        self._seen.add(unique_key)
        return unique
