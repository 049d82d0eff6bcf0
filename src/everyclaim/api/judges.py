"""Specs of language models and of judges made of judges → components, all talking through one set of chat models."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from everyclaim.api.pool import ChatPool
from everyclaim.core.errors import ConfigError
from everyclaim.core.nearest import did_you_mean
from everyclaim.core.protocols import Verifier
from everyclaim.core.spec import Spec
from everyclaim.decompose.llm import LlmDecomposer
from everyclaim.models.chat.providers import find_provider
from everyclaim.prompts import (
    Domain,
    JudgePrompt,
    NliPrompt,
    OwnRules,
    SplitPrompt,
    Strictness,
    VerdictPrompt,
    read_domain,
    read_own_rules,
)
from everyclaim.retrieve import Bm25Ranker
from everyclaim.verify.cascade import Cascade, Deferral
from everyclaim.verify.composed import taken_apart
from everyclaim.verify.llm import LlmVerifier
from everyclaim.verify.minicheck import MiniCheckChat
from everyclaim.verify.panel import Panel
from everyclaim.verify.sizes import INPUT_TOKENS, REPLY_TOKENS

STRICTNESS = ("inference", "numbers", "hedges")
_OF_VERDICTS = ("evidence", "domain", "reasons", "judge_prompt", *STRICTNESS)  # of our own prompt alone
JUDGE_OPTIONS = ("batch", "repeats", "prompt", "probabilities", "input_tokens", *_OF_VERDICTS)
SPLIT_OPTIONS = ("atomicity", "coverage", "domain", "sentences", "language", "split_prompt")
_TOP = "5"  # tokens whose chances are asked for: the labels are three
_OWN_SAMPLING = ("temperature", "top_p", "thinking_tokens")  # with one of these a model's usual temperature stays


def llm_verifier(spec: Spec, chats: ChatPool | None = None) -> LlmVerifier | MiniCheckChat:
    """Build ``openai:model`` or ``anthropic:model`` as a judge; options that are not its own are the endpoint's.

    `batch` (most claims per call; else as many as fit), `repeats`, `evidence` (`flag`, `required`), `prompt`
    (`verdict`, `nli`, `minicheck`), `domain` (a TOML file), `inference`, `numbers`, `hedges`, `reasons`
    (`failing`, `all`), `probabilities` (`scale`, `tokens`, `none`), `judge_prompt` (a text file), `input_tokens`
    (of the passages in one call).
    The temperature is 0 where nothing else is said and the model takes it. Raises `ConfigError` for a wrong value.
    """
    own, rest = _divided(spec, JUDGE_OPTIONS)
    prompt = _judge_prompt(own, spec)
    probabilities = _probabilities(own, rest)
    asked = _at_zero(rest)
    if probabilities == "tokens":
        asked = Spec(asked.name, asked.argument, {"top_logprobs": _TOP, **asked.options})
    chat = (chats or ChatPool()).model(asked)
    name = _named(rest, own)
    if prompt is None:
        _no_more(own, ("prompt",), spec)
        return MiniCheckChat(chat, name)
    return LlmVerifier(
        chat,
        prompt,
        batch=_whole(own, "batch", 1) if "batch" in own else None,
        repeats=_whole(own, "repeats", 1),
        evidence=_choice(own, "evidence", ("flag", "required")),
        name=name,
        probabilities=probabilities,
        ranker=Bm25Ranker(),
        reply_tokens=min(REPLY_TOKENS, int(rest.options.get("max_tokens", REPLY_TOKENS))),
        input_tokens=_whole(own, "input_tokens", INPUT_TOKENS, 10_000_000),
        temperature=asked.options.get("temperature", ""),
    )


def llm_decomposer(spec: Spec, chats: ChatPool | None = None) -> LlmDecomposer:
    """Build ``openai:model`` or ``anthropic:model`` as a decomposer; options that are not its own are the endpoint's.

    `atomicity` and `coverage` (`high`, `low`), `domain` (a TOML file), `sentences` (per call), `language`,
    `split_prompt` (a text file). The temperature is 0 where nothing else is said and the model takes it. Raises
    `ConfigError` for a wrong value.
    """
    own, rest = _divided(spec, SPLIT_OPTIONS)
    degrees = {name: _choice(own, name, ("high", "low")) for name in ("atomicity", "coverage")}
    rules = _own_rules(own, "split_prompt", ("atomicity",))
    chat = (chats or ChatPool()).model(_at_zero(rest))
    prompt = SplitPrompt(degrees["atomicity"], degrees["coverage"], _domain(own), rules)
    return LlmDecomposer(
        chat, prompt, at_most=_whole(own, "sentences", 30), language=own.get("language", ""), name=_named(rest, own)
    )


def cascade(spec: Spec, chats: ChatPool | None = None) -> Cascade:
    """Build ``cascade:first>second``, with `low`, `high` and `audit`; a part's own options are ``2.batch=4``."""
    parts, own = taken_apart(spec, ">")
    if len(parts) != 2:
        raise ConfigError(f"a cascade needs two judges, as in 'cascade:embedded>openai:gpt-5-mini', got {spec.shown!r}")
    _no_more(own, ("low", "high", "audit"), spec)
    first, second = _verifiers(parts, chats)
    usual = Cascade(first, second)
    deferral = Deferral(_share(own, "low", usual.deferral.low), _share(own, "high", usual.deferral.high))
    return Cascade(first, second, deferral, _share(own, "audit", usual.audit))


