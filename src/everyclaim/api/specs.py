"""Names of decomposers, verifiers, metrics and observers, what makes them, and specs with what is chosen beside them.

Ours are listed here by import path, so that naming one imports only that one. Third parties add theirs
through the entry-point groups `everyclaim.decomposers`, `everyclaim.verifiers` and `everyclaim.metrics`.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlsplit

from everyclaim.api.options import (
    DEFAULT_STORE,
    OFF,
    LlmOptions,
    LlmSplittingOptions,
    Observe,
    SizeOptions,
    VerdictOptions,
)
from everyclaim.core.errors import ConfigError
from everyclaim.core.events import Observer
from everyclaim.core.kinds import Range
from everyclaim.core.options import said_by
from everyclaim.core.plaintext import did_you_mean
from everyclaim.core.protocols import Verifier
from everyclaim.core.spec import Registry, Spec, takes_chats
from everyclaim.models.chat.providers import is_provider, provider_names
from everyclaim.verify.composed import taken_apart
from everyclaim.verify.functions import as_verifier

MARKS = {"cascade": ">", "panel": "|"}  # judges of judges, and what stands between those
ENGINES = ("serper", "tavily", "brave", "searxng")  # web search, whose answers go into the same cache
SEARCHING = ("factscore", "safe")  # metrics that search for every claim
OF_POOLS = (  # options that hold for whoever talks through our chat models
    "max_cost", "max_calls", "max_tokens", "requests_per_minute", "tokens_per_minute", "cache", "provider_batch",
    "prices"
)  # fmt: skip
_BY_PROVIDER = "; a model is named with its provider, as in openai:{name}"
DECOMPOSERS = Registry(
    "decomposers",
    {"embedded": "everyclaim.decompose.embedded:from_spec", "python": "everyclaim.core.spec:imported"},
    others=lambda: dict.fromkeys(provider_names(), "everyclaim.api.judges:llm_decomposer"),
    advice=_BY_PROVIDER,
)
VERIFIERS = Registry(
    "verifiers",
    {
        "embedded": "everyclaim.verify.embedded:from_spec",
        "lexical": "everyclaim.verify.lexical:from_spec",
        "cascade": "everyclaim.api.judges:cascade",
        "panel": "everyclaim.api.judges:panel",
        "hf": "everyclaim.verify.marks:hf_verifier",
        "python": "everyclaim.core.spec:imported",
    },
    others=lambda: dict.fromkeys(provider_names(), "everyclaim.api.judges:llm_verifier"),
    advice=_BY_PROVIDER,
    noun="judge",
)


def create_verifier(judge: str | Spec, chats: Any = None) -> Verifier:
    """Return the judge a spec names; judges that are language models talk through `chats`."""
    return as_verifier(VERIFIERS.create(judge, chats))


# ---- metrics

_METRICS = (
    "faithfulness", "nli", "qa", "combined", "factscore", "safe", "factual_correctness", "ragchecker", "attribution",
)  # fmt: skip
METRICS = Registry(
    "metrics",
    {name: f"everyclaim.api.metrics:{name}" for name in _METRICS} | {"python": "everyclaim.core.spec:imported"},
    "parts",
    advice="; your own is python:MODULE:NAME",
)


# ---- what is chosen beside a spec


class SpecOption(NamedTuple):
    """An option of a spec that is given beside it, under the name `given`."""

    given: str
    option: str
    value: str


_OF_ADDRESSES = {"base_url": "base_url"}  # of whatever is a language model
_OF_MODELS = {**_OF_ADDRESSES, "rubric": "domain"}  # of judges and of decomposers
_OF_JUDGES = _OF_MODELS | {name: name for name in VerdictOptions.__annotations__}
_PLAIN_PROMPTS = ("nli", "minicheck")  # of judges that cannot be told how strict to be

# What `strict` means for a language model that judges. Every judge's replies are held to `Policy.strict`: a
# quote that is really there, hedges that match, values that are not only rounded.
STRICT: Mapping[str, str] = {"evidence": "required", "inference": "explicit", "numbers": "exact", "hedges": "strict"}


def judge_spec(judge: str, options: Mapping[str, Any]) -> Spec:
    """Return a judge's spec with what the options say of it; judges that are no language models stay as they are.

    Raises `ConfigError` when the spec says something else.
    """
    given = _given(options, _OF_JUDGES)
    for name, value in STRICT.items() if options.get("strict") else ():
        if (other := options.get(name)) not in (None, value):
            raise ConfigError(f"strict sets {name}={value!r}, but {name} is {other!r}: leave one of them out")
        if other is None:
            given.append(SpecOption("strict", name, value))
    return _filled(Spec.parse(judge), given)


def decomposer_spec(decomposer: str, options: Mapping[str, Any]) -> Spec:
    """Return a decomposer's spec with what the options say of it."""
    return _filled(Spec.parse(decomposer), _given(options, _OF_MODELS | {"split_prompt": "split_prompt"}))


