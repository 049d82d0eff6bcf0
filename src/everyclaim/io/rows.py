"""One row → one `Sample` or `ClaimRow`: text, passages, tags and ids made from whatever the cells hold."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from everyclaim.core.limits import Limits
from everyclaim.core.nearest import did_you_mean
from everyclaim.core.types import FailureMode, Label, Passage, Sample, SplitMark, Tag, tag_values
from everyclaim.io.fields import Fields, listed, look_up, shown
from everyclaim.io.values import RowError, as_json_text, as_scalar_text, kind, list_in_text, plain
from everyclaim.io.writing import FORMULA

T = TypeVar("T")

_TEXTS_OF_SAMPLE = {  # and whether they may be None
    "id": False,
    "response": False,
    "question": False,
    "reference": True,
    "model": True,
    "release": True,
    "timestamp": True,
}
_LABELS = tuple(label.value.lower() for label in Label)
_MARKS = tuple(mark.value for mark in SplitMark)
_MARK_TEXTS = ("mark", "sample_id", "claim", "annotator", "note", "chosen")
_LABEL_TEXTS = ("label", "sample_id", "claim", "annotator", "note", "failure_mode", "chosen")
_NO_MODE = "none"
_MODES = (*(mode.value for mode in FailureMode), _NO_MODE)
_TEXT_KEYS = ("text", "page_content", "content", "body")
_METADATA_KEYS = ("metadata", "meta")


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim given as such, with the passages to judge it against; the input of `verify`."""

    id: str
    claim: str
    passages: tuple[Passage, ...] = ()
    question: str = ""
    sentence: str = ""
    tags: Mapping[str, Tag] = field(default_factory=dict)


class Document(NamedTuple):
    """One document of a knowledge source."""

    id: str
    title: str
    text: str


class LabelRow(NamedTuple):
    """What one person says of one claim, as a file has it. `label` is None where it is still empty."""

    number: int
    label: str | None
    sample_id: str
    claim: str | None  # None: the whole answer
    span: tuple[int, int] | None
    annotator: str
    note: str
    failure_mode: str | None
    chosen: str


class MarkRow(NamedTuple):
    """What one person says of how one claim was cut. `mark` is None where it is still empty."""

    number: int
    mark: str | None
    sample_id: str
    claim: str
    span: tuple[int, int] | None
    better: tuple[str, ...]  # what the claims of its sentence should be; empty: not said
    annotator: str
    note: str
    chosen: str


