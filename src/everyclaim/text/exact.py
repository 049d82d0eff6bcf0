"""Things that are right to the letter or wrong: e-mail addresses, URLs, paths, options, identifiers, versions, codes.

A word is one by its form: by a sign that no word of prose has inside, or by letters and digits that stand together.
What is written in backticks is one, too, as far as it is no common word. Lower-case names in code (an attribute, an
argument, an import, a key, a word of a command) count only beside a name that the sources' code has: `client.fetch`
where they know `client`, `pip install grid` where they know `pip`.

So are numbers, in any language and script, in two sentences which are otherwise the same (`replaced_number`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import NamedTuple

from everyclaim.core.lifetime import remembered
from everyclaim.text.tokens import stem

_EXACT = re.compile(
    r"(?P<exact>[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # an e-mail address
    r"|(?:https?://|www\.)[^\s<>()\[\]\"'`,;]+"
    r"|(?<![\w/.])(?:~|\.{1,2})?/[A-Za-z_][\w.-]*(?:/[\w.{}-]+)*/?"  # a path
    r"|(?<![\w-])--[a-z][\w-]+"  # an option
    r"|[A-Za-z_][\w.]*\w\(\)|(?<!\|)\b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b"  # f(), snake_case
    r"|\bv?\d+\.\d+\.\d{1,3}(?:[-+.][\w.]+)?\b(?!%))"  # a version
    r"|(?P<code>\b(?=[A-Z-]*\d)(?:[A-Z]{1,6}-?\d{2,}(?:-[A-Z0-9]+)*|[A-Z]{4,}\d{1,4})\b)"  # E-4012, SUMMER24
)
_CODE_TEXT = re.compile(
    r"(?<!`)`(?P<inline>[^`\n]{1,200})`(?!`)|^(?:```|~~~)(?P<language>[^\n]*)\n(?P<block>.*?)^(?:```|~~~)",
    re.MULTILINE | re.DOTALL,
)
_WORD = re.compile(r"-{0,2}[A-Za-z_][\w.-]*\w")
_ENDING = ".,;:!?)]}'\""
_SILENT = re.compile(r"\"[^\"\n]*\"(?!\s*:)|'[^'\n]*'(?!\s*:)|(?<![^\s])(?:#|//)[^\n]*")
_NAME = r"[A-Za-z_][\w-]*"
_START = r"(?<!\w)[^\WA-Za-z_]*"  # where a word begins, behind its digits: a longer word is not tried from every letter
_CODE_WORD = re.compile(r"[A-Za-z_]\w*")
_ATTRIBUTE = re.compile(rf"{_START}([A-Za-z_]\w*)(?:\(\))?\.([A-Za-z_]\w*)")
_CALL = re.compile(rf"{_START}([A-Za-z_]\w*)\(([^()]*)\)")
_ARGUMENT = re.compile(r"(?:^|,)\s*([A-Za-z_]\w*)\s*=(?!=)")
_IMPORT = re.compile(r"^[^\S\n]*from\s+([\w.]+)\s+import\s+([\w, ]+)", re.MULTILINE)
_KEY = re.compile(rf"^(?P<indent>[^\S\n]*)(?:-\s+)?[\"']?(?P<key>{_NAME})[\"']?\s*:(?:\s|$)", re.MULTILINE)
_COMMAND = re.compile(r"^[^\S\n]*(?:\$\s+)?([a-z][\w-]*)((?:[ \t]+[^\s=(){};]+)+)[ \t]*$", re.MULTILINE)
_PLAIN_WORD = re.compile(r"[a-z][a-z_]{2,}")
_SHELLS = frozenset({"", "sh", "bash", "shell", "console", "zsh"})
_CLAUSE = re.compile(r"(?:[^\n,;.!?，；。！？、।؟]|(?<=\d)[.,](?=\d))+")
_MASK = "\0"


class ExactThing(NamedTuple):
    """Such a thing; of a code signs and case between its parts do not count."""

    text: str
    is_code: bool = False


def exact_things(text: str) -> Iterator[ExactThing]:
    """Yield the things of a text that must be right to the letter, in order."""
    for found in _EXACT.finditer(text):
        yield ExactThing(found.group().rstrip(_ENDING if not found.group().endswith("()") else ""), bool(found["code"]))


def code_words(text: str) -> Iterator[str]:
    """Yield the words of code, in backticks or a block, that are no common words: with a sign or a large letter."""
    for found in _CODE_TEXT.finditer(text):
        code = found["inline"] or (found["block"] or "").replace(".", " ")  # whose attributes `absent_names` reads
        for word in _WORD.findall(_EXACT.sub(" ", code)):
            if not word.isalpha() or not (word.islower() or word.istitle()):
                yield word


def absent_things(text: str, sources: Iterable[str], code: str = "") -> list[tuple[str, str]]:
    """Return the exact things of a text, and the words of `code`, that no source holds, each with the nearest there is.

    Empty where the sources hold nothing of the kind at all: then other words of theirs may say it.
    """
    wanted = dict.fromkeys([*exact_things(text), *(ExactThing(word) for word in code_words(code))])
    whole = "\n".join(sources) if wanted or "`" in code or "~~~" in code else ""
    missing = [one.text for one in wanted if not _holds(whole, one)]
    missing += [name for name in absent_names(code, whole) if name not in " ".join(missing)]
    there = [*(one.text for one in exact_things(whole)), *code_words(whole)] if missing else []
    return [(one, next(iter(get_close_matches(one, there, 1, 0.6)), "")) for one in missing]


def _holds(whole: str, thing: ExactThing) -> bool:
    if thing.is_code:
        return _unsigned(thing.text) in {_unsigned(one) for one in re.findall(r"[\w-]+(?: \d[\w-]*)?", whole)}
    bare = re.sub(r"^https?://|/$|\(\)$", "", thing.text)
    if _stands_in(whole, bare):
        return True
    host, slash, path = bare.partition("/")
    return bool(slash and "://" in thing.text) and host in whole and _stands_in(whole, f"/{path}")  # a base, and a path


def _stands_in(whole: str, thing: str) -> bool:
    caseless = re.IGNORECASE if "@" in thing else 0
    return re.search(rf"(?<![\w@-]){re.escape(thing)}(?![\w-]|\.\w|/\w|@)", whole, caseless) is not None


def _unsigned(text: str) -> str:
    return re.sub(r"[\s_-]", "", text).casefold()


class CodeName(NamedTuple):
    """A name, and the one that it stands with; none for a word that is all of a stretch of code."""

    name: str
    owner: str = ""


def absent_names(text: str, sources: str) -> list[str]:
    """Return the names in the code of a text that the sources do not have, where their code has what they stand with.

    A word alone in backticks is one where the sources hold code at all, and no form of it in their prose.
    """
    names = dict.fromkeys(_names(text))
    code = " ".join(found["inline"] or found["block"] or "" for found in _CODE_TEXT.finditer(sources)) if names else ""
    known = {*_CODE_WORD.findall(code)}
    if not known:
        return []
    there = {*_CODE_WORD.findall(sources)}
    forms = {stem(word.lower()) for word in there - known}
    return [
        one.name
        for one in names
        if one.name not in there and (one.owner in known if one.owner else stem(one.name) not in forms)
    ]


def _names(text: str) -> Iterator[CodeName]:
    for found in _CODE_TEXT.finditer(text):
        code, language = found["inline"] or found["block"] or "", (found["language"] or "").strip()
        bare = _SILENT.sub("", code)
        if found["inline"] and _PLAIN_WORD.fullmatch(code):
            yield CodeName(code)
            continue
        yield from (CodeName(name, owner) for owner, name in _ATTRIBUTE.findall(bare))
        for callee, arguments in _CALL.findall(bare):
            yield from (CodeName(name, callee) for name in _ARGUMENT.findall(arguments))
        for module, imported in _IMPORT.findall(bare):
            yield from (CodeName(name.split()[0], module) for name in imported.split(",") if name.split())
        yield from _keys(bare)
        for command, words in _COMMAND.findall(bare) if language in _SHELLS else ():
            yield from (CodeName(word, command) for word in words.split() if _PLAIN_WORD.fullmatch(word))


def _keys(code: str) -> Iterator[CodeName]:
    """Yield the keys of indented configuration, each with the one that it stands under."""
    above: list[tuple[int, str]] = []
    for found in _KEY.finditer(code):
        indent = len(found["indent"])
        while above and above[-1][0] >= indent:
            above.pop()
        if above:
            yield CodeName(found["key"], above[-1][1])
        above.append((indent, found["key"]))


class _WrittenNumber(NamedTuple):
    """A number as it is written, what it may mean, and the letter behind it, which begins its unit."""

    text: str
    readings: frozenset[float]
    unit: str

    def has_value_of(self, other: _WrittenNumber) -> bool:
        return not self.readings.isdisjoint(other.readings)


class _MaskedClause(NamedTuple):
    """The letters of a clause, with a mark for each of its numbers."""

    letters: str
    numbers: tuple[_WrittenNumber, ...]


def replaced_number(text: str, sources: Iterable[str]) -> tuple[str, str] | None:
    """Return a number of a text, and the one that the same clause of a source has in its place; None without one.

    The source's clause must hold all letters of the text's in their order, and all its other numbers, and no source may
    have the number with this unit anywhere.
    """
    known = dict.fromkeys(clause for source in sources for clause in _clauses(source))
    for clause in _clauses(text):
        for ours, theirs in filter(None, (_differing(clause, other) for other in known)):
            like = (one for other in known for one in other.numbers if one.unit == ours.unit)
            if not any(map(ours.has_value_of, like)):
                return ours.text, theirs.text
    return None


@remembered(8_000_000, lambda found, text: 2 * len(text) + sum(300 + 500 * len(one.numbers) for one in found))
def _clauses(text: str) -> tuple[_MaskedClause, ...]:
    """Return the clauses that have a number, and words; the same passages are asked about for every claim."""
    found = (_clause(one.group()) for one in _CLAUSE.finditer(text))
    return tuple(dict.fromkeys(one for one in found if one.numbers and len(one.letters) > len(one.numbers) + 1))


def _clause(text: str) -> _MaskedClause:
    letters = ""
    numbers: list[_WrittenNumber] = []
    place = 0
    while place < len(text):
        end = place
        while end < len(text) and (_value(text[end]) is not None or (end > place and text[end] in ".,")):
            end += 1
        if end > place:
            written = text[place:end]
            unit = next((letter for letter in text[end:] if letter.isalnum()), "")
            numbers.append(_WrittenNumber(written, frozenset(_readings(written)), unit))
            letters += _MASK
        elif text[place].isalnum():
            letters += text[place].casefold()
        place = max(end, place + 1)
    return _MaskedClause(letters, tuple(numbers))


def _differing(ours: _MaskedClause, theirs: _MaskedClause) -> tuple[_WrittenNumber, _WrittenNumber] | None:
    """Return the only two numbers that differ between clauses, of which the second holds all letters of the first."""
    earliest = _numbers_met(ours.letters, theirs.letters)
    if earliest is None:
        return None
    latest = _numbers_met(ours.letters[::-1], theirs.letters[::-1]) or []
    differing = []
    for number, first, behind in zip(ours.numbers, earliest, reversed(latest), strict=True):
        others = theirs.numbers[first : len(theirs.numbers) - behind]
        if not any(number.has_value_of(other) for other in others):
            differing.append((number, [other for other in others if other.unit == number.unit]))
    if len(differing) != 1 or not differing[0][1]:
        return None
    number, candidates = differing[0]
    return number, candidates[0]


def _numbers_met(ours: str, theirs: str) -> list[int] | None:
    """Return which of their numbers each of ours meets, read from one end; None where a letter of ours is missing."""
    found, place, passed = list[int](), 0, 0
    for letter in ours:
        at = theirs.find(letter, place)
        if at < 0:
            return None
        passed += theirs.count(_MASK, place, at)
        if letter == _MASK:
            found.append(passed)
            passed += 1
        place = at + 1
    return found


def _value(letter: str) -> float | None:
    return 2.0 if letter == "两" else unicodedata.numeric(letter, None)  # to which Unicode gives no value


def _readings(written: str) -> Iterator[float]:
    """Yield what a number may mean: its last comma or point parts decimals, or thousands as the others do."""
    yield _sum(re.sub("[.,]", "", written))
    if parted := re.fullmatch(r"(.+)[.,](\d+)", written):
        yield _sum(re.sub("[.,]", "", parted[1])) + int(parted[2]) / 10 ** len(parted[2])


def _sum(written: str) -> float:
    """Return the value of digits and numerals: 330, 三百三十, 二〇二一, 3万."""
    total = section = digits = 0.0
    for letter in written:
        value = _value(letter) or 0.0
        if value < 10:
            digits = digits * 10 + value
        elif value < 10_000:
            section += (digits or 1) * value
            digits = 0
        else:
            total += (section + digits or 1) * value
            section = digits = 0
    return total + section + digits
