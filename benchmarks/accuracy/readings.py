"""Rows of text with what each reader must make of them: names, speakers, cues, sentences, languages, cuts of a guard.

    python benchmarks/accuracy/readings.py [names …] [--show]

Prints for each reader the rows that are read as expected, and with `--show` the others. A reader is as good as its
share; no row has a veto, except where a row that differs would hide an assertion or make a claim say another thing.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import everyclaim as ec
from everyclaim.core.types import Claim, Decomposition, Skipped, Source, Span
from everyclaim.decompose.embedded import EmbeddedDecomposer
from everyclaim.guard.repair import cut
from everyclaim.models.local.parser import parse
from everyclaim.text.cues import antonyms, cues
from everyclaim.text.language import language_of
from everyclaim.text.locate import locate
from everyclaim.text.names import covered, leans, names, points
from everyclaim.text.segment import sentences
from everyclaim.text.sources import passages_of, without_pointers
from everyclaim.text.tokens import stem, tokenize
from everyclaim.verify.languages import families, same_family_warning, unread_language_warning
from everyclaim.verify.lexical.speech import reports

_ROWS = Path(__file__).with_suffix(".jsonl")
ALWAYS = frozenset(  # no row may differ: rules 2, 4, 9, 14 and 16
    ["whole", "checkable", "hidden", "hidden in a citation", "abstentions", "not said", "warned of"]
)


def _opposites(word: str, other: str) -> bool:
    return stem(other) in antonyms(word) or stem(word) in antonyms(other)


def _sentences(text: str, language: str) -> list[str]:
    return [text[found.start : found.end] for found in sentences(text, language)]


def _languages(text: str) -> list[str]:
    """Of a text, in capitals, and with markup around it."""
    return list(
        dict.fromkeys(map(language_of, (text, text.upper(), f"- **{text}** [1] https://example.org/the/of/and")))
    )


def _quote(quote: str, text: str) -> list[str] | None:
    found = locate(quote, text)
    return found and [text[found.start : found.end], found.method]


def _cuts(answer: str, failed: Sequence[str]) -> tuple[str, bool] | None:
    """What a guard leaves when the claims with these words are taken out, and whether it reads well."""
    claims = ec.extract_claims(answer).claims
    left = cut(answer, claims, {claim.id for claim in claims if any(words in claim.text for words in failed)})
    return left and (left.text, left.clean)


def _citations(response: str, titled: bool) -> str:
    """An answer whose citations a guard has pointed to the right passages."""
    texts = ("The museum opened in 1956.", "The museum has 400 paintings.", "Entry costs 12 euros.")
    passages = [{"text": text, "title": f"T{place}"} if titled else text for place, text in enumerate(texts, 1)]
    return ec.Guard(None, metric="attribution").answer("What of the museum?", passages, response=response).text


def _missing_relations(text: str, wanted: Sequence[list[str]]) -> list[list[str]]:
    """Each word's relation and head, by their texts: which of the wanted ones are not there."""
    (tokens,) = parse([text])
    found = [[token.text, token.relation, tokens[token.head].text if token.head >= 0 else ""] for token in tokens]
    return [relation for relation in wanted if relation not in found]


def _earlier_turns(asked: str, answer: str) -> str:
    """The last claim of an answer, completed from the turns before."""
    said = ("user", "Tell me about the Classica."), ("assistant", "Gladly."), ("user", asked), ("assistant", answer)
    messages = [{"role": role, "content": content} for role, content in said]
    return ec.score({"messages": messages, "contexts": ["x"]}).claims[-1].text


def _claims(text: str, question: str = "") -> list[str]:
    return [claim.text for claim in ec.extract_claims(text, question=question).claims]


def _skipped(text: str) -> tuple[list[str], list[str]]:
    """The reasons of what is skipped, and the claims; with no claim and a refusal it would be an abstention."""
    found = ec.extract_claims(text)
    return [piece.reason for piece in found.skipped], [] if found.abstained else [one.text for one in found.claims]


def _abstains(text: str) -> bool:
    found = ec.extract_claims(text)
    return found.abstained and not found.claims and "abstention" in [piece.reason for piece in found.skipped]


def _asserts(text: str) -> bool:
    found = ec.extract_claims(text)
    return bool(found.claims) and not found.abstained


def _asides(text: str) -> tuple[list[str], list[str]]:
    """What is left of a sentence at low coverage, and what is listed as minor."""
    found = ec.extract_claims(text, decomposer=EmbeddedDecomposer(coverage="low"))
    return [claim.text for claim in found.claims], [piece.text for piece in found.skipped if piece.reason == "minor"]


def _stands(response: str, claim: str) -> bool:
    """Whether the check of splits believes that a claim is of the last sentence of a response."""
    start = response.rfind(". ") + 2 if ". " in response else 0
    claims = (Claim("c1", claim, Span(start, len(response)), response[start:]),)
    found = ec.extract_claims(response, decomposer=lambda response: Decomposition(claims if response else ()))
    return [one.text for one in found.claims] == [claim]


