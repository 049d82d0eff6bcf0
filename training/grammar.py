r"""Claims whose label follows from the grammar of a sentence, in minimal pairs, by the parser that ships.

    python -m training.grammar --data DATA --out ROWS.jsonl [--sentences N]

A sentence of a passage is turned into what it says in other words (SUPPORTED) and into what it does not say, in nearly
the same words: active and passive with the roles exchanged, a part of a coordination with the value of the other part,
a relative clause or an apposition as a sentence, of the right thing and of its neighbour, a negation on the other half,
a dropped condition or hedge. The window holds the sentence and up to two of its neighbours.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from training.answers.read import READ, from_texts
from training.lexical_data import HELD_OUT, probed, share

from everyclaim.models.local.parser import ParsedToken, parse
from everyclaim.text.stops import sentence_spans

SUBJECTS, CLAUSES = (
    ("nsubj", "nsubj:pass"),
    ("conj", "advcl", "ccomp", "parataxis", "acl:relcl", "acl", "punct", "cc", "mark"),
)
BE = {"was", "were", "is", "are"}
LONGEST, SHORTEST = 45, 5  # words of a sentence
STATES = {
    "included",
    "contained",
    "reached",
    "finished",
    "entered",
    "named",
    "called",
    "lasted",
}  # no passive, or either way
HEDGES = {"may", "might", "could"}
AT_ONCE = 500


class Turn(NamedTuple):
    """A claim, its label, what was done, and the number of the pair it belongs to."""

    text: str
    label: str
    kind: str
    pair: str


class Tree(NamedTuple):
    """A parsed sentence."""

    tokens: Sequence[ParsedToken]
    children: Sequence[Sequence[int]]

    def child(self, at: int, *relations: str) -> int | None:
        """Give the first child in one of some relations."""
        return next((i for i in self.children[at] if self.tokens[i].relation in relations), None)

    def under(self, at: int, without: Sequence[int] = ()) -> list[int]:
        """List the words under one, in order, without some branches."""
        found = [at]
        for i in self.children[at]:
            if i not in without:
                found += self.under(i, without)
        return sorted(found)

    def words(self, places: Sequence[int], text: str) -> str:
        """Write words as the sentence has them; a gap becomes a blank."""
        written, last = "", -1
        for i in places:
            token = self.tokens[i]
            gap = text[self.tokens[i - 1].end : token.start] if i == last + 1 and i else " "
            written += (gap if written else "") + token.text
            last = i
        return written.strip(" ,;:")


def tree_of(tokens: Sequence[ParsedToken]) -> Tree:
    """Lay out the children of every word."""
    children: list[list[int]] = [[] for _ in tokens]
    for i, token in enumerate(tokens):
        if token.head >= 0:
            children[token.head].append(i)
    return Tree(tokens, children)


def sentence(text: str) -> str:
    """Write words as a sentence."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""


def lowered(tree: Tree, places: Sequence[int], text: str) -> str:
    """Write a noun phrase as it stands within a sentence: names keep their capital."""
    words = tree.words(places, text)
    return (
        words
        if tree.tokens[places[0]].pos == "PROPN" or words[:2].isupper() or places[0]
        else words[:1].lower() + words[1:]
    )


def voices(tree: Tree, text: str) -> Iterator[Turn]:
    """Turn active into passive and back, with the roles as they are and exchanged."""
    for at, verb in enumerate(tree.tokens):
        if (
            verb.pos != "VERB"
            or not verb.text.endswith("ed")
            or verb.text in STATES
            or tree.child(at, "mark", "expl", "xcomp", "ccomp", "conj")
        ):
            continue
        subject, thing = tree.child(at, *SUBJECTS), tree.child(at, "obj")
        agent = next((i for i in tree.children[at] if tree.tokens[i].relation.startswith("obl")
                      and any(tree.tokens[j].text == "by" for j in tree.children[i])), None)  # fmt: skip
        if subject is None or tree.tokens[subject].pos == "PRON":
            continue
        rest = [i for i in tree.children[at] if tree.tokens[i].relation in ("obl", "advmod") and i > at and i != agent]
        tail = "".join(" " + tree.words(tree.under(i), text) for i in rest[:1])
        negated = any(tree.tokens[i].text.lower() in ("not", "n't", "never") for i in tree.children[at])
        if negated or tree.child(at, "aux") is not None:
            continue
        one = tree.under(subject)
        if thing is not None and tree.tokens[thing].pos != "PRON" and agent is None and verb.tag == "VBD":
            other = tree.under(thing)
            plural = "were" if tree.tokens[thing].tag.endswith("S") else "was"
            first, second = lowered(tree, one, text), tree.words(other, text)
            yield Turn(sentence(f"{second} {plural} {verb.text} by {first}{tail}"), "SUPPORTED", "passive", f"v{at}")
            yield Turn(sentence(f"{second} {verb.text} {first}{tail}"), "CONTRADICTED", "exchanged", f"v{at}")
        elif agent is not None and tree.child(at, "aux:pass") is not None:
            other = [i for i in tree.under(agent) if not (tree.tokens[i].text == "by" and tree.tokens[i].head == agent)]
            if tree.tokens[agent].pos not in ("PROPN", "NOUN") or tree.tokens[agent].tag == "VBG":
                continue
            first, second = lowered(tree, one, text), tree.words(other, text)
            yield Turn(sentence(f"{second} {verb.text} {first}{tail}"), "SUPPORTED", "active", f"v{at}")
            yield Turn(sentence(f"{first} {verb.text} {second}{tail}"), "CONTRADICTED", "exchanged", f"v{at}")


