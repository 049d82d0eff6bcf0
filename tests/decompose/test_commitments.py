"""Rule 9 for small words: a claim neither adds nor loses a negation, a quantifier, a hedge or a direction."""

from __future__ import annotations

import asyncio
import json

import pytest

import everyclaim as ec
from everyclaim.core.types import Claim, Decomposition, Span
from everyclaim.decompose.decontextualize import LlmPreparer
from everyclaim.decompose.llm import LlmDecomposer
from everyclaim.testing import ScriptedChat, request_data


class Fixed:
    """A decomposer of the user's own that says what it was told to, of the whole response."""

    spec = "fixed"

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    async def decompose(self, response: str, *, question: str = "") -> Decomposition:
        span = Span(0, len(response))
        return Decomposition(tuple(Claim(f"c{i}", text, span, response) for i, text in enumerate(self.texts, 1)))


def taken(sentence: str, *texts: str) -> list[str]:
    """The claims that are judged when a decomposer makes these of a sentence."""
    return [claim.text for claim in ec.extract_claims(sentence, decomposer=Fixed(*texts)).claims]


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The kettle is not red.", "The kettle is red."),
        ("The kettle is red.", "The kettle is not red."),
        ("The kettle is red.", "The kettle isn't red."),
        ("The kettle is red.", "The kettle may be red."),
        ("The kettle may be red.", "The kettle is red."),
        ("All kettles are red.", "Some kettles are red."),
        ("Most kettles are red.", "Some kettles are red."),
        ("Kettles are red.", "Most kettles are red."),
        ("The kettles are red.", "None of the kettles are red."),
        ("The kettles are red.", "Some of the kettles are red."),
        ("Only the kettle is red.", "The kettle is red."),
        ("The kettle is red.", "Only the kettle is red."),
        ("The kettle holds 2 litres.", "The kettle holds at least 2 litres."),
        ("The kettle holds 2 litres.", "The kettle holds up to 2 litres."),
        ("The kettle holds up to 2 litres.", "The kettle holds at least 2 litres."),
        ("The kettle holds 2 litres.", "The kettle holds about 2 litres."),
        ("The kettle holds two litres.", "The kettle holds approximately 2 litres."),
        ("You must descale the kettle.", "You should descale the kettle."),
        ("You should descale the kettle.", "You can descale the kettle."),
        ("The kettle was recalled.", "The kettle was reportedly recalled."),
        ("Reportedly, the kettle was recalled.", "The kettle was recalled."),
        ("Sales rose in 2021.", "Sales fell in 2021."),
        ("The kettle is hotter than the pot.", "The kettle is colder than the pot."),
        ("The kettle is lighter.", "The kettle is heavier than the pot."),
        ("The kettle is safe.", "The kettle is unsafe."),
        ("The kettle is unsafe.", "The kettle is safe."),
        ("The kettle causes vomiting.", "The kettle may cause nausea, vomiting and headaches."),
        ("The drug causes headaches.", "The drug may cause nausea, vomiting and headaches."),
        ("The kettle is blue.", "The kettle may be red or blue."),
        ("B is red.", "Neither A nor B is red."),
        ("The kettle is not red.", "The kettle is red and is not sold."),
        ("The pump was recalled.", "It is not true that the pump was recalled."),
        ("The pump was recalled.", "The firm denies that the pump was recalled."),
        ("The pump has a lid.", "The pump comes without a lid."),
        ("The pump has a lid.", "The pump lacks a lid."),
        ("The pump must be returned.", "If it leaks, the pump must be returned."),
        ("Return the pump.", "Return the pump if it leaks."),
        ("The pot is red.", "Unlike the pot, the kettle is red."),
        ("The kettle always leaks.", "The kettle leaks."),
        ("The kettle definitely leaks.", "The kettle leaks."),
        ("The kettle never leaks.", "The kettle rarely leaks."),
        ("The kettle leaks.", "The kettle rarely leaks."),
        ("The kettle leaks.", "The kettle sometimes leaks."),
        ("The kettle leaks.", "The kettle usually leaks."),
        ("The kettle is red.", "It is unlikely that the kettle is red."),
        ("The kettle is likely red.", "It is unlikely that the kettle is red."),
        ("The kettle can be used outdoors.", "The kettle can't be used outdoors."),
        ("The kettle can be used outdoors.", "The kettle cannot be used outdoors."),
        ("Taking it with alcohol is safe.", "Taking it with alcohol is not safe."),
        ("The firm sold over 40 kettles.", "The firm sold under 40 kettles."),
        ("The firm sold more than 40 kettles.", "The firm sold fewer than 40 kettles."),
        ("More than half of users complained.", "Less than half of users complained."),
        ("You may drink the descaler.", "You must not drink the descaler."),
        ("Nobody was hurt.", "Somebody was hurt."),
        ("Everyone was hurt.", "Nobody was hurt."),
        ("The kettle is expensive.", "The kettle is less expensive than the pot."),
        ("No kettle was recalled.", "The kettle was recalled."),
        ("The kettle was the best.", "The kettle was the worst."),
        ("It happened before the war.", "It happened after the war."),
        ("The kettle almost exploded.", "The kettle exploded."),
        ("The kettle exploded.", "The kettle almost exploded."),
        ("The P7 was recalled.", "All kettles except the P7 were recalled."),
        ("Patients do not need surgery.", "Few patients need surgery."),
        ("Patients need surgery.", "Few patients need surgery."),
        ("The kettle is probably red.", "The kettle may be red."),
        ("The kettle isn’t red.", "The kettle is red."),
        ("The kettle is red.", "The kettle isn’t red."),
        ("The kettle is NOT red.", "The kettle is red."),
        ("The kettle is red.", "The kettle is NOT red."),
        ("The kettle is sold.", "The kettle is no longer sold."),
        ("All pumps were recalled.", "Not all pumps were recalled."),
        ("Pumps were recalled.", "Not all pumps were recalled."),
        ("The pump was recalled.", "The pump was almost recalled."),
        ("The pump was recalled.", "The pump was never recalled."),
        ("The pump may well be red.", "The pump is red."),
        ("The pump is red.", "The pump may well be red."),
        ("The pump is red.", "The pump could possibly be red."),
        ("The drug cures cancer.", "The drug is believed to cure cancer."),
        ("The drug cures cancer.", "The drug appears to cure cancer."),
        ("The drug cures cancer.", "The drug is said to cure cancer."),
        ("The drug cures cancer.", "Some say the drug cures cancer."),
        ("The drug cures cancer.", "There is no evidence that the drug cures cancer."),
        ("The drug cures cancer.", "It is a myth that the drug cures cancer."),
        ("The drug cures cancer.", "It is unclear whether the drug cures cancer."),
        ("The drug cures cancer.", "The drug does not, as far as we know, cure cancer."),
        ("The drug cures cancer.", "The drug fails to cure cancer."),
        ("Sales rose from 7 to 5.", "Sales rose from 5 to 7."),
        ("The pot is hotter than the kettle.", "The kettle is hotter than the pot."),
        ("The kettle is red.", "The kettle is red or blue."),
        ("The kettle is blue.", "The kettle is either red or blue."),
        ("Adults may take it.", "Only adults may take it."),
        ("Take 2 tablets.", "Do not take more than 2 tablets."),
        ("Take more than 2 tablets.", "Do not take more than 2 tablets."),
        ("You may take 3 tablets.", "You may take up to 3 tablets."),
        ("The shop opens before 9.", "The shop opens after 9."),
        ("The tank is above the pump.", "The tank is below the pump."),
        ("The left valve is open.", "The right valve is open."),
        ("The right valve is open.", "The left valve is open."),
        ("The valve is closed.", "The valve is open."),
        ("It is forbidden to smoke.", "It is allowed to smoke."),
        ("Smoking is allowed.", "Smoking is not allowed."),
        ("Smoking is allowed.", "Smoking is prohibited."),
        ("Profit decreased.", "Profit increased."),
        ("Profit went down.", "Profit went up."),
        ("Profit increased.", "Profit did not increase."),
        ("He sold the house.", "He bought the house."),
        ("Half of the pumps failed.", "All of the pumps failed."),
        ("Most of the pumps failed.", "Half of the pumps failed."),
        ("A majority of voters agreed.", "A minority of voters agreed."),
        ("Each pump failed.", "One pump failed."),
        ("Pump A or B failed.", "Pump A and B failed."),
        ("It takes exactly 5 minutes.", "It takes 5 minutes."),
        ("It takes 5 minutes.", "It takes roughly 5 minutes."),
        ("It takes 5 minutes.", "It takes nearly 5 minutes."),
        ("It takes 5 minutes.", "It takes less than 5 minutes."),
        ("It takes 5 minutes.", "It takes 5 minutes or more."),
        ("It takes 5 minutes.", "It takes 5+ minutes."),
        ("It takes 5 minutes.", "It takes >5 minutes."),
        ("It takes 5 minutes.", "It takes a maximum of 5 minutes."),
        ("The Kettle Is Red.", "The Kettle Is Not Red."),
        ("THE KETTLE IS RED", "THE KETTLE IS NOT RED"),
        ("Results: red.", "Results: not red."),
        ("Der Kessel ist nicht rot.", "Der Kessel ist rot."),
        ("Der Kessel ist rot.", "Der Kessel ist nicht rot."),
        ("La bouilloire n'est pas rouge.", "La bouilloire est rouge."),
        ("La bouilloire est rouge.", "La bouilloire n'est pas rouge."),
        ("Der Kessel ist rot.", "Der Kessel ist vielleicht rot."),
        ("La tetera no es roja.", "La tetera es roja."),
        ("La tetera es roja.", "La tetera no es roja."),
        ("Il bollitore non è rosso.", "Il bollitore è rosso."),
        ("De ketel is rood.", "De ketel is niet rood."),
        ("Алиса не пришла.", "Алиса пришла."),
        ("Czajnik nie jest czerwony.", "Czajnik jest czerwony."),
        ("水壶不是红色的。", "水壶是红色的。"),
        ("やかんは赤くない。", "やかんは赤い。"),
        ("The pump stopped.", "The pump never stopped."),
        ("It is safe to drink.", "It is hardly safe to drink."),
        ("It is safe to drink.", "It is not necessarily safe to drink."),
        ("It is safe to drink.", "It is anything but safe to drink."),
        ("It is safe to drink.", "It is far from safe to drink."),
        ("He wanted to resign.", "He refused to resign."),
        ("He resigned.", "He refused to resign."),
        ("He resigned.", "He threatened to resign."),
        ("He resigned.", "He promised to resign."),
        ("He will resign.", "He might resign."),
        ("Without a lid it leaks.", "With a lid it leaks."),
        ("It leaks.", "It leaks only when hot."),
        ("It leaks when hot.", "It leaks only when hot."),
        ("It leaks.", "It leaks unless it is closed."),
    ],
)
def test_a_claim_that_commits_to_something_else_is_not_believed(claim: str, sentence: str) -> None:
    """The sentence is judged in its place, whoever split it."""
    assert taken(sentence, claim) == [sentence]


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("A is not red.", "Neither A nor B is red."),
        ("B is not red.", "Neither A nor B is red."),
        ("The lid is not red.", "Neither the lid nor the pot is red."),
        ("A is red.", "Both A and B are red."),
        ("The kettle isn't red.", "The kettle is not red."),
        ("The kettle is not red.", "The kettle isn't red."),
        ("The kettle cannot be sold.", "The kettle can't be sold."),
        ("The kettle can not be sold.", "The kettle can't be sold."),
        ("The kettle is unable to boil.", "The kettle cannot boil."),
        ("The kettle is red.", "Unlike the pot, the kettle is red."),
        ("The pot is not red.", "Unlike the pot, the kettle is red."),
        ("The pot is not red.", "The kettle is red, unlike the pot."),
        ("The kettle is safe.", "It is not true that the kettle is not safe."),
        ("The kettle is safe.", "The kettle is not unsafe."),
        ("The pump does not have a lid.", "The pump comes without a lid."),
        ("The pump has no lid.", "The pump comes without a lid."),
        ("The pump does not have a lid.", "The pump lacks a lid."),
        ("The kettle is blue.", "The kettle is not red but blue."),
        ("The kettle is blue.", "The kettle is blue, not red."),
        ("The kettle is not red.", "The kettle is blue, not red."),
        ("The kettle was made in 2021.", "The kettle was made in 2021 and may be red."),
        ("The kettle may be red.", "The kettle was made in 2021 and may be red."),
        ("No pump was recalled.", "The pump was not recalled."),
        ("The pump was not recalled.", "No pump was recalled."),
        ("The kettle might be red.", "The kettle may be red."),
        ("Perhaps the kettle is red.", "The kettle may be red."),
        ("The kettle holds around 2 litres.", "The kettle holds about 2 litres."),
        ("The kettle holds no more than 2 litres.", "The kettle holds at most 2 litres."),
        ("He was a singer.", "He was not only a singer but also a dancer."),
        ("He was a dancer.", "He was not only a singer but also a dancer."),
        ("The kettle opened in 1950.", "The kettle did not open until 1950."),
        ("He lives in Paris.", "He has no children and lives in Paris."),
        ("He has no children.", "He has no children and lives in Paris."),
        ("The P7 was not recalled.", "All kettles except the P7 were recalled."),
        ("The kettle is red.", "No, the kettle is red."),
        ("The kettle was recalled in May 2021.", "In May 2021 the kettle was recalled."),
        ("The kettle was recalled.", "In May 2021 the kettle was recalled."),
        ("The pump must be returned if it leaks.", "If it leaks, the pump must be returned."),
        ("The kettle is unsafe.", "The kettle is not safe."),
        ("The kettle is not safe.", "The kettle is unsafe."),
        ("Every kettle is red.", "All kettles are red."),
        ("Nausea is possible.", "The drug may cause nausea."),
        ("The drug may cause vomiting.", "The drug may cause nausea, vomiting and headaches."),
        ("She did not eat.", "She did not eat or drink."),
        ("She did not drink.", "She did not eat, nor did she drink."),
        ("She did not drink.", "She did not eat or drink."),
        ("The shop is closed on Monday.", "It may rain, and the shop is closed on Monday."),
        ("The album was released in 2004.", "The album, which may be their last, was released in 2004."),
        ("It was one of the most popular songs.", "It was one of the most popular songs of 2004."),
        ("The kettle is likely not red.", "It is unlikely that the kettle is red."),
        ("The kettle has at least 2 lids.", "The kettle has 2 or more lids."),
        ("The kettle isn’t red.", "The kettle isn't red."),
        ("Sales rose to 7.", "Sales rose from 5 to 7."),
        ("Sales rose from 5.", "Sales rose from 5 to 7."),
        ("The kettle doesn't leak.", "The kettle does not leak."),
        ("It won't leak.", "It will not leak."),
        ("The pump was recalled in 2021.", "Although it was not dangerous, the pump was recalled in 2021."),
        ("The pump was not dangerous.", "Although it was not dangerous, the pump was recalled in 2021."),
        ("The pump, which cannot be repaired, was sold.", "The pump, which cannot be repaired, was sold."),
        ("The pump was sold.", "The pump, which cannot be repaired, was sold."),
        ("The pump cannot be repaired.", "The pump, which cannot be repaired, was sold."),
        (
            "Customers cannot return opened kettles.",
            "Customers can return unopened kettles but cannot return opened kettles.",
        ),
        (
            "Customers can return unopened kettles.",
            "Customers can return unopened kettles but cannot return opened kettles.",
        ),
        ("The fee is at least 5 euros.", "The fee is at least 5 euros and at most 9 euros."),
        ("The fee is at most 9 euros.", "The fee is at least 5 euros and at most 9 euros."),
        ("Aspirin may cause bleeding.", "Aspirin may cause bleeding and should not be taken with alcohol."),
        (
            "Aspirin should not be taken with alcohol.",
            "Aspirin may cause bleeding and should not be taken with alcohol.",
        ),
        ("The company said that it may close.", "The company said that it may close."),
        ("You must not open it.", "You must not open or shake it."),
        ("You must not shake it.", "You must not open or shake it."),
        ("There were no injuries.", "There were no injuries or deaths."),
        ("There were no deaths.", "There were no injuries or deaths."),
        ("Nobody died.", "There were no injuries and nobody died."),
        ("It is free for all members.", "It is free for all members, but others must pay."),
        ("Others must pay.", "It is free for all members, but others must pay."),
        ("The kettle weighs about 1 kg.", "The kettle weighs about 1 kg and holds 2 litres."),
        ("The kettle holds 2 litres.", "The kettle weighs about 1 kg and holds 2 litres."),
        ("The kettle holds 2 litres.", "The kettle holds 2 litres and weighs about 1 kg."),
        ("The pot is blue.", "The kettle may be red, but the pot is blue."),
        ("In 1990 he joined Boeing.", "In 1990 he joined Boeing, where he could not stay."),
        ("He does not smoke.", "He neither smokes nor drinks."),
        ("He does not drink.", "He neither smokes nor drinks."),
        ("Refunds are only for members.", "Refunds are only for members."),
        ("The lid is not included.", "The lid is excluded."),
        ("Der Kessel ist nicht rot.", "Der Kessel ist nicht rot und nicht neu."),
        ("Der Kessel ist rot.", "Der Kessel ist rot und nicht neu."),
        ("La bouilloire est rouge.", "La bouilloire est rouge et n'est pas neuve."),
        ("The recall does not affect the P9.", "The recall affects all models except the P9."),
        ("More than 40 pumps were sold.", "Sales exceeded 40: more than 40 pumps were sold."),
        ("The device lacks a lid.", "The device does not have a lid."),
        ("It is impossible to open.", "It is not possible to open."),
        ("It is not possible to open.", "It is impossible to open."),
    ],
)
def test_an_honest_split_stands(claim: str, sentence: str) -> None:
    """Another spelling, another order, one member of a list, or a clause that the small word does not govern."""
    assert taken(sentence, claim) == [claim]


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The road was closed.", "Police said the road was closed."),
        ("The road was closed.", "Police said that the road was closed on Monday."),
        ("The road was closed.", "The road was closed, police said."),
        ("The road was closed.", "According to the police, the road was closed."),
        ("The road was closed.", "The road was closed, according to Reuters."),
        ("The road is closed.", 'The mayor told reporters that "the road is closed".'),
        ("The road was closed.", "According to passage 2, police said the road was closed."),
        ("The road was closed.", "A Reuters report claimed that the road was closed."),
        ("Coffee is good for the heart.", "Dr. Lane believes coffee is good for the heart."),
        ("Smith was born in Rome.", "Smith said he was born in Rome."),
        ("The state closed the road.", "Police said the state closed the road."),
        ("The bridge opens in May.", "The firm predicts that the bridge opens in May."),
    ],
)
def test_a_claim_that_drops_its_speaker_is_not_believed(claim: str, sentence: str) -> None:
    """That somebody said it is not that it is so."""
    assert taken(sentence, claim) == [sentence]


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Police said the road was closed.", "Police said that the road was closed on Monday."),
        ("The road was closed, according to police.", "Police said the road was closed."),
        ("The road was reportedly closed.", "The road was reportedly closed, police said."),
        ("The road was closed.", "The article says that the road was closed."),
        ("The road was closed.", "According to passage 2, the road was closed."),
        ("The road was closed.", "According to the provided data, the road was closed."),
        ("The road was closed.", "The study concluded that the road was closed."),
        ("Refunds take 5 days.", "The policy states that refunds take 5 days."),
        ("The road was closed.", "Police confirmed that the road was closed."),
        ("Tea lowers the pulse.", "Researchers found that tea lowers the pulse."),
        ("The mayor left.", "Police said the road was closed, and the mayor left."),
        ("Police left at noon.", "Police, who said the road was closed, left at noon."),
        ("The film is set in Rome.", "The film tells the story of a king and is set in Rome."),
        ("Muto plays for Tokyo.", "Ogane claims that Chelsea have made a bid for Muto of Tokyo."),
        ("The road was closed.", "I think the road was closed."),
        ("Gonzalez claims the fall was an accident.", "Gonzalez says he fell and claims the fall was an accident."),
        ("Robert Lane scored twice.", "Robert Lane scored twice and claimed victory."),
    ],
)
def test_a_claim_without_a_speaker_of_its_own_stands(claim: str, sentence: str) -> None:
    """What a source says is what the answer is about, and a fact is one whoever found it."""
    assert taken(sentence, claim) == [claim]


