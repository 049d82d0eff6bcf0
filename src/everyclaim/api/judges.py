"""Specs of language models and of judges made of judges → components, all talking through one pool of chat models."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from everyclaim.api.options import (
    DEFAULT_STORE,
    OFF,
    Few,
    File,
    LlmAccessOptions,
    ProbabilitySource,
    Share,
    SplitOptions,
    VerdictOptions,
)
from everyclaim.api.specs import BATCHES, beside, create_verifier
from everyclaim.core.errors import ConfigError
from everyclaim.core.events import CostEstimate, accounted
from everyclaim.core.kinds import Range
from everyclaim.core.options import divided, option_names, read, wrong_value
from everyclaim.core.protocols import ChatModel, Decomposer, Message, Verifier
from everyclaim.core.spec import Spec
from everyclaim.core.types import Claim, Sample, Span
from everyclaim.decompose.llm import LlmDecomposer, NumberedSentence, context, numbered_sentences, portions
from everyclaim.engine import BackgroundLoop
from everyclaim.metrics.one_call import OneCallFaithfulness
from everyclaim.models.batches import BatchSettings
from everyclaim.models.build import Chat, ChatSettings, build_chat_model, price_of, wrap_chat_model
from everyclaim.models.chat.budget import Budget, Meter, Price
from everyclaim.models.chat.links import Rates
from everyclaim.models.chat.options import ChatOptions, EndpointOptions, read_options
from everyclaim.models.chat.providers import find_provider
from everyclaim.models.files import BatchState, ReplyCache
from everyclaim.prompts.domain import Domain, OwnRules, read_domain, read_own_rules
from everyclaim.prompts.split import Degree, SplitPrompt, SplitTask
from everyclaim.prompts.verdicts import JudgePrompt, NliPrompt, Strictness, VerdictPrompt
from everyclaim.retrieve.bm25 import Bm25Ranker
from everyclaim.verify.composed import AUDIT, DEFERRAL, Cascade, Deferral, Panel, taken_apart
from everyclaim.verify.llm import INPUT_TOKENS, REPLY_TOKENS, LlmVerifier, by_reply, passage_data, tokens
from everyclaim.verify.pairs import MiniCheckChat


class ChatClients:
    """One chat model per spec, all with the same settings and one meter; what judges of a run share.

    With a `home` all of them live on that event loop, wherever they are called from: connections, rates and calls that
    are under way are then the same for every thread and task.
    """

    def __init__(self, settings: ChatSettings | None = None, home: BackgroundLoop | None = None) -> None:
        self.settings = settings or ChatSettings()
        self.meter = Meter()
        self._home = home
        self._open: dict[str, ChatModel] = {}
        self._lock = threading.Lock()

    def model(self, spec: str | Spec) -> ChatModel:
        """Return the chat model a spec names, the same one every time."""
        key = str(spec)
        with self._lock:
            if key not in self._open:
                self._open[key] = self._placed(build_chat_model(Spec.parse(key), self.settings, meter=self.meter))
            return self._open[key]

    def wrap(self, model: ChatModel) -> ChatModel:
        """Return somebody else's chat model under the limits, rates, cache and meter of the others."""
        return self._placed(wrap_chat_model(model, self.settings, meter=self.meter))

    def _placed(self, chat: Chat) -> ChatModel:
        chat.join = self._home.join if self._home else None
        return accounted(chat)

    def close(self) -> None:
        """Close the files of replies and batches; opened again when needed. Connections close with their scope."""
        if self.settings.batch:
            self.settings.batch.state.close()
        if self.settings.cache:
            self.settings.cache.close()


class NamedModels(ChatClients):
    """Chat models of which nothing but the spec is asked: no key, no client. `asked` are their endpoints."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[EndpointOptions] = []

    def model(self, spec: str | Spec) -> ChatModel:
        """Return the endpoint's options, which have the spec. Raises `ConfigError` for a wrong one."""
        self.asked.append(read_options(spec))
        return cast("ChatModel", self.asked[-1])


def chat_settings(options: LlmAccessOptions) -> ChatSettings:
    """Return limits, rates, cache, batches and prices as the options say them.

    Raises `ConfigError` for a wrong number.
    """
    cache, prices, batches = options.get("cache"), options.get("prices"), options.get("provider_batch")
    if batches is True:
        batches = beside(DEFAULT_STORE, BATCHES)
    return ChatSettings(
        rates=Rates(options.get("requests_per_minute"), options.get("tokens_per_minute"), concurrency=64),
        budget=Budget(options.get("max_cost"), options.get("max_calls"), options.get("max_tokens")),
        cache=ReplyCache(Path(cache)) if cache and cache != OFF else None,
        prices=Path(prices) if prices else None,
        batch=BatchSettings(BatchState(Path(batches))) if batches else None,
    )


