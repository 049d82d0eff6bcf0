"""Short passages with values, and claims that say the same in other words, or nearly the same.

    python training/values.py training/data/values.toml --out GROUPS.jsonl [--groups 6000] [--seed 0]

A network that has seen few of them takes every change of a value's wording for a contradiction: "a week" and "seven
days", "€12" and "twelve euros". Passages of one to four such statements are drawn; claims are pairs of a right one in
other words than the passage's and a wrong one, and claims about something of which nothing is told. Also sums,
differences and multiples of prices, comparisons of two values, and opening hours with exceptions. What is written is
groups as in `training/data`; every fifth is kept for tests (`encoder.windows.kept`).
"""

from __future__ import annotations

import calendar
import random
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

if __package__ in (None, ""):
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parent))
from parallels import other_than, sentence
from rowfile import write_groups

SMALL = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
         "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")  # fmt: skip
TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
DOZENS = {12: ["a dozen"], 24: ["two dozen"]}
LEAST = ["at least {n}", "{n} or more", "no fewer than {n}", "a minimum of {n}"]
MOST = ["at most {n}", "{n} or fewer", "no more than {n}", "a maximum of {n}", "up to {n}"]
DAYS, MONTHS = list(calendar.day_name), list(calendar.month_name)[1:]
KINDS = {"frames": 40, "open": 25, "sum": 8, "compare": 25}
MORE = (0, 0, 1, 1, 2, 3)  # statements about other things in a passage


class Statement(NamedTuple):
    """A sentence for a passage, and claims about it: right and wrong ones."""

    text: str
    right: list[str]
    wrong: list[str]


