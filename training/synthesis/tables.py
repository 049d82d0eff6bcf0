"""Tables and records as passages, invented or from information boxes, and claims read from their cells."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import NamedTuple

from training.synthesis.lexicon import MONTHS, word_row


class Column(NamedTuple):
    """A column: how cells are made, and how a claim says what one holds ({row}, {value})."""

    name: str
    maker: str
    says: tuple[str, ...]


_ARM = ("placebo", "treatment", "control", "high-dose", "low-dose", "combination", "standard care", "open-label")
_FIRST = word_row(
    "Alda Bertil Cosima Darro Elwin Fenna Gorik Hesper Ivo Jorun Kestra Lioba Maren Nilo Orla Pavo Quinta "
    "Rasmus Selma Tove Ulric Vesna Wim Yara Zeno"
)
_LAST = word_row(
    "Abrecht Bolling Carver Dunmore Eskild Fairley Gantry Holmwood Ingram Jessop Kolbe Lindqvist Marsh "
    "Norcott Oakes Pellam Quist Rowntree Stroud Tamsin Underhill Vance Whitlow Yardley Zeller"
)
_PLACE = word_row(
    "Arlen Brackmoor Castelune Dunhaven Eastmere Fallowby Grenvik Harrowgate Ilmsted Jarrow Kelbrook "
    "Lindal Morwick Northolt Ostrava Penhallow Quarne Redmoor Skelby Thornbury Ulverton Vasteras Wexmoor "
    "Yarrow Zellburg"
)
_THING = word_row(
    "Aero Bristle Comet Delta Ember Falcon Glide Halo Iris Juno Kite Lumen Mistral Nova Orbit Pulse "
    "Quartz Ridge Stellar Tempo Umbra Vertex Willow Xenon Zephyr"
)
_TEAM = word_row("Rovers United Wanderers City Athletic Harriers Town Albion Rangers County")
_FIELD = (
    "marketing",
    "finance",
    "logistics",
    "design",
    "research",
    "sales",
    "legal",
    "support",
    "engineering",
    "security",
)
_COLOUR = ("black", "white", "silver", "navy blue", "green", "red", "grey", "yellow", "brown", "orange")

SCHEMAS: tuple[tuple[str, str, tuple[Column, ...]], ...] = (
    (
        "Product",
        "thing",
        (
            Column(
                "Price",
                "money",
                ("The {row} costs {value}.", "{row} is priced at {value}.", "The price of the {row} is {value}."),
            ),
            Column("Weight", "weight", ("The {row} weighs {value}.", "The weight of the {row} is {value}.")),
            Column(
                "Battery life",
                "hours",
                ("The battery of the {row} lasts {value}.", "The {row} has a battery life of {value}."),
            ),
            Column("Colour", "colour", ("The {row} comes in {value}.", "The colour of the {row} is {value}.")),
            Column(
                "Warranty", "months", ("The {row} has a warranty of {value}.", "The warranty on the {row} is {value}.")
            ),
            Column(
                "Released", "date", ("The {row} was released on {value}.", "The release date of the {row} was {value}.")
            ),
        ),
    ),
    (
        "City",
        "place",
        (
            Column(
                "Population",
                "people",
                (
                    "{row} has a population of {value}.",
                    "The population of {row} is {value}.",
                    "{value} people live in {row}.",
                ),
            ),
            Column("Area", "area", ("{row} covers {value}.", "The area of {row} is {value}.")),
            Column("Mayor", "person", ("The mayor of {row} is {value}.", "{value} is the mayor of {row}.")),
            Column("Founded", "year", ("{row} was founded in {value}.", "The founding of {row} dates to {value}.")),
            Column(
                "Elevation", "metres", ("{row} lies at an elevation of {value}.", "The elevation of {row} is {value}.")
            ),
        ),
    ),
    (
        "Employee",
        "person",
        (
            Column("Department", "field", ("{row} works in {value}.", "{row} is in the {value} department.")),
            Column("Start year", "year", ("{row} started in {value}.", "{row} joined the company in {value}.")),
            Column("Office", "place", ("{row} is based in {value}.", "The office of {row} is in {value}.")),
            Column(
                "Manager",
                "person",
                ("{row} reports to {value}.", "The manager of {row} is {value}.", "{value} manages {row}."),
            ),
            Column(
                "Days of leave",
                "small",
                ("{row} has {value} days of leave.", "{row} is entitled to {value} days of leave."),
            ),
        ),
    ),
    (
        "Team",
        "team",
        (
            Column("Played", "small", ("{row} played {value} games.", "{row} have played {value} matches.")),
            Column("Won", "small", ("{row} won {value} games.", "{row} had {value} wins.")),
            Column("Points", "count", ("{row} finished with {value} points.", "{row} collected {value} points.")),
            Column("Coach", "person", ("{row} are coached by {value}.", "{value} coaches {row}.")),
            Column("Stadium", "place", ("{row} play at {value} Park.", "The home ground of {row} is {value} Park.")),
        ),
    ),
    (
        "Order",
        "order",
        (
            Column("Customer", "person", ("Order {row} was placed by {value}.", "{value} placed order {row}.")),
            Column("Item", "thing", ("Order {row} is for the {value}.", "The item in order {row} is the {value}.")),
            Column("Total", "money", ("The total of order {row} is {value}.", "Order {row} came to {value}.")),
            Column("Status", "status", ("Order {row} is {value}.", "The status of order {row} is {value}.")),
            Column(
                "Delivery date",
                "date",
                ("Order {row} is due on {value}.", "The delivery date of order {row} is {value}."),
            ),
        ),
    ),
    (
        "Trial arm",
        "arm",
        (
            Column(
                "Patients", "count", ("The {row} included {value} patients.", "{value} patients were in the {row}.")
            ),
            Column(
                "Mean age",
                "age",
                ("The mean age in the {row} was {value}.", "Patients in the {row} were {value} old on average."),
            ),
            Column(
                "Response rate",
                "percent",
                ("The response rate in the {row} was {value}.", "{value} of the {row} responded."),
            ),
            Column(
                "Withdrawals",
                "small",
                ("{value} patients withdrew from the {row}.", "The {row} had {value} withdrawals."),
            ),
        ),
    ),
)


def _cell(maker: str, rng: random.Random) -> str:
    if maker == "money":
        return rng.choice(("$", "€", "£")) + rng.choice(
            (
                f"{rng.randint(5, 990)}.{rng.choice(('00', '50', '99'))}",
                f"{rng.randint(1_000, 90_000):,}",
                str(rng.randint(10, 990)),
            )
        )
    if maker == "date":
        return f"{rng.randint(1, 28)} {rng.choice(MONTHS)} {rng.randint(1995, 2025)}"
    words = {
        "colour": _COLOUR,
        "field": _FIELD,
        "status": ("shipped", "pending", "cancelled", "delivered", "refunded", "on hold"),
    }
    if maker in words:
        return rng.choice(words[maker])
    makers = {
        "weight": lambda: f"{rng.randint(2, 60) * 50} g",
        "hours": lambda: f"{rng.randint(3, 60)} hours",
        "months": lambda: f"{rng.choice((6, 12, 18, 24, 36, 48, 60))} months",
        "people": lambda: f"{rng.randint(2_000, 2_500_000):,}",
        "area": lambda: f"{rng.randint(8, 900)} square kilometres",
        "metres": lambda: f"{rng.randint(2, 2400)} metres",
        "year": lambda: str(rng.randint(1850, 2024)),
        "small": lambda: str(rng.randint(3, 38)),
        "count": lambda: str(rng.randint(20, 480)),
        "age": lambda: f"{rng.randint(24, 81)} years",
        "percent": lambda: f"{rng.randint(3, 97)}%",
        "person": lambda: f"{rng.choice(_FIRST)} {rng.choice(_LAST)}",
        "place": lambda: rng.choice(_PLACE),
        "thing": lambda: (
            f"{rng.choice(_THING)} {rng.choice((rng.randint(2, 900), rng.choice(('Pro', 'Mini', 'Max', 'Lite'))))}"
        ),
        "team": lambda: f"{rng.choice(_PLACE)} {rng.choice(_TEAM)}",
        "order": lambda: f"{rng.choice('ABCDEF')}-{rng.randint(1000, 9999)}",
        "arm": lambda: f"{rng.choice(_ARM)} group",
    }
    return str(makers[maker]())


class Table(NamedTuple):
    """Rows of cells under columns; the first column names the row."""

    columns: tuple[Column, ...]
    head: str
    rows: tuple[tuple[str, ...], ...]


def invented(rng: random.Random) -> Table:
    """A table of two to eight rows; in every column, no two rows hold the same where that can be."""
    head, maker, columns = rng.choice(SCHEMAS)
    chosen = tuple(rng.sample(columns, rng.randint(2, len(columns))))
    keys: list[str] = []
    count = rng.randint(2, 8)
    for _ in range(40 * count):  # a short list of words may not have enough that differ
        if len(keys) == count:
            break
        key = _cell(maker, rng)
        if key not in keys and not any(key in other or other in key for other in keys):
            keys.append(key)
    count = len(keys)
    columns_of_cells = []
    for column in chosen:
        cells: list[str] = []
        tries = 0
        while len(cells) < count:
            cell = _cell(column.maker, rng)
            tries += 1
            if (
                cell not in cells
                or tries > 40 * count
                or (column.maker in ("colour", "field", "status") and rng.random() < 0.3)
            ):
                cells.append(cell)
        columns_of_cells.append(cells)
    rows = tuple((key, *(cells[i] for cells in columns_of_cells)) for i, key in enumerate(keys))
    return Table(chosen, head, rows)


def rendered(table: Table, rng: random.Random) -> tuple[list[str], list[list[tuple[int, int, int]]]]:
    """The table as passages, and for every row and column where the cell stands: (passage, start, end)."""
    way = rng.choice(("markdown", "pipes", "comma", "records", "passages", "sentences"))
    heads = [table.head, *(column.name for column in table.columns)]
    pieces: list[tuple[str, int, int] | str] = []  # text, or a cell with its row and column
    breaks: list[int] = []
    if way in ("markdown", "pipes", "comma"):
        gap, edge = {"markdown": (" | ", "| "), "pipes": (" | ", ""), "comma": (", ", "")}[way]
        close = " |" if way == "markdown" else ""
        pieces.append(edge + gap.join(heads) + close)
        if way == "markdown":
            pieces.append("\n|" + " --- |" * len(heads))
        for r, row in enumerate(table.rows):
            pieces.append("\n" + edge)
            for c, cell in enumerate(row):
                shown = f'"{cell}"' if way == "comma" and "," in cell else cell
                pieces += [(shown, r, c), gap if c < len(row) - 1 else close]
    else:
        for r, row in enumerate(table.rows):
            if r:
                pieces.append("\n\n")
            if way == "passages" and r:
                breaks.append(len(pieces))
            for c, cell in enumerate(row):
                if way == "sentences":
                    pieces += [
                        (f"{heads[c]} " if c == 0 else f"{heads[c].lower()} "),
                        (cell, r, c),
                        ", " if c < len(row) - 1 else ".",
                    ]
                else:
                    pieces += [f"{heads[c]}: ", (cell, r, c), "\n" if c < len(row) - 1 else ""]
    return _joined(pieces, breaks, len(table.rows), len(heads))


def _joined(
    pieces: Sequence[tuple[str, int, int] | str], breaks: Sequence[int], rows: int, columns: int
) -> tuple[list[str], list[list[tuple[int, int, int]]]]:
    texts = [""]
    places = [[(0, 0, 0)] * columns for _ in range(rows)]
    for number, piece in enumerate(pieces):
        if number in breaks:
            texts[-1] = texts[-1].rstrip("\n")
            texts.append("")
        if isinstance(piece, str):
            texts[-1] += piece if texts[-1] or piece.strip("\n") else ""
        else:
            cell, r, c = piece
            places[r][c] = (len(texts) - 1, len(texts[-1]), len(texts[-1]) + len(cell))
            texts[-1] += cell
    return texts, places


class Read(NamedTuple):
    """A claim from a table: cells it comes from (row, column), and what is wrong in it."""

    claim: str
    label: str
    cells: tuple[tuple[int, int], ...]
    errors: tuple[tuple[int, int], ...]


def _say(template: str, row: str, value: str) -> tuple[str, tuple[int, int], tuple[int, int]]:
    """The claim, and where in it the row's name and the value stand."""
    text, at = "", {}
    for part in re.split(r"(\{row\}|\{value\})", template):
        if part in ("{row}", "{value}"):
            word = row if part == "{row}" else value
            at[part] = (len(text), len(text) + len(word))
            text += word
        else:
            text += part
    return text[0].upper() + text[1:], at["{row}"], at["{value}"]


