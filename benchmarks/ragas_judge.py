"""One judge for two tools: it reads the prompts of everyclaim and of Ragas, and answers each in its own form.

It decides by content alone, so both are told the same: an answer's statements are its sentences, split at
semicolons; a statement is supported when the context holds its words in their order, contradicted when the context
has them with other numbers. `samples` makes answers that such a judge has something to say about.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from typing import Any

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_NUMBER = re.compile(r"\d+")
_THEIRS = "Now perform the same with the following input"
_QUOTED = 6  # words of a quote, as it is asked
_GOODS = ("tiles", "lamps", "kettles", "ropes", "saddles", "bricks", "hinges", "barrels", "mirrors", "anvils")
_FACTS = (
    "hall {lot} holds {n} crates of {goods}",
    "the {goods} in hall {lot} were delivered on day {n}",
    "the roof of hall {lot} was repaired {n} years ago",
    "hall {lot} is guarded by {n} people at night",
    "the lift of hall {lot} carries {n} kilograms",
    "rent for hall {lot} is {n} crowns a month",
    "hall {lot} has {n} gates towards the river",
    "{n} pallets of {goods} leave hall {lot} every week",
    "the heating of hall {lot} runs {n} hours a day",
    "hall {lot} was built for {n} carts of {goods}",
)


def answer(messages: list[Mapping[str, Any]]) -> str:
    """Return the reply to a conversation, as text."""
    asked = str(messages[-1]["content"])
    if _THEIRS in asked:
        data = asked.rpartition("input: ")[2]
        return _compact(_to_ragas(json.JSONDecoder().raw_decode(data)[0]))
    data: dict[str, Any] = {}
    for message in messages:
        if message["role"] == "user":
            for line in message["content"].splitlines():  # one document per line
                data |= json.loads(line)
    return _compact(_to_everyclaim(data))


def _compact(value: Any) -> str:
    """Write JSON as models do that are held to a schema: without spaces between its parts."""
    return json.dumps(value, separators=(",", ":"))


def statements(text: str) -> list[str]:
    """Split a text into statements; a question states nothing."""
    found = []
    for sentence in _SENTENCE.split(text.strip()):
        if sentence and not sentence.endswith("?"):
            found += [f"{part.strip()}." for part in sentence.rstrip(".!").split(";")]
    return found


def judge(statement: str, context: str) -> tuple[str, str]:
    """Return a label, and the words of the context that it rests on."""
    core = statement.rstrip(".").casefold()
    place = context.casefold().find(core)
    if place >= 0:
        return "SUPPORTED", context[place : place + len(core)]
    other = re.search(_NUMBER.sub(r"\\d+", re.escape(core)), context, re.IGNORECASE)
    return ("CONTRADICTED", other[0]) if other else ("UNSUPPORTED", "")


def _to_ragas(data: Mapping[str, Any]) -> dict[str, Any]:
    if "statements" in data:
        labels = {text: judge(text, data["context"])[0] for text in data["statements"]}
        rows = [(text, labels[text]) for text in data["statements"]]
        return {
            "statements": [
                {"statement": text, "reason": _why(label), "verdict": int(label == "SUPPORTED")} for text, label in rows
            ]
        }
    if "answer" in data:
        return {"statements": statements(data["answer"])}
    return {"claims": statements(data["response"])}


def _to_everyclaim(data: Mapping[str, Any]) -> dict[str, Any]:
    if "claims" in data:
        asked = [pair for group in data["claims"] for pair in group["claims"].items()]
        return {"verdicts": [{"id": key} | _finding(claim, data["passages"]) for key, claim in asked]}
    split = {key: (sentence, statements(sentence)) for key, sentence in data["sentences"].items()}
    told: dict[str, list[Any]] = {key: [] for key, (_, claims) in split.items() if claims}
    for key, rows in told.items():
        for claim in split[key][1]:
            said = "=" if claim == split[key][0] else claim
            rows.append({"claim": said} | _finding(claim, data["passages"]) if "passages" in data else said)
    skipped = [{"id": key, "reason": "question"} for key in split if key not in told]
    return {"sentences": [{"id": key, "claims": rows} for key, rows in told.items()], "skipped": skipped}


def _finding(claim: str, passages: Mapping[str, Any]) -> dict[str, Any]:
    texts = {name: text if isinstance(text, str) else text["text"] for name, text in passages.items()}
    found = {name: judge(claim, text) for name, text in texts.items()}
    order = ("SUPPORTED", "CONTRADICTED", "UNSUPPORTED")
    name = min(found, key=lambda name: order.index(found[name][0]))
    label, words = found[name]
    kind = {"SUPPORTED": "none", "CONTRADICTED": "number", "UNSUPPORTED": "other"}[label]
    quotes = [f"{name}: {' '.join(words.split()[:_QUOTED])}"] if words else []
    why = "" if label == "SUPPORTED" else _why(label)  # as it is asked
    support = {"SUPPORTED": 10, "CONTRADICTED": 0, "UNSUPPORTED": 1}[label]
    return {"quotes": quotes, "why": why, "kind": kind, "label": label, "support": support}


def _why(label: str) -> str:
    return {
        "SUPPORTED": "The context says this in the same words.",
        "CONTRADICTED": "The context gives another number for this.",
        "UNSUPPORTED": "The context does not speak of this at all.",
    }[label]


def samples(number: int, claims: int = 0, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Make rows with `user_input`, `response`, `retrieved_contexts` and `reference`, no two alike.

    `claims` is how many facts an answer tells (0: three to six); for more than ten, of several halls.
    """
    chance = random.Random(seed)
    for lot in range(1000, 1000 + number):
        lots = [lot + number * hall for hall in range(-(-claims // 10) or 1)]
        facts = [
            text.format(lot=hall, n=chance.randint(2, 99), goods=chance.choice(_GOODS))
            for hall in lots
            for text in _FACTS
        ]
        chance.shuffle(facts)
        told = chance.sample(facts, claims or chance.randint(3, 6))
        contexts = [_paragraph(facts[start : start + 3], lot, chance) for start in range(0, len(facts) - 1, 3)]
        yield {
            "user_input": f"What is known about hall {lot}?",
            "response": _text([_changed(fact, chance) for fact in told], chance),
            "retrieved_contexts": contexts,
            "reference": _text(chance.sample(facts, chance.randint(2, 5)), chance),
        }


def _changed(fact: str, chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.2:  # another number
        return _NUMBER.sub(lambda found: found[0] if len(found[0]) > 3 else str(int(found[0]) + 7), fact)
    return f"{fact} without exception" if kind < 0.3 else fact  # more than is known


def _text(facts: list[str], chance: random.Random) -> str:
    sentences: list[list[str]] = []
    for fact in facts:
        if sentences and len(sentences[-1]) < 2 and chance.random() < 0.4:
            sentences[-1].append(fact)
        else:
            sentences.append([fact])
    return " ".join(f"{text[0].upper()}{text[1:]}." for text in ("; ".join(parts) for parts in sentences))


def _paragraph(facts: list[str], lot: int, chance: random.Random) -> str:
    filler = [
        f"Nothing else was noted about hall {lot} in the spring",
        "Visitors are asked to leave their carts at the yard",
        "The ledger was checked twice and signed by the keeper",
        f"Records of hall {lot} before the flood are incomplete",
    ]
    lines = [*(f"{fact[0].upper()}{fact[1:]}" for fact in facts), *chance.sample(filler, 3)]
    chance.shuffle(lines)
    return ". ".join(lines) + "."