def words(number: int) -> str:
    """Write a number below a million in words."""
    if number < 20:
        return SMALL[number]
    if number < 100:
        return TENS[number // 10] + (f"-{SMALL[number % 10]}" if number % 10 else "")
    size, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    rest = number % size
    joint = " and " if 0 < rest < 100 else " "
    return f"{words(number // size)} {name}" + (joint + words(rest) if rest else "")


def counted(rng: random.Random) -> list[str]:
    """Draw a number, in digits and words."""
    number = rng.choice((rng.randint(2, 20), rng.randint(2, 60), 100 * rng.randint(1, 30)))
    return [f"{number:,}", words(number), *DOZENS.get(number, [])]


def money(rng: random.Random) -> list[str]:
    """Draw an amount of money, in several forms."""
    number = rng.choice((rng.randint(2, 60), 5 * rng.randint(2, 60), 100 * rng.randint(2, 90)))
    sign, name, code = rng.choice((("€", "euros", "EUR"), ("$", "dollars", "USD"), ("£", "pounds", "GBP")))
    forms = [f"{sign}{number:,}", f"{number:,} {name}", f"{words(number)} {name}", f"{code} {number:,}"]
    return [*forms, f"{sign}{number:,}.00"]


def bounds(rng: random.Random) -> tuple[list[str], list[str]]:
    """Draw a least or greatest number, in several forms, and one of the other side or another number."""
    number, other = rng.sample(range(2, 31), 2)
    sides = rng.sample((LEAST, MOST), 2)
    side, figure = rng.choice(((sides[0], other), (sides[1], number)))
    return bounded(sides[0], number, rng), bounded(side, figure, rng)


def bounded(side: Sequence[str], number: int, rng: random.Random) -> list[str]:
    """Write a number as a bound, in several forms."""
    return [it.format(n=rng.choice((str(number), words(number)))) for it in rng.sample(side, len(side))]


def dates(rng: random.Random) -> tuple[list[str], list[str]]:
    """Draw two days, often close to each other, each in several forms."""
    day = date(1890, 1, 1) + timedelta(rng.randrange(50_000))
    return dated(day), dated(day + timedelta(rng.choice((-1, 1, 4, -7, 10, 20, -30, 61, 365, -730))))


def dated(day: date) -> list[str]:
    """Write a day in several forms."""
    month, end = MONTHS[day.month - 1], {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10 if day.day // 10 != 1 else 0, "th")
    return [
        f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}", f"{day:%Y-%m-%d}",
        f"{DAYS[day.weekday()]}, {day.day} {month} {day.year}", f"the {day.day}{end} of {month} {day.year}",
    ]  # fmt: skip


def times(rng: random.Random) -> tuple[list[str], list[str]]:
    """Draw two times of a day, often close to each other, each in several forms."""
    minute = 15 * rng.randrange(28, 92)
    return timed(minute), timed((minute + rng.choice((-60, -30, -15, 15, 30, 60, 120, 720))) % 1440)


def timed(minute: int) -> list[str]:
    """Write a time of day (minutes after midnight, in quarters) in several forms."""
    hour, rest = divmod(minute, 60)
    shown, half = (hour - 1) % 12 + 1, "am" if hour < 12 else "pm"
    part = "in the morning" if hour < 12 else "in the afternoon" if hour < 18 else "in the evening"
    spoken = {0: "{} o'clock", 15: "quarter past {}", 30: "half past {}", 45: "quarter to {}"}[rest]
    named = spoken.format(words(shown % 12 + 1 if rest == 45 else shown))
    return [f"{hour:02}:{rest:02}", f"{shown}:{rest:02} {half}", f"{shown}.{rest:02} {half[0]}.m.", f"{named} {part}"]


def degrees(rng: random.Random) -> tuple[list[str], list[str]]:
    """Draw two temperatures, often the same but for the sign, each in several forms."""
    number, sign = rng.randint(2, 30), rng.choice((-1, 1))
    other = (number, -sign) if rng.random() < 0.6 else (rng.randint(31, 40), sign)
    return warm(number, sign), warm(*other)


def warm(number: int, sign: int) -> list[str]:
    """Write a temperature in several forms."""
    if sign < 0:
        forms = ["-{} °C", "minus {} °C", "{} degrees below zero", "minus {} degrees"]
    else:
        forms = ["{} °C", "{} degrees", "plus {} °C", "{} degrees above zero"]
    return [form.format(number) for form in forms]


def balances(rng: random.Random) -> tuple[list[str], list[str]]:
    """Draw two amounts of money with a sign, each in several forms."""
    number = 10 * rng.randint(2, 900)
    less = [f"-€{number:,}", f"€-{number:,}", f"minus {number:,} euros", f"minus €{number:,}"]
    more = [f"€{number:,}", f"{number:,} euros", f"plus €{number:,}", f"+€{number:,}"]
    return (less, more) if rng.random() < 0.5 else (more, less)


def two(kind: str, data: dict[str, Any], rng: random.Random) -> tuple[list[str], list[str]]:
    """Draw two different values of a kind: all their forms."""
    if kind in NEAR:
        return NEAR[kind](rng)
    makers: dict[str, Callable[[random.Random], list[str]]] = {"count": counted, "money": money}
    while True:
        found = [makers[kind](rng) if kind in makers else rng.choice(data["equal"][kind]) for _ in range(2)]
        if not set(found[0]) & set(found[1]):
            value, other = (rng.sample(it, len(it)) for it in found)
            return value, other


NEAR = {"bound": bounds, "date": dates, "time": times, "signed": degrees, "balance": balances}


def framed(data: dict[str, Any], rng: random.Random) -> Statement:
    """State a value of something: right in another form, wrong with another value of its kind."""
    kind = rng.choice([*data["frames"], "duration", "money"])
    frame = rng.choice(data["frames"][kind])
    told, (value, other) = rng.choice(frame), two(kind, data, rng)
    again = other_than(told, frame, rng)
    right = [again.replace("{v}", value[-1]), told.replace("{v}", value[1])]
    wrong = [again.replace("{v}", other[0]), told.replace("{v}", other[1])]
    return Statement(told.replace("{v}", value[0]), right, wrong)


def opened(data: dict[str, Any], rng: random.Random) -> Statement:
    """State when a place is open: hours, days, months, with an exception."""
    entry, form = data["open"], rng.choice(("hours", "days", "weekdays", "weekends", "months", "except", "holiday"))
    low, high = rng.randint(7, 11), rng.randint(3, 9)
    said = {"p": rng.choice(entry["places"]), "low": low, "high": high, "late": high + 12}

    def say(name: str, **more: str) -> str:
        return str(rng.choice(entry[name])).format(**said, **more)

    def ask(name: str, times: Sequence[str]) -> list[str]:
        return [say(name, t=time) for time in rng.choices(times, k=2)]

    if form == "hours" and rng.random() < 0.6:
        first, last, wrong_first, wrong_last = (
            rng.choice(hours(n))
            for n in (low, high + 12, low + rng.choice((-1, 1, 2)), high + 12 + rng.choice((-2, -1, 1)))
        )
        return Statement(
            say(form),
            [say("opens", t=first), say("closes", t=last)],
            [say("opens", t=wrong_first), say("closes", t=wrong_last)],
        )
    if form == "hours":
        inside, outside = [clock(n) for n in range(low + 1, high + 12)], [clock(rng.randint(1, low - 2)), clock(23)]
        return Statement(say(form), ask("at", inside), ask("at", outside))
    if form == "holiday":
        day, other = (f"{rng.randint(1, 28)} {month}" for month in rng.sample(MONTHS, 2))
        right, wrong = [say("shut", t=day), say("on_date", t=other)], [say("on_date", t=day), say("shut", t=other)]
        return Statement(say(form, first=day), right, wrong)
    names = MONTHS if form == "months" else DAYS
    first, size = {
        "months": (rng.randrange(12), rng.randint(3, 8)), "days": (rng.randrange(3), rng.randint(3, 4)),
        "weekdays": (0, 5), "weekends": (5, 2), "except": (rng.randrange(7), 1),
    }[form]  # fmt: skip
    run = [names[(first + step) % len(names)] for step in range(size)]
    rest = [name for name in names if name not in run]
    told, question = say(form, first=run[0], last=run[-1]), "in_month" if form == "months" else "on_day"
    inside, outside = (rest, run) if form == "except" else (run, rest)
    return Statement(told, ask(question, inside), ask(question, outside))


def hours(hour: int) -> list[str]:
    """Write a full hour in several forms, among them a bare word: "seven"."""
    return [*timed(60 * hour), clock(hour), words((hour - 1) % 12 + 1)]


def clock(hour: int) -> str:
    """Write an hour in the morning or afternoon."""
    return "noon" if hour == 12 else f"{hour - 12} pm" if hour > 12 else f"{hour} am"


def summed(data: dict[str, Any], rng: random.Random) -> Statement:
    """State two prices: their sum, their difference, a multiple."""
    (one, several), (another, _) = rng.sample(rng.choice(data["prices"])["items"], 2)
    first, second = rng.sample(range(2, 60), 2)
    dear, cheap = (one, another) if first > second else (another, one)
    times = rng.choice((2, 3, 4, 5))
    results = [
        (f"together, {one} and {another} cost {{}} euros", first + second),
        (f"{one} and {another} come to €{{}}", first + second),
        (f"{words(times)} {several} cost {{}} euros", times * first),
        (f"for {times} {several} you pay €{{}}", times * first),
        (f"{dear} costs {{}} euros more than {cheap}", abs(first - second)),
    ]
    chosen = rng.sample(results, 2)
    passages = (
        f"{one} costs {first} euros, {another} {second} euros",
        f"{one} costs €{first}. {sentence(another)[:-1]} costs €{second}",
    )
    right = [form.format(value) for form, value in chosen]
    wrong = [form.format(value + rng.choice((1, 2, 3, 5, 10))) for form, value in chosen]
    return Statement(rng.choice(passages), right, wrong)


def compared(data: dict[str, Any], rng: random.Random) -> Statement:
    """State a value of two or three things: which has more, and which has the most."""
    entry = rng.choice(data["compare"])
    items = rng.sample(entry["items"], rng.choice((2, 2, 3)))
    values = rng.sample(range(*entry["values"]), len(items))
    more, less, most, verb = entry["words"]
    ranked = [item for _, item in sorted(zip(values, items, strict=True))]
    template = rng.choice(entry["says"])
    said = [template.replace("{item}", i).replace("{v}", str(v)) for i, v in zip(items, values, strict=True)]
    low, high = ranked[0], ranked[-1]
    right, wrong = [f"{high} {verb} {more} than {low}"], [f"{low} {verb} {more} than {high}"]
    if len(items) > 2 and rng.random() < 0.6:
        right.append(f"{high} {verb} the {most} of the three")
        wrong.append(f"{rng.choice(ranked[:-1])} {verb} the {most} of the three")
    else:
        right.append(f"{low} {verb} {less} than {high}")
        wrong.append(f"{high} {verb} {less} than {low}")
    return Statement(". ".join(it[0].upper() + it[1:] for it in said), right, wrong)


MAKERS = {"frames": framed, "open": opened, "sum": summed, "compare": compared}


def claim(text: str, label: str, kind: str, pair: int | None) -> dict[str, Any]:
    """Write a claim as groups have it."""
    evidence = [] if pair is None else [0]
    return {"text": sentence(text), "label": label, "kind": kind, "pair": pair, "evidence": evidence}


def groups(data: dict[str, Any], count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Draw groups of claims about a short passage."""
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
        main = MAKERS[kind](data, rng)
        beside = [framed(data, rng) for _ in range(rng.choice(MORE))]
        told = [main, *beside]
        rng.shuffle(told)
        stranger = framed(data, rng)
        claims: list[dict[str, Any]] = []
        pairs = list(zip(main.right, main.wrong, strict=True)) + [(it.right[0], it.wrong[0]) for it in beside[:1]]
        for pair, (right, wrong) in enumerate(pairs, start=1):
            claims += [claim(right, "SUPPORTED", kind, pair), claim(wrong, "CONTRADICTED", kind, pair)]
        stated = {text for it in told for text in (it.text, *it.right)}
        if stranger.right[0] not in stated and not any(stranger.text.split()[:3] == it.text.split()[:3] for it in told):
            claims.append(claim(stranger.right[0], "UNSUPPORTED", "absent", None))
        text = " ".join(sentence(it.text) for it in told)
        yield {"group": f"values-{seed}-{number}", "domain": kind, "question": "", "contexts": [text], "claims": claims}


if __name__ == "__main__":
    write_groups(__doc__, 6000, groups)
