"""Word lists of the synthesis: what may take the place of what."""

from __future__ import annotations


def word_row(words: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(words.split())


MONTHS = word_row("January February March April May June July August September October November December")
WEEKDAYS = word_row("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
NUMBER_WORDS = word_row(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
ORDINALS = word_row("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth")


def _both(rows: str) -> dict[str, tuple[str, ...]]:
    """Read `a | b` rows as a for b and b for a; `a, c | b` gives each side's words the other side's."""
    table: dict[str, list[str]] = {}
    for row in rows.strip().splitlines():
        left, right = ([word.strip() for word in side.split(",")] for side in row.split("|"))
        for word in left:
            table.setdefault(word, []).extend(right)
        for word in right:
            table.setdefault(word, []).extend(left)
    return {word: tuple(dict.fromkeys(others)) for word, others in table.items()}


def _circles(rows: str) -> dict[str, tuple[str, ...]]:
    """Read rows of words of which each may take the place of every other."""
    table = {}
    for row in rows.strip().splitlines():
        words = [word.strip() for word in row.split(",")]
        for word in words:
            table[word] = tuple(other for other in words if other != word)
    return table


UNITS = _circles("""
years, months, weeks, days, hours
year, month, week, day, hour
minutes, seconds
minute, second
miles, kilometers, meters, yards
mile, kilometer, meter
kilometres, metres, centimetres
feet, meters, inches, yards
foot, meter, inch
km, m, mi
cm, mm
kg, lb, g
mg, g, kg
pounds, kilograms, ounces, tons
tonnes, kilograms
acres, hectares, square miles
gallons, liters
litres, millilitres
degrees Celsius, degrees Fahrenheit
dollars, euros, pounds, yen
USD, EUR, GBP
million, billion, thousand
hundred, thousand
trillion, billion
GB, MB, TB
°C, °F
ml, l
volts, watts, amperes
weeks, months, days
""")
CURRENCIES = {"$": ("€", "£"), "€": ("$", "£"), "£": ("$", "€")}

ANTONYMS = _both("""
increased, increases, rose, rises | decreased, decreases, fell, falls
increase | decrease
increasing | decreasing
increasingly | decreasingly
improved | worsened
improves | worsens
improve | worsen
won | lost
wins | loses
win | lose
accepted | rejected
accepts | rejects
accept | reject
allowed, permitted | prohibited, forbidden
allows, permits | prohibits, forbids
allow, permit | prohibit, forbid
approved | rejected
approve | reject
opened | closed
opens | closes
began, started | ended
begins, starts | ends
north | south
northern | southern
east | west
eastern | western
left | right
northeast | southwest
northwest | southeast
male | female
males | females
men | women
man | woman
boys | girls
father | mother
son | daughter
sons | daughters
brother | sister
brothers | sisters
husband | wife
king | queen
positive | negative
positively | negatively
public | private
publicly | privately
domestic | foreign
internal | external
included | excluded
includes | excludes
include | exclude
encouraged | discouraged
succeeded | failed
success | failure
successful | unsuccessful
strengthened | weakened
present | absent
presence | absence
supported | opposed
supports | opposes
support | oppose
gained | lost
bought, purchased | sold
buys | sells
buy, purchase | sell
arrived | departed
hired | fired
expanded | shrank
added | removed
adds | removes
enabled | disabled
enable | disable
enables | disables
admitted | denied
confirmed | denied
voluntary | mandatory
voluntarily | compulsorily
optional | mandatory
temporary | permanent
temporarily | permanently
ancient | modern
rural | urban
winter | summer
spring | autumn
morning | evening
day | night
hot | cold
wet | dry
rich | poor
wide | narrow
deep | shallow
common | rare
commonly | rarely
frequently, often, usually | rarely, seldom
always | never
safe | dangerous
legal | illegal
legally | illegally
indoor | outdoor
inner | outer
import | export
imported | exported
imports | exports
acute | chronic
benign | malignant
inhibited | activated
inhibits | activates
inhibit | activate
inhibition | activation
upregulated | downregulated
up-regulated | down-regulated
reduced | increased
reduces | increases
reduction | increase
significantly | insignificantly
beneficial | harmful
effective | ineffective
sensitive | resistant
upstream | downstream
offensive | defensive
victory | defeat
majority | minority
ally | enemy
allies | enemies
former | current
formerly | currently
direct | indirect
directly | indirectly
visible | invisible
possible | impossible
able | unable
likely | unlikely
true | false
correct | incorrect
""")
COMPARATIVES = _both("""
more than | less than
higher | lower
highest | lowest
higher than | lower than
greater | smaller
greater than | less than
larger | smaller
largest | smallest
bigger | smaller
biggest | smallest
longer | shorter
longest | shortest
older | younger
oldest | youngest
earlier | later
earliest | latest
faster | slower
fastest | slowest
better | worse
best | worst
stronger | weaker
strongest | weakest
at least | at most
above | below
most common | least common
most important | least important
more likely | less likely
more common | less common
more frequently | less frequently
more often | less often
more effective | less effective
more | fewer
taller | shorter
tallest | shortest
heavier | lighter
heaviest | lightest
warmer | cooler
hotter | colder
wider | narrower
richer | poorer
closer | farther
maximum | minimum
exceeded | fell short of
exceeds | falls short of
""")
for _loose in ("more", "fewer"):
    COMPARATIVES.pop(_loose, None)
ORDERS = _both("""
before | after
prior to | following
preceded by | followed by
preceded | followed
first | last
previously | subsequently
""")
QUANTIFIERS = {
    "CONTRADICTED": {
        "all of": ("none of",), "some of": ("none of",), "several of": ("none of",),
        "none of": ("all of",), "most of": ("few of",), "many of": ("few of",),
        "most": ("few",), "many": ("few", "hardly any"), "always": ("never",),
        "several": ("no",), "some": ("no",), "every": ("no",), "all": ("no",),
        "the majority of": ("a minority of",), "a majority of": ("a minority of",), "mostly": ("rarely",),
        "numerous": ("few",), "everyone": ("no one",), "half of": ("all of",), "completely": ("only partly",),
    },
    "UNSUPPORTED": {
        "some of": ("all of", "most of"), "many of": ("all of",), "most of": ("all of", "each of"),
        "some": ("all", "most"), "many": ("all",), "most": ("all",), "several": ("all", "dozens of"),
        "often": ("always",), "usually": ("always",), "generally": ("always",), "typically": ("always",),
        "sometimes": ("always", "usually"), "mostly": ("exclusively",), "largely": ("entirely",),
        "mainly": ("exclusively",), "partly": ("entirely",), "frequently": ("always",), "primarily": ("exclusively",),
        "nearly all": ("all",), "almost all": ("all",), "one of the": ("the only one of the",),
        "a few": ("all", "most"), "in some cases": ("in every case",), "occasionally": ("constantly",),
        "the majority of": ("all",), "a majority of": ("all",), "in part": ("entirely",),
    },
}  # fmt: skip
HEDGES: dict[str, tuple[str, ...]] = {
    "may": ("will", "certainly will"), "might": ("will", "will surely"), "could": ("will", "is certain to"),
    "suggests that": ("proves that",), "suggest that": ("prove that",), "suggested that": ("proved that",),
    "suggesting that": ("proving that",), "indicates that": ("proves beyond doubt that",),
    "appears to": ("is certain to",), "appears to be": ("is",), "appear to be": ("are",), "seems to be": ("is",),
    "appeared to be": ("was",), "seemed to be": ("was",), "is thought to be": ("is",), "are thought to be": ("are",),
    "is believed to be": ("is",), "are believed to be": ("are",), "was believed to be": ("was",),
    "is believed to have": ("is known to have",), "is thought to have": ("is known to have",),
    "is considered": ("is proven to be",), "possibly": ("certainly",), "probably": ("certainly", "definitely"),
    "perhaps": ("certainly",), "likely": ("certain",), "potential": ("proven",), "potentially": ("certainly",),
    "reportedly": ("demonstrably",), "allegedly": ("demonstrably",), "is expected to": ("is certain to",),
    "are expected to": ("are certain to",), "plans to": ("is certain to",), "tend to": ("always",),
    "estimated": ("confirmed",), "it is possible that": ("it is certain that",), "can": ("always",),
    "is likely to": ("is certain to",), "are likely to": ("are certain to",), "may have": ("definitely has",),
    "associated with": ("caused by",), "was associated with": ("was caused by",), "correlated with": ("caused by",),
    "linked to": ("caused by",),
}  # fmt: skip
for _loose in ("can", "could", "likely", "tend to", "may have", "potential", "appears to"):
    HEDGES.pop(_loose, None)
MODALS: dict[str, tuple[str, ...]] = {
    "may": ("must",), "can": ("must", "have to"), "could": ("had to",), "should": ("must",), "must": ("may", "can"),
    "is allowed to": ("is required to",), "are allowed to": ("are required to",), "is required to": ("may",),
    "are required to": ("may",), "required to": ("free to",), "will": ("may never",), "would": ("had to",),
}  # fmt: skip
for _loose in ("can", "could", "would", "will", "may"):
    MODALS.pop(_loose, None)
MODALS |= {
    "you may": ("you must",), "we may": ("we must",), "you can": ("you must",), "we can": ("we must",),
    "they may": ("they must",), "users can": ("users must",), "users may": ("users must",),
}  # fmt: skip
# Between two names these make their order say nothing, or next to nothing.
SYMMETRIC = (
    "between", "met", "meets", "married", "marry", "marries", "together", "alongside", "with", "versus", "vs", "near",
    "borders", "bordered", "shared", "shares", "equals", "resembles", "similar", "same", "both", "tied", "drew",
    "signed", "agreed", "merged", "joined forces", "co-starred", "include", "includes", "including", "included",
    "such as", "and", "or", "known as", "called", "named",
)  # fmt: skip
BASE = {
    "became": "become", "began": "begin", "won": "win", "lost": "lose", "made": "make", "took": "take", "gave": "give",
    "included": "include", "includes": "include", "joined": "join", "wrote": "write", "received": "receive",
    "moved": "move", "played": "play", "plays": "play", "contains": "contain", "provides": "provide",
    "released": "release", "showed": "show", "shows": "show", "increased": "increase", "decreased": "decrease",
    "remained": "remain", "remains": "remain", "reached": "reach", "produced": "produce", "produces": "produce",
    "requires": "require", "allowed": "allow", "allows": "allow", "supported": "support", "led": "lead",
    "went": "go", "came": "come", "left": "leave", "died": "die", "grew": "grow", "held": "hold", "kept": "keep",
    "sold": "sell", "bought": "buy", "killed": "kill", "arrested": "arrest", "claimed": "claim", "created": "create",
    "returned": "return", "served": "serve", "used": "use", "uses": "use", "helped": "help", "helps": "help",
    "worked": "work", "works": "work", "offers": "offer", "appeared": "appear", "appears": "appear",
}  # fmt: skip
UNIT_FORMS = {
    "km": "kilometres", "kilometres": "km", "kilometers": "km", "kg": "kilograms", "kilograms": "kg",
    "cm": "centimetres",
    "mm": "millimetres", "mg": "milligrams", "hours": "hrs", "minutes": "min", "miles": "mi", "ft": "feet",
    "metres": "m", "meters": "m", "lb": "pounds", "g": "grams", "ml": "millilitres", "square kilometres": "km²",
}  # fmt: skip
SYNONYMS = _circles("""
began, started
begins, starts
big, large
many, numerous
because, since
about, regarding
also known as, also called
assist, help
assists, helps
attempted, tried
attempt, try
children, kids
city's, town's
constructed, built
built, constructed
demonstrated, showed
difficult, hard
due to, because of
ended, finished
famous, well-known
gather, collect
gathers, collects
gives, provides
however, but
huge, enormous
important, significant
in order to, to
information, data
largest, biggest
located, situated
main, principal
maintain, keep
movie, film
nearly, almost
obtain, get
occurred, happened
occurs, happens
passed away, died
permits, allows
physicians, doctors
primary, main
quickly, rapidly
received, got
remained, stayed
requires, needs
resides, lives
shown, demonstrated
such as, like
supplies, provides
takes place, happens
took place, happened
utilize, use
utilized, used
wrote, authored
yearly, annually
yearly, annual
approximately, about
frequently, often
subsequently, later
third parties, other parties
we collect, we gather
we may, we might
United States, US
United Kingdom, UK
the U.S., the United States
percent, per cent
""")
for _loose in (
    "but",
    "since",
    "get",
    "made",
    "make",
    "called",
    "like",
    "about",
    "to",
    "later",
    "significant",
    "keep",
    "got",
):
    SYNONYMS.pop(_loose, None)
for _loose in ("in order to", "however", "because", "yearly", "wrote"):
    SYNONYMS.pop(_loose, None)
SYNONYMS.pop("use", None)
SYNONYMS.pop("used", None)
SYNONYMS |= {
    "was founded": ("was established",),
    "commenced": ("began",),
    "in order to": ("to",),
    "prior to": ("before",),
    "stated": ("said",),
    "purchased": ("bought",),
}

NATIONS = word_row(
    "American British French German Italian Spanish Chinese Japanese Russian Indian Canadian Australian "
    "Mexican Brazilian Dutch Swedish Norwegian Danish Finnish Polish Greek Turkish Egyptian Iranian Iraqi "
    "Israeli Irish Scottish Welsh English Korean Vietnamese African European Asian Portuguese Austrian "
    "Swiss Belgian Hungarian Syrian Saudi Pakistani Cuban Argentine Chilean Nigerian Kenyan Ukrainian "
    "Roman"
)
COUNTRIES = (
    *word_row(
        "America Britain France Germany Italy Spain China Japan Russia India Canada Australia Mexico Brazil "
        "Sweden Norway Denmark Finland Poland Greece Turkey Egypt Iran Iraq Israel Ireland Scotland Wales "
        "England Korea Vietnam Portugal Austria Switzerland Belgium Hungary Syria Pakistan Cuba Argentina "
        "Chile Nigeria Kenya Ukraine"
    ),
    "United States", "United Kingdom", "South Africa", "New Zealand", "Saudi Arabia", "North Korea", "South Korea",
)  # fmt: skip
PEOPLE = (
    word_row(
        "James Mary Robert Patricia John Jennifer Michael Linda David Susan Richard Karen Thomas Sarah Daniel "
        "Lisa Paul Nancy Mark Sandra George Emily Kevin Amanda Brian Rachel Peter Laura Frank Helen Samuel "
        "Diane Patrick Julie Jack Anna Henry Maria Carl Alice Arthur Grace Ahmed Fatima Wei Mei Carlos Elena "
        "Ivan Olga Kenji Yuki"
    ),
    word_row(
        "Smith Johnson Williams Brown Jones Miller Davis Wilson Anderson Taylor Moore Martin Lee Thompson "
        "White Harris Clark Lewis Robinson Walker Young Allen King Wright Scott Hill Green Baker Nelson "
        "Carter Mitchell Roberts Turner Phillips Campbell Parker Evans Edwards Collins Stewart Morris Rogers "
        "Reed Cook Morgan Bell Murphy Khan Chen Garcia Rossi Novak Larsen Tanaka Okafor Singh"
    ),
)
