"""Specs of language models and of judges made of judges → components, all talking through one set of chat models."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from everyclaim.api.pool import ChatPool
from everyclaim.core.errors import ConfigError
from everyclaim.core.nearest import did_you_mean
from everyclaim.core.protocols import ChatModel, Verifier
from everyclaim.core.spec import Spec
from everyclaim.decompose.llm import LlmDecomposer
from everyclaim.prompts import Domain, JudgePrompt, NliPrompt, SplitPrompt, Strictness, VerdictPrompt, read_domain
from everyclaim.verify.cascade import Cascade, Deferral
from everyclaim.verify.composed import taken_apart
from everyclaim.verify.llm import LlmVerifier
from everyclaim.verify.minicheck import MiniCheckChat
from everyclaim.verify.panel import Panel

JUDGE_OPTIONS = ("batch", "repeats", "evidence", "prompt", "domain", "inference", "numbers", "hedges")
SPLIT_OPTIONS = ("atomicity", "coverage", "domain", "sentences", "language")


def llm_verifier(spec: Spec, chats: ChatPool | None = None) -> LlmVerifier | MiniCheckChat:
    """Build ``openai:model`` or ``anthropic:model`` as a judge; options that are not its own are the endpoint's.

    `batch` (claims per call), `repeats`, `evidence` (`flag`, `required`), `prompt` (`verdict`, `nli`, `minicheck`),
    `domain` (a TOML file), `inference`, `numbers`, `hedges`. Raises `ConfigError` for a wrong value.
    """
    own, rest = _divided(spec, JUDGE_OPTIONS)
    chat = (chats or ChatPool()).model(rest)
    if own.get("prompt") == "minicheck":
        _no_more(own, ("prompt",), spec)
        return MiniCheckChat(chat, _named(chat, own))
    return LlmVerifier(
        chat,
        _judge_prompt(own),
        batch=_whole(own, "batch", 8),
        repeats=_whole(own, "repeats", 1),
        evidence=_choice(own, "evidence", ("flag", "required")),
        name=_named(chat, own),
    )


def llm_decomposer(spec: Spec, chats: ChatPool | None = None) -> LlmDecomposer:
    """Build ``openai:model`` or ``anthropic:model`` as a decomposer; options that are not its own are the endpoint's.

    `atomicity` and `coverage` (`high`, `low`), `domain` (a TOML file), `sentences` (per call), `language`.
    Raises `ConfigError` for a wrong value.
    """
    own, rest = _divided(spec, SPLIT_OPTIONS)
    chat = (chats or ChatPool()).model(rest)
    prompt = SplitPrompt(
        _choice(own, "atomicity", ("high", "low")), _choice(own, "coverage", ("high", "low")), _domain(own)
    )
    return LlmDecomposer(
        chat, prompt, at_most=_whole(own, "sentences", 30), language=own.get("language", ""), name=_named(chat, own)
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


def _judge_prompt(own: Mapping[str, str]) -> JudgePrompt:
    if _choice(own, "prompt", ("verdict", "nli", "minicheck")) == "nli":
        _no_more(own, ("prompt", "batch", "repeats"), Spec("nli"))
        return NliPrompt()
    strictness = Strictness(
        _choice(own, "inference", ("allowed", "explicit")),
        _choice(own, "numbers", ("rounded", "exact")),
        _choice(own, "hedges", ("flag", "strict")),
    )
    return VerdictPrompt(strictness, _domain(own))


def _domain(own: Mapping[str, str]) -> Domain:
    name = own.get("domain", "")
    if not name:
        return Domain()
    try:
        text = Path(name).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the domain file {name!r}: {error}") from None
    return read_domain(text, name=name)


def _divided(spec: Spec, names: tuple[str, ...]) -> tuple[dict[str, str], Spec]:
    own = {key: value for key, value in spec.options.items() if key in names}
    rest = {key: value for key, value in spec.options.items() if key not in names}
    return own, Spec(spec.name, spec.argument, rest)


def _named(chat: ChatModel, own: Mapping[str, str]) -> str:
    """Return the spec to store: the endpoint's, which shows no secret, with our own options."""
    shown = Spec.parse(chat.spec)
    return str(Spec(shown.name, shown.argument, {**shown.options, **own}))


def _choice(own: Mapping[str, str], name: str, allowed: tuple[str, ...]) -> Any:
    value = own.get(name, allowed[0])
    if value not in allowed:
        raise ConfigError(f"option {name}={value!r}: choose one of {', '.join(allowed)}")
    return value


def _whole(own: Mapping[str, str], name: str, usual: int) -> int:
    text = own.get(name, str(usual))
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1000:
        raise ConfigError(f"option {name}={text!r} must be a whole number from 1 to 1000")
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