class RowMaker:
    """Makes samples, claims, labels and documents of the rows of one source, and keeps their ids unique.

    `warn(text, example)` is told about everything that was decided for the caller.
    """

    def __init__(self, fields: Fields, warn: Callable[[str, str], None], limits: Limits) -> None:
        self._fields = fields
        self.limits = limits
        self._warn = warn
        self._seen = SeenIds()

    def sample(self, number: int, row: Mapping[str, Any]) -> Sample:
        """Make a sample. Raises `RowError` saying why the row cannot be one."""
        fields = self._fields
        self._tell_rivals(number, row)
        response = self._judged_text(number, row, "response")
        question, reference = (self._text(number, row, name) or "" for name in ("question", "reference"))
        passages = self._passages(number, row)
        self._check_size({"response": response, "question": question, "reference": reference}, passages)
        return Sample(
            response=response,
            passages=passages,
            question=question,
            reference=reference or None,
            tags=self._tags(row),
            model=_named("model", as_scalar_text, fields.get(row, "model")) or None,
            release=_named("release", as_scalar_text, fields.get(row, "release")) or None,
            timestamp=_named("timestamp", as_scalar_text, fields.get(row, "timestamp")) or None,
            id=self._id(number, row),  # last: a row that is kept out takes no id
        )

    def claim(self, number: int, row: Mapping[str, Any]) -> ClaimRow:
        """Make a claim. Raises `RowError` saying why the row cannot be one."""
        self._tell_rivals(number, row)
        claim = self._judged_text(number, row, "claim")
        if not claim.strip():
            raise RowError("the claim is empty")
        question, sentence = (self._text(number, row, name) or "" for name in ("question", "sentence"))
        passages = self._passages(number, row)
        self._check_size({"claim": claim, "question": question, "sentence": sentence}, passages)
        return ClaimRow(
            claim=claim,
            passages=passages,
            question=question,
            sentence=sentence,
            tags=self._tags(row),
            id=self._id(number, row),
        )

    def document(self, number: int, row: Mapping[str, Any]) -> Document:
        """Make a document. Raises `RowError` saying why the row cannot be one."""
        self._tell_rivals(number, row)
        text = self._judged_text(number, row, "text")
        if not text.strip():
            raise RowError("the text is empty")
        title = _named("title", as_scalar_text, self._fields.get(row, "title")) or ""
        return Document(self._id(number, row), title, text)

    def label(self, number: int, row: Mapping[str, Any]) -> LabelRow:
        """Make a label. Raises `RowError` saying why the row cannot be one."""
        texts = {name: _named(name, as_scalar_text, self._fields.get(row, name)) or "" for name in _LABEL_TEXTS}
        if not texts["sample_id"].strip():
            raise RowError("there is no sample_id: which answer is meant?")
        label = texts["label"].strip().upper().replace(" ", "_").replace("-", "_") or None
        if label is not None and label not in Label.__members__:
            raise RowError(
                f"the label {shown(texts['label'])} is none of {', '.join(Label)}{did_you_mean(label, _LABELS)}"
            )
        mode = texts["failure_mode"].strip().lower() or None
        if mode is not None and mode not in _MODES:
            raise RowError(
                f"the failure_mode {shown(texts['failure_mode'])} is none of {', '.join(_MODES)}"
                f"{did_you_mean(mode, _MODES)}"
            )
        return LabelRow(
            number,
            label,
            _unescaped(texts["sample_id"]),
            _unescaped(texts["claim"]) or None,
            _span(self._fields.get(row, "span")),
            texts["annotator"].strip(),
            texts["note"],
            None if mode == _NO_MODE else mode,
            texts["chosen"].strip(),
        )

    def mark(self, number: int, row: Mapping[str, Any]) -> MarkRow:
        """Make a mark of how a claim was cut. Raises `RowError` saying why the row cannot be one."""
        texts = {name: _named(name, as_scalar_text, self._fields.get(row, name)) or "" for name in _MARK_TEXTS}
        for name in ("sample_id", "claim"):
            if not texts[name].strip():
                raise RowError(f"there is no {name}: which claim is meant?")
        mark = texts["mark"].strip().lower().replace(" ", "_").replace("-", "_") or None
        if mark is not None and mark not in _MARKS:
            raise RowError(
                f"the mark {shown(texts['mark'])} is none of {', '.join(_MARKS)}{did_you_mean(mark, _MARKS)}"
            )
        return MarkRow(
            number,
            mark,
            _unescaped(texts["sample_id"]),
            _unescaped(texts["claim"]),
            _span(self._fields.get(row, "span")),
            _lines(self._fields.get(row, "better")),
            texts["annotator"].strip(),
            texts["note"],
            texts["chosen"].strip(),
        )

    def again(self, number: int, sample: Sample) -> Sample:
        """Return a sample that was made elsewhere, its ids made unique.

        Raises `RowError` for what it cannot hold, and for one that is too large.
        """
        _check_sample(sample)
        if fault := self.limits.fault_of(sample):
            raise RowError(fault)
        passages = self._with_unique_ids(number, list(sample.passages))
        tags = {name: tag if isinstance(tag, str) else tuple(tag) for name, tag in sample.tags.items()}
        return replace(sample, id=self._unique_id(number, sample.id), passages=passages, tags=tags)

    def _check_size(self, texts: Mapping[str, str], passages: Iterable[Passage]) -> None:
        if fault := self.limits.fault(texts, passages):
            raise RowError(fault)

    def _unique_id(self, number: int, identifier: str) -> str:
        """Return the id, or the id with the first free ``#2``, ``#3``, … when it was used before."""
        unique = self._seen.make_unique(identifier)
        if unique != identifier:
            self._warn(
                "ids that appeared before were made unique", f"row {number}, {shown(identifier)} became {shown(unique)}"
            )
        return unique

    def _id(self, number: int, row: Mapping[str, Any]) -> str:
        given = _named("id", as_scalar_text, self._fields.get(row, "id"))
        return self._unique_id(number, given or str(number))

    def _judged_text(self, number: int, row: Mapping[str, Any], ours: str) -> str:
        """Return the text under test. Only text will do: a number is more likely the wrong column."""
        value = _named(ours, plain, self._fields.get(row, ours))
        value = self._first_text(number, ours, value)
        if isinstance(value, str):
            return value
        if value is None:
            raise RowError(f"the {ours} is missing (null)" if self._fields.has(row, ours) else f"there is no {ours}")
        raise RowError(f"the {ours} is {kind(value)}, not text")

    def _text(self, number: int, row: Mapping[str, Any], ours: str) -> str | None:
        value = _named(ours, plain, self._fields.get(row, ours))
        return (
            None
            if isinstance(value, list) and not value
            else _named(ours, as_scalar_text, self._first_text(number, ours, value))
        )

    def _first_text(self, number: int, ours: str, value: Any) -> Any:
        """Take the first of a list of strings; leave everything else as it is."""
        if not isinstance(value, list):
            return value
        texts = [plain(item) for item in value]
        if not texts or not all(isinstance(text, str) for text in texts):
            return value
        if len(texts) == 1:
            self._warn(f"the {ours} was given as a list; its only text is used", f"row {number}")
        else:
            self._warn(f"the {ours} was given as a list; its first text is used", f"row {number}, {len(texts)} texts")
        return texts[0]

    def _passages(self, number: int, row: Mapping[str, Any]) -> tuple[Passage, ...]:
        value = _named("contexts", plain, self._fields.get(row, "contexts"))
        if isinstance(value, str):
            held = _named("contexts", list_in_text, value)
            if held is None or not _holds_passages(held):
                return (Passage("p1", value),) if value else ()
            self._warn("contexts were given as text that holds a list; they were read as that list", f"row {number}")
            value = held
        if isinstance(value, Mapping):
            value = _objects_of_columns(value)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise RowError(f"contexts is {kind(value)}, not a list of passages")
        passages = [_passage(place, plain(item)) for place, item in enumerate(value, 1) if item is not None]
        return self._with_unique_ids(number, passages)

    def _with_unique_ids(self, number: int, passages: list[Passage]) -> tuple[Passage, ...]:
        if len({passage.id for passage in passages}) == len(passages):
            return tuple(passages)
        seen = SeenIds()
        unique = tuple(Passage(seen.make_unique(p.id), p.text, p.title) for p in passages)
        example = next((old.id, new.id) for old, new in zip(passages, unique, strict=True) if old.id != new.id)
        self._warn(
            "passages with the same id in one row were given different ids",
            f"row {number}, {shown(example[0])} became {shown(example[1])}",
        )
        return unique

    def _tags(self, row: Mapping[str, Any]) -> dict[str, Tag]:
        tags = _named("tags", tags_of, self._fields.get(row, "tags"))
        for name in self._fields.slices:
            value = _named(name, _tag_value, look_up(row, name))
            if value is not None:
                tags[name] = value
        return tags

    def _tell_rivals(self, number: int, row: Mapping[str, Any]) -> None:
        for used, ignored in self._fields.rivals(row):
            self._warn(f"both {used!r} and {ignored!r} appear; {used!r} comes first", f"row {number}")


