"""What stands above a list item, and how it is written before that: lead-ins, labels, announcements."""

from __future__ import annotations

import re
from collections.abc import Sequence

from everyclaim.decompose.assertions import asserts, is_cut_off, is_sentence, plain_tree
from everyclaim.decompose.selection import COLONS, reason_to_skip, without_frame
from everyclaim.models.local.parser import parse
from everyclaim.text.marks import blanked
from everyclaim.text.sources import without_pointers
from everyclaim.text.tokens import capital

_LABEL = 8  # words; a longer item does not only name something


def opening(above: Sequence[str]) -> str:
    """What stands above an item, to be written before it: "The symptoms include", "Dose, children:"."""
    parts = []
    for text in above:
        said = without_pointers(tidy(blanked(text)).rstrip(" .;,"))
        said = _announced(said) or said
        said = said if not said or said.endswith(COLONS) else f"{said}:"
        parts.append(said[:-1].rstrip() if is_cut_off(said) else said)
    return " ".join(filter(None, parts))


def lowered(text: str) -> str:
    """A fragment as it stands behind other words: with a small first letter, where that is not of a name."""
    start = len(text) - len(text.lstrip())
    first = parse([text.lstrip()])[0][:1]
    is_word = bool(first) and first[0].pos != "PROPN" and (first[0].text[1:].islower() or first[0].pos == "DET")
    return f"{text[:start]}{text[start].lower()}{text[start + 1 :]}" if is_word else text


def _announced(opening: str) -> str:
    """What is announced: "Ingredients for two" of "Here are the ingredients for two:", "To clean it" of "To clean it,
    follow these steps:"; empty where nothing is, or nothing is told of it.
    """
    bare = without_frame(opening.rstrip(" :："))
    tree = plain_tree(bare)
    if not tree.tokens or tree.low(tree.root) not in {"here", "follow"}:
        return ""
    aims = [kid for kid in tree.of(tree.root, "advcl", "csubj") if tree.says(kid, "mark", "to")]
    named = [kid for kid in tree.of(tree.root, "nsubj") if tree.of(kid, "nmod", "acl", "compound")]
    for what in aims + named:
        words = tree.under(what, without=tree.of(what, "det", "advmod"))
        return capital(bare[slice(*tree.span(words))].rstrip(" ,"))
    return ""


def introduces(text: str) -> bool:
    """Whether what stands above an item is to be read with it: it ends in a colon, or only names something."""
    bare = text.rstrip(" *_")
    if not is_open(text) and (bare.endswith((".", "!", "?")) or len(bare.split()) > _LABEL or is_sentence(bare)):
        return False
    reason = reason_to_skip(text, "paragraph")
    return reason is None or (reason == "meta" and bool(_announced(text)))


def is_open(text: str) -> bool:
    """Whether a text ends in a colon."""
    return text.rstrip(" *_").endswith(COLONS)


def is_label(text: str) -> bool:
    """Whether an item only names what the items under it are about."""
    bare = tidy(blanked(text))
    if bare.endswith((".", "!", "?")):
        return False
    plain = not any(character.isdigit() for character in bare) and ": " not in bare
    return (plain or bare.endswith(COLONS)) and not is_sentence(bare) and not asserts(bare)


def tidy(text: str) -> str:
    """Write a text on one line; the blank left by a citation before a full stop goes."""
    plain = re.sub(r"(?<![ \t])[ \t]{2,}(?=[.,;:!?](?:\s|$))|(?<=\w)[ \t](?=[.,](?:\s|$))|(?<=\()[ \t]+", "", text)
    return re.sub(r"\s+", " ", plain).strip()