def test_a_second_attempt_is_told_whose_words_they_are() -> None:
    """The speaker is left out like any other word that changes what is claimed."""
    good = ["Police said the road was closed.", "Police said the bridge was open."]
    chat = ScriptedChat([split([good[0], "The bridge was open."]), split(good)])
    assert by_model(chat, "Police said the road was closed and the bridge was open.") == good
    assert request_data(chat.asked[1])["left_out"] == {"s1": ["Police said: The bridge was open."]}


def test_an_item_below_a_speaker_is_read_by_itself() -> None:
    """A list that somebody's words introduce keeps its items."""
    answer = "Customers say:\n\n- The food is good.\n- The room is loud.\n"
    assert [claim.text for claim in ec.extract_claims(answer).claims][-2:] == ["The food is good.", "The room is loud."]


def split(*rows: list[str] | str) -> str:
    """Write a reply of a language model, a row per sentence."""
    given = [
        {
            "id": f"s{i}",
            "claims": row if isinstance(row, list) else [],
            "skip": "none" if isinstance(row, list) else row,
        }
        for i, row in enumerate(rows, 1)
    ]
    return json.dumps({"sentences": given})


def by_model(chat: ScriptedChat, response: str) -> list[str]:
    parts = asyncio.run(LlmDecomposer(chat).decompose(response))
    return [claim.text for claim in parts.claims]


