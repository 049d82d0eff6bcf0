"""Whether a changed claim is surely no longer what the contexts say."""

from __future__ import annotations

from training.synthesis.edits import Edit
from training.synthesis.shapes import Case
from training.synthesis.sources import content, spans


def clean(edit: Edit, base: str, case: Case) -> bool:
    """Whether the changed claim is surely not what another sentence of the contexts says."""
    if edit.text == base or any(edit.text in text for text in case.contexts):
        return False
    new = content(edit.text)
    for text in case.contexts:
        if len(edit.errors) == 1 and edit.text[slice(*edit.errors[0])] not in text:
            continue
        for start, end in spans(text):
            if len(new & content(text[start:end])) >= 0.95 * len(new):
                return case.sentence() == text[start:end]
    return True
