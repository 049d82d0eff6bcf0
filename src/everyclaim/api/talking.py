"""What can be said about language models beside their specs: where they are, how they are asked, what they may use.

And how large what is scored may be, with a language model or without.

The same names serve in Python, on the command line and in `everyclaim.toml`. What can change a verdict becomes part
of the specs, and so of every result; limits, rates and the cache do not, so a run may go on under others.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.options import Opt
from everyclaim.core.spec import Spec, takes_chats
from everyclaim.models.chat.providers import is_provider
from everyclaim.verify.composed import taken_apart

MARKS = {"cascade": ">", "panel": "|"}  # judges of judges, and what stands between those
ENGINES = ("serper", "tavily", "brave", "searxng")  # web search, whose answers go into the same cache
SEARCHING = ("factscore", "safe")  # metrics that search for every claim
DEFAULT_STORE = ".everyclaim/runs.db"
BESIDE = "replies.db"  # the cache's name, in the folder of the store
BATCHES = "batches.db"  # the same of what is known about providers' batches
OFF = "off"
MODELS, LIMITS, SIZES = "Language models", "Limits and cache", "Sizes"  # what options are about
OF_POOLS = (  # options that hold for whoever talks through our chat models
    "max_cost", "max_calls", "max_tokens", "requests_per_minute", "tokens_per_minute", "cache", "provider_batch",
    "prices",
)  # fmt: skip


Few = Annotated[int, Range(1, 1000)]
Limit = Annotated[int, Range(0)]
Rate = Annotated[float, Range(above=0)]
Share = Annotated[float, Range(0, 1)]


Size = Annotated[int, Range(1)]
EvidenceRule = Literal["flag", "required"]
Inference = Literal["allowed", "explicit"]
Numbers = Literal["rounded", "exact"]
Hedges = Literal["flag", "strict"]
Reasons = Literal["failing", "all"]
ProbabilitySource = Literal["scale", "tokens", "none"]


class Sizes(TypedDict, total=False):
    """How large what is scored may be, whoever judges; see `core.limits.Limits`. None: as usual."""

    max_row_mb: Annotated[
        Annotated[float, Range(above=0)] | None,  # of a row of a file, and of all texts of a sample
        Opt("Maximum size of a row in MB; larger ones are left out (32).", "MB", panel=SIZES),
    ]
    max_answer_chars: Annotated[  # of an answer, a claim, a question, a reference
        Size | None, Opt("Maximum length of an answer; rows beyond are left out (1,000,000).", panel=SIZES)
    ]
    max_passage_chars: Annotated[
        Size | None, Opt("Maximum length of a passage; rows beyond are left out (10,000,000).", panel=SIZES)
    ]
    max_passages: Annotated[
        Size | None, Opt("Maximum number of passages; rows beyond are left out (20,000).", panel=SIZES)
    ]
    max_claims: Annotated[
        Size | None, Opt("Maximum number of sentences or claims; answers beyond fail (5,000).", panel=SIZES)
    ]


class Reaching(Sizes, total=False):
    """Sizes, and options of any language model. What is not given, or None, is as the spec or the component has it."""

    base_url: Annotated[
        str | None, Opt("Endpoint that speaks the model's format.", "URL")
    ]  # another endpoint that speaks the same format
    headers: Annotated[
        Mapping[str, str] | None,
        Opt("Header to send; $NAME is read from the environment. Repeatable.", "NAME=VALUE", "--header", usual={}),
    ]  # "$NAME" as a value is read from the environment
    rubric: Annotated[
        str | os.PathLike[str] | None, Opt("Rules and worked examples of a domain.", "FILE.toml", kind=str | None)
    ]  # a TOML file with rules and examples for a domain
    max_cost: Annotated[
        Annotated[float, Range(0)] | None, Opt("Maximum cost in US dollars; then it stops.", "DOLLARS", panel=LIMITS)
    ]  # US dollars, for one call of the function or the command
    max_calls: Annotated[Limit | None, Opt("Maximum number of calls; then it stops.", panel=LIMITS)]
    max_tokens: Annotated[
        Limit | None, Opt("Maximum number of tokens of prompts and replies; then it stops.", panel=LIMITS)
    ]  # of prompts and replies
    requests_per_minute: Annotated[Rate | None, Opt("Maximum requests per minute.", panel=LIMITS)]
    tokens_per_minute: Annotated[Rate | None, Opt("Maximum tokens per minute.", panel=LIMITS)]
    cache: Annotated[
        str | os.PathLike[str] | None,
        Opt("File of cached replies (replies.db next to the store).", "FILE", panel=LIMITS, kind=str | None),
    ]  # a file for replies; "off" or None: none
    provider_batch: Annotated[
        bool | str | os.PathLike[str] | None,
        Opt(
            "Use the provider's batch API: half the price, takes hours.",
            flag="--batch/--no-batch",
            kind=bool,
            usual=False,
        ),
    ]  # ask through the provider's batch API; a path: noted there
    prices: Annotated[
        str | os.PathLike[str] | None,
        Opt("Price file that overrides the built-in table.", "FILE", panel=LIMITS, kind=str | None),
    ]  # a file that goes over our own price table


class SplitOptions(TypedDict, total=False):
    """How a language model splits, by the same names everywhere and in its spec."""

    split_prompt: Annotated[
        str | os.PathLike[str] | None,
        Opt("File that defines a claim in your own words.", "FILE", kind=str | None),
    ]


class VerdictOptions(TypedDict, total=False):
    """How a language model judges, by the same names everywhere and in its spec."""

    claims_per_call: Annotated[Few | None, Opt("Maximum number of claims in one call (as many as fit).", was="batch")]
    repeats: Annotated[Few | None, Opt("Number of times that every claim is judged; the majority decides.")]
    evidence: Annotated[EvidenceRule | None, Opt("Whether support needs a quote that is really there.")]
    inference: Annotated[Inference | None, Opt("Whether conclusions from the passages count.")]
    numbers: Annotated[Numbers | None, Opt("Whether rounded numbers agree.")]
    hedges: Annotated[Hedges | None, Opt("Whether a difference in certainty is flagged or unsupported.")]
    reasons: Annotated[Reasons | None, Opt("Which verdicts come with a reason (failing).")]
    probabilities: Annotated[ProbabilitySource | None, Opt("Source of probabilities (scale).")]
    judge_prompt: Annotated[
        str | os.PathLike[str] | None,
        Opt("File that defines the labels in your own words.", "FILE", kind=str | None),
    ]


class Splitting(Reaching, SplitOptions, total=False):
    """Options of a language model that splits."""


class Judging(Reaching, VerdictOptions, total=False):
    """Options of a language model that judges."""


class Talking(Judging, Splitting, total=False):
    """All options of language models."""

    one_call: Annotated[
        bool | None, Opt("Split and judge in one call: cheaper, less accurate.", kind=bool, usual=False)
    ]  # split and judge in one request


PLAIN_PROMPTS = ("nli", "minicheck")  # of judges that cannot be told how strict to be


@dataclass(frozen=True, slots=True)
class _Said:
    """One thing said beside the spec, and the option of the spec that it is."""

    name: str
    option: str
    value: str


_OF_JUDGES = {name: name for name in VerdictOptions.__annotations__}
_OF_ADDRESSES = {"base_url": "base_url"}  # of whatever is a language model
_OF_MODELS = {**_OF_ADDRESSES, "rubric": "domain"}  # of judges and of decomposers


# What `strict` means for a language model that judges. Every judge's replies are held to `Policy.strict`: a
# quote that is really there, hedges that match, values that are not only rounded.
STRICT: Mapping[str, str] = {"evidence": "required", "inference": "explicit", "numbers": "exact", "hedges": "strict"}


def judge_spec(judge: str, options: Mapping[str, Any]) -> Spec:
    """Return a judge's spec with what the options say of it; judges that are no language models stay as they are.

    Raises `ConfigError` when the spec says something else.
    """
    profile = _profile(options) if options.get("strict") else []
    return _with(judge, [*_said(options, _OF_MODELS | _OF_JUDGES), *profile])


def _profile(options: Mapping[str, Any]) -> list[_Said]:
    """Return what `strict` says and no option says already. Raises `ConfigError` where one says something else."""
    for name, value in STRICT.items():
        if (said := options.get(name)) not in (None, value):
            raise ConfigError(f"strict means {name}={value!r}, and {name} says {said!r}: leave one of them out")
    return [_Said("strict", name, value) for name, value in STRICT.items() if options.get(name) is None]


def decomposer_spec(decomposer: str, options: Mapping[str, Any]) -> Spec:
    """Return a decomposer's spec with what the options say of it."""
    return _with(decomposer, [*_said(options, _OF_MODELS | {"split_prompt": "split_prompt"})])


