"""How sources are named ("Manual, p. 12", "Smith 2020", a file, an address), and which passages they are.

What stands where a source is named and asserts something names none (`asserts_something`). Words that only point at
the sources ("According to passage 2, …", "The article notes that …", "(Source 3)") say where something stands, not
what: `without_pointers` leaves them out. A person or a work by its name ("According to Reuters") is an attribution, and
stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from everyclaim.core.types import Citation, Passage, Source, Span
from everyclaim.text.lists import WORDS
from everyclaim.text.tokens import STOPWORDS, word_set

CASELESS = re.IGNORECASE
NUMBERS = r"\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,20}"
KINDS = r"sources?|documents?|docs?|passages?|references?|refs?|contexts?|citations?|chunks?|snippets?|footnotes?|cite"
FILE = r"[\w%.-]{1,80}\.(?:[a-z]{2,5}|mp[34])(?![\w.])(?:#[\w=&.-]{1,60})?"
ADDRESS = r"(?:https?://|www\.)[^\s<>()\[\]\"]{1,500}(?:\([^\s<>()]{1,80}\)[^\s<>()\[\]\"]{0,200})?(?<![.,;:!?])"
PLACE = (  # in a source
    r"(?:\b(?:pp?|pages?|secs?|sections?|chapters?|chap|ch|arts?|articles?|figs?|figures?|tables?|paras?|paragraphs?|"
    r"lines?|clauses?|appendix|annex|slides?|vols?|volumes?|nos?|seiten?|abschnitte?|kapitel|kap|abs)\b\.?|"
    r"§§?|\b(?-i:[SL])(?=\.?\s?\d)\.?)"
    r"\s?(?:\d|[ivxlc]{1,6}\b|[A-Z]\b)[\w.]{0,8}(?:\s?(?:[-–,&]|and)\s?(?:pp?\.\s?|L)?\d[\w.]{0,8}){0,4}"
)
SAID = r"(?:see(?: also)?|cf\.?|vgl\.|compare|from|via|per|according to|as (?:\w+ ){1,2}in|in|by)"
_AUXILIARIES = word_set("is are was were has have had does did do can could will would may might must should")
_SUBJECTS = word_set("i you he she it we they there")
_DETERMINERS = word_set("the a an this that these those its his her their our my your")
_OBJECTS = _DETERMINERS | word_set("it him them us me not to")  # what tells a verb from a noun
_PLACING = word_set("in on at by for from to after before during since with over")
_COUNTING = re.compile(r"\b[a-z]{2,}\s\d|^\W*\d+\s[a-z]")  # "after 40 deaths", not "Windows 11"
_YEAR = re.compile(r"[(\[,.]?\s?\b(?:1[5-9]|20)\d\d[a-z]?\b[)\].,]*")
_WRITTEN = re.compile(  # an author and a year, with a place perhaps
    r"(?P<who>(?:(?:van|von|de|der|den|la|le|al\.?|et|and|&|[A-Z][\w’'-]*\.?|[A-Z]\.)[\s,]*){1,9}?),?\s?"
    r"\(?(?P<year>(?:1[5-9]|20)\d\d)[a-z]?\)?"
    rf"(?:,?\s?(?P<place>{PLACE}|:\s?\d{{1,4}}(?:[-–]\d{{1,4}})?))?"
)
_NAMED = re.compile(rf"(?P<name>[^\W_][^;:\n]{{0,90}}?)[,.:]?\s{{0,2}}(?P<place>{PLACE})(?:\s?(?:,|and|&)\s?{PLACE})*")
_TOKEN = re.compile(rf"(?P<name>@?(?:{FILE}|[^\W_][\w.:#/-]*[\d_][\w.:#/-]*))(?:[,:]?\s?(?P<place>{PLACE}))?", CASELESS)
_KIND_NUMBER = re.compile(
    rf"(?:{KINDS})[\s_.:#-]{{0,3}}(?:no\.?\s)?"
    rf"(?P<n>\d{{1,3}}(?:\s?(?:[,;&–-]|and)\s?(?:(?:{KINDS})\s)?\d{{1,3}}){{0,9}})(?:,?\s{PLACE})?",
    CASELESS,
)
_LETTERED = re.compile(rf"(?:{KINDS})[\s_.:#-]{{0,3}}(?:[A-Z]|[\w-]*\d[\w.-]*)", CASELESS)
_MONTHS = {form for name in WORDS["dates"]["months"].lower().split() for form in (name, name[:3])}
_WORD = re.compile(r"[^\W_]+")
_NUMBER_PLACE = re.compile(rf"(?P<n>\d{{1,3}}),?\s(?P<place>{PLACE})", CASELESS)
_PAGE = re.compile(r"(?:pp?|pages?)\.?\s?\d{1,4}(?:\s?[-–]\s?\d{1,4})?", CASELESS)
_TITLE = re.compile(r"(?=[A-Z])[^\d ]+(?: [^\d ]+)*(?: [^\d ]+| \d{1,6})")
_LINE = re.compile(r"[^\r\n]*\S[^\r\n]*")
_PARTS = re.compile(r";\s*|,?\s(?=\[\d{1,3}\]\s)")  # of what stands on one line
_LINKED = re.compile(r"\[([^\]\[]+)\]\([^()\s]+(?:\s[\"']([^\"']*)[\"'])?\)")
_LONGEST_ENTRY, _LONGEST_LINE = 400, 2000  # characters
_ITEM = re.compile(r"\s*(?:[-*•–]\s|\[?\^?\d{1,3}\^?[\].):])")
_LISTED = re.compile(rf"\s*(?:[-*•]\s+)?\[\d{{1,3}}\]\s.*(?:{ADDRESS}|{PLACE}\W*$|{FILE}\W*$)", CASELESS)
_ENTRY = re.compile(r"\s*(?:[-*•–]\s+)?(?:\[?\^?(?P<label>\d{1,3})\^?(?:\]|[.):])+\s*)?(?P<said>\S.*)")
_HEAD = re.compile(
    r"[ \t]{0,3}(?:#{1,6}[ \t]+|[-*•][ \t]+)?[*_]{0,3}\s?(?:(?:list of|works|literature)\s)?"
    r"(?:sources?|references?|citations?|"
    r"bibliography|cited|literature|further reading|read more|see also|quellen?|fuentes?|fonti|fonte|bronnen|bron)"
    r"(?:\s(?:used|cited|consulted))?\s?[*_]{0,3}\s?(?P<colon>[:：]?)[*_]{0,3}[ \t]*(?P<rest>.*)",
    CASELESS,
)
_DEFINED = re.compile(r"[ \t]{0,3}\[\^?(?P<label>[\w-]{1,30})\^?\]:\s+(?P<said>\S.*)")
SOURCE = (  # as a pattern, for what else points at the sources
    r"(?:(?:the|these|this|those|all|both|any|your|our)\s+)?(?:(?:of\s+the|above|provided|given|retrieved|supplied|"
    r"available|following|same|second|first|third|other|source|search|cited|quoted|(?:semi-?)?structured|JSON)\s+){0,3}"
    r"(?:passages?|documents?|sources?|context|texts?|articles?|excerpts?|records?|information|materials?|results?|"
    r"snippets?|data)"
    r"(?:\s+(?:provided|given|above|below|supplied))?(?:\s+in\s+(?:the\s+)?(?:JSON\s+(?:data|format)|JSON))?"
    r"(?:\s*(?:no\.?\s*)?\d{1,2}(?:\s*(?:,|and|&|or|to|-|–)\s*(?:passages?\s*|sources?\s*|documents?\s*)?\d{1,2})*)?"
)
_SAYS = (
    r"(?:(?:also|further|then|only|specifically|explicitly|clearly)\s+)?"
    r"(?:states?|notes?|mentions?|says?|explains?|indicates?|reports?|adds?|describes?|shows?|specif(?:y|ies)|tells?\s+us)"
    r"(?:\s+(?:also|further))?"
)
_NUMBERED_SOURCE = r"(?:passage|source|document|doc|context|excerpt|result|snippet)s?\s*\d{1,2}"
CONNECTIVES = (  # words that tie a sentence to the one before, as a pattern
    r"therefore|thus|so|hence|overall|additionally|furthermore|moreover|finally|however|also|besides|consequently|instead|"
    r"nevertheless|nonetheless|similarly|likewise|alternatively|still|yet|then|as\s+a\s+result|on\s+the\s+other\s+hand|"
    r"(?:in|by)\s+contrast|for\s+(?:example|instance)|in\s+(?:addition|fact|conclusion|summary)"
)
_LINK = rf"(?:(?:{CONNECTIVES}|to\s+summari[sz]e)\s*,\s*)?"
_POINTER_BEFORE = re.compile(
    rf"(?:^\s*|(?<=\w:)\s+){_LINK}(?:(?:to\s+answer\s+(?:the|your)\s+question\b(?:\s*[\"“][^\"”]*[\"”])?\s*,\s*)?"
    rf"(?:based\s+(?:\w+ly\s+)?(?:up)?on|according\s+to|as\s+per|per|going\s+by|as\s+(?:\w+\s+)?in|from|in)\s+{SOURCE}\s*[,:]\s*"
    rf"|{SOURCE}\s+{_SAYS}\s+that\s+"
    rf"|{_NUMBERED_SOURCE}\s+(?:suggests?|recommends?|advises?)\s+(?=\w+ing\b)"
    rf"|it\s+is\s+(?:also\s+)?(?:noted|mentioned|stated|reported)\s+(?:in\s+{SOURCE}\s+)?that\s+"
    rf"|{_NUMBERED_SOURCE}\s*[:–-]\s*)",
    re.IGNORECASE,
)
_POINTER_ASIDE = re.compile(
    rf"(?<!\s)\s*\(\s*(?:(?:see|from|as\s+\w+\s+in|according\s+to|per|cf\.)\s+)?(?:{_NUMBERED_SOURCE}"
    rf"(?:\s*(?:,|;|and|&|-|–)\s*(?:{_NUMBERED_SOURCE}|(?:(?:steps?|sections?|paragraphs?|lines?|pages?)\s*)?\d{{1,2}}))*)\s*\)",
    re.IGNORECASE,
)
_POINTER_BEHIND = re.compile(
    rf"(?:,|(?<!\s))\s+(?:according\s+to|based\s+on|as\s+(?:stated|noted|mentioned|described|reported|indicated|shown)\s+in|as\s+per|per)\s+{SOURCE}"
    r"(?=\s*(?:[.!]\s*)?$)"
    rf"|(?<!\bis)(?<!\bare)(?<!\bwas)(?<!\bwere)(?:,|(?<!\s))\s+(?:in|from)\s+{_NUMBERED_SOURCE}(?=\s*(?:[.!]\s*)?$)",
    re.IGNORECASE,
)
_LEAST = 3  # words that must be left


def asserts_something(text: str) -> bool:
    """Whether words that stand where a source is named state something: by a verb of theirs, a value behind a colon."""
    bare = re.sub(rf"{ADDRESS}|{PLACE}|{FILE}", " ", text, flags=CASELESS)
    undated = _YEAR.sub(" ", bare)
    if re.search(r":(?!//)\D{0,40}\d", undated if "(" in bare else bare) or _COUNTING.search(undated):
        return True
    words = re.findall(r"[^\W_]+(?:['’-][^\W_]+)*|[,;:.()]", bare.strip(" *_\"“”'"))
    low = [word.lower() for word in words]
    if low[:1] and (low[0] in _SUBJECTS or (low[0] in _DETERMINERS and words[1:] and words[1].islower())):
        return True
    return any(
        word in _AUXILIARIES or (before != "to" and _is_verb(written, follows))
        for before, word, written, follows in zip(low, low[1:], words[1:], [*low[2:], ""], strict=False)
    )


def _is_verb(word: str, follows: str) -> bool:
    """Whether a word in lower case is a verb by its ending, and by an object or a place behind it."""
    if not word.islower() or word in STOPWORDS or word.endswith("ing"):
        return False
    return follows in _OBJECTS or (word.endswith("ed") and (follows in _PLACING or follows.isdigit()))


def names_only(source: Source) -> bool:
    """Whether a source is named by words alone, as other text may be: no number, place, address or file."""
    told = source.number or source.page or source.address
    return bool(source.name) and not told and re.search(FILE, source.name, CASELESS) is None


def passages_of(source: Source, passages: Sequence[Passage]) -> list[str]:
    """Return the ids of the passages that a source is, by id, title, address or author and year, else by its number.

    A number is an id, or the place among the passages, from 1. None where it is none of them.
    """
    names = [name for name in (source.name, source.address) if name]
    for same in (_is_id, _is_title, _is_written_in):
        if found := [one.id for one in passages if any(same(name, one) for name in names)]:
            return found
    by_id = [one.id for one in passages if source.number and one.id == str(source.number)]
    return by_id or [one.id for one in passages[source.number - 1 : source.number] if source.number]


def can_be_identified(source: Source, passages: Sequence[Passage]) -> bool:
    """Whether a source that is none of the passages is certainly none: by number, or as they have titles or own ids."""
    if not source.name and not source.address:
        return not source.page or bool(source.number)  # of "[0]" it is certain
    return any(one.title or one.id != f"p{place}" for place, one in enumerate(passages, 1))


def _plain(name: str) -> str:
    return " ".join(_WORD.findall(name.lower()))


def _stem(name: str) -> str:
    return _plain(re.sub(r"\.[a-z]{2,5}$", "", name.rstrip("/").rpartition("/")[2], flags=CASELESS))


def _is_id(name: str, passage: Passage) -> bool:
    if name == passage.id or _plain(name) == _plain(passage.id):
        return True
    return _stem(name) != "" and _stem(name) == _stem(passage.id)


def _is_title(name: str, passage: Passage) -> bool:
    title = _plain(passage.title)
    return bool(title) and (title in {_plain(name), _stem(name)} or f" {title} " in f" {_plain(name)} ")


def _is_written_in(name: str, passage: Passage) -> bool:
    """Whether a passage's title, id or first words hold an address, or an author and a year."""
    begins = f"{passage.id} {passage.title} {passage.text[:300]}"
    if "/" in name:
        return name.rstrip("/") in begins
    words = _WORD.findall(name)
    held = {word.lower() for word in _WORD.findall(begins)}
    return any(word.isdigit() for word in words) and all(
        word.lower() in held for word in words if word.isdigit() or (word[0].isupper() and len(word) > 1)
    )


