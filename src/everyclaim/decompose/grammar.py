"""What little the check of splits and the reading of refusals must know of English verbs, on tagged words."""

from __future__ import annotations

from collections.abc import Sequence

from everyclaim.text.tagger import FINITE, Word

RELATIVES = frozenset({"who", "which", "that", "whom", "whose", "where", "what", "how", "why"})
BE = frozenset({"is", "are", "was", "were", "be", "been", "being", "'s", "'re"})


def chain_end(words: Sequence[Word], verb: int) -> int:
    """Where the verb chain that begins at `verb` ends: auxiliaries, adverbs among them, the main verb."""
    index = verb
    end = verb
    while index < len(words):
        word = words[index]
        if word.tag in FINITE or word.tag in {"VB", "VBN", "VBG"}:
            if end > verb and not _takes(words[end - 1], word):
                break
            index += 1
            end = index
        elif word.tag == "RB":
            index += 1
            if index - end > 2:
                break
        else:
            break
    return end


def _takes(auxiliary: Word, word: Word) -> bool:
    """Whether a verb form can follow an auxiliary in one chain ("has been built")."""
    low = auxiliary.low
    if auxiliary.tag == "MD" or low in {"do", "does", "did"}:
        return word.tag in {"VB", "VBP"}
    if low in BE:
        return word.tag in {"VBN", "VBG", "VBD"}
    return low in {"has", "have", "had", "'ve"} and word.tag in {"VBN", "VBD"}