def test_a_model_is_told_what_it_added_and_what_it_left_out() -> None:
    """It is asked once more; a second reply that is right is taken."""
    chat = ScriptedChat([split(["The kettle is not red.", "The lid leaks."]), split(["The kettle is red."])])
    answer = "The kettle is red and the lid may leak."
    assert by_model(chat, answer) == ["The kettle is red."]
    again = request_data(chat.asked[1])
    assert again["not_in_sentence"] == {"s1": ["not"]}
    assert again["left_out"] == {"s1": ["may: The lid leaks."]}


def test_a_model_that_insists_is_not_believed() -> None:
    """The sentence is its own claim then."""
    chat = ScriptedChat([split(["The kettle is red."])] * 2)
    assert by_model(chat, "The kettle may be red.") == ["The kettle may be red."]


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("The navy, which may grow, is based in Kiel.", ["The navy may grow.", "The navy is based in Kiel."]),
        ("Only the inner height, measured twice, differed.", ["Only the inner height differed.", "The inner height was measured twice."]),
        ("The firm should reply, and it has a desk in Bonn.", ["The firm should reply.", "The firm has a desk in Bonn."]),
        ("At least nine people came and the hall closed at ten.", ["At least nine people came.", "The hall closed at ten."]),
        ("No killings, assaults or thefts occurred.", ["No killings occurred.", "No assaults occurred.", "No thefts occurred."]),
        ("The samples were given off by the plant.", ["The plant gave off the samples."]),
    ],
)  # fmt: skip
def test_what_another_claim_of_the_sentence_says_is_not_left_out(answer: str, claims: list[str]) -> None:
    """A small word belongs to one claim of several: the others rightly lack it, and nobody is asked again."""
    chat = ScriptedChat(split(claims))
    assert by_model(chat, answer) == claims
    assert len(chat.asked) == 1