def coordinated(tree: Tree, text: str) -> Iterator[Turn]:
    """Say the second of two coordinated predicates alone; with the end of the first one instead of its own."""
    for at, verb in enumerate(tree.tokens):
        first, subject = verb.head, None
        if verb.relation != "conj" or first < 0 or verb.pos != "VERB" or tree.tokens[first].pos != "VERB":
            continue
        subject = tree.child(first, "nsubj")
        if subject is None or tree.child(at, *SUBJECTS) is not None or verb.tag != tree.tokens[first].tag:
            continue
        if tree.tokens[subject].pos == "PRON" or verb.tag not in ("VBD", "VBZ"):
            continue
        drop = [i for b in (first, at) for i in tree.children[b] if tree.tokens[i].relation in CLAUSES]
        who = lowered(tree, tree.under(subject), text)
        mine = list(tree.under(at, drop))
        theirs = list(tree.under(first, [*drop, *(i for i in tree.children[first] if i < first)]))
        yield Turn(sentence(f"{who} {tree.words(mine, text)}"), "SUPPORTED", "part", f"c{at}")
        if len(mine) > 1 and len(theirs) > 1:
            crossed = f"{who} {verb.text} {tree.words([i for i in theirs if i != first], text)}"
            yield Turn(sentence(crossed), "UNSUPPORTED", "crossed", f"c{at}")
        if any(tree.tokens[i].text.lower() in ("not", "never") for i in tree.children[at]):
            plain = [
                i
                for i in mine
                if tree.tokens[i].text.lower() not in ("not", "never") and tree.tokens[i].relation != "aux"
            ]
            yield Turn(sentence(f"{who} {tree.words(plain, text)}"), "CONTRADICTED", "negation", f"n{at}")


def described(tree: Tree, text: str) -> Iterator[Turn]:
    """Say what a relative clause or an apposition says, of its own noun and of another in the sentence."""
    nouns = [
        i for i, t in enumerate(tree.tokens) if t.relation in (*SUBJECTS, "obj", "obl") and t.pos in ("NOUN", "PROPN")
    ]
    for at, token in enumerate(tree.tokens):
        head = token.head
        if head < 0 or tree.tokens[head].pos not in ("NOUN", "PROPN"):
            continue
        behind = [i for i in tree.children[head] if i > head and tree.tokens[i].relation != "flat"]
        who = [i for i in tree.under(head, behind)
               if not (tree.tokens[i].relation == "case" and tree.tokens[i].head == head)]  # fmt: skip
        other = next(
            (
                i
                for i in nouns
                if i != head
                and i not in tree.under(head)
                and head not in tree.under(i)
                and tree.tokens[i].tag == tree.tokens[head].tag
            ),
            None,
        )
        if token.relation == "acl:relcl":
            subject = tree.child(at, *SUBJECTS)
            if subject is None or tree.tokens[subject].text.lower() not in ("who", "which") or not who:
                continue
            if subject == 0 or tree.tokens[subject - 1].text != ",":
                continue  # it may tell which of several is meant
            said = tree.words([i for i in tree.under(at) if i != subject], text)
            turns = ("relative", f"r{at}", said)
        elif token.relation == "appos" and token.pos == "NOUN" and tree.tokens[head].pos == "PROPN":
            own = [i for i in tree.under(at) if tree.tokens[i].pos != "PUNCT"]
            if (
                len(own) < 2
                or tree.tokens[own[0]].pos not in ("DET", "ADJ", "NOUN")
                or text[tree.tokens[own[0]].start - 1] == "("
            ):
                continue
            turns = ("apposition", f"a{at}", f"is {tree.words(tree.under(at), text)}")
        else:
            continue
        kind, pair, said = turns
        yield Turn(sentence(f"{tree.words(who, text)} {said}"), "SUPPORTED", kind, pair)
        if other is not None:
            them = [
                i for i in tree.under(other) if not (tree.tokens[i].relation == "case" and tree.tokens[i].head == other)
            ]
            if len(them) < 7:
                yield Turn(sentence(f"{tree.words(them, text)} {said}"), "UNSUPPORTED", f"{kind} of another", pair)