def author_spec(author: str, options: Mapping[str, Any]) -> Spec:
    """Return the spec of a guard's generator or rewriter with what the options say of where models are."""
    return _filled(Spec.parse(author), _given(options, _OF_ADDRESSES))


def metric_spec(options: Mapping[str, Any]) -> Any:
    """Return the metric's spec with what the options say of it; a metric that is no spec stays as it is."""
    metric = options.get("metric", "faithfulness")
    if not options.get("one_call"):
        return metric
    if not isinstance(metric, str):
        raise ConfigError("one_call works only with the metric 'faithfulness', not with your own")
    spec = Spec.parse(metric)
    if spec.name != "faithfulness":
        raise ConfigError(f"one_call works only with the metric 'faithfulness', not {spec.name!r}")
    return str(_with(spec, [SpecOption("one_call", "mode", "one_call")]))


def check_address(options: Mapping[str, Any], *components: Any) -> None:
    """Refuse an address, or headers, for models of several providers: each would be sent the other's key.

    Raises `ConfigError`.
    """
    found = providers(*components)
    if len(found) > 1 and (given := next(iter(_given(options, _OF_ADDRESSES)), None)):
        raise ConfigError(
            f"{given.given} applies to one provider, but these models use several ({', '.join(found)}): "
            f"put it into each spec, as in '{found[0]}:…?{given.option}=…', or '1.{given.option}=…' for a "
            "judge in a cascade or panel"
        )


def talks(*components: Any) -> bool:
    """Whether one of these components (specs, or anything else) is a language model, or made of some.

    A third party's counts where its factory takes the chat models to talk through.
    """
    leaves = [leaf for component in components for leaf in _leaves(component)]
    return any(is_provider(leaf.name) or takes_chats(leaf.name) for leaf in leaves)


def searches(metric: Any, knowledge: Any = None) -> bool:
    """Whether a metric (a spec, or None) searches the web, by itself or with this knowledge."""
    spec = Spec.parse(metric) if isinstance(metric, str) else None
    if spec is None or spec.name not in SEARCHING:
        return False
    named = spec.options.get("search") or (knowledge if isinstance(knowledge, str) else "")
    return named.partition("?")[0].partition(":")[0] in ENGINES


def unused(
    options: Mapping[str, Any], judge: Any, *others: Any, metric: Any = None, knowledge: Any = None
) -> list[str]:
    """Return the options about language models that are said and would do nothing, since nobody is there for them.

    `judge` (None: there is none) and `others`, decomposers and generators, are specs or components.
    """
    about_models = [name for name in LlmOptions.__annotations__ if name not in SizeOptions.__annotations__]
    idle = {"cache": OFF}
    said = [name for name in about_models if options.get(name) not in (None, False, "", {}, idle.get(name))]
    if providers(judge):
        return [name for name in said if name == "split_prompt" and not _splits(judge, others)]
    if providers(*others):
        return [name for name in said if name not in LlmSplittingOptions.__annotations__]
    if talks(judge, *others, metric):
        return [name for name in said if name not in OF_POOLS]
    of_searches = {"cache"} if searches(metric, knowledge) else set()
    return [name for name in said if name not in of_searches]


