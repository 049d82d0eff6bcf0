"""The spec and the parameters of a verifier that is made of verifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from everyclaim.core.protocols import Verifier
from everyclaim.core.spec import Spec


def composed(name: str, mark: str, verifiers: Sequence[Verifier], own: Mapping[str, str]) -> str:
    """Write ``name:first<mark>second?option=value``; a part's own options: ``2.claims_per_call=4``."""
    parts = [Spec.parse(verifier.spec) for verifier in verifiers]
    options = {f"{place}.{key}": value for place, part in enumerate(parts, 1) for key, value in part.options.items()}
    return str(Spec(name, mark.join(str(Spec(part.name, part.argument)) for part in parts), options | dict(own)))


def taken_apart(spec: Spec, mark: str) -> tuple[list[Spec], dict[str, str]]:
    """Return the specs of the parts, with the options that carry their place, and the options of the whole."""
    texts = spec.argument.split(mark) if mark != ">" else spec.argument.split(mark, 1)
    own = dict(spec.options)
    parts = []
    for place, text in enumerate(texts, start=1):
        part = Spec.parse(text)
        prefix = f"{place}."
        options = {key.removeprefix(prefix): own.pop(key) for key in list(own) if key.startswith(prefix)}
        parts.append(Spec(part.name, part.argument, options))
    return parts, own


def numbered(verifiers: Sequence[Verifier]) -> dict[str, str]:
    """Return the parameters of several verifiers in one mapping: ``1.repeats``, ``2.judge_prompt``, ..."""
    return {
        f"{place}.{key}": value
        for place, verifier in enumerate(verifiers, start=1)
        for key, value in getattr(verifier, "parameters", {}).items()
    }