@pytest.mark.parametrize(
    ("sentence", "claims"),
    [
        ("The navy, which may grow, is based in Kiel.", ["The navy may grow.", "The navy is based in Kiel."]),
        ("Only the height, taken twice, differed.", ["Only the height differed.", "The height was taken twice."]),
        ("Some guests praise it, while others left.", ["Some guests praise it.", "Other guests left."]),
        ("Soak the beans, which should swell, in cold water.", ["The beans should swell.", "Soak the beans in cold water."]),
        ("You should soak the beans, allowing them to soften.", ["You should soak the beans.", "Soaking the beans allows them to soften."]),
        ("It lost, and their coach, John Smith, may resign.", ["It lost.", "Their coach, John Smith, may resign."]),
        ("She was elected in 1977 after attending law school.", ["She attended law school before being elected.", "She was elected in 1977."]),
        ("The unit improved, which other doctors did not do.", ["The unit improved.", "The other doctors did not improve."]),
    ],
)  # fmt: skip
def test_an_honest_split_stands_before_every_decomposers_check(sentence: str, claims: list[str]) -> None:
    """Of several claims each is read beside the others, at the border behind all decomposers as well."""
    assert taken(sentence, *claims) == claims


@pytest.mark.parametrize(
    ("sentence", "claims"),
    [
        ("The pump can lift water and oil.", ["The pump can lift water.", "The pump lifts oil."]),
        ("Most cats and dogs sleep.", ["Most cats sleep.", "Dogs sleep."]),
        ("Some pumps leak and fail.", ["Some pumps leak.", "Pumps fail."]),
        ("He wanted to resign and to move.", ["He wanted to resign.", "He moves."]),
        ("The kettle, made in Graz, may be red.", ["The kettle may be red.", "The kettle made in Graz is red."]),
        ("Every nurse and some doctors wash.", ["Every nurse washes.", "Doctors wash."]),
        ("Some customers stayed, while others left.", ["Some customers stayed.", "Customers stayed."]),
        ("Only the height, taken twice, differed.", ["Only the height differed.", "The height differed twice."]),
        ("The unit's doctors improved, which others did not do.", ["The unit's doctors did not improve."]),
        ("After the war, the king fled.", ["The king fled before the war."]),
        ("The service is free at night, or on Sundays, if booked.", ["The service is free on Sundays."]),
        ("Despite some complaints, guests stayed.", ["Despite complaints, guests stayed.", "Some guests stayed."]),
    ],
)  # fmt: skip
def test_a_word_of_one_claim_excuses_no_other_that_says_the_same(sentence: str, claims: list[str]) -> None:
    """A claim that states what the word governs must have it, whatever stands beside it."""
    assert taken(sentence, *claims) == [sentence]


