"""A model that plays the judge by rule: it reads the requests our prompts make and answers them in form.

    chat = ScriptedChat(play)                       # no server, no network
    with JudgeServer(play) as server: ...

The rule is word overlap: a claim is supported by the passage that holds all of its telling words. It is
there so that whole runs can be tested and timed, not to judge well.

Or real traffic is recorded once and replayed for ever, from a JSONL file of calls and replies without keys or headers:

    chat = Recorder(build_chat_model("openai:…"), "calls.jsonl")   # once, with a key
    chat = Replayer("calls.jsonl")                                 # from then on, without one
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from everyclaim.core.errors import InputError, JudgeError, needed_for
from everyclaim.core.plaintext import HIDDEN
from everyclaim.core.protocols import ChatModel, ChatReply, Message
from everyclaim.core.types import Usage
from everyclaim.models.chat.links import Call
from everyclaim.models.chat.providers import key_variable, provider_names
from everyclaim.testing.script import Request

Answer = str | ChatReply | Exception
Rule = Callable[[Sequence[Message]], Answer]

_WORD = re.compile(r"\w+")
_OWN_ID = re.compile(r'"([a-oq-z])(\d{3,})":')  # not of passages
_ID = re.compile(r'(?<=["\[])[a-z]\d+(?=["\]:])')  # in a reply
_WHICH = "Which word ends this:"
_SMALL = frozenset(
    _WORD.findall("a an and are as at be by for from has have in is it its of on or that the this to was with")
)


class ScriptedChat:
    """A chat model without a network. `script` is a list of answers (the last is repeated) or a rule.

    An answer is a text, a whole `ChatReply`, or an exception that is raised; for its ids see `with_ids`. `asked` keeps
    the messages of every call, `tags` their tags and `schemas` their schemas.
    """

    def __init__(self, script: Answer | Sequence[Answer] | Rule, *, spec: str = "openai:scripted") -> None:
        self._script = script
        self.spec = spec
        self.asked: list[tuple[Message, ...]] = []
        self.tags: list[str] = []
        self.schemas: list[Mapping[str, Any] | None] = []

    @property
    def calls(self) -> int:
        """How often it was asked."""
        return len(self.asked)

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = ""
    ) -> ChatReply:
        """Give the next answer. One token is four characters, and a thousand of them cost a cent."""
        self.asked.append(tuple(messages))
        self.tags.append(tag)
        self.schemas.append(schema)
        answer = self._answer(messages)
        if isinstance(answer, Exception):
            raise answer
        asked = "\n".join(message.content for message in messages)
        if isinstance(answer, ChatReply):
            return answer if answer.forks else replace(answer, content=with_ids(answer.content, asked))
        answer = with_ids(answer, asked)
        sizes = sum(len(message.content) for message in messages) // 4, len(answer) // 4
        return ChatReply(answer, "stop", "scripted", Usage(1, *sizes, cost=sum(sizes) / 100_000))

    def _answer(self, messages: Sequence[Message]) -> Answer:
        if callable(self._script):
            return self._script(messages)
        if isinstance(self._script, str | ChatReply | Exception):
            return self._script
        return self._script[min(len(self.asked), len(self._script)) - 1]


def with_ids(reply: str, asked: str) -> str:
    """Write a request's own ids into a reply: ``c1`` in it stands for the first claim, ``s2`` for the second sentence.

    Every request has ids of its own, which nobody can know who writes replies beforehand.
    """
    found = [(letter, int(number)) for letter, number in _OWN_ID.findall(asked)]
    before = {letter: min(number for other, number in found if other == letter) - 1 for letter, _ in found}
    own = {f"{letter}{number - before[letter]}": f"{letter}{number}" for letter, number in found}
    return _ID.sub(lambda match: own.get(match[0], match[0]), reply) if own else reply


def request_data(messages: Sequence[Message]) -> dict[str, Any]:
    """Return the data of a request as the model sees it: the JSON documents of all user turns, put together."""
    data: dict[str, Any] = {}
    for message in messages:
        if message.role == "user":
            position = 0
            while position < len(message.content):  # endpoints may join turns
                value, position = json.JSONDecoder().raw_decode(message.content, position)
                data |= value
                position += len(message.content[position:]) - len(message.content[position:].lstrip())
    return data


def play(asked: Request | Sequence[Message]) -> str:
    """Answer a request of any of our prompts by rule."""
    data = request_data(asked.messages if isinstance(asked, Request) else asked)
    if other := _about_questions(data):
        return json.dumps(other)
    if "hypotheses" in data:
        passages = dict(enumerate(data["premises"]))
        found = [(key, judge_by_words(claim, passages)) for key, claim in data["hypotheses"].items()]
        names = {"SUPPORTED": "entailment", "UNSUPPORTED": "neutral"}
        return json.dumps({"relations": [{"id": key, "relation": names[row["label"]]} for key, row in found]})
    if isinstance(data.get("claims"), dict):  # of SAFE: to stand alone, or to be searched for
        if "answer" in data:
            whole = [{"id": k, "text": claim, "relevant": "yes", "why": ""} for k, claim in data["claims"].items()]
            return json.dumps({"claims": whole})
        turns = {k: len(data.get("searches", {}).get(k, ())) for k in data["claims"]}
        queries = [{"id": k, "query": " ".join([c, *["more"] * turns[k]])} for k, c in data["claims"].items()]
        return json.dumps({"queries": queries})
    if "claims" in data:
        claims = [pair for group in data["claims"] for pair in group["claims"].items()]
        return json.dumps({"verdicts": [{"id": k} | judge_by_words(claim, data["passages"]) for k, claim in claims]})
    rows: list[Any] = []
    skipped = []
    for key, sentence in data["sentences"].items():
        if sentence.rstrip().endswith("?"):
            skipped.append({"id": key, "reason": "question"})
        else:
            judged = (
                {"claim": sentence} | judge_by_words(sentence, data["passages"]) if "passages" in data else sentence
            )
            rows.append({"id": key, "claims": [judged]})
    return json.dumps({"sentences": rows, "skipped": skipped})


def _about_questions(data: Mapping[str, Any]) -> dict[str, Any]:
    """Answer the requests of QA consistency: the question is a sentence without its last word, which is the answer."""
    if "ask_about" in data:
        asked = {key: " ".join(text.split()[:-1]) for key, text in data["ask_about"].items()}
        return {
            "sentences": [{"id": k, "questions": [f"{_WHICH} {said}"] if said else []} for k, said in asked.items()]
        }
    if "questions" in data and "texts" in data:
        texts = [text if isinstance(text, str) else text["text"] for text in data["texts"].values()]
        sentences = [sentence for text in texts for sentence in re.split(r"(?<=[.!?])\s", text.strip())]
        rows = []
        for key, question in data["questions"].items():
            words = _words(question.removeprefix(_WHICH))
            found = next((s.split()[-1].strip(".!?") for s in sentences if words <= _words(s)), "")
            rows.append({"id": key, "found": bool(found), "answer": found})
        return {"answers": rows}
    if "pairs" in data:
        return {
            "pairs": [
                {"id": key, "same": _words(pair["first"]) == _words(pair["second"])}
                for key, pair in data["pairs"].items()
            ]
        }
    return {}


def judge_by_words(claim: str, passages: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the verdict of the rule, in the form of a reply."""
    words = _words(claim)
    for key, passage in passages.items():
        text = passage if isinstance(passage, str) else passage["text"]
        if words <= _words(text):
            sentences = re.split(r"(?<=[.!?])\s", text.strip())
            best = max(sentences, key=lambda sentence: len(words & _words(sentence)))
            return {"quotes": [f"{key}: {best}"], "why": "", "kind": "none", "label": "SUPPORTED", "support": 9}
    why = "some of its words are in no passage"
    return {"quotes": [], "why": why, "kind": "other", "label": "UNSUPPORTED", "support": 0}


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold())) - _SMALL


