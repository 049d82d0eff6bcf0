"""Negation and doubt outside of English: whether a claim has a word of either that its sentence lacks, or lacks one.

Words alone tell, without grammar: such a word governs the next telling word. Only words that are nothing else in
another of these languages are listed; Spanish and Italian "no" and the like count where other small words say what is
spoken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from everyclaim.text.tokens import tokenize, word_set

_NEGATION = word_set(
    """
    nicht kein keine keinen keinem keiner keines nie niemals ohne weder pas jamais sans aucun aucune nunca ningún
    ninguna ninguno tampoco senza nessun nessuno nessuna não nenhum nenhuma sem niet geen nooit zonder не нет без ни
    никогда ingen inget inga inte ikke ej aldrig bez nikdy nikdo nema nije nejsou není değil yok tidak bukan
    不 没 沒 无 無 非 未
    """
)
_DOUBT = word_set(
    """
    vielleicht möglicherweise wahrscheinlich vermutlich angeblich eventuell könnte könnten dürfte soll sollen peut
    peuvent pourrait peut-être probablement semble quizás quizá puede pueden podría probablemente forse può possono
    potrebbe talvez pode podem poderia misschien waarschijnlijk mogelijk может возможно вероятно kanske kanskje måske
    może chyba możliwe 可能 也许
    """
)
_AMBIGUOUS = word_set("no ni non né nie ne sin")  # negations in some languages
_SPEAKS = word_set(  # small words of those languages
    "el la los las es una del il lo gli di che è della jest są się w z est une des les le byl je se są uma do da em"
)
_SMALL = word_set("ist sind war est es è é jest была был i и y e et und en is de la le el il der die das een un")
_JAPANESE = re.compile(r"(?:では|じゃ|く|ら|か)?な(?:い|かっ|く)|ません|ぬ")


def drift_elsewhere(claim: str, sentence: str) -> tuple[list[str], list[str]]:
    """Return the words of negation or doubt that a claim added, and those that it lost."""
    added: list[str] = []
    lost: list[str] = []
    said, own = ([token.norm for token in tokenize(text)] for text in (claim, sentence))
    for kind in (_NEGATION, _DOUBT):
        mine, theirs = list(_found(said, kind)), list(_found(own, kind))
        if mine and not theirs:
            added += [said[place] for place in mine]
        elif theirs and not mine:
            lost += [own[place] for place in theirs if _governs(place, own, said)]
    mine_, theirs_ = _JAPANESE.search(claim), _JAPANESE.search(sentence)
    if mine_ and not theirs_:
        added.append(mine_[0])
    elif theirs_ and not mine_ and sentence[max(0, theirs_.start() - 1) : theirs_.start()] in claim:
        lost.append(theirs_[0])
    return added, lost


def _found(words: list[str], kind: frozenset[str]) -> Iterator[int]:
    spoken = kind is _NEGATION and not _SPEAKS.isdisjoint(words)
    for place, word in enumerate(words):
        if word in kind or (spoken and word in _AMBIGUOUS) or (kind is _NEGATION and word[:2] in {"n'", "n’"}):
            yield place


def _governs(place: int, own: list[str], said: list[str]) -> bool:
    behind = [word for word in own[place + 1 :] if word not in _SMALL and word not in _NEGATION and word != "pas"]
    near = behind[:1] or [word for word in own[:place] if word not in _SMALL][-1:]
    return bool(near) and near[0] in said