def numbered(numbers: str, address: str = "") -> tuple[Source, ...]:
    """Return the sources of "1, 3-5"."""
    found: list[int] = []
    for part in re.split(r"\s?(?:[,;&]|and)\s?", numbers):
        ends = [int(number) for number in re.findall(r"\d{1,3}", part)]
        found += range(ends[0], min(ends[-1], ends[0] + 20) + 1) if ends else []
    return tuple(Source(number, address=address) for number in found)


def named_in(inner: str, *, square: bool = False, ends: bool = True) -> tuple[Source, ...]:
    """Return the sources that words in brackets name, part by part; none where a part names none.

    `square` are the brackets, and `ends` says that they end a statement.
    """
    bare = inner.strip()
    introduced = re.match(rf"(?:{KINDS}|quellen?)\s?[:：]\s*|{SAID}\s+", bare, CASELESS)
    if introduced and ":" in introduced.group() and not asserts_something(said := bare[introduced.end() :]):
        if re.fullmatch(NUMBERS, said):
            return numbered(said)
        return tuple(source_of(part) for part in said.split(";") if part.strip())
    bare = bare[introduced.end() :] if introduced else bare
    if introduced and re.fullmatch(PLACE, bare, CASELESS):
        return (Source(page=bare),)
    found: list[Source] = []
    for part in re.split(r";\s*", bare):
        one = _one_named(part.strip(), square=square, ends=ends)
        if not one:
            return ()
        found += one
    return tuple(found)