def _check_sample(sample: Sample) -> None:
    """Hold a sample from Python to what the readers make: nothing checks a dataclass when it is made."""
    for name, may_be_none in _TEXTS_OF_SAMPLE.items():
        value = getattr(sample, name)
        if not isinstance(value, str) and not (may_be_none and value is None):
            raise RowError(f"the {name} of a Sample is {kind(value)}, not text")
    if not isinstance(sample.passages, (list, tuple)):
        raise RowError(f"the passages of a Sample are {kind(sample.passages)}, not a tuple of Passages")
    for place, passage in enumerate(sample.passages, 1):
        if not isinstance(passage, Passage):
            raise RowError(f"passage {place} of a Sample is {kind(passage)}, not a Passage")
        if not all(isinstance(text, str) for text in (passage.id, passage.text, passage.title)):
            raise RowError(f"passage {place} of a Sample has an id, text or title that is not text")
    if not isinstance(sample.tags, Mapping):
        raise RowError(f"the tags of a Sample are {kind(sample.tags)}, not a mapping")
    if strange := next((name for name, tag in sample.tags.items() if not _is_tag(tag)), None):
        raise RowError(f"the tag {shown(strange)} of a Sample is {kind(sample.tags[strange])}, not text or texts")


def _is_tag(tag: Any) -> bool:
    return isinstance(tag, str) or (isinstance(tag, (list, tuple)) and all(isinstance(value, str) for value in tag))