def author_spec(author: str, options: Mapping[str, Any]) -> Spec:
    """Return the spec of a guard's generator or rewriter with what the options say of where models are."""
    return _with(author, [*_said(options, _OF_ADDRESSES)])


def check_address(options: Mapping[str, Any], *components: Any) -> None:
    """Refuse an address, or headers, for models of several providers: each would be sent the other's key.

    Raises `ConfigError`.
    """
    found = providers(*components)
    if len(found) < 2:
        return
    if said := next((one for one in _said(options, _OF_ADDRESSES)), None):
        raise ConfigError(
            f"{said.name} goes to one provider, and these models are of several ({', '.join(found)}): "
            f"say it in the spec of each, as in '{found[0]}:…?{said.option}=…'"
        )


def metric_spec(metric: Any, options: Mapping[str, Any]) -> Any:
    """Return a metric's spec with what the options say of it; a metric that is no spec stays as it is."""
    if not options.get("one_call"):
        return metric
    if not isinstance(metric, str):
        raise ConfigError("one_call is for the metric 'faithfulness', not for one of your own")
    if (named := Spec.parse(metric).name) != "faithfulness":
        raise ConfigError(f"one_call is for the metric 'faithfulness', not for {named!r}")
    return str(_filled(Spec.parse(metric), [_Said("one_call", "mode", "one_call")]))


