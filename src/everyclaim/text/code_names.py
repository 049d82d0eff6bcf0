"""Lower-case names in code, by what they stand with: an attribute, an argument, an import, a key, a word of a command.

A name of prose may have any form, and code is full of names of its own. So a name counts only beside one that the
sources' code has: `client.fetch` where they know `client`, `pip install grid` where they know `pip`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from everyclaim.text.tokens import stem

_CODE = re.compile(
    r"(?<!`)`(?P<inline>[^`\n]{1,200})`(?!`)|^(?:```|~~~)(?P<language>[^\n]*)\n(?P<block>.*?)^(?:```|~~~)",
    re.MULTILINE | re.DOTALL,
)
_SILENT = re.compile(r"\"[^\"\n]*\"(?!\s*:)|'[^'\n]*'(?!\s*:)|(?<![^\s])(?:#|//)[^\n]*")
_NAME = r"[A-Za-z_][\w-]*"
_START = r"(?<!\w)[^\WA-Za-z_]*"  # where a word begins, behind its digits: a longer word is not tried from every letter
_WORD = re.compile(r"[A-Za-z_]\w*")
_ATTRIBUTE = re.compile(rf"{_START}([A-Za-z_]\w*)(?:\(\))?\.([A-Za-z_]\w*)")
_CALL = re.compile(rf"{_START}([A-Za-z_]\w*)\(([^()]*)\)")
_ARGUMENT = re.compile(r"(?:^|,)\s*([A-Za-z_]\w*)\s*=(?!=)")
_IMPORT = re.compile(r"^[^\S\n]*from\s+([\w.]+)\s+import\s+([\w, ]+)", re.MULTILINE)
_KEY = re.compile(rf"^(?P<indent>[^\S\n]*)(?:-\s+)?[\"']?(?P<key>{_NAME})[\"']?\s*:(?:\s|$)", re.MULTILINE)
_COMMAND = re.compile(r"^[^\S\n]*(?:\$\s+)?([a-z][\w-]*)((?:[ \t]+[^\s=(){};]+)+)[ \t]*$", re.MULTILINE)
_PLAIN = re.compile(r"[a-z][a-z_]{2,}")
_SHELLS = frozenset({"", "sh", "bash", "shell", "console", "zsh"})


class CodeName(NamedTuple):
    """A name, and the one that it stands with; none for a word that is all of a stretch of code."""

    name: str
    owner: str = ""


def absent_names(text: str, sources: str) -> list[str]:
    """Return the names in the code of a text that the sources do not have, where their code has what they stand with.

    A word alone in backticks is one where the sources hold code at all, and no form of it in their prose.
    """
    names = dict.fromkeys(_names(text))
    code = " ".join(found["inline"] or found["block"] or "" for found in _CODE.finditer(sources)) if names else ""
    known = {*_WORD.findall(code)}
    if not known:
        return []
    there = {*_WORD.findall(sources)}
    forms = {stem(word.lower()) for word in there - known}
    return [
        one.name
        for one in names
        if one.name not in there and (one.owner in known if one.owner else stem(one.name) not in forms)
    ]


def _names(text: str) -> Iterator[CodeName]:
    for found in _CODE.finditer(text):
        code, language = found["inline"] or found["block"] or "", (found["language"] or "").strip()
        bare = _SILENT.sub("", code)
        if found["inline"] and _PLAIN.fullmatch(code):
            yield CodeName(code)
            continue
        yield from (CodeName(name, owner) for owner, name in _ATTRIBUTE.findall(bare))
        for callee, arguments in _CALL.findall(bare):
            yield from (CodeName(name, callee) for name in _ARGUMENT.findall(arguments))
        for module, imported in _IMPORT.findall(bare):
            yield from (CodeName(name.split()[0], module) for name in imported.split(",") if name.split())
        yield from _keys(bare)
        for command, words in _COMMAND.findall(bare) if language in _SHELLS else ():
            yield from (CodeName(word, command) for word in words.split() if _PLAIN.fullmatch(word))


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