def reads(table: Table, rng: random.Random) -> list[Read]:
    """A right claim, and wrong ones beside it: another row's cell, a changed cell, a row that is not there."""
    r = rng.randrange(len(table.rows))
    c = rng.randrange(len(table.columns)) + 1
    column = table.columns[c - 1]
    row = table.rows[r]
    template = rng.choice(column.says)
    claim, _, _ = _say(template, row[0], row[c])
    found = [Read(claim, "SUPPORTED", ((r, 0), (r, c)), ())]
    others = [other[c] for other in table.rows if other[c] != row[c]]
    if others:
        wrong, _, place = _say(template, row[0], rng.choice(others))
        found.append(Read(wrong, "CONTRADICTED", ((r, 0), (r, c)), (place,)))
    strange = _cell(column.maker, rng)
    if strange != row[c]:
        wrong, _, place = _say(template, row[0], strange)
        found.append(Read(wrong, "CONTRADICTED", ((r, 0), (r, c)), (place,)))
    maker = next(maker for head, maker, _ in SCHEMAS if head == table.head)
    missing = _cell(maker, rng)
    if not any(missing in other[0] or other[0] in missing for other in table.rows):
        wrong, place, _ = _say(template, missing, row[c])
        found.append(Read(wrong, "UNSUPPORTED", (), (place,)))
    absent = [one for head, _, columns in SCHEMAS if head == table.head for one in columns if one not in table.columns]
    if absent:
        one = rng.choice(absent)
        wrong, _, place = _say(rng.choice(one.says), row[0], _cell(one.maker, rng))
        found.append(Read(wrong, "UNSUPPORTED", (), (place,)))
    found += _compared(table, c, rng)
    return found