class SeenIds:
    """The ids given out so far, in 8 bytes each: an open-addressing table of hashes.

    A million ids take 16–32 MB. Two different ids share a hash about once in 10^7 sources of a
    million rows, and then one of them is renamed without need.
    """

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * 64))
        self._used = 0
        self._next: dict[int, int] = {}  # by hash: the next number to try

    def make_unique(self, identifier: str) -> str:
        """Return the id if it is new, else the id with the first free number appended."""
        key = _hash(identifier)
        if self._add(key):
            return identifier
        number = self._next.get(key, 2)
        while not self._add(_hash(unique := f"{identifier}#{number}")):
            number += 1
        self._next[key] = number + 1
        return unique

    def _add(self, key: int) -> bool:
        if not self._place(key):
            return False
        self._used += 1
        if self._used * 3 > len(self._slots) * 2:
            full, self._slots = self._slots, array("Q", bytes(16 * len(self._slots)))
            for old in full:
                if old:
                    self._place(old)
        return True

    def _place(self, key: int) -> bool:
        slots, mask = self._slots, len(self._slots) - 1
        place = key & mask
        while slots[place]:
            if slots[place] == key:
                return False
            place = (place + 1) & mask
        slots[place] = key
        return True


def _hash(identifier: str) -> int:
    digest = hashlib.blake2b(identifier.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1  # 0 marks a free slot


def tags_of(value: Any) -> dict[str, Tag]:
    """Make tags of an object, of a list of names, or of text (a JSON object, or ``a, b=c``).

    A list of texts, numbers or truth values, also as a CSV cell holds it, is a tag with several values.
    """
    value = plain(value)
    if isinstance(value, str):
        held = list_in_text(value)
        value = [part.strip() for part in value.replace(";", ",").split(",")] if held is None else held
    if value is None:
        return {}
    if isinstance(value, Mapping):
        pairs: Iterable[tuple[Any, Any]] = value.items()
    elif isinstance(value, list):
        pairs = [_pair(plain(item)) for item in value if item is not None]
    else:
        raise RowError(f"is {kind(value)}, not an object or a list")
    tags: dict[str, Tag] = {}
    for key, item in pairs:
        name, tag = str(key), _tag_value(item)
        if name and tag is not None:
            known = tag_values(tags.get(name, ()))
            tags[name] = tuple(dict.fromkeys((*known, *tag_values(tag)))) if known else tag  # `a=x, a=y`
    return tags


def _pair(item: Any) -> tuple[str, Any]:
    if isinstance(item, str):
        name, equals, value = item.partition("=")
        return (name.strip(), value.strip()) if equals else (item, "true")
    if isinstance(item, list) and len(item) == 2 and isinstance(item[0], str):  # how Arrow gives maps
        return item[0], item[1]
    raise RowError(f"holds {kind(item)} where a name was expected")


def _tag_value(value: Any) -> Tag | None:
    value = plain(value)
    if isinstance(value, str):
        values = _texts_in(value)
        return value if values is None else values or None
    if isinstance(value, list):
        items = [plain(item) for item in value]
        if any(isinstance(item, (list, Mapping)) for item in items):
            return as_json_text(value)
        return tuple(dict.fromkeys(text for item in items if (text := as_scalar_text(item)) is not None)) or None
    return as_json_text(value) if isinstance(value, Mapping) else as_scalar_text(value)


def _texts_in(text: str) -> tuple[str, ...] | None:
    """Return the texts of a list that a cell of text holds, each once; None when it holds no such list."""
    try:
        held = list_in_text(text)
    except RowError:  # it only begins like one
        return None
    is_list_of_texts = isinstance(held, list) and all(isinstance(item, str) for item in held)
    return tuple(dict.fromkeys(held)) if held is not None and is_list_of_texts else None


def _passage(place: int, item: Any) -> Passage:
    if isinstance(item, str):
        return Passage(f"p{place}", item)
    if not isinstance(item, Mapping):
        raise RowError(f"passage {place} is {kind(item)}, not text or an object with a text")
    text = next((item[key] for key in _TEXT_KEYS if item.get(key) is not None), None)
    text = _named(f"passage {place}", plain, text)
    if not isinstance(text, str):
        raise RowError(f"passage {place} has no text (its fields: {listed(item, 10)})")
    metadata: Mapping[str, Any] = next((item[key] for key in _METADATA_KEYS if isinstance(item.get(key), Mapping)), {})
    identifier = next(
        (value for value in (item.get("id"), metadata.get("id"), metadata.get("source")) if value is not None), None
    )
    title = item.get("title") if item.get("title") is not None else metadata.get("title")
    return Passage(
        id=_named(f"the id of passage {place}", as_scalar_text, identifier) or f"p{place}",
        text=text,
        title=_named(f"the title of passage {place}", as_scalar_text, title) or "",
    )


def _holds_passages(held: Any) -> bool:
    """Whether a list found in text is one of passages, and not itself the passage (a price list as JSON)."""
    items = held if isinstance(held, list) else [held]
    return all(not isinstance(item, Mapping) or any(key in item for key in _TEXT_KEYS) for item in items)


def _objects_of_columns(value: Mapping[str, Any]) -> list[Any]:
    """Read an object of lists (``{"id": [...], "text": [...]}``) as a list of objects, one object as a list of it."""
    columns = {key: plain(cells) for key, cells in value.items()}
    lengths = {len(cells) for cells in columns.values() if isinstance(cells, list)}
    if not any(isinstance(columns.get(key), list) for key in _TEXT_KEYS):
        return [value]
    if len(lengths) > 1:
        raise RowError("contexts is an object of lists of different lengths")
    lists = {key: cells for key, cells in columns.items() if isinstance(cells, list)}
    return [dict(zip(lists, cells, strict=True)) for cells in zip(*lists.values(), strict=True)]


def _named(name: str, convert: Callable[[Any], T], value: Any) -> T:
    """Convert a cell; a `RowError` from it gets the field's name in front."""
    try:
        return convert(value)
    except RowError as error:
        raise RowError(f"{name} {error}") from None


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
        raise RowError(f"the span is {given!r:.60}, not two places in the response such as [0, 12]") from None
    if not all(isinstance(one, int) and not isinstance(one, bool) for one in (start, end)) or not 0 <= start <= end:
        raise RowError(f"the span is {given!r:.60}, not two places in the response such as [0, 12]")
    return start, end