_TOP = "5"  # tokens whose chances are asked for: the labels are three
_OWN_SAMPLING = ("temperature", "top_p", "thinking_tokens")  # with one of these a model's usual temperature stays


class LlmJudgeOptions(VerdictOptions, total=False):
    """What a spec may say of a language model that judges; what else it says is the endpoint's."""

    prompt: Literal["verdict", "nli", "minicheck"]
    input_tokens: Annotated[int, Range(1, 10_000_000)]  # of passages in one call
    domain: str  # TOML file with rules and examples


class LlmDecomposerOptions(SplitOptions, total=False):
    """What a spec may say of a language model that splits; what else it says is the endpoint's."""

    atomicity: Degree  # how fine claims are
    coverage: Degree  # what counts as a claim
    domain: str  # TOML file with rules and examples
    sentences: Few  # in one call
    language: str  # of the answers (default: detected)


@dataclass(frozen=True, slots=True)
class _OfCascades:
    low: Share = DEFERRAL.low  # the first judge settles claims below this P(supported)
    high: Share = DEFERRAL.high  # … and above this one
    audit: Share = AUDIT  # share of settled claims judged again


_PLAIN = {"nli": ("prompt", "claims_per_call", "repeats", "probabilities", "input_tokens"), "minicheck": ("prompt",)}


def llm_verifier(spec: Spec, chats: ChatClients | None = None) -> LlmVerifier | MiniCheckChat:
    """Build ``openai:model`` or ``anthropic:model`` as a judge; options that are not its own are the endpoint's.

    See `LlmJudgeOptions`. The temperature is 0 where nothing else is said and the model takes it. Raises
    `ConfigError` for a wrong value.
    """
    said, rest = divided(spec, LlmJudgeOptions)
    own = read(said, LlmJudgeOptions)
    form = own.get("prompt", "verdict")
    if takes := _PLAIN.get(form):
        said.check_options(takes, f"a judge with the prompt {form!r}")
    probabilities = _probabilities(own, spec)
    prompt = _judge_prompt(own, said, probabilities)
    asked = _at_zero(rest)
    if probabilities == "tokens":
        asked = Spec(asked.name, asked.argument, {"top_logprobs": _TOP, **asked.options})
    chat = (chats or ChatClients()).model(asked)
    name = _named(rest, said)
    if prompt is None:
        return MiniCheckChat(chat, name)
    return LlmVerifier(
        chat,
        prompt,
        claims_per_call=own.get("claims_per_call"),
        repeats=own.get("repeats") or 1,
        evidence=own.get("evidence") or "flag",
        name=name,
        probabilities=probabilities,
        ranker=Bm25Ranker(),
        reply_tokens=min(REPLY_TOKENS, read(rest, ChatOptions).reply_tokens or REPLY_TOKENS),
        input_tokens=own.get("input_tokens", INPUT_TOKENS),
        temperature=asked.options.get("temperature", ""),
    )


def llm_decomposer(spec: Spec, chats: ChatClients | None = None) -> LlmDecomposer:
    """Build ``openai:model`` or ``anthropic:model`` as a decomposer; options that are not its own are the endpoint's.

    See `LlmDecomposerOptions`. The temperature is 0 where nothing else is said and the model takes it. Raises
    `ConfigError` for a wrong value.
    """
    said, rest = divided(spec, LlmDecomposerOptions)
    own = read(said, LlmDecomposerOptions)
    rules = _own_rules(said, "split_prompt", "atomicity")
    asked = _at_zero(rest)
    chat = (chats or ChatClients()).model(asked)
    domain = _domain(own.get("domain", ""))
    prompt = SplitPrompt(own.get("atomicity", "high"), own.get("coverage", "high"), domain, rules)
    sentences, language = own.get("sentences", 30), own.get("language", "")
    return LlmDecomposer(chat, prompt, sentences, language, _named(rest, said))


def cascade(spec: Spec, chats: ChatClients | None = None) -> Cascade:
    """Build ``cascade:first>second``, with `low`, `high` and `audit`; options of a part: ``2.claims_per_call=4``."""
    parts, own = taken_apart(spec, ">")
    if len(parts) != 2:
        raise ConfigError(f"a cascade needs two judges, as in 'cascade:embedded>openai:gpt-5-mini', got {spec.shown!r}")
    said = read(_of_the_whole(spec, own, option_names(_OfCascades)), _OfCascades)
    first, second = _verifiers(parts, chats)
    return Cascade(first, second, Deferral(said.low, said.high), said.audit)