def _value(cell: str) -> float | None:
    digits = re.sub(r"[^\d.]", "", cell)
    return float(digits) if digits and digits.count(".") < 2 else None


def _compared(table: Table, c: int, rng: random.Random) -> list[Read]:
    """Which of two rows has more, and which row has the most."""
    column = table.columns[c - 1]
    if column.maker in ("person", "place", "thing", "colour", "field", "status", "date", "year"):
        return []
    if column.maker == "money" and len({row[c][0] for row in table.rows}) > 1:
        return []
    values = [_value(row[c]) for row in table.rows]
    if None in values or len(set(values)) < len(values):
        return []
    first, second = rng.sample(range(len(table.rows)), 2)
    more = values[first] > values[second]  # type: ignore[operator]
    name = column.name.lower()
    found = []
    for word in rng.sample(("higher", "lower"), 2):
        one, two = table.rows[first][0], table.rows[second][0]
        claim = f"{one} has a {word} {name} than {two}."
        right = (word == "higher") == more
        cells = ((first, 0), (first, c), (second, 0), (second, c))
        at = claim.index(f" {word} ") + 1
        found.append(
            Read(
                claim[0].upper() + claim[1:],
                "SUPPORTED" if right else "CONTRADICTED",
                cells,
                () if right else ((at, at + len(word)),),
            )
        )
    top = max(range(len(values)), key=lambda i: values[i] or 0)
    who = rng.choice((top, rng.randrange(len(values))))
    claim = f"{table.rows[who][0]} has the highest {name} of all."
    claim = claim[0].upper() + claim[1:]
    right = who == top
    found.append(
        Read(
            claim,
            "SUPPORTED" if right else "CONTRADICTED",
            ((top, 0), (top, c)),
            () if right else ((0, len(table.rows[who][0])),),
        )
    )
    return found
