"""Things that are right to the letter or wrong: e-mail addresses, URLs, paths, options, identifiers, versions, codes.

A word is one by its form: by a sign that no word of prose has inside, or by letters and digits that stand together.
What is written in backticks is one, too, as far as it is no common word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import NamedTuple

from everyclaim.text.code_names import absent_names

_EXACT = re.compile(
    r"(?P<exact>[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # an e-mail address
    r"|(?:https?://|www\.)[^\s<>()\[\]\"'`,;]+"
    r"|(?<![\w/.])(?:~|\.{1,2})?/[A-Za-z_][\w.-]*(?:/[\w.{}-]+)*/?"  # a path
    r"|(?<![\w-])--[a-z][\w-]+"  # an option
    r"|[A-Za-z_][\w.]*\w\(\)|(?<!\|)\b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b"  # f(), snake_case
    r"|\bv?\d+\.\d+\.\d{1,3}(?:[-+.][\w.]+)?\b(?!%))"  # a version
    r"|(?P<code>\b(?=[A-Z-]*\d)(?:[A-Z]{1,6}-?\d{2,}(?:-[A-Z0-9]+)*|[A-Z]{4,}\d{1,4})\b)"  # E-4012, SUMMER24
)
_INLINE = re.compile(
    r"(?<!`)`(?P<code>[^`\n]{1,200})`(?!`)|^(?:```|~~~)[^\n]*\n(?P<block>.*?)^(?:```|~~~)", re.MULTILINE | re.DOTALL
)
_WORD = re.compile(r"-{0,2}[A-Za-z_][\w.-]*\w")
_ENDING = ".,;:!?)]}'\""


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
    for found in _INLINE.finditer(text):
        code = found["code"] or (found["block"] or "").replace(".", " ")  # whose attributes `absent_names` reads
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
        return _plain(thing.text) in {_plain(one) for one in re.findall(r"[\w-]+(?: \d[\w-]*)?", whole)}
    bare = re.sub(r"^https?://|/$|\(\)$", "", thing.text)
    if _stands_in(whole, bare):
        return True
    host, slash, path = bare.partition("/")
    return bool(slash and "://" in thing.text) and host in whole and _stands_in(whole, f"/{path}")  # a base, and a path


def _stands_in(whole: str, thing: str) -> bool:
    caseless = re.IGNORECASE if "@" in thing else 0
    return re.search(rf"(?<![\w@-]){re.escape(thing)}(?![\w-]|\.\w|/\w|@)", whole, caseless) is not None


def _plain(text: str) -> str:
    return re.sub(r"[\s_-]", "", text).casefold()