def panel(spec: Spec, chats: ChatClients | None = None) -> Panel:
    """Build ``panel:first|second|…``; a part's own options are ``2.claims_per_call=4``."""
    parts, own = taken_apart(spec, "|")
    if len(parts) < 2:
        raise ConfigError(f"a panel needs two judges or more, as in 'panel:openai:a|anthropic:b', got {spec.shown!r}")
    _of_the_whole(spec, own, ())
    return Panel(tuple(_verifiers(parts, chats)))


def split_spec(judge: Spec) -> Spec:
    """Return the spec of the decomposer that goes with a judge: the same model, without what only judges have."""
    only_judging = {*option_names(LlmJudgeOptions)} - {*option_names(LlmDecomposerOptions)}
    kept = {key: value for key, value in judge.options.items() if key not in only_judging}
    return Spec(judge.name, judge.argument, kept)


def _verifiers(parts: list[Spec], chats: ChatClients | None) -> list[Verifier]:
    shared = chats or ChatClients()
    return [create_verifier(part, shared) for part in parts]


def _of_the_whole(spec: Spec, own: Mapping[str, str], known: Sequence[str]) -> Spec:
    """Return what is said of a judge made of judges; an option of a part alone is told how it is said of that part."""
    parts = {*option_names(LlmJudgeOptions), *option_names(ChatOptions)} - {*known}
    if meant := next((name for name in sorted(own) if name in parts), ""):
        takes = f"; it takes {', '.join(known)}" if known else ""
        raise ConfigError(
            f"unknown option {meant!r} of {spec.name!r}{takes}, and its judges' own options with their "
            f"number, as in '2.{meant}'"
        )
    said = Spec(spec.name, "", own)
    said.check_options(known)
    return said


def _judge_prompt(own: LlmJudgeOptions, said: Spec, probabilities: ProbabilitySource) -> JudgePrompt | None:
    """Return the prompt; None for MiniCheck's, which has a judge of its own."""
    if own.get("prompt") == "minicheck":
        return None
    if own.get("prompt") == "nli":
        return NliPrompt()
    rules = _own_rules(said, "judge_prompt", "inference")
    strictness = Strictness(
        own.get("inference") or "allowed", own.get("numbers") or "rounded", own.get("hedges") or "flag"
    )
    scale: Literal["scale", "none"] = "none" if probabilities == "none" else "scale"
    return VerdictPrompt(strictness, _domain(own.get("domain", "")), rules, own.get("reasons") or "failing", scale)


def _probabilities(own: LlmJudgeOptions, spec: Spec) -> ProbabilitySource:
    form, said = own.get("prompt", "verdict"), own.get("probabilities")
    if form != "verdict" and said == "scale":
        raise wrong_value("probabilities", f"a judge with the prompt {form!r}", "one of none, tokens", "scale")
    if said == "tokens" and find_provider(spec.name).formats == ("messages",):
        raise ConfigError(
            f"probabilities=tokens: {spec.name!r} returns no token probabilities; use probabilities=scale"
        )
    return said or ("scale" if form == "verdict" else "none")


def _at_zero(rest: Spec) -> Spec:
    """Return a model's spec with temperature 0, where nothing is said that goes before it."""
    if any(name in rest.options for name in _OWN_SAMPLING):
        return rest
    return Spec(rest.name, rest.argument, {**rest.options, "temperature": "0"})


def _own_rules(said: Spec, option: str, idle: str) -> OwnRules:
    """Read a user's own wording; an option that only chooses among ours would do nothing beside it."""
    file = said.options.get(option, "")
    if not file:
        return OwnRules()
    if idle in said.options:
        raise ConfigError(
            f"{idle}={said.options[idle]} selects a built-in prompt, but {option}={file} replaces the "
            "prompt: leave one out"
        )
    return read_own_rules(_text_of(file, "prompt"), name=file)


def _text_of(file: str, kind: str) -> str:
    try:
        return Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the {kind} file {file!r}: {error}") from None


def _domain(file: str) -> Domain:
    return read_domain(_text_of(file, "domain"), name=file) if file else Domain()


def _named(rest: Spec, own: Spec) -> str:
    """Return the spec to store: the endpoint's, which shows no secret, with our own options."""
    shown = Spec.parse(rest.shown)
    return str(Spec(shown.name, shown.argument, {**shown.options, **own.options}))


_WORDS, _MOST = 7, 6  # words of a sentence for each claim that is made of it, and most claims
_ROW, _VERDICT = 12, 45  # tokens of a claim in a reply beside its words, of a verdict beside its quote