def _splits(judge: Any, others: tuple[Any, ...]) -> bool:
    """Whether a language model splits: the decomposer, where one is named, else the judge's own model."""
    named = [component for component in others if component is not None]
    return talks(*named) if named else isinstance(judge, str) and is_provider(Spec.parse(judge).name)


def refuse(name: str, judge: Any, *others: Any, example: str = "judge='openai:…'") -> ConfigError:
    """Return the error for an option that is `unused`; `name` is as the caller writes it."""
    which = " that judge" if talks(*others) else ""
    silent = [Spec.parse(spec) for spec in (judge, *others) if isinstance(spec, str) and not talks(spec)]
    named = " and ".join(repr(spec.shown) for spec in silent)
    but = f", but {named} is not one" if named else ", and none is named by its spec"
    return ConfigError(f"{name} needs a language model{which}{but}; use for example {example}")


def refuse_unused(options: Mapping[str, Any], judge: Any, *others: Any) -> None:
    """Raise `ConfigError` for an option about language models that would do nothing."""
    for name in unused(options, judge, *others, metric=options.get("metric"), knowledge=options.get("knowledge")):
        raise refuse(name, judge, *others)


def providers(*components: Any) -> list[str]:
    """Return the providers whose models these components are, or are made of, sorted."""
    leaves = (leaf.name for component in components for leaf in _leaves(component))
    return sorted({name for name in leaves if is_provider(name)})


REPLIES, BATCHES = "replies.db", "batches.db"  # of language models, and of the providers' batches under way


def beside(store: str | os.PathLike[str], name: str) -> str:
    """Return where a file is kept when nobody says: in the store's folder, for a database in the usual store's."""
    place = os.fspath(store)
    return os.path.join(os.path.dirname(DEFAULT_STORE if "://" in place else place), name)  # noqa: PTH118, PTH120 - as given


def _given(options: Mapping[str, Any], names: Mapping[str, str]) -> list[SpecOption]:
    """Return what the options say, of these names and of headers, as options of a spec."""
    said = ((name, option, options.get(name)) for name, option in names.items())
    found = [SpecOption(name, option, str(value)) for name, option, value in said if value is not None]
    headers = options.get("headers") or {}
    return found + [SpecOption("headers", f"header.{name}", value) for name, value in headers.items()]


def _leaves(component: Any) -> Iterator[Spec]:
    """Yield the spec of a component, or those of the judges that it is made of; nothing for what is no spec."""
    spec = Spec.parse(component) if isinstance(component, str) else component
    if isinstance(spec, Spec) and spec.name in MARKS:
        for part in taken_apart(spec, MARKS[spec.name])[0]:
            yield from _leaves(part)
    elif isinstance(spec, Spec):
        yield spec


def _filled(spec: Spec, given: list[SpecOption]) -> Spec:
    """Write options into a spec of a language model, and into those that a judge is made of."""
    if is_provider(spec.name):
        return _with(spec, given)
    if spec.name not in MARKS or not providers(spec):
        return spec
    parts, options = taken_apart(spec, MARKS[spec.name])
    return joined(spec.name, [_filled(part, given) for part in parts], options)


def joined(name: str, parts: Sequence[Spec], options: Mapping[str, str]) -> Spec:
    """Return the spec of a judge that is made of judges; their options stand behind their numbers."""
    inside = {f"{place}.{key}": value for place, part in enumerate(parts, 1) for key, value in part.options.items()}
    return Spec(name, MARKS[name].join(str(Spec(part.name, part.argument)) for part in parts), {**options, **inside})