def talks(*components: Any) -> bool:
    """Whether one of these components (specs, or anything else) is a language model, or made of some.

    A third party's counts where its factory takes the chat models to talk through.
    """
    return _ours(*components) or any(_theirs(Spec.parse(one)) for one in components if isinstance(one, str))


def _ours(*components: Any) -> bool:
    return any(_parts(Spec.parse(one)) for one in components if isinstance(one, str))


def _theirs(spec: Spec) -> bool:
    if spec.name in MARKS:
        return any(_theirs(part) for part in taken_apart(spec, MARKS[spec.name])[0])
    return takes_chats(spec.name)


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
    about_models = [name for name in Talking.__annotations__ if name not in Sizes.__annotations__]
    said = [name for name in about_models if _says_something(name, options.get(name))]
    if _ours(judge):
        return [name for name in said if name == "split_prompt" and not _splits(judge, others)]
    if _ours(*others):
        return [name for name in said if name not in Splitting.__annotations__]
    if talks(judge, *others, metric):
        return [name for name in said if name not in OF_POOLS]
    of_searches = {"cache"} if searches(metric, knowledge) else set()
    return [name for name in said if name not in of_searches]


def _splits(judge: Any, others: tuple[Any, ...]) -> bool:
    """Whether a language model splits: the decomposer, where one is named, else the judge's own model."""
    named = [one for one in others if one is not None]
    return talks(*named) if named else isinstance(judge, str) and is_provider(Spec.parse(judge).name)


def refuse(name: str, judge: Any, *others: Any, example: str = "judge='openai:…'") -> ConfigError:
    """Return the error for an option that is `unused`; `name` is as the caller writes it."""
    which = " that judge" if talks(*others) else ""
    silent = [Spec.parse(one) for one in (judge, *others) if isinstance(one, str) and not talks(one)]
    named = " and ".join(repr(spec.shown) for spec in silent)
    but = f", but {named} is none" if named else ", and none is named by its spec"
    return ConfigError(f"{name} is about language models{which}{but}; name one, as in {example}")


