"""When a judge is not to be believed: a claim in a language that it does not read, an answer by a model of its family.

The offline judges were made for English, and measured in no other language. Judges prefer their own family's text
(arXiv 2502.01534), so such a run says more support than there is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from everyclaim.core.types import Claim, Passage, Sample
from everyclaim.text.language import ENGLISH, guessed_language, is_likelier, language_of, name_of

_PARTS = 400  # pieces of an answer that are looked at
_PIECE = re.compile(r"[^\n.!?。！？।]+")
_ENGLISH_ONLY = re.compile(
    r"(?:^|[:>|])(?:(?P<judge>embedded|lexical)(?::[\w.-]+)?|(?P<model>hf:[^>?&|]+))(?=$|[?>&|])"
)
_MULTILINGUAL = re.compile(r"multilingual|mdeberta|xlm|xnli|mt5|bge-m3|mmbert", re.IGNORECASE)
_COMPOSED = re.compile(r"[>|]")
_NAMED = re.compile(r"(?<=[^.!?…\s] )[A-ZÀ-ÖØ-Þ]\S*|([\"'])(?<!\w.)[^\"'\n]{1,200}\1|[“‘«„][^”’»“\n]{1,200}[”’»“]")
_TELLING = 3  # words of a passage from which on its spelling tells its language
_HEAD = 2000  # characters of a passage that tell its language


def unread_claims(claims: Sequence[Claim], sample: Sample, judge: str) -> dict[str, str]:
    """Return the ids of the claims that the judge with this spec does not read, with the language that it does not.

    A claim's language is its own, or, where that does not tell, its sentence's, the answer's or the question's. None
    for a judge that is made of others, one of which may read it.
    """
    if _COMPOSED.search(judge) or not _limited(judge):
        return {}
    if foreign := _only_language(sample.passages):
        return dict.fromkeys((claim.id for claim in claims), foreign)
    spoken = {text: _spoken(text) for claim in claims for text in (claim.text, claim.sentence)}
    whole = "" if all(spoken[claim.sentence] for claim in claims) else answer_language(sample.response, sample.question)
    found = {claim.id: spoken[claim.text] or spoken[claim.sentence] or whole for claim in claims}
    return {name: language for name, language in found.items() if language not in {"", ENGLISH}}


def answer_language(response: str, question: str) -> str:
    """Return the language of an answer, or else of its question; of a short answer alone by its spelling."""
    return _spoken(response) or language_of(question) or _spoken(response, guessed_language)


def _only_language(passages: Sequence[Passage]) -> str:
    """Return the one language that all passages that tell are in, empty where it is English or there are several.

    Codes and names tell now one language, now another. Most passages are English, and the first that is settles it.
    """
    only = ""
    for passage in passages:
        head = passage.text[:_HEAD]
        language = guessed_language(head) if len(head.split()) >= _TELLING else language_of(head)
        if language == ENGLISH or (only and language not in {"", only}):
            return ""
        only = only or language
    return only


def _spoken(text: str, tells: Callable[[str], str] = language_of) -> str:
    """Return the language of a text that its names, titles and quotations alone do not make; empty without one."""
    language = tells(text)
    return language if language in {"", ENGLISH} or is_likelier(language, _NAMED.sub(" ", text)) else ""


def unread_reason(judge: str, language: str, subject: str = "the answer is") -> str:
    """Say which judge does not read what."""
    return f"{subject} in {name_of(language)}, which the judge {_limited(judge)!r} cannot read"


def unread_language_warning(response: str, judge: str) -> str:
    """Return the warning for an answer that a part of the judge with this spec does not read; empty without need."""
    limited = _limited(judge)
    if not limited or not _COMPOSED.search(judge):
        return ""
    whole = language_of(response)
    foreign = whole if whole != ENGLISH else ""
    subject = "the answer is"
    if not foreign:
        subject = "part of the answer is"
        spoken = (language_of(piece.group()) for piece in islice(_PIECE.finditer(response), _PARTS))
        foreign = next((language for language in spoken if language not in {"", ENGLISH}), "")
    return f"{unread_reason(judge, foreign, subject)}: verdicts for this language are unreliable" if foreign else ""


def _limited(judge: str) -> str:
    """Return the judge, or the part of it, that reads English alone; empty when there is none."""
    named = (found["judge"] or found["model"] for found in _ENGLISH_ONLY.finditer(judge))
    return next((name for name in named if not _MULTILINGUAL.search(name)), "")


# How a family's models are called, as parts of a model's name. Distilled and merged models belong to several.
_FAMILIES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(rf"(?<![a-z]){pattern}", re.IGNORECASE)
    for name, pattern in {
        "GPT": r"(?:gpt|chatgpt|text-davinci|codex|(?<![0-9])o[1-9](?:-(?:mini|pro|preview|deep)|(?![a-z0-9.])))",
        "Claude": r"claude",
        "Gemini": r"(?:gemini|gemma|palm-?2)",
        "Llama": r"(?:code-?)?llama",
        "Mistral": r"(?:open-)?(?:mistral|mixtral|ministral|magistral|codestral|devstral|pixtral)",
        "Qwen": r"(?:qwen|qwq)",
        "DeepSeek": r"deepseek",
        "Phi": r"phi[-_]?\d",
        "Command": r"(?:command-(?:a|r|light|nightly|\d)|c4ai|aya-)",
        "Granite": r"granite",
        "Grok": r"grok",
    }.items()
}


def families(model: str) -> frozenset[str]:
    """Return the families that a model's name, or a judge's spec, speaks of; empty when none is known."""
    return frozenset(name for name, pattern in _FAMILIES.items() if pattern.search(model))


def same_family_warning(generator: str | None, judge: str) -> str:
    """Return the warning for an answer of `generator` judged by the spec `judge`; empty when there is no need."""
    if not generator:
        return ""
    shared = sorted(families(generator) & families(judge.partition("?")[0]))
    if not shared:
        return ""
    return (
        f"the answer's model {generator!r} belongs to the same family as the judge ({', '.join(shared)}): "
        "such judges overestimate faithfulness (arXiv 2502.01534)"
    )