def qualified(tree: Tree, text: str) -> Iterator[Turn]:
    """Drop a condition or a hedge; keep it, with the parts in another order."""
    root = next((i for i, t in enumerate(tree.tokens) if t.head < 0), None)
    if root is None or tree.child(root, *SUBJECTS) is None:
        return
    for at in tree.children[root]:
        token = tree.tokens[at]
        mark = tree.child(at, "mark") if token.relation == "advcl" else None
        if (
            mark is not None
            and tree.tokens[mark].text.lower() in ("if", "unless")
            and tree.child(at, *SUBJECTS) is not None
        ):
            main = tree.words(
                [i for i in tree.under(root, [at]) if tree.tokens[i].relation != "punct" or i < root], text
            )
            clause = tree.words(tree.under(at), text)
            moved = (
                f"{main}, {clause[:1].lower()}{clause[1:]}" if at < root else f"{clause}, {main[:1].lower()}{main[1:]}"
            )
            yield Turn(sentence(moved), "SUPPORTED", "condition moved", f"q{at}")
            yield Turn(sentence(main), "UNSUPPORTED", "condition dropped", f"q{at}")
        if token.relation == "aux" and token.text.lower() in HEDGES and tree.tokens[root].tag == "VB":
            spoken = " ".join(t.text for t in tree.tokens)
            bare = [i for i in tree.under(root) if i != at]
            before, after = ([i for i in bare if (i < root) == side] for side in (True, False))
            does = f"{tree.words(before, text)} will {tree.words(after, text)}"
            if len(spoken) < 220:
                yield Turn(sentence(does), "UNSUPPORTED", "hedge dropped", f"h{at}")


def turns(text: str, tokens: Sequence[ParsedToken]) -> list[Turn]:
    """Give all turns of a sentence that differ from it."""
    if not SHORTEST <= len(tokens) <= LONGEST or not text[:1].isupper() or text[-1:] != ".":
        return []
    tree = tree_of(tokens)
    found = [turn for make in (voices, coordinated, described, qualified) for turn in make(tree, text)]
    return [turn for turn in found if 3 <= len(turn.text.split()) <= 40 and turn.text != text]


def passages(data: Path) -> Iterator[tuple[str, str]]:
    """Give the passages of the data and of the answers that networks read once each, without groups kept for tests."""
    seen = set()
    for answer in from_texts({}):
        for text in answer.contexts:
            if answer.id.startswith(READ) and text not in seen:
                seen.add(text)
                yield f"answers:{len(seen)}", text
    files = [*sorted((data / "passages").glob("*.jsonl.xz")), data / "claims" / "train.jsonl.xz"]
    for path in files:
        with lzma.open(path, "rt", encoding="utf-8") as stream:
            for line in stream:
                row = json.loads(line)
                group = str(row.get("group") or row["id"])
                if share(group) < HELD_OUT or probed(group):
                    continue
                for text in row.get("contexts") or row.get("passages") or []:
                    plain = text if isinstance(text, str) else text.get("text", "")
                    if len(plain) > 80 and plain not in seen:
                        seen.add(plain)
                        yield f"{path.name.split('.')[0]}:{len(seen)}", plain


def main() -> None:
    """Parse, turn, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=60_000)
    options = parser.parse_args()
    chosen = sorted(passages(options.data), key=lambda item: share(item[0]))
    work = [(name, text, place) for name, text in chosen for place in range(len(sentence_spans(text)))][
        : options.sentences
    ]
    counts: Counter[str] = Counter()
    with options.out.open("w", encoding="utf-8") as out:
        for start in range(0, len(work), AT_ONCE):
            part = [(name, text, place, sentence_spans(text)) for name, text, place in work[start : start + AT_ONCE]]
            said = [text[slice(*spans[place])] for _, text, place, spans in part]
            trees = parse([" ".join(each.split())[:400] for each in said])
            for (name, text, place, spans), each, tokens in zip(part, said, trees, strict=True):
                rng = random.Random(f"{name} {place}")
                low, high = max(0, place - rng.randint(0, 1)), min(len(spans), place + 1 + rng.randint(0, 1))
                window = text[spans[low][0] : spans[high - 1][1]]
                for number, turn in enumerate(turns(" ".join(each.split()), tokens)):
                    beside = f"grammar:{name}:{place}:{turn.pair}"
                    counts[f"{turn.kind} {turn.label}"] += 1
                    row = {
                        "id": f"{beside}:{number}",
                        "dataset": f"grammar_{turn.kind.replace(' ', '_')}",
                        "question": "",
                        "contexts": [window],
                        "text": turn.text,
                        "label": turn.label,
                        "beside": beside,
                        "group": name,
                    }
                    out.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(counts)


if __name__ == "__main__":
    main()
