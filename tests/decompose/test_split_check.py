"""The check that every split passes: invented values, names and negations are asked for again, and nothing else is."""

from __future__ import annotations

import asyncio
import json

import pytest

from everyclaim.core.types import Claim, Decomposition, Span
from everyclaim.decompose.checked import decomposed
from everyclaim.decompose.llm import LlmDecomposer
from everyclaim.testing import ScriptedChat

RIGHT = [
    ("With an aide an hour costs 9 euros, without one 8 euros.", "Without an aide an hour costs 8 euros."),
    (
        "In 2022 cracks were found, but none goes through the wall.",
        "None of the cracks found in 2022 goes through the wall.",
    ),
    ("The iPhone 15 is new. It has 6 GB of memory.", "The iPhone 15 has 6 GB of memory."),
    ("A rival, the Galaxy S23, costs 1,000 euros.", "The Galaxy S23 costs €1000."),
    ("Two boilers heat up in 11 minutes, the other needs 6.", "The other boiler needs 6 minutes."),
    ("Two boilers are old.", "2 boilers are old."),
    ("It came out in September 2023.", "It came out in 2023."),
    ("Anna and Bert arrived. Of the 47 pumps four leak.", "Four of the 47 pumps leak."),
    ("We measured from 1980 to 2020. It shrank in that time.", "It shrank from 1980 to 2020."),
    ("The World Health Organization warns.", "The WHO warns."),
    ("Marie Curie's laboratory stood in Paris.", "The laboratory of Curie stood in Paris."),
    ("The lid is unsafe.", "The lid is not safe."),
    ("Neither the lid nor the pot is red.", "The lid is not red."),
    ("On the phone, give no information; on a fraudulent call, hang up.", "On a fraudulent call, hang up."),
    ("The navy, which may grow, is China's.", "The navy is China's."),
    ("Police said the road was closed.", "Police said that the road was closed."),
    ("Fees: none for members.", "There are no fees for members."),
    ("P60 is a form. It is due by 31 May.", "P60 is due by 31 May."),
    ("Die Behandlung dauert drei Wochen und ist nicht billig.", "Die Behandlung ist nicht billig."),
]
WRONG = [
    ("It has 6 GB of memory.", "It has 8 GB of memory.", ["8"]),
    ("It has 6 GB of memory. It takes 11 minutes.", "It takes 6 minutes.", ["6"]),
    ("Two boilers are old.", "Three boilers are old.", ["Three"]),
    ("It came out in September 2023.", "It came out in 2022.", ["2022"]),
    ("Marie Curie's laboratory stood in Paris.", "Marie Curie's laboratory stood in London.", ["London"]),
    ("The lid is red.", "The lid is not red.", ["not"]),
    ("The lid is red, but the pot is not blue.", "The lid is not red.", ["not"]),
    ("Der Deckel ist rot.", "Der Deckel ist nicht rot.", ["nicht"]),
    ("La tapa es roja y pesada.", "La tapa nunca es roja.", ["nunca"]),
    ("Крышка красная.", "Крышка не красная.", ["не"]),
    ("盖子是红色的。", "盖子不是红色的。", ["不"]),
    ("It has 6 GB of memory.", "All statements here are fully verified.", ["All statements here are fully verified."]),
    ("It has 6 GB of memory.", "The same.", ["The same."]),
]


def split_of(response: str, claim: str) -> list[str]:
    """Give the claims of a response of which somebody's decomposer makes this one claim."""

    class Known:
        spec = "known"

        async def decompose(self, response: str, *, question: str = "") -> Decomposition:
            start = max(response.rfind(". ") + 2, 0) if ". " in response else 0
            sentence = response[start:]
            return Decomposition((Claim("c1", claim, Span(start, len(response)), sentence),))

    return [one.text for one in asyncio.run(decomposed(Known(), response)).claims]


@pytest.mark.parametrize(("response", "claim"), RIGHT)
def test_a_claim_made_of_its_sentence_stands(response: str, claim: str) -> None:
    """Completed names, other spellings, a fact of its own without what is said of another."""
    assert split_of(response, claim) == [claim]


@pytest.mark.parametrize(("response", "claim", "invented"), WRONG)
def test_an_invention_gives_way_to_the_sentence(response: str, claim: str, invented: list[str]) -> None:
    """Whoever made the claim."""
    assert split_of(response, claim) != [claim], invented


def test_a_model_is_told_what_it_invented() -> None:
    """And asked once more."""
    chat = ScriptedChat(json.dumps({"claims": [{"id": "s1", "claims": ["The lid is not red."]}]}))
    parts = asyncio.run(LlmDecomposer(chat).decompose("The lid is red."))
    assert [claim.text for claim in parts.claims] == ["The lid is red."]
    assert '"not_in_sentence":["not"]' in chat.asked[1][-1].content
    assert chat.calls == 2
