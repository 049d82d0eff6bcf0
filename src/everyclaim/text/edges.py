"""The ends of a stretch that is quoted from a text: no comma before it, no bracket that is opened and never closed."""

from __future__ import annotations

from everyclaim.text.tokens import is_word_char

_PAIRS = {"(": ")", "[": "]", "{": "}", "“": "”", "«": "»", "‘": "’"}
_CLOSING = frozenset(_PAIRS.values())
_STRAY = frozenset(" \t\r\n\u00a0,;:.!?…|*_`\"'")


def tidied(text: str, start: int, end: int) -> tuple[int, int]:
    """Give the stretch ``text[start:end]`` without the punctuation at its ends, brackets whole.

    A bracket that closes right behind the stretch is taken in, one without its other half is left out where it stands
    at an end. A stretch without any word comes back as it is.
    """
    if not any(character.isalnum() for character in text[start:end]):
        return start, end
    low, high = start, end
    while (text[low] in _STRAY and not text[low : low + 2].lstrip(".").isdigit()) or text[low] in _CLOSING:
        low += 1
    while text[high - 1] in _STRAY or text[high - 1] in _PAIRS:
        high -= 1
    for opening, closing in _PAIRS.items():
        inside = text[low:high]
        if inside.count(opening) > inside.count(closing):
            if text.startswith(closing, high):
                high += 1
            elif text[low] == opening:
                low += 1
        elif inside.count(closing) > inside.count(opening) and text[high - 1] == closing:
            high -= 1
    return low, high


def capital(text: str) -> str:
    """Write the first letter large."""
    return text[:1].upper() + text[1:]


def in_unspaced_script(text: str) -> bool:
    """Say whether a text has letters of a script that puts no blanks between words, where a stretch may cut a word."""
    return any(character.isalpha() and not is_word_char(character) for character in text)


def blanked_out(text: str, start: int, end: int) -> str:
    """Write blanks over ``text[start:end]``: what stands behind keeps its place."""
    return text[:start] + " " * (end - start) + text[end:]