def _with(spec: Spec, given: list[SpecOption]) -> Spec:
    if spec.options.get("prompt") in _PLAIN_PROMPTS:
        given = [one for one in given if one.given != "strict"]
    if "judge_prompt" in spec.options or any(one.option == "judge_prompt" for one in given):
        given = [one for one in given if (one.given, one.option) != ("strict", "inference")]  # of our wordings
    for name, option, value in given:
        known = spec.options.get(option, value)
        if known != value:
            shown = "" if name in {"headers", "base_url"} else f": {value!r} and {known!r}"
            raise ConfigError(
                f"{name} and the option {option!r} of {spec.name}:{spec.argument} differ{shown}; set it in one place"
            )
    return Spec(spec.name, spec.argument, {**spec.options, **{one.option: one.value for one in given}})


# ---- observers

_log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"


class Instrumentation:
    """The observers of a session. What a spec opened, `close` closes; objects that were given are their owners'."""

    def __init__(self, given: Observe) -> None:
        wanted = [] if given is None else [given] if isinstance(given, str) or callable(given) else list(given)
        with contextlib.ExitStack() as closing:
            self.observers: tuple[Observer, ...] = tuple(_opened(observer, closing) for observer in wanted)
            self._closing = closing.pop_all()

    def close(self) -> None:
        """Export or write what is left, and stop serving; where that fails it is logged, as the work is done."""
        try:
            self._closing.close()
        except Exception as error:  # noqa: BLE001 - an exporter may raise anything
            _log.warning("some telemetry was lost: %s: %s", type(error).__name__, error)


def _opened(given: str | Observer, closing: contextlib.ExitStack) -> Observer:
    if not isinstance(given, str):
        return given
    spec = Spec.parse(given)
    openers: dict[str, Callable[..., Observer]] = {"otel": _otel, "prometheus": _prometheus}
    if spec.name not in openers:
        meant = did_you_mean(spec.name, openers)
        raise ConfigError(f"unknown observer {spec.name!r}; known: {', '.join(openers)}{meant}")
    return openers[spec.name](spec, closing, **said_by(spec, openers[spec.name]))


def _otel(
    spec: Spec, closing: contextlib.ExitStack, *, slices: tuple[str, ...] = (), with_texts: bool = False
) -> Observer:
    """Export tags as attributes, and with `with_texts` failing claims in the explanation of the event."""
    from everyclaim.monitor.otel import OpenTelemetry, exported

    if not spec.argument:
        return OpenTelemetry(slices=slices, with_texts=with_texts)
    parts = urlsplit(spec.argument)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError(
            "otel needs the address of a collector that takes OTLP over HTTP, as in otel:http://localhost:4318"
        )
    observer, close = exported(spec.argument, slices=slices, with_texts=with_texts)
    closing.callback(close)
    return observer


def _prometheus(
    spec: Spec,
    closing: contextlib.ExitStack,
    *,
    slices: tuple[str, ...] = (),
    max_releases: Annotated[int, Range(1)] = 20,
) -> Observer:
    """Export tags as labels, and at most so many releases."""
    from everyclaim.monitor.telemetry import Metrics, TextFile

    where, metrics = spec.argument, Metrics(slices=slices, max_releases=max_releases)
    if where.endswith(".prom"):
        file = TextFile(metrics, where)
        closing.callback(file.close)
        return file
    host, _, port = where.rpartition(":")
    if not port.isdecimal() or not port.isascii() or not 0 < int(port) < 65536:
        raise ConfigError(
            "prometheus needs a port or a file ending in .prom, as in prometheus:9464, "
            f"prometheus:0.0.0.0:9464 or prometheus:/var/lib/node_exporter/everyclaim.prom; got {where!r}"
        )
    closing.callback(metrics.serve(host.strip("[]") or LOOPBACK, int(port)))
    return metrics