def _one_named(part: str, *, square: bool, ends: bool) -> tuple[Source, ...]:
    if several := _KIND_NUMBER.fullmatch(part):
        return numbered(re.sub(r"[^\d,;&–-]|and", " ", several["n"]))
    if square and (single := _NUMBER_PLACE.fullmatch(part)):
        return (Source(int(single["n"]), page=single["place"]),)
    if (token := _TOKEN.fullmatch(part)) and (square or re.match(FILE, part, CASELESS) or "_" in part):
        return (Source(name=token["name"], page=token["place"] or ""),)
    written = _WRITTEN.fullmatch(part) if ends else None
    who = set(_WORD.findall(written["who"].lower())) if written else set()
    if written and who and who.isdisjoint(_MONTHS):  # before a year stands an author, not a month
        return (Source(name=f"{written['who'].strip(' ,')} {written['year']}", page=written["place"] or ""),)
    if (named := _NAMED.fullmatch(part)) and part[0].isupper() and not asserts_something(named["name"]):
        return (Source(name=named["name"].strip(" ,"), page=named["place"]),)
    if _PAGE.fullmatch(part):
        return (Source(page=part),)
    title = square and ends and _TITLE.fullmatch(part) is not None and not asserts_something(part)
    return (Source(name=part),) if title or _LETTERED.fullmatch(part) else ()


