"""The small words that `commitments` reads: what each is a sign of, and which may go unsaid. English."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

NEGATION, POSSIBILITY, CONDITION, CHOICE = "negation", "possibility", "condition", "choice"
BOOSTER, IGNORED = "booster", ""


class Sign(NamedTuple):
    """What a word or phrase is a sign of. One that `binds` may not go unsaid by a claim about what it governs."""

    kind: str
    binds: bool
    before_number: bool  # it is one only there


# One kind per entry. Behind the bar: what says the same, but may go unsaid. `#`: only before a number.
_KINDS = {
    POSSIBILITY: "may might could can cannot ca possibly perhaps maybe possible potential potentially"
    " | possibility able unable impossible ability capable allowed permitted permits allows enables enable risk",
    "likelihood": "likely probably probable unlikely presumably expected_to | probability chances expected",
    "hearsay": "reportedly allegedly supposedly purportedly apparently seemingly rumored rumoured alleged seems_to"
    " seem_to seemed_to appears_to appear_to appeared_to suspected believed_to thought_to said_to reported_to"
    " claimed_to"
    " some_say some_claim unclear uncertain | believed thought said suggests suggest"
    " suggested claimed claims reported appears appear seems considered according",
    "duty": "must have_to has_to had_to needs_to need_to needed_to obligatory mandatory compulsory shall"
    " | required requires require needs need necessary obliged important only",
    "advice": "should ought_to advisable | recommended recommends recommend advised advises advise supposed_to",
    "approximation": "approximately roughly circa nearly almost virtually approx approx. ~# ≈# about# around# some#"
    " ca.# c.# close_to# or_so | an_estimated more_or_less estimated",
    "at least": "at_least no_fewer_than no_less_than not_less_than not_fewer_than a_minimum_of ≥# or_more +"
    " | minimum more_than# or_older or_over or_above or_later or_higher from",
    "more than": "more_than# over# above# greater_than# in_excess_of# exceeding# exceeds# upwards_of# ># | exceed"
    " exceeded higher_than longer_than larger_than than plus over",
    "at most": "at_most no_more_than not_more_than up_to# a_maximum_of as_many_as as_much_as ≤# or_less or_fewer"
    " | maximum limit limited until",
    "less than": "less_than# fewer_than# under# below# lower_than# <# | than under",
    "most": "most most_of the_majority_of a_majority_of mostly | majority mainly largely primarily predominantly",
    "all": "all every each everyone everybody everything always | entire whole any both throughout universally",
    "some": "some some_of a_few | several certain many various part few a_number_of sometimes",
    "few": "few rarely seldom hardly barely scarcely hardly_any | little uncommon infrequently not",
    "only": "only only_if only_when solely exclusively merely | just alone limited sole",
    "frequency": "often frequently usually generally typically normally | commonly regularly common tend tends mostly"
    " mainly",
    "now and then": "sometimes occasionally at_times | may can some",
    "intention": "threatened_to promised_to plans_to plan_to planned_to intends_to intend_to intended_to hopes_to"
    " hope_to hoped_to wants_to want_to wanted_to tried_to tries_to try_to attempted_to aims_to aimed_to vowed_to"
    " scheduled_to offered_to | planned planning plan wish wants trying attempt attempts aim intention threat promise"
    " offer will would going_to",
    CHOICE: "or either |",
    "part": "partly partially in_part somewhat half half_of | part",
    CONDITION: "if unless only_if only_when provided_that as_long_as so_long_as in_case | when whenever once until"
    " without where"
    " provided depending case whether only",
    # Added they make a claim stronger than its sentence; left out they are not missed.
    BOOSTER: "definitely certainly completely entirely fully totally absolutely proven guaranteed undoubtedly exactly"
    " precisely permanently invariably inevitably necessarily |",
    NEGATION: "not n't never no none nobody nothing nowhere neither nor without cannot lack lacks lacked lacking"
    " lack_of unable unlike except excluding fail_to fails_to failed_to failing_to failure_to refuse_to refuses_to"
    " refused_to free_of free_from devoid_of absence_of instead_of rather_than no_one deny denies denied denying"
    " unlikely prevent prevents prevented non impossible myth anything_but far_from |",
    IGNORED: "not_only not_just not_merely not_simply nothing_but no_doubt without_doubt without_a_doubt"
    " whether_or_not at_all above_all first_of_all after_all all_right as_if even_if if_any if_not quite_a_few"
    " as_well_as of_all_time all_time each_other all_but if_you_'re_wondering if_you_are_wondering if_you_'re_thinking"
    " if_you_are_thinking if_you_'re_asking if_you_are_asking if_you_mean in_case_you_'re_wondering"
    " in_case_you_are_wondering |",
}


@cache
def signs() -> dict[str, tuple[tuple[tuple[str, ...], tuple[Sign, ...]], ...]]:
    """Give the phrases that begin with a word, longest first, each with what it is a sign of."""
    gathered: dict[tuple[str, ...], list[Sign]] = {}
    for kind, listing in _KINDS.items():
        for binds, part in zip((True, False), listing.split("|"), strict=True):
            for entry in part.split():
                phrase = tuple(entry.rstrip("#").split("_"))
                gathered.setdefault(phrase, []).append(Sign(kind, binds, entry.endswith("#")))
    by_first: dict[str, list[tuple[tuple[str, ...], tuple[Sign, ...]]]] = {}
    for phrase, found in gathered.items():
        by_first.setdefault(phrase[0], []).append((phrase, tuple(found)))
    return {first: tuple(sorted(rows, key=lambda row: -len(row[0]))) for first, rows in by_first.items()}


@cache
def binding() -> frozenset[str]:
    """The words with which a sign that binds may begin."""
    rows = [(phrase[0], sign) for rows in signs().values() for phrase, found in rows for sign in found]
    return frozenset(first for first, sign in rows if sign.binds)


def _plus(a: str) -> frozenset[str]:
    return frozenset(a.split())


_TO_NINETEEN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBERS = {word: str(number) for number, word in enumerate(_TO_NINETEEN.split(" "))} | {
    word: str(10 * ten) for ten, word in enumerate(_TENS.split(" "), start=2)
}
COUNTS = frozenset(NUMBERS) | _plus("half hundred thousand million billion dozen hundreds thousands")
CLAUSE_WORDS = _plus("but although though whereas while because since however so yet if unless")  # a clause begins
RELATIVES = _plus("that who which whom whose where when")  # begin one behind a comma
CONTRASTS = _plus("unlike except excluding")  # of what they name the rest is denied
NO_LIST = _plus("no without lack lacks lacked lacking")  # "no lid and leaks": what "and" adds is not denied with it
ANNOUNCING = _plus("following follows steps step things thing points point list below ways")  # words of lead-ins
THAT = _plus("evidence proof sign doubt indication fact idea case")  # nouns that go on with "that"
PERSONS = _plus(  # opposites in the table of these, but a man's wife has a husband
    "he she his her him hers mother father parent child son daughter brother sister husband wife uncle aunt nephew"
    " niece king queen prince princess actor actress male female man woman boy girl gentleman lady teacher student"
    " pupil host guest"
)