def panel(spec: Spec, chats: ChatPool | None = None) -> Panel:
    """Build ``panel:first|second|…``; a part's own options are ``2.batch=4``."""
    parts, own = taken_apart(spec, "|")
    if len(parts) < 2:
        raise ConfigError(f"a panel needs two judges or more, as in 'panel:openai:a|anthropic:b', got {spec.shown!r}")
    _no_more(own, (), spec)
    return Panel(tuple(_verifiers(parts, chats)))


def split_spec(judge: Spec) -> Spec:
    """Return the spec of the decomposer that goes with a judge: the same model, without what only judges have."""
    kept = {key: value for key, value in judge.options.items() if key not in JUDGE_OPTIONS or key in SPLIT_OPTIONS}
    return Spec(judge.name, judge.argument, kept)


def _verifiers(parts: list[Spec], chats: ChatPool | None) -> list[Verifier]:
    from everyclaim.api.components import create_verifier

    shared = chats or ChatPool()
    return [create_verifier(part, shared) for part in parts]


def _judge_prompt(own: Mapping[str, str], spec: Spec) -> JudgePrompt | None:
    """Return the prompt; None for MiniCheck's, which has a judge of its own."""
    kind = _choice(own, "prompt", ("verdict", "nli", "minicheck"))
    if kind == "minicheck":
        _no_more(own, ("prompt",), spec)
        return None
    if kind == "nli":
        _no_more(own, ("prompt", "batch", "repeats", "probabilities", "input_tokens"), Spec("nli"))
        if _choice(own, "probabilities", ("none", "tokens")) == "scale":
            raise ConfigError("the prompt 'nli' has no scale: choose probabilities=tokens or probabilities=none")
        return NliPrompt()
    rules = _own_rules(own, "judge_prompt", ("inference",))
    strictness = Strictness(
        _choice(own, "inference", ("allowed", "explicit")),
        _choice(own, "numbers", ("rounded", "exact")),
        _choice(own, "hedges", ("flag", "strict")),
    )
    scale: Literal["scale", "none"] = "none" if own.get("probabilities") == "none" else "scale"
    return VerdictPrompt(strictness, _domain(own), rules, _choice(own, "reasons", ("failing", "all")), scale)


def _probabilities(own: Mapping[str, str], rest: Spec) -> Literal["scale", "tokens", "none"]:
    is_plain = own.get("prompt", "verdict") != "verdict"
    found: Literal["scale", "tokens", "none"]
    found = _choice(own, "probabilities", ("none", "tokens") if is_plain else ("scale", "tokens", "none"))
    if found == "tokens" and find_provider(rest.name).formats == ("messages",):
        raise ConfigError(
            f"probabilities=tokens: the format of {rest.name!r} has no chances of tokens; take probabilities=scale"
        )
    return found


def _at_zero(rest: Spec) -> Spec:
    """Return a model's spec with temperature 0, where nothing is said that goes before it."""
    if any(name in rest.options for name in _OWN_SAMPLING):
        return rest
    return Spec(rest.name, rest.argument, {**rest.options, "temperature": "0"})


def _own_rules(own: Mapping[str, str], option: str, idle: tuple[str, ...]) -> OwnRules:
    """Read a user's own wording; options that only choose among ours would do nothing beside it."""
    file = own.get(option, "")
    if not file:
        return OwnRules()
    if found := next((name for name in idle if name in own), None):
        raise ConfigError(f"{found}={own[found]} chooses among our own wordings, and {option}={file} takes their place")
    return read_own_rules(_text_of(file, "prompt"), name=file)


def _text_of(file: str, kind: str) -> str:
    try:
        return Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the {kind} file {file!r}: {error}") from None


def _domain(own: Mapping[str, str]) -> Domain:
    name = own.get("domain", "")
    if not name:
        return Domain()
    return read_domain(_text_of(name, "domain"), name=name)


def _divided(spec: Spec, names: tuple[str, ...]) -> tuple[dict[str, str], Spec]:
    own = {key: value for key, value in spec.options.items() if key in names}
    rest = {key: value for key, value in spec.options.items() if key not in names}
    return own, Spec(spec.name, spec.argument, rest)


def _named(rest: Spec, own: Mapping[str, str]) -> str:
    """Return the spec to store: the endpoint's, which shows no secret, with our own options."""
    shown = Spec.parse(rest.shown)
    return str(Spec(shown.name, shown.argument, {**shown.options, **own}))


def _choice(own: Mapping[str, str], name: str, allowed: tuple[str, ...]) -> Any:
    value = own.get(name, allowed[0])
    if value not in allowed:
        raise ConfigError(f"option {name}={value!r}: choose one of {', '.join(allowed)}")
    return value


def _whole(own: Mapping[str, str], name: str, usual: int, at_most: int = 1000) -> int:
    text = own.get(name, str(usual))
    if not text.isascii() or not text.isdigit() or len(text) > 9 or not 1 <= int(text) <= at_most:
        raise ConfigError(f"option {name}={text!r} must be a whole number from 1 to {at_most}")
    return int(text)


def _share(own: Mapping[str, str], name: str, usual: float) -> float:
    try:
        value = float(own.get(name, usual))
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ConfigError(f"option {name}={own[name]!r} must be a number from 0 to 1")
    return value


def _no_more(own: Mapping[str, str], known: tuple[str, ...], spec: Spec) -> None:
    if unknown := sorted(own.keys() - set(known)):
        which = f"; it takes {', '.join(known)}" if known else ""
        hint = f", and its judges' own options with their place, as in '2.{unknown[0]}'" if spec.argument else ""
        raise ConfigError(
            f"unknown option {unknown[0]!r} of {spec.name!r}{which}{hint}{did_you_mean(unknown[0], known)}"
        )
