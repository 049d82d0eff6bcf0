"""Small words that change what a sentence commits to: negation, hedges, boosters, quantifiers, comparisons, conditions.

"Aspirin may reduce pain" and "Aspirin reduces pain" share every content word; the difference is a cue. `antonyms`
gives words that mean the opposite of each other (`antonyms.txt`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from everyclaim.text.dates import lowered
from everyclaim.text.tokens import stem, word_set


@cache
def _opposites() -> dict[str, frozenset[str]]:
    forms = {words[0]: words for words in map(str.split, _rows("irregular_forms.txt"))}
    gathered: dict[str, set[str]] = {}
    for row in _rows("antonyms.txt"):
        left, right = (_stems(side.split(), forms) for side in row.split("|"))
        for mine, theirs in ((left, right), (right, left)):
            for word in mine:
                gathered.setdefault(word, set()).update(theirs)
    return {word: frozenset(others - {word}) for word, others in gathered.items()}


def _rows(name: str) -> list[str]:
    lines = files("everyclaim.text").joinpath(name).read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _stems(words: list[str], forms: dict[str, list[str]]) -> set[str]:
    return {stem(form) for word in words for form in forms.get(word, [word])}


def antonyms(norm: str) -> frozenset[str]:
    """Give the stems of the words that mean the opposite of a token's `norm`, in any of its forms.

    Compare them with ``stem(other.norm)``. Empty for a word the table does not hold.
    """
    table = _opposites()
    return table.get(stem(norm)) or table.get(norm) or frozenset()


@cache
def _roots() -> dict[str, str]:
    return {form: stem(words[0]) for words in map(str.split, _rows("irregular_forms.txt")) for form in words}


def root(norm: str) -> str:
    """Give what all forms of a word have in common: its stem, of "gave" and "given" that of "give"."""
    return _roots().get(norm) or stem(norm)


def pairs() -> Iterator[tuple[str, str]]:
    """Give every pair of opposite stems, each once, in order."""
    for word, others in sorted(_opposites().items()):
        yield from ((word, other) for other in sorted(others) if word < other)


CueKind = Literal["negation", "hedge", "booster", "quantifier", "comparative", "conditional"]


class Cue(NamedTuple):
    """A cue as it stands; ``source[start:end] == text``."""

    kind: CueKind
    text: str
    start: int
    end: int


# One row per kind; commas part the words and phrases.
_NEGATION = """
not, no, never, none, nobody, nothing, nowhere, neither, nor, without, cannot, n't, hardly, barely, scarcely, rarely,
seldom, unable, no longer, lack of, lacks, lacked, lacking, lack, fail to, fails to, failed to, failing to, failure to,
refuse to, refuses to, refused to, absence of, free of, free from, devoid of, instead of, rather than, no one,
nonexistent, unknown, unsafe, unavailable, unnecessary, unrelated, unaffected, unchanged, unclear, unproven, untrue,
impossible, incorrect, ineffective, ineligible, inactive, invalid, inability, incapable, insufficient, illegal,
unlawful, unsuccessful, unsupported, unaware, unlike, non, aint, neither of, not at all, dont, doesnt, didnt, isnt,
arent, wasnt, werent, wont, wouldnt, couldnt, shouldnt, hasnt, havent, hadnt, cant, mustnt, neednt
"""
_HEDGE = """
may, might, could, can sometimes, possibly, perhaps, maybe, likely, unlikely, probably, potentially, potential,
presumably, supposedly, apparently, arguably, seemingly, allegedly, reportedly, purportedly, suggest, suggests,
suggested, suggesting, appear to, appears to, appeared to, appears, seem, seems, seemed, believed to, thought to,
tend to, tends to, tended to, typically, usually, generally, often, sometimes, occasionally, in some cases, mostly,
approximately, roughly, nearly, almost, estimated, expected to, is expected, are expected, would, not necessarily,
possible, possibility, probable, suspected, unclear whether, it is unclear, in part, partly, somewhat, relatively,
to some extent, more or less, hypothesized, hypothesised, speculated, preliminary, tentative, assumed,
it is believed, it is thought, is believed, are believed, is thought, are thought, not clear, not certain, uncertain,
aims to, intends to, plans to, hopes to, planned, proposed
"""
_BOOSTER = """
must, always, definitely, certainly, clearly, obviously, undoubtedly, absolutely, completely, entirely, fully,
totally, proven, proves, proved, prove, guaranteed, guarantee, guarantees, in fact, no doubt, without doubt,
without a doubt, definitively, conclusively, invariably, inevitably, without exception, exactly, precisely,
indisputably, unquestionably, unequivocally, every time, for certain, for sure, highly, extremely, strongly, surely,
by far, necessarily, confirmed, demonstrates conclusively, undeniable, undeniably, permanently, universally
"""
_QUANTIFIER = """
all, every, each, most, many, some, few, several, only, any, both, half, majority, minority, a few, a lot of,
a number of, everyone, everybody, everything, much, entire, whole, solely, exclusively, merely, the majority of,
the only, nearly all, almost all, not all, not every, none of, all of, most of, some of, at least one, a couple of,
dozens of, hundreds of, thousands of, millions of, numerous, various, countless, sole, either
"""
_COMPARATIVE = """
more than, less than, fewer than, greater than, more, less, fewer, least, better, best, worse, worst, as much as,
as many as, compared to, compared with, in contrast to, twice as, than, superior to, inferior to, similar to,
equal to, the same as, outperform, outperforms, outperformed, exceed, exceeds, exceeded, rather, fewest, further,
farther, elder, eldest, surpasses, surpassed, no more than, no less than, no fewer than
"""
_CONDITIONAL = """
if, unless, provided that, providing that, provided, assuming, in case, in case of, as long as, so long as, only if,
even if, depending on, depends on, whether or not, whether, in the event of, in the event that, on condition that,
except when, except if, only when, otherwise, were it not, contingent on, subject to
"""
_GRADED = """
bigger biggest brighter brightest broader broadest busier busiest cheaper cheapest cleaner cleanest closer closest
colder coldest cooler coolest darker darkest deeper deepest dirtier dirtiest drier driest earlier earliest easier
easiest faster fastest fresher freshest greater greatest happier happiest harder hardest healthier healthiest heavier
heaviest higher highest hotter hottest larger largest later latest lengthier lengthiest lighter lightest longer
longest louder loudest lower lowest narrower narrowest nearer nearest newer newest older oldest poorer poorest quicker
quickest quieter quietest rarer rarest richer richest safer safest sharper sharpest shorter shortest simpler simplest
slower slowest smaller smallest smoother smoothest softer softest steeper steepest stronger strongest taller tallest
thicker thickest thinner thinnest warmer warmest weaker weakest wealthier wealthiest wetter wettest wider widest
younger youngest
"""
# Not negations though they begin with one: what follows is affirmed, or only bounded. And "all" that is of nothing.
_AFFIRMED = """
not only, not just, not merely, not simply, nothing but, no more than, no less than, no fewer than, above all, in all,
first of all, after all, at all, all over, all along, all the same, all right
"""
_NUMERIC = re.compile(
    r" (?:\d|[$€£]|a (?:hundred|thousand|million|dozen|third|quarter|half)|half|one|two|three|four|five|six|seven|eight"
    r"|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|an hour)\b"
)
_NUMERIC_HEDGES = word_set("about around circa some")
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?")
_SENTENCE_BEFORE = re.compile(r"(?:^|[.!?:;\n\"“(])\s*$")


def _listed(listing: str) -> list[str]:
    return [" ".join(entry.split()) for entry in listing.split(",")]


def _lexicon() -> tuple[dict[str, CueKind], dict[str, tuple[tuple[str, CueKind | None], ...]]]:
    """Give the kind of every single word, and the phrases by their first word, longest first."""
    kinds: list[tuple[CueKind, list[str]]] = [
        ("comparative", [*_listed(_COMPARATIVE), *_GRADED.split()]),
        ("conditional", _listed(_CONDITIONAL)),
        ("quantifier", _listed(_QUANTIFIER)),
        ("booster", _listed(_BOOSTER)),
        ("hedge", _listed(_HEDGE)),
        ("negation", _listed(_NEGATION)),
    ]
    words: dict[str, CueKind] = {}
    phrases: dict[str, dict[str, CueKind | None]] = {}
    for kind, entries in kinds:
        for entry in entries:
            first, _, rest = entry.partition(" ")
            if rest:
                phrases.setdefault(first, {})[entry] = kind
            else:
                words[entry] = kind
    for entry in _listed(_AFFIRMED):
        first = entry.partition(" ")[0]
        phrases.setdefault(first, {}).setdefault(entry, None)
    ordered = {
        first: tuple(sorted(entries.items(), key=lambda item: (-len(item[0]), item[0])))
        for first, entries in phrases.items()
    }
    return words, ordered


_WORDS, _PHRASES = _lexicon()
_KNOWN = frozenset(_WORDS) | frozenset(_PHRASES) | _NUMERIC_HEDGES


def cues(text: str) -> list[Cue]:
    """Find the cues of `text`, in order, without overlap; a phrase counts once, as its longest reading.

    "not only", "no more than" and their like are no negation; "May" the month and "No. 5" are no cues; "about" is a
    hedge only before a number.
    """
    low = lowered(text)
    found: list[Cue] = []
    done = 0
    known = _KNOWN
    contracted = "n't" in low or "n’t" in low
    for match in _WORD.finditer(low):
        word = match.group()
        if word not in known and not (contracted and word[-1] == "t"):
            continue
        start, end = match.span()
        read = _cue(word, low, start, end) if start >= done else None
        if read is None:
            continue
        kind, start, end = read
        done = end
        if kind is not None and _stands(word, text, low, start, end):
            found.append(Cue(kind, text[start:end], start, end))
    return found


def _cue(word: str, low: str, start: int, end: int) -> tuple[CueKind | None, int, int] | None:
    """Read the cue that begins with `word`; None when there is none."""
    for phrase, kind in _PHRASES.get(word, ()):
        if low.startswith(phrase, start):
            stop = start + len(phrase)
            if stop == len(low) or not (low[stop].isalnum() or low[stop] == "_"):
                return kind, start, stop
    kind = _WORDS.get(word)
    if kind is not None:
        return kind, start, end
    if word.endswith(("n't", "n’t")):
        return "negation", end - 3, end
    if word in _NUMERIC_HEDGES and _NUMERIC.match(low, end):
        return "hedge", start, end
    return None


def _stands(word: str, text: str, low: str, start: int, end: int) -> bool:
    """Refuse a word that is something else here."""
    if start and (low[start - 1].isalnum() or low[start - 1] in "_@#/") and not word.endswith("t"):
        return False
    if word == "may":
        return text[start] != "M" or _SENTENCE_BEFORE.search(text, max(0, start - 8), start) is not None
    if word == "all":
        return low[end : end + 1] != "-"  # an all-time record
    if word == "no":
        return low[end : end + 1] != "." or not low[end : end + 3].strip(". ").isdigit()
    return True