def test_numbers_of_another_sentence_only_point_at_what_they_count_there() -> None:
    """Those groups are meant that were spoken of ("the two groups"); another number is a stranger."""
    before = "The 47 pumps of two groups were tested. "
    for claim, stands in [
        ("Heights differed between the two groups.", True),
        ("Heights of the 47 pumps differed.", True),
        ("Heights of 47 pumps differed.", False),
        ("Heights of the 7 pumps differed.", False),
    ]:
        chat = ScriptedChat([split(["The 47 pumps of two groups were tested."], [claim]), split(["nothing"])])
        last = by_model(chat, f"{before}Heights differed.")[-1]
        assert (last == claim) is stands, claim


def test_a_second_attempt_is_told_which_claim_lacks_a_word() -> None:
    """And about no other sentence; the claims of those stay as they were."""
    first = split(["The lid is blue."], ["The pump can lift water.", "The big old pump in the yard of Graz lifts oil."])
    chat = ScriptedChat([first, split(["The pump can lift water.", "The pump can lift oil."])])
    answer = "The lid is blue and flat. The pump can lift water and oil."
    assert set(by_model(chat, answer)) == {"The lid is blue.", "The pump can lift water.", "The pump can lift oil."}
    again = request_data(chat.asked[1])
    assert again["sentences"] == {"s1": "The pump can lift water and oil."}
    assert again["left_out"] == {"s1": ["can: The big old pump in the yard of …"]}