class CallPlan:
    """What a run will take of language models, before it is made: calls, tokens, dollars. Nobody is called.

    Requests are written as they will be, with the answer's own sentences in the place of claims that nobody has made.
    """

    def __init__(self, judge: Verifier, strategy: str, decomposer: Decomposer, metric: Any, prices: File) -> None:
        self.decomposer = decomposer if isinstance(decomposer, LlmDecomposer) else None
        self.verifiers = _models_of(judge)
        self.one_call = metric if isinstance(metric, OneCallFaithfulness) else None
        self.strategy = strategy
        self.is_most = isinstance(judge, Cascade) or strategy == "ranked"
        used: dict[str, Any] = {one.spec: LlmJudgeOptions for one in self.verifiers}
        used |= {self.decomposer.spec: LlmDecomposerOptions} if self.decomposer else {}
        file = Path(prices) if prices else None
        self.prices = {
            spec: price_of(read_options(divided(Spec.parse(spec), own)[1]), file) for spec, own in used.items()
        }

    def estimate(self, samples: Iterable[Sample]) -> CostEstimate | None:
        """Estimate what samples take; None where no language model is used."""
        if not self.verifiers and not self.decomposer:
            return None
        calls = [list(self.calls(sample)) for sample in samples]
        sizes = [size for of_one in calls for size in of_one]
        costs = [size.cost for size in sizes if size.cost is not None]
        prompt, reply = sum(size.prompt_tokens for size in sizes), sum(size.reply_tokens for size in sizes)
        cost = sum(costs) if len(costs) == len(sizes) else None
        return CostEstimate(len(calls), len(sizes), prompt, reply, cost, is_most=self.is_most)

    def calls(self, sample: Sample) -> Iterator[CostEstimate]:
        """Yield the calls about an answer."""
        pieces, _ = numbered_sentences(sample.response, self.decomposer.language if self.decomposer else "")
        shelf = passage_data(sample.passages)
        if self.decomposer:
            for part in portions(pieces, self.decomposer.at_most):
                yield self._split(part, sample, shelf if self.one_call else {})
        if pieces and shelf and not self.one_call:
            texts = [text for piece in pieces for text in self._claims(piece.text)]
            claims = [Claim(f"c{place}", text, Span(0, 0), text) for place, text in enumerate(texts, start=1)]
            for verifier in self.verifiers:
                yield from self._judged(verifier, claims, shelf, sample.question)

    def _claims(self, sentence: str) -> list[str]:
        """Return as many parts of a sentence as claims will be made of it."""
        is_fine = self.decomposer is None or self.decomposer.prompt.atomicity == "high"
        number = min(max(1, round(len(sentence.split()) / _WORDS)), _MOST) if is_fine else 1
        return [sentence[: len(sentence) // number + 1]] * number

    def _split(self, part: Sequence[NumberedSentence], sample: Sample, shelf: Mapping[str, Any]) -> CostEstimate:
        decomposer = cast("LlmDecomposer", self.decomposer)
        texts = {f"s{piece.number}": piece.text for piece in part}
        task = SplitTask(texts, context(sample.response, part), sample.question)
        claims = [claim for text in texts.values() for claim in self._claims(text)]
        said = sum(tokens(claim) + _ROW for claim in claims)
        price = self.prices[decomposer.spec]
        if self.one_call and shelf:
            prompt = self.one_call.prompt
            return _size(
                prompt.messages(task, shelf, shared=False), prompt.schema, said + _VERDICT * len(claims), price
            )
        return _size(decomposer.prompt.messages(task), decomposer.prompt.schema, said, price)

    def _judged(
        self, verifier: LlmVerifier, claims: Sequence[Claim], shelf: Mapping[str, Any], question: str
    ) -> Iterator[CostEstimate]:
        shelves = [shelf] if self.strategy == "joint" else [{key: text} for key, text in shelf.items()]
        for group in list(by_reply(claims, verifier.reply_tokens, verifier.claims_per_call)) * verifier.repeats:
            asked = {claim.id: claim for claim in group}
            said = sum(_VERDICT + tokens(claim.text) for claim in group)
            for some in shelves:
                messages = verifier.prompt.messages(asked, some, question, shared=False)
                yield _size(messages, verifier.prompt.schema, said, self.prices[verifier.spec])


def _size(messages: Sequence[Message], schema: Any, reply: int, price: Price | None) -> CostEstimate:
    prompt = sum(tokens(message.content) for message in messages)
    prompt += tokens(json.dumps(schema))
    return CostEstimate(0, 1, prompt, reply, price.at_most(prompt, reply) if price else None)


def _models_of(judge: Verifier) -> list[LlmVerifier]:
    if isinstance(judge, LlmVerifier):
        return [judge]
    inside = judge.verifiers if isinstance(judge, Panel) else ()
    parts = (judge.first, judge.second) if isinstance(judge, Cascade) else inside
    return [one for part in parts for one in _models_of(part)]