def providers(*components: Any) -> list[str]:
    """Return the providers whose models these components are, sorted."""
    return sorted({part.name for one in components if isinstance(one, str) for part in _parts(Spec.parse(one))})


def cache_beside(store: str | os.PathLike[str], usual: str) -> str:
    """Return where replies are kept when nobody says: in the store's folder, for a database in that of `usual`."""
    return _beside(store, usual, BESIDE)


def batches_beside(store: str | os.PathLike[str], usual: str) -> str:
    """Return where the providers' batches of runs are noted, as `cache_beside` for replies."""
    return _beside(store, usual, BATCHES)


def _beside(store: str | os.PathLike[str], usual: str, name: str) -> str:
    place = os.fspath(store)
    return os.path.join(os.path.dirname(usual if "://" in place else place), name)  # noqa: PTH118, PTH120 - as given


def _says_something(name: str, value: Any) -> bool:
    return value not in (None, False, "", {}) and not (name == "cache" and value == OFF)


def _said(options: Mapping[str, Any], names: Mapping[str, str]) -> Iterable[_Said]:
    for name, option in names.items():
        if (value := options.get(name)) is not None:
            yield _Said(name, option, os.fspath(value) if isinstance(value, os.PathLike) else str(value))
    headers = options.get("headers") or {}
    if not isinstance(headers, Mapping) or not all(isinstance(one, str) for pair in headers.items() for one in pair):
        raise ConfigError("headers must be a mapping of texts to texts, as in {'X-Team': '$TEAM_TOKEN'}")
    for header, value in headers.items():
        yield _Said("headers", f"header.{header}", value)


def _with(text: str, said: list[_Said]) -> Spec:
    spec = Spec.parse(text)
    found = {part.name for part in _parts(spec)}
    if len(found) > 1 and (address := next((one for one in said if one.name in {"base_url", "headers"}), None)):
        raise ConfigError(
            f"{address.name} goes to one provider, but {spec.shown!r} has several ({', '.join(sorted(found))}): "
            f"say it in the spec, with the judge's place, as in '1.{address.option}=…'"
        )
    return _filled_everywhere(spec, said) if found and said else spec


def _parts(spec: Spec) -> list[Spec]:
    """Return the language models in a spec."""
    if is_provider(spec.name):
        return [spec]
    if spec.name not in MARKS:
        return []
    return [found for part in taken_apart(spec, MARKS[spec.name])[0] for found in _parts(part)]


def _filled_everywhere(spec: Spec, said: list[_Said]) -> Spec:
    if is_provider(spec.name):
        return _filled(spec, said)
    if spec.name not in MARKS:
        return spec
    parts, options = taken_apart(spec, MARKS[spec.name])
    filled = [_filled_everywhere(part, said) for part in parts]
    for place, part in enumerate(filled, start=1):
        options |= {f"{place}.{key}": value for key, value in part.options.items()}
    return Spec(spec.name, MARKS[spec.name].join(str(Spec(part.name, part.argument)) for part in filled), options)


def _filled(spec: Spec, said: list[_Said]) -> Spec:
    if spec.options.get("prompt") in PLAIN_PROMPTS:
        said = [one for one in said if one.name != "strict"]
    if "judge_prompt" in spec.options or any(one.option == "judge_prompt" for one in said):
        said = [one for one in said if (one.name, one.option) != ("strict", "inference")]  # of our wordings
    for one in said:
        known = spec.options.get(one.option, one.value)
        if known != one.value:
            shown = "" if one.name in {"headers", "base_url"} else f": {one.value!r} and {known!r}"
            raise ConfigError(
                f"{one.name} and the option {one.option!r} of {spec.name}:{spec.argument} say different things{shown}; "
                "say it in one place"
            )
    return Spec(spec.name, spec.argument, {**spec.options, **{one.option: one.value for one in said}})