@pytest.mark.parametrize(
    ("answer", "claims", "word"),
    [
        ("The drug can cause headaches and lower the pulse.", ["The drug can cause headaches.", "The drug lowers the pulse."], "can"),
        ("The clinic treats only adults and opens at nine.", ["The clinic treats adults.", "The clinic opens at nine."], "only"),
        ("Some residents opposed the plan, but the council agreed.", ["Residents opposed the plan.", "The council agreed."], "Some"),
        ("The team never won the cup, although it reached a final.", ["The team won the cup.", "The team reached a final."], "never"),
        ("She probably left before noon and took the train.", ["She left before noon.", "She took the train."], "probably"),
    ],
)  # fmt: skip
def test_what_no_claim_says_is_left_out(answer: str, claims: list[str], word: str) -> None:
    """A word that governs what a claim says is missed, whatever else the sentence was cut into."""
    chat = ScriptedChat([split(claims), split(claims)])
    assert by_model(chat, answer) != claims
    missed = request_data(chat.asked[1])["left_out"]["s1"]
    assert {line.partition(": ")[0] for line in missed} == {word}


def test_items_are_governed_by_their_lead_in() -> None:
    """A claim may take its negation from there, and must."""
    answer = "You must not:\n\n- drink the descaler\n- open the lid\n"
    good = ["You must not drink the descaler."], ["You must not open the lid."]
    lead = "lead_in"
    assert by_model(ScriptedChat(split(lead, *good)), answer) == [good[0][0], good[1][0]]
    kept = by_model(ScriptedChat([split(lead, ["You drink the descaler."], good[1]), split(["You drink it."])]), answer)
    assert kept == ["drink the descaler", "You must not open the lid."]


