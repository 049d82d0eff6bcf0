"""The decomposer that ships with the library: sentences, then facts; offline and deterministic.

The response is segmented (`text.segment`), what is not a claim is set aside with its reason (`selection`), and the rest
is split by the structure of its tree into facts that can each be read and checked alone.

A fact keeps words of its sentence and leaves others out: of "built A and sold B" one of the two, of an event with a
place and a date one of these; an apposition, a relative clause, what stands behind "with" become facts of the noun
they belong to. What a fact leaves out never changes what the rest says: attributions, conditions, comparisons, causes,
negation, hedges and alternatives stay with what they govern. The only words ever added are forms of "be", "have" and
"include"; an article may change, and a connective that begins a sentence ("However, …") is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple

from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Matching
from everyclaim.core.limits import limits_here
from everyclaim.core.options import read
from everyclaim.core.spec import Spec
from everyclaim.core.types import Claim, Decomposition, Skipped, Span
from everyclaim.decompose.antecedents import Spoken, completed, described, nouns_of, renamed, unconnected
from everyclaim.decompose.asides import detached, named, unbracketed, without_asides
from everyclaim.decompose.assertions import completed_answer
from everyclaim.decompose.clauses import by_clause
from everyclaim.decompose.coordination import by_conjunct
from everyclaim.decompose.draft import Draft
from everyclaim.decompose.monotone import by_adjunct
from everyclaim.decompose.openings import tidy
from everyclaim.decompose.repairs import parsed
from everyclaim.decompose.selection import COLONS, courtesy_reason
from everyclaim.decompose.units import SplitUnit, units
from everyclaim.models.local.parser import parse
from everyclaim.models.local.tree import FINITE, NOMINAL, SUBJECTS, Tree
from everyclaim.text.language import ENGLISH, language_of
from everyclaim.text.segment import sentences
from everyclaim.text.tokens import capital

MAX_CHARACTERS = 1200  # a "sentence" longer than this is a list or a dump, not a sentence to take apart
_MOST = 24  # facts of a sentence
_LEAST = 4  # words; of fewer nothing comes off
_CITED = re.compile(r"(?:\s*\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\])+(?=\s*[.!;,…]*\s*$)")
_SEMICOLON = re.compile(r";\s+(?=\S)")
_LABEL = re.compile(r"\s*[^\s:.,;!?][^:.;!?]{0,60}:\s+(?=\S)")
Step = Callable[[Draft, Tree], list[Draft]]
Degree = Literal["high", "low"]
_PARAGRAPH = re.compile(r"\n\s*\n")
MINOR = "minor"
LONG = 1_000_000  # a response longer than this is no answer but a document: its sentences are its claims


class Fact(NamedTuple):
    """A readable statement and where its own words stand in the sentence; `minor` ones only add to the others."""

    text: str
    start: int
    end: int
    minor: bool = False

    def moved(self, by: int, length: int) -> Fact:
        """The fact in a text of some length that begins elsewhere; one of what stands outside it is of all of it."""
        start, end = max(self.start + by, 0), self.end + by
        return self._replace(start=start, end=end) if start < end else self._replace(start=0, end=length)


def facts(sentence: str, *, apart: bool = True, keep_asides: bool = True) -> list[Fact]:
    """Split an English sentence into facts, in order; one fact, the sentence, where it says one thing.

    Not `apart`: it stays in one piece. Without `keep_asides` what only adds to it is taken out, and what it says stands
    beside the rest, marked `minor`.
    """
    if not apart and keep_asides:
        return [Fact(sentence, 0, len(sentence))]
    steps = (detached, by_clause, by_conjunct, by_adjunct) if apart else (without_asides,)
    return _found(sentence, steps if keep_asides else (unbracketed, *steps))


def prepare(sentences: Sequence[str]) -> None:
    """Parse sentences together, which takes several processor cores; `facts` finds them parsed."""
    parse([sentence[_label_end(sentence) :] for sentence in sentences if len(sentence) <= MAX_CHARACTERS])


def statements(sentence: str) -> list[tuple[int, int]]:
    """Where the clauses between semicolons stand, where each is a sentence by itself; one, the sentence, else."""
    ends = [sign.end() for sign in _SEMICOLON.finditer(sentence)]
    found = list(pairwise([0, *ends, len(sentence)]))
    texts = [sentence[a:b] for a, b in found]
    if len(found) < 2 or len(sentence) > MAX_CHARACTERS or not all(map(_is_closed, texts)):
        return [(0, len(sentence))]
    prepare(texts)
    whole = all(map(_is_statement, texts)) or (_label_end(texts[0]) and all(map(_is_statement, texts[1:])))
    return found if whole else [(0, len(sentence))]


def _is_closed(text: str) -> bool:
    """Whether a text closes its brackets and quotes."""
    return all(text.count(a) == text.count(b) for a, b in ("()", "[]", "“”")) and text.count('"') % 2 == 0


def _is_statement(text: str) -> bool:
    """Whether a text has a subject and a finite verb, and opens with no conjunction."""
    tree = parsed(text[_label_end(text) :])
    if not tree.tokens or tree.subject(tree.root) is None or not tree.is_finite(tree.root):
        return False
    return tree.pos(0) not in {"SCONJ", "CCONJ"} and not tree.of(tree.root, "mark")


def _label_end(sentence: str) -> int:
    """Where what a label introduces begins: "Cost: the city pays the rest"."""
    label = _LABEL.match(sentence)
    if label is None:
        return 0
    tree = parsed(label.group())
    if tree.tag(0).startswith("W"):
        return label.end()  # "Where it is made: …"
    if tree.tag(tree.root) == "VBZ" and tree.subject(tree.root) is None:
        return label.end()  # "Lowers stress: …"
    return 0 if any(token.tag in {*FINITE, "VB"} for token in tree.tokens) else label.end()


def _found(sentence: str, steps: Sequence[Step]) -> list[Fact]:
    """The facts that these steps make of a sentence."""
    whole = [Fact(sentence, 0, len(sentence))]
    start = _label_end(sentence) if len(sentence) <= MAX_CHARACTERS else len(sentence)
    body = sentence[start:]
    tree = parsed(body)
    tokens = tree.tokens
    if len(tokens) < _LEAST or not any(token.pos in {"VERB", "AUX"} for token in tokens):
        return whole
    if tokens[0].tag in {"WDT", "WP", "WP$"} or (tokens[0].tag == "WRB" and not _is_inside_another(tree, 0)):
        return whole
    if any(tree.pos(mark) == "SCONJ" for mark in tree.of(tree.root, "mark")):
        return whole  # a clause that depends on another, which the tree does not know
    subjects = [[i for i in tree.of(place, "nsubj") if tree.pos(i) in {"NOUN", "NUM"}] for place in range(len(tokens))]
    if any(len(several) > 1 and tree.relation(several[0]) != "nsubj:outer" for several in subjects):
        return whole  # a verb is lost
    if tree.root and tree.tag(tree.root) in {"VBD", "VBZ"} and tree.subject(tree.root) is None and not start:
        return whole  # a subject is
    if start and not tree.is_finite(tree.root):
        return whole  # a list behind a label
    if tokens[tree.root].pos == "NOUN" and not tree.of(tree.root, "cop", *SUBJECTS):
        clauses = [i for i in range(len(tokens)) if tree.kind(i) == "advcl" and tree.subject(i) is not None]
        if clauses or any(map(tree.is_finite, tree.conjuncts(tree.root))):
            return whole  # "Guests like tea, while …", read as guests of a like kind
    cited = _CITED.search(body)
    kept = tuple(i for i, token in enumerate(tokens) if not cited or token.end <= cited.start())
    drafts = _expanded(Draft(kept, tree.root), tree, steps)
    if not 1 < len(drafts) <= _MOST or not _says_all(drafts, tree, kept):
        return whole
    found, used, names = list[Fact](), set[int](), named(tree)
    for draft in sorted(drafts, key=lambda one: min(one.places)):
        said = {i for i in draft.places if tokens[i].pos != "PUNCT"}
        own = said - used or said
        used |= said
        text = draft.called(names).text(tree)
        if said and all(text != other.text for other in found):
            first, last = tokens[min(own)].start, tokens[max(own)].end
            found.append(Fact(text, start + first, start + last, draft.minor))
    found.sort(key=lambda fact: (fact.start, fact.end))
    if start:  # a label stands before the first fact, and before each where none has a subject
        labelled = found if tree.subject(tree.root) is None else found[:1]
        labelled = [fact._replace(text=f"{sentence[:start]}{_as_inside(fact.text, body)}") for fact in labelled]
        found = [labelled[0]._replace(start=0), *labelled[1:], *found[len(labelled) :]]
    return found if len(found) > 1 else whole


def _is_inside_another(tree: Tree, place: int) -> bool:
    """Whether a word stands in a clause that depends on another: "When it rains, …", not "How fast it grows …"."""
    while tree.head(place) >= 0 and tree.kind(place) != "advcl":
        place = tree.head(place)
    return place != tree.root


def _expanded(whole: Draft, tree: Tree, steps: Sequence[Step]) -> list[Draft]:
    """Take a fact apart until nothing more comes off, or there are enough; at any time each part is a fact."""
    done: list[Draft] = []
    waiting = [whole]
    while waiting:
        draft = waiting.pop(0)
        parts = next((parts for step in steps if (parts := _sound(step(draft, tree), tree))), [])
        if parts and len(done) + len(waiting) + len(parts) <= _MOST:
            waiting = [*parts, *waiting]
        else:
            done.append(draft)
    return done


def _sound(parts: Sequence[Draft], tree: Tree) -> Sequence[Draft]:
    """What a step took apart; nothing where it took nothing off, or tore a word or a quotation."""
    if len(parts) < 2 or any(not part.places or part.breaks(tree) for part in parts):
        return []
    tells = tree.subject(tree.root) is not None and tree.is_finite(tree.root)
    clauses = [part.is_clause(tree) for part in parts]
    tells |= any(clauses) and tree.pos(tree.root) in NOMINAL
    return parts if all(clauses) or not tells else []


def _says_all(drafts: Sequence[Draft], tree: Tree, kept: Sequence[int]) -> bool:
    """Whether every word that tells something is in some fact."""
    said = frozenset[int]().union(*(draft.places for draft in drafts))
    silent = {"PUNCT", "CCONJ", "SCONJ", "DET", "PRON", "AUX", "ADV", "ADP", "PART"}
    return all(i in said or tree.pos(i) in silent or tree.relation(i) in {"case", "fixed", "cc"} for i in kept)


@dataclass(frozen=True, slots=True)
class EmbeddedDecomposer:
    """Split a response into sentences or, by default, into facts; see `DESIGN` rule 9 for what stays together.

    With `atomicity` low, sentences stay whole. `language` is an ISO 639-1 code; without one, every part of a
    response is read in the language it is in. Facts are split in English only. With `coverage` low, what only adds to a
    noun is left out, in English too: brackets, appositions, clauses between commas with *who* and *which*.
    """

    atomicity: Degree = "high"
    language: Annotated[str, Matching("([a-z]{2,3})?"), "an ISO 639-1 code such as 'en'"] = ""
    coverage: Degree = "high"

    @property
    def spec(self) -> str:
        """`embedded`, with the options that are not the default."""
        options = {}
        if self.atomicity != "high":
            options["atomicity"] = str(self.atomicity)
        if self.language:
            options["language"] = self.language
        if self.coverage != "high":
            options["coverage"] = str(self.coverage)
        return str(Spec("embedded", "", options))

    def adjusted(self, *, atomicity: Degree | None = None, coverage: Degree | None = None) -> EmbeddedDecomposer:
        """Return this decomposer with other settings; high atomicity are clauses, low atomicity sentences."""
        return replace(self, atomicity=atomicity or self.atomicity, coverage=coverage or self.coverage)

    async def decompose(self, response: str, *, question: str = "") -> Decomposition:
        """Split a response into claims `c1`, `c2`, ... in order of their spans; any text is accepted.

        A lone yes or no is read with the question.
        """
        candidates: list[SplitUnit] = []
        skipped: list[Skipped] = []
        pieces = sentences(response, self.language)
        limits_here().check_claims(len(pieces))
        for found in units(response, pieces, question):
            if isinstance(found, Skipped):
                skipped.append(found)
            else:
                candidates += self._statements(found)
        claims: list[Claim] = []
        usual = self.language or language_of(response)
        splits = len(response) <= LONG
        english = {unit for unit in candidates if splits and self._is_english(unit, usual)}
        prepare([unit.text for unit in english])
        questions = [question[one.start : one.end] for one in sentences(question, self.language)] if english else []
        asked = {noun for one in questions if len(one) <= MAX_CHARACTERS for noun in nouns_of(one)}
        before, names, nouns, ended = "", dict[str, str](), set[str](), 0
        for unit in candidates:
            if response[ended : unit.start].strip():  # the mark of a list item, or something skipped
                before, nouns = "", set()
            begins = _PARAGRAPH.search(response, ended, unit.start)
            nouns = set() if begins else nouns
            ended = unit.end
            spoken = Spoken(nouns, asked, () if claims else questions)
            parts = self._parts(unit) if unit in english else []
            for part in parts or [Fact(unit.complete or unit.text, 0, unit.end - unit.start)]:
                span = Span(unit.start + part.start, unit.start + part.end)
                said = completed_answer(part.text, question) if unit in english else part.text
                if not said:
                    skipped.append(Skipped(response[span.start : span.end], span, "bare_answer"))
                elif len(parts) > 1 and (reason := courtesy_reason(part.text)):
                    skipped.append(Skipped(response[span.start : span.end], span, reason))
                elif part.minor and self.coverage == "low":
                    skipped.append(Skipped(response[span.start : span.end], span, MINOR))
                else:
                    text = _completed(said, unit.text, before, names, spoken) if parts else tidy(said)
                    claims.append(Claim(f"c{len(claims) + 1}", text, span, unit.sentence))
            whole = unit.text if ":" in unit.complete else unit.complete or unit.text
            told = _completed(whole, whole, before, names, spoken) if parts else tidy(whole)
            nouns |= nouns_of(before) if parts and not begins else set()
            before = told
            for noun, name in described(before).items() if parts else ():
                names[noun] = name if names.get(noun, name) == name else ""  # of two nothing is certain
        skipped.sort(key=lambda piece: piece.span)
        abstained = not claims and any(piece.reason == "abstention" for piece in skipped)
        return Decomposition(tuple(claims), tuple(skipped), abstained)

    def _parts(self, unit: SplitUnit) -> list[Fact]:
        """The facts of one unit, read as English, each behind what introduces the unit; none where it stays whole."""
        item = tidy(unit.text)
        if unit.complete and not unit.complete.endswith(f" {item}"):
            return []
        lead = unit.complete.removesuffix(item)
        joined = "" if lead.rstrip().endswith(COLONS) else lead  # "The kit includes"
        found = facts(f"{joined}{unit.text}", apart=self.atomicity == "high", keep_asides=self.coverage == "high")
        if joined:
            return [one.moved(-len(joined), len(unit.text)) for one in found]
        return [part._replace(text=f"{lead}{_as_inside(part.text, item) if lead else part.text}") for part in found]

    def _statements(self, unit: SplitUnit) -> list[SplitUnit]:
        """A sentence parted at its semicolons."""
        english = not unit.complete and self.atomicity == "high" and self._is_english(unit, "")
        return [_statement(unit, a, b) for a, b in statements(unit.text)] if english else [unit]

    def _is_english(self, unit: SplitUnit, usual: str) -> bool:
        """Whether a unit may be split by what is known of English; what does not tell is like the rest."""
        spoken = self.language or language_of(unit.text) or usual
        return spoken in {"", ENGLISH} and len(unit.text) <= MAX_CHARACTERS


def _statement(unit: SplitUnit, first: int, last: int) -> SplitUnit:
    """What stands between two semicolons of a sentence, written as a sentence."""
    if last - first == len(unit.text):
        return unit
    said = capital(unit.text[first:last].rstrip(" ;"))
    end = unit.start + len(unit.text[:last].rstrip())
    return unit._replace(text=said if last == len(unit.text) else f"{said}.", start=unit.start + first, end=end)


def _completed(text: str, sentence: str, before: str, names: Mapping[str, str], spoken: Spoken) -> str:
    """Put what it stands for in the place of a pronoun that begins a fact and its sentence."""
    fact, whole = (unconnected(tidy(one)) for one in (text, sentence))
    begins_alike = fact.partition(" ")[0] == whole.partition(" ")[0]
    return renamed(completed(fact, before, spoken) if begins_alike else fact, names)


def _as_inside(text: str, sentence: str) -> str:
    """A fact as it stands behind a lead-in: its first letter is large only where it is in the sentence."""
    first, low = text.partition(" ")[0], f"{text[:1].lower()}{text[1:]}"
    return low if first not in sentence and low.partition(" ")[0].rstrip(".,") in sentence else text


def from_spec(spec: Spec) -> EmbeddedDecomposer:
    """Build the decomposer of ``embedded[?atomicity=low][&coverage=low][&language=de]``."""
    if spec.argument:
        raise ConfigError(f"'embedded' takes no argument, got {spec.argument!r}; write 'embedded'")
    return read(spec, EmbeddedDecomposer)