class Recorder:
    """Pass calls on and write each, with its reply or failure, as one line. Keys in a text are blotted out."""

    def __init__(self, model: ChatModel, path: Path | str) -> None:
        self._model = model
        self._path = Path(path)
        self.spec = model.spec

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = ""
    ) -> ChatReply:
        """Ask, and write down what came of it."""
        try:
            reply = await self._model.complete(messages, schema=schema, tag=tag)
        except JudgeError as error:
            self._write(messages, schema, tag, {"error": {"code": error.code, "message": error.message}})
            raise
        told = {name: getattr(reply, name) for name in ("content", "finish", "model", "forks")}
        self._write(messages, schema, tag, {"reply": told | {"usage": asdict(reply.usage)}})
        return reply

    def _write(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None, tag: str, came: dict[str, Any]
    ) -> None:
        row = {
            "key": Call("", messages, schema, tag).key.hex(),
            "spec": self.spec,
            "tag": tag,
            "schema": schema,
            "messages": [{"role": m.role, "content": m.content} for m in messages],
            **came,
        }
        line = json.dumps(row)
        for variable in map(key_variable, provider_names()):
            if key := os.environ.get(variable):
                line = line.replace(key, HIDDEN)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


class Replayer:
    """Answer from a recording. The same question asked again gets the next recorded answer, then the last again."""

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)
        self._rows: dict[str, list[dict[str, Any]]] = {}
        self.spec = ""  # the recorded model's
        for number, line in enumerate(self._path.read_text("utf-8").splitlines(), 1):
            try:
                row = json.loads(line)
                self._rows.setdefault(row["key"], []).append(row)
                self.spec = self.spec or row["spec"]
            except (ValueError, KeyError, TypeError):
                raise InputError(f"{self._path}, line {number}: not a recorded call") from None

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = ""
    ) -> ChatReply:
        """Answer as it was answered then. Raises `InputError` for a question that was never recorded."""
        rows = self._rows.get(Call("", messages, schema, tag).key.hex())
        if not rows:
            asked = messages[-1].content[:80] if messages else ""
            raise InputError(f"{self._path} holds no answer to {asked!r}; record it again")
        row = rows.pop(0) if len(rows) > 1 else rows[0]
        if "error" in row:
            raise JudgeError(row["error"]["code"], row["error"]["message"])
        told = row["reply"]
        return ChatReply(told["content"], told["finish"], told["model"], Usage(**told["usage"]))


@contextmanager
def no_sleep() -> Iterator[None]:
    """Let retries follow at once, for the time of a `with` block. How many there are stays as it is."""
    with needed_for("retrying", "testing"):
        import stamina
    if stamina.is_testing():  # by an outer block, or by the user's own switch
        yield
        return
    stamina.set_testing(True, attempts=1_000_000, cap=True)
    try:
        yield
    finally:
        stamina.set_testing(False)