_MANUALS = [
    ec.Passage("doc-1", "The mixer has a warranty of 24 months.", "Mixer manual"),
    ec.Passage("doc-2", "The whisk is safe in the dishwasher.", "Care guide"),
]


def _cited(response: str) -> ec.Result:
    return ec.score(response=response, passages=_MANUALS, judge="lexical")


def _found(source: dict[str, Any]) -> list[str]:
    return passages_of(Source(**source), _MANUALS)


def _with_citations(response: str) -> tuple[list[str], list[str]]:
    """The claims, and the citations of the first."""
    claims = _cited(response).claims
    return [claim.text for claim in claims], [response[slice(*one.span)] for one in claims[0].citations]


def _judged_all_the_same(response: str, hidden: str) -> bool:
    """Whether what stands in the place of a citation is a claim, and not a supported one."""
    result = _cited(response)
    return any(hidden in claim.text for claim in result.claims) and (result.score or 0) < 1


def _warned(rest: str, reason: str, question: str = "") -> bool:
    """Whether a sentence is a warning when a decomposer skips it for a reason."""
    said = "The kettle is red."
    claims = (Claim("c1", said, Span(0, len(said)), said),)
    left = (
        Skipped(rest.strip(), Span(len(said) + len(rest) - len(rest.lstrip()) + 1, len(said) + len(rest) + 1), reason),
    )
    result = ec.score(
        response=f"{said} {rest}",
        passages=["The kettle is red. It was made in Graz in 2019."],
        question=question,
        decomposer=lambda response: Decomposition(claims, left if response else ()),
    )
    return any("skipped" in warning for warning in result.warnings)


def _yes_or_no(response: str, question: str) -> bool:
    """Whether a yes or no is left unchecked, with a warning."""
    result = ec.score(response=response, passages=["The kettle is red."], question=question)
    return bool(result.unchecked) and any("yes or no" in text for text in result.warnings)


def _is_dead(link: str, passages: list[str]) -> bool:
    """Whether an address that no passage holds is told, in an answer that is right but for it."""
    result = ec.score(response=f"The kettle is red {link}.", passages=["The kettle is red.", *passages])
    return result.score == 1 and "a citation refers to no passage" in result.warnings


READERS: dict[str, Callable[..., Any]] = {
    "names": lambda text: [name.text for name in names(text)],
    "same name": lambda name, other: covered(name, [other]) and covered(name, tokenize(f"it was {other} who did it")),
    "speakers": lambda text: [[one.speaker, text[slice(*one.content_span)].strip("“”,")] for one in reports(text)],
    "cues": lambda text: [[cue.kind, cue.text] for cue in cues(text)],
    "opposites": _opposites,
    "pointers": without_pointers,
    "points back": lambda text: leans(text) and points(text),
    "sentences": _sentences,
    "language": _languages,
    "no other language": lambda text: language_of(text) in {"", "en"},
    "words": lambda text: " ".join(token.norm for token in tokenize(text)),
    "quotes": _quote,
    "not said": _quote,
    "cuts": _cuts,
    "citations": _citations,
    "claims": _claims,
    "splits": _claims,
    "whole": _claims,
    "last claim": lambda text: _claims(text)[-1],
    "skipped": _skipped,
    "checkable": lambda text: _asserts(text) and not ec.extract_claims(text).skipped,
    "hidden": _asserts,
    "abstentions": _abstains,
    "asides": _asides,
    "cited": _with_citations,
    "hidden in a citation": _judged_all_the_same,
    "warned of": _warned,
    "bare yes or no": _yes_or_no,
    "model family": lambda model: sorted(families(model)),
    "same family": lambda generator, judge: bool(same_family_warning(generator, judge)),
    "unread by a judge": lambda response, judge: unread_language_warning(response, judge).partition(",")[0],
    "sources": _found,
    "dead addresses": _is_dead,
    "splits that stand": _stands,
    "relations": _missing_relations,
    "words of the treebank": lambda text: [token.text for token in parse([text])[0]],
    "earlier turns": _earlier_turns,
}


def read_rows(reader: str) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield the rows of a reader with what it makes of each."""
    for row in map(json.loads, _ROWS.read_text("utf-8").splitlines()):
        if row["reader"] == reader:
            yield row, json.loads(json.dumps(READERS[reader](*row["of"])))


def main() -> None:
    """Read the rows and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("readers", nargs="*", metavar="READER", help=f"of {', '.join(READERS)} (default: all)")
    parser.add_argument("--show", action="store_true", help="print the rows that differ")
    options = parser.parse_args()
    for reader in options.readers or READERS:
        right = Counter[bool]()
        for row, said in read_rows(reader):
            right[said == row["expect"]] += 1
            if said != row["expect"] and options.show:
                print(json.dumps(row, ensure_ascii=False), f"\n  {said!r}")
        print(f"{reader:22} {right[True]:4} of {right.total()}")


if __name__ == "__main__":
    main()