def test_a_lead_in_does_not_govern_whole_statements() -> None:
    """What it says of itself, as in "you can do one of these", hedges nothing of what follows."""
    answer = "There are some ways in which you can do it:\n\n- A brush removes the stain.\n"
    assert taken_of_model(answer, ["A brush removes the stain."]) == ["A brush removes the stain."]


def taken_of_model(answer: str, claims: list[str]) -> list[str]:
    return by_model(ScriptedChat(split("lead_in", claims)), answer)


@pytest.mark.parametrize(("told", "kept"), [("The kettle is red.", "It may be red."), ("The kettle may be red.", "")])
def test_a_claim_made_to_stand_alone_commits_to_the_same(told: str, kept: str) -> None:
    """Only what its pronouns stand for may change."""
    reply = {"claims": [{"id": "c1", "text": told, "relevant": "yes", "why": ""}]}
    claim = Claim("c1", "It may be red.", Span(20, 34), "It may be red.")
    prepared = asyncio.run(
        LlmPreparer(ScriptedChat(json.dumps(reply))).prepare([claim], "There is a kettle. It may be red.", "")
    )
    assert prepared[0].claim.text == (kept or told)


def test_two_sentences_of_one_claim_are_read_together() -> None:
    """The span says which; the other claims of the response stay as they are."""
    answer = "The kettle may be red. The lid is blue. The pot is new."
    claims = (
        Claim("a", "The kettle is red.", Span(0, 22), "The kettle may be red."),
        Claim("b", "The lid is blue.", Span(23, 39), "The lid is blue."),
    )

    class Given:
        spec = "given"

        async def decompose(self, response: str, *, question: str = "") -> Decomposition:
            return Decomposition(claims)

    found = ec.extract_claims(answer, decomposer=Given()).claims
    assert [(claim.id, claim.text, claim.span) for claim in found] == [
        ("a", "The kettle may be red.", Span(0, 22)),
        ("b", "The lid is blue.", Span(23, 39)),
    ]


@pytest.mark.parametrize("response", ["---", "\ufeff", "***\n\n---", "| | |"])
def test_a_response_without_a_sentence_gives_way_to_no_claim(response: str) -> None:
    """Whatever a decomposer makes of it: what is judged stands in the response."""
    assert taken(response, "The kettle is red.") == [" ".join(response.split())]


def test_a_claim_that_names_one_of_many_sentences_is_compared_with_it() -> None:
    """Though its span is the whole response."""
    answer = "The kettle may be red. The lid is not red."
    span = Span(0, len(answer))

    class Wide:
        spec = "wide"

        async def decompose(self, response: str, *, question: str = "") -> Decomposition:
            return Decomposition(
                (
                    Claim("c1", "The kettle is red.", span, "The kettle may be red."),
                    Claim("c2", "The lid is not red.", span, "The lid is not red."),
                )
            )

    found = ec.extract_claims(answer, decomposer=Wide()).claims
    assert [claim.text for claim in found] == ["The kettle may be red.", "The lid is not red."]