def source_of(said: str) -> Source:
    """Read what an entry of a list of sources says of it."""
    address, place = re.search(ADDRESS, said, CASELESS), re.search(rf",?\s*({PLACE})", said, CASELESS)
    label = re.search(r"\[([^\]\[]+)\]\(", said)
    name = label[1] if label else said
    for found in (address, place):
        name = name.replace(found.group(), " ") if found else name
    name = " ".join(name.strip(" \t*_.,;:–—-<>()[]\"'").split())
    return Source(0, name, place[1] if place else "", address.group() if address else "")


@dataclass
class _Lists:
    """The lines of a text that name sources, on the way through it."""

    found: list[Citation] = field(default_factory=list)
    labels: dict[str, Source] = field(default_factory=dict)
    is_open: bool = False  # whether we are in a list
    marked: bool | None = None  # whether its entries are items; None before the first

    def read(self, line: re.Match[str]) -> None:
        content, start, end = line.group(), *line.span()
        if defined := _DEFINED.fullmatch(content):
            self._define(defined, start, end)
        elif (head := _HEAD.fullmatch(content)) and (head["colon"] or not head["rest"]):
            parts = [part for part in _PARTS.split(head["rest"]) if part.strip(" *_")]
            if all(map(is_reference, parts)):
                self._add(Span(start, end), [self._labelled(part) for part in parts])
                self.is_open = not parts or any(source.number for source in self.found[-1].sources)
                self.marked = True if parts else None
        elif content.lstrip().startswith("#"):
            self.is_open = False
        elif self.is_open or _LISTED.match(content):
            marked = _ITEM.match(content) is not None
            if (not self.is_open or self.marked in {None, marked}) and is_reference(content):
                self.marked = marked
                self._add(Span(start, end), [self._labelled(content)])
            else:
                self.is_open = self.is_open and marked

    def _add(self, span: Span, sources: Sequence[Source]) -> None:
        self.found.append(Citation(span, tuple(sources)))

    def _define(self, defined: re.Match[str], start: int, end: int) -> None:
        """Read a footnote; of one that asserts something only the label is cut."""
        if is_reference(defined["said"]):
            self.labels[defined["label"]] = source_of(defined["said"])
            self._add(Span(start, end), [self.labels[defined["label"]]])
        else:
            self._add(Span(start, start + defined.start("said")), [])

    def _labelled(self, entry: str) -> Source:
        """Read an entry, and note what its number stands for."""
        parts = _ENTRY.fullmatch(entry)
        source = source_of(parts["said"] if parts else entry)
        if parts is None or not parts["label"]:
            return source
        self.labels[parts["label"]] = source
        return source._replace(number=int(parts["label"]))


def listed(text: str) -> tuple[list[Citation], dict[str, Source]]:
    """Find lines that name sources ("Source: …", a list, footnotes), and what numbers and labels stand for."""
    lists = _Lists()
    for line in _LINE.finditer(text):
        if line.end() - line.start() <= _LONGEST_LINE:
            lists.read(line)
    return lists.found, lists.labels


def is_reference(entry: str) -> bool:
    """Whether an entry only names a source."""
    parts = _ENTRY.fullmatch(entry)
    if parts is None or len(entry) > _LONGEST_ENTRY:
        return False
    return not asserts_something(_LINKED.sub(lambda link: f"{link[1]} {link[2] or ''}", parts["said"]))


def without_pointers(text: str) -> str:
    """Leave out what only points at the sources; a text that does nothing else stays as it is."""
    bare = _POINTER_BEHIND.sub("", _POINTER_ASIDE.sub("", text))
    for _ in range(2):  # "Based on the passages, passage 2 states that …"
        bare = _POINTER_BEFORE.sub(lambda opening: " " if opening.start() else "", bare, count=1)
    if len(bare.split()) < _LEAST:
        return text
    return bare if bare[:1] == text.lstrip()[:1] else bare[:1].upper() + bare[1:]
