"""The embedded decomposer: what becomes a claim, what is skipped, and what stays whole."""

import asyncio
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import everyclaim as ec
from everyclaim.decompose.embedded import EmbeddedDecomposer


def decompose(text, **options):
    return asyncio.run(EmbeddedDecomposer(**options).decompose(text))


def claims(text):
    return [claim.text for claim in decompose(text).claims]


def skipped(text):
    return [(piece.reason, piece.text) for piece in decompose(text).skipped]


SPLITS = {
    "one owner behind two nouns with their own article": (
        "Bring an identity card and proof of address.",
        ["Bring an identity card.", "Bring proof of address."],
    ),
    "relative clause and shared predicate": (
        (
            "Albert Einstein was a German theoretical physicist who developed the theory of relativity "
            "and contributed to quantum mechanics."
        ),
        [
            "Albert Einstein was a German theoretical physicist.",
            "Albert Einstein developed the theory of relativity.",
            "Albert Einstein contributed to quantum mechanics.",
        ],
    ),
    "which about the noun before": (
        "Italy's capital is Rome, which has a population of about 2.8 million.",
        ["Italy's capital is Rome.", "Rome has a population of about 2.8 million."],
    ),
    "range kept, second predicate": (
        "The cookies bake at 350 degrees for 8 to 10 minutes and should be cooled on a rack",
        ["The cookies bake at 350 degrees for 8 to 10 minutes.", "The cookies should be cooled on a rack."],
    ),
    "born and died": (
        "Mara Lind was born in Visby in 1900 and died in Lund in 1950.",
        [
            "Mara Lind was born in Visby.",
            "Mara Lind was born in 1900.",
            "Mara Lind died in Lund.",
            "Mara Lind died in 1950.",
        ],
    ),
    "place and date of a birth": (
        "Einstein was born in Germany on 20th March 1879.",
        ["Einstein was born in Germany.", "Einstein was born on 20th March 1879."],
    ),
    "date before place, with a comma": (
        "The firm was founded on 3 May 1998, in Menlo Park, California.",
        ["The firm was founded on 3 May 1998.", "The firm was founded in Menlo Park, California."],
    ),
    "passive carries its auxiliary": (
        "The law was passed in 1990 and signed by the president.",
        ["The law was passed in 1990.", "The law was signed by the president."],
    ),
    "semicolon": (
        "The battery lasts ten hours; the charger is sold separately.",
        ["The battery lasts ten hours.", "The charger is sold separately."],
    ),
    "two subjects": (
        "The pier was built in 1901, and the lighthouse was added in 1950.",
        ["The pier was built in 1901.", "The lighthouse was added in 1950."],
    ),
    "pronoun takes the only subject": (
        "The Eiffel Tower was built in 1889, and it is 330 metres tall.",
        ["The Eiffel Tower was built in 1889.", "The Eiffel Tower is 330 metres tall."],
    ),
    "apposition": (
        "Ada Lind, a Swedish painter, moved to Lund in 1920.",
        ["Ada Lind moved to Lund in 1920.", "Ada Lind was a Swedish painter."],
    ),
    "who between commas": (
        "Ada Lind, who was born in Visby, wrote the first guide.",
        ["Ada Lind wrote the first guide.", "Ada Lind was born in Visby."],
    ),
    "three predicates": (
        "He wrote two novels, directed a film, and produced a record.",
        ["He wrote two novels.", "He directed a film.", "He produced a record."],
    ),
    "opening phrase is carried": (
        "In 1905, Ada Lind moved to Lund and opened a school.",
        ["In 1905, Ada Lind moved to Lund.", "In 1905, Ada Lind opened a school."],
    ),
    "said of both": (
        "Smith said the bridge was safe and the road was closed.",
        ["Smith said the bridge was safe.", "Smith said the road was closed."],
    ),
    "said of both, behind": (
        "The bridge was safe and the road was closed, Smith said.",
        ["The bridge was safe, Smith said.", "The road was closed, Smith said."],
    ),
    "a condition of both": (
        "If it rains, the match is cancelled and tickets are refunded.",
        ["If it rains, the match is cancelled.", "If it rains, tickets are refunded."],
    ),
    "two comparisons": (
        "The bridge is longer than the tower and is older than the pier.",
        ["The bridge is longer than the tower.", "The bridge is older than the pier."],
    ),
    "what is conceded": (
        "Although the road was closed, the bus left and the train stayed.",
        ["The road was closed.", "The bus left.", "The train stayed."],
    ),
    "shared object": ("She designed and built the house.", ["She designed the house.", "She built the house."]),
    "place and date of an event": (
        "The film was released in France on 3 May 2001.",
        ["The film was released in France.", "The film was released on 3 May 2001."],
    ),
    "contact clause": (
        "They sell a large range of cakes and the pies they bake are good.",
        ["They sell a large range of cakes.", "The pies they bake are good."],
    ),
    "what it has": (
        "Italy's capital is Rome, with about 2.8 million residents.",
        ["Italy's capital is Rome.", "Rome has about 2.8 million residents."],
    ),
    "who between commas, of a thing": (
        "The Renaissance, which began in Florence, spread across Europe.",
        ["The Renaissance spread across Europe.", "The Renaissance began in Florence."],
    ),
    "values with their units": (
        "Water boils at 100 °C and freezes at 0 °C.",
        ["Water boils at 100 °C.", "Water freezes at 0 °C."],
    ),
    "no object in the singular is another subject": (
        "Aspirin reduces inflammation and lowers fever.",
        ["Aspirin reduces inflammation.", "Aspirin lowers fever."],
    ),
    "professions": (
        "Charles Babbage was an English mathematician, philosopher, inventor and mechanical engineer.",
        [
            "Charles Babbage was an English mathematician.",
            "Charles Babbage was a philosopher.",
            "Charles Babbage was an inventor.",
            "Charles Babbage was a mechanical engineer.",
        ],
    ),
    "profession, finds and prizes": (
        "Marie Curie was a Polish physicist and chemist who discovered polonium and radium and won two Nobel Prizes.",
        [
            "Marie Curie was a Polish physicist.",
            "Marie Curie was a chemist.",
            "Marie Curie discovered polonium.",
            "Marie Curie discovered radium.",
            "Marie Curie won two Nobel Prizes.",
        ],
    ),
    "a third subject is no second": (
        "Anna lives in Rome and she is 40, but Bert is 50.",
        ["Anna lives in Rome.", "Anna is 40.", "Bert is 50."],
    ),
    "objects, and what is denied": (
        "The hotel has street and garage parking but does not offer valet or shuttle services.",
        [
            "The hotel has street parking.",
            "The hotel has garage parking.",
            "The hotel does not offer valet services.",
            "The hotel does not offer shuttle services.",
        ],
    ),
    "examples": (
        "They offer drinks such as tea, milk and juice.",
        ["They offer drinks.", "They offer tea.", "They offer milk.", "They offer juice."],
    ),
    "examples of a variety": (
        "The menu features a variety of dishes, including soups and pies, and is praised by guests.",
        [
            "The menu features a variety of dishes.",
            "The menu features soups.",
            "The menu features pies.",
            "The menu is praised by guests.",
        ],
    ),
    "title": (
        "Mayor Ada Lind opened the pier.",
        ["Ada Lind was a mayor.", "Ada Lind opened the pier."],
    ),
    "what somebody did by it": (
        "One guest enjoyed the meal, praising the chicken and the soup.",
        ["One guest enjoyed the meal.", "One guest praised the chicken.", "One guest praised the soup."],
    ),
    "two things somebody did by it": (
        "Ada Lind is a painter, earning ten prizes in 1990 and visiting Rome.",
        ["Ada Lind is a painter.", "Ada Lind earned ten prizes in 1990.", "Ada Lind visited Rome."],
    ),
    "what it has, told first": (
        "With a rating of 3.5 stars, the café offers cakes.",
        ["The café has a rating of 3.5 stars.", "The café offers cakes."],
    ),
    "denied of one predicate, not of the next": (
        "The hall is not warm, quiet, or dry, but is described as classy.",
        ["The hall is not warm.", "The hall is not quiet.", "The hall is not dry.", "The hall is described as classy."],
    ),
    "a reason of the second clause": (
        "Ada Lind became a captain, and the crew had been convinced by June, as Bert told a friend.",
        ["Ada Lind became a captain.", "The crew had been convinced by June, as Bert told a friend."],
    ),
    "arcs that do not cross": (
        "Equipment includes air conditioning, a tow bar and rear sensors, but there is no navigation.",
        [
            "Equipment includes air conditioning.",
            "Equipment includes a tow bar.",
            "Equipment includes rear sensors.",
            "There is no navigation.",
        ],
    ),
    "what somebody found": (
        "The report noted that the pump leaks but that the tank is sound.",
        ["The report noted that the pump leaks.", "The report noted that the tank is sound."],
    ),
    "a value with its sign, then a verb": (
        "The bond pays 4.25 % and matures on 3 May 2030.",
        ["The bond pays 4.25 %.", "The bond matures on 3 May 2030."],
    ),
    "told of an event, not of its subject": (
        "A car crashed into a wall, killing the passenger.",
        ["A car crashed into a wall.", "A car crashed into a wall, killing the passenger."],
    ),
    "a name that ends in 's": (
        "Denny's is a café located in Lund.",
        ["Denny's is a café.", "Denny's is located in Lund."],
    ),
    "what they were told, in two clauses with two predicates": (
        "Simon Frayle reported that 60 pupils use the bridge, and that the way round adds 25 minutes and has no pavement.",
        [
            "Simon Frayle reported that 60 pupils use the bridge.",
            "Simon Frayle reported that the way round adds 25 minutes.",
            "Simon Frayle reported that the way round has no pavement.",
        ],
    ),
    "a second list inside a clause": (
        "Verdé is a café located in Lund, selling tea, milk, rolls, and bread.",
        [
            "Verdé is a café.",
            "Verdé is located in Lund.",
            "Verdé is located in Lund, selling tea, milk, rolls, and bread.",
        ],
    ),
    "done by somebody, after a date": (
        "The hall was built in 1830, moved in 1964 and bought by a bank.",
        ["The hall was built in 1830.", "The hall was moved in 1964.", "The hall was bought by a bank."],
    ),
    "an adjective and a verb behind a modal": (
        "Guests should be aware of the reviews and take a map.",
        ["Guests should be aware of the reviews.", "Guests should take a map."],
    ),
    "another subject in the middle": (
        "The winner was Ada Lind, with 87 votes; he had lost.",
        ["The winner was Ada Lind.", "Ada Lind had 87 votes.", "He had lost."],
    ),
    "a group of people": (
        "Guests left mixed reviews, with some praising the food.",
        ["Guests left mixed reviews.", "Some were praising the food."],
    ),
    "modal carried": (
        "You must register by Friday and be a resident of the city.",
        ["You must register by Friday.", "You must be a resident of the city."],
    ),
    "what stands after a semicolon is a sentence": (
        "Council engineer Priya Dallow said it was not safe; by her estimate the repair needs ten weeks.",
        [
            "Priya Dallow was a council engineer.",
            "Priya Dallow said it was not safe.",
            "By her estimate the repair needs ten weeks.",
        ],
    ),
    "a pronoun after a semicolon": (
        "The double basket takes 18 g of coffee and gives 36 g; the single basket takes 9 g and gives 18 g.",
        [
            "The double basket takes 18 g of coffee.",
            "The double basket gives 36 g.",
            "The single basket takes 9 g.",
            "The single basket gives 18 g.",
        ],
    ),
    "a fee that has to be paid": (
        "The storage is capped at 200 TB for each policy, and a larger allowance has to be requested.",
        ["The storage is capped at 200 TB for each policy.", "A larger allowance has to be requested."],
    ),
    "a participle behind two predicates": (
        "The beroids do without tentacles and feed on other ctenophores, using huge mouths with stiffened cilia.",
        [
            "The beroids do without tentacles.",
            "The beroids feed on other ctenophores.",
            "The beroids feed on other ctenophores, using huge mouths with stiffened cilia.",
        ],
    ),
    "a phrase between commas": (
        "Wide players and attackers, by contrast, are usually shorter.",
        ["Wide players, by contrast, are usually shorter.", "Attackers, by contrast, are usually shorter."],
    ),
    "neither nor, behind another denial": (
        (
            "In this study, the averages weren't much help: neither leukocyte counts nor CRP values differed significantly "
            "between people whose appendix was uninflamed and those who truly had acute appendicitis."
        ),
        [
            "In this study, the averages weren't much help.",
            (
                "Neither leukocyte counts nor CRP values differed significantly between people whose appendix was "
                "uninflamed and those who truly had acute appendicitis."
            ),
        ],
    ),
    "which of an unknown noun": (
        "It is the roof of the tower, which has a red flag.",
        ["It is the roof of the tower.", "It is the roof of the tower, which has a red flag."],
    ),
    "where something else happened": (
        "Ada Lind moved to Lund, where her brother taught.",
        ["Ada Lind moved to Lund.", "Ada Lind moved to Lund, where her brother taught."],
    ),
    "examples among who acts, and where": (
        "Drinks such as tea are sold there. Ada Lind sang in halls such as the Rosa and the Mira.",
        [
            "Drinks are sold there.",
            "Tea is sold there.",
            "Ada Lind sang in halls.",
            "Ada Lind sang in the Rosa.",
            "Ada Lind sang in the Mira.",
        ],
    ),
    "a pair in a list": (
        "The kiosk sells tea, bread and butter, and fresh milk.",
        [
            "The kiosk sells tea.",
            "The kiosk sells bread.",
            "The kiosk sells butter.",
            "The kiosk sells fresh milk.",
        ],
    ),
    "none of two": (
        "There is no sauna and no pool. The pump and the valve are not made here.",
        [
            "There is no sauna.",
            "There is no pool.",
            "The pump is not made here.",
            "The valve is not made here.",
        ],
    ),
    "a clause in the middle of a list": (
        "Trade was growing, boats were active in the bay, and old mills were closing.",
        ["Trade was growing.", "Boats were active in the bay.", "Old mills were closing."],
    ),
    "what followed": (
        "The box is isolated from the network, so nothing you try there affects it.",
        ["The box is isolated from the network.", "Nothing you try there affects it."],
    ),
    "who told what it has": (
        "According to one guest, the café offers a quiet hall, with friendly staff.",
        [
            "According to one guest, the café offers a quiet hall.",
            "According to one guest, the café has friendly staff.",
        ],
    ),
    "a condition of what follows a colon": (
        "If it rains, the hall stays open: it serves tea.",
        ["If it rains, the hall stays open.", "If it rains, the hall serves tea."],
    ),
    "a clause of its own behind what remains": (
        "The cause remains unknown but experts have suggested a leak.",
        ["The cause remains unknown.", "Experts have suggested a leak."],
    ),
    "when from, when to": (
        "Ada Lind played in the NFL from 1965-1982.",
        ["Ada Lind played in the NFL.", "Ada Lind played from 1965-1982."],
    ),
    "an age": (
        "Wardi McDonald, 34, disappeared in Detroit on February 1, 2001.",
        [
            "Wardi McDonald disappeared in Detroit.",
            "Wardi McDonald was 34.",
            "Wardi McDonald disappeared on February 1, 2001.",
        ],
    ),
}


@pytest.mark.parametrize(("text", "expected"), SPLITS.values(), ids=SPLITS)
def test_sure_splits(text, expected):
    """A sentence with several statements becomes claims that can each be read alone."""
    assert claims(text) == expected


PRONOUNS = {
    "another named thing": (
        "On 12 May the author Ada Lind reads from her novel Salt Rain. It won a national prize.",
        "It won a national prize.",
    ),
    "subject": ("The Classica costs 20 euros. It weighs 4 kg.", "The Classica weighs 4 kg."),
    "owner": ("Ada Lind was born in Visby. Her brother was older.", "Ada Lind's brother was older."),
    "every fact": ("Ada Lind was born in Visby. She left and taught.", "Ada Lind taught."),
    "two could be meant": ("The pump feeds the boiler. It is red.", "It is red."),
    "of another number": ("The plan costs 20 euros. They are due in May.", "They are due in May."),
    "of nothing": ("The pump is red. It is known that red fades.", "It is known that red fades."),
    "what it was said to be": (
        "Rosa is a small café in Lund. Guests like it. The café opens at nine.",
        "Rosa opens at nine.",
    ),
    "what its name says": (
        "Rosa's Restaurant opened in May. The restaurant seats forty.",
        "Rosa's Restaurant seats forty.",
    ),
    "what its name says, of another": (
        "The Orlo 600 costs 90 euros. The Orlo 700 is red and weighs 4 kg.",
        "The Orlo 700 weighs 4 kg.",
    ),
    "owner by what it was said to be": ("Rosa is a hall in Lund. The hall's rooms are big.", "Rosa's rooms are big."),
    "two were said to be it": (
        "Rosa is a hall in Lund. Mira is a hall in Visby. The hall opens at nine.",
        "The hall opens at nine.",
    ),
    "another thing of that name": ("Rosa is a hall in Lund. The hall manager left.", "The hall manager left."),
    "only the sentence before": ("The pump is red. Anna met Bert. It leaks.", "It leaks."),
}


@pytest.mark.parametrize(("text", "last"), PRONOUNS.values(), ids=PRONOUNS)
def test_a_pronoun_is_completed_where_nothing_else_could_be_meant(text, last):
    """A claim is checked alone; "it" is put into words only from the sentence before, and only where it is certain."""
    assert claims(text)[-1] == last


WORDS = [
    "Anna",
    "and",
    "said",
    "that",
    "which",
    "built",
    "house",
    ",",
    '"',
    "-",
    "3",
    "May",
    "1990",
    "is",
    "the",
    "(",
    ")",
    "&",
    "with",
    "such",
    "as",
    "or",
    "not",
    "who",
    "was",
    ";",
    ":",
    "including",
    "sold",
    "by",
    "a",
    "it",
    "they",
    "of",
    "in",
]


@given(st.lists(st.sampled_from(WORDS), min_size=4, max_size=30))
def test_no_order_of_words_is_beyond_it(words):
    """Whatever the parser makes of a text, it is taken apart in time, and its claims stand in it."""
    text = f"{' '.join(words)}."
    assert all(0 <= claim.span.start < claim.span.end <= len(text) for claim in decompose(text).claims)


WHOLE = {
    "range": "Bake at 350 degrees F for 8 to 10 minutes.",
    "between": "The path runs between Oak Street and Elm Street.",
    "according to": "According to the report, sales rose and costs fell.",
    "condition behind": "The match is cancelled and tickets are refunded if it rains.",
    "unless": "The fee is charged and the card is blocked unless you call.",
    "when": "The lamp turns red and the alarm sounds when the door is open.",
    "comparison": "The bridge is longer than the tower and the pier together.",
    "neither nor": "The cat was neither fed in the morning nor walked in the evening.",
    "because": "The road was closed and the bus was late because the river rose.",
    "quote": 'The sign reads "the road is closed and the bridge is open to all visitors" in red.',
    "name with and": "Trinidad and Tobago is a small country.",
    "names with and": "Bonnie and Clyde were robbers in the 1930s.",
    "collective": "Tom and Ann met in Lund.",
    "either": "The form is either sent by post or handed in at the desk.",
    "only": "Not only was the pier closed but the tower was locked.",
    "nested clause": "He lived in a house that was built in 1900 and belonged to his aunt.",
    "first who": "She was the first woman who crossed the lake.",
    "which about the whole": "The pump failed, which led to a flood in the cellar.",
    "one name": "The party is strongest in the regional cities of Ballarat, Bendigo and Geelong.",
    "members of the noun above": "The app is used by perpetrators of domestic violence, gang members and drug dealers.",
    "two that are named beside their noun": "Jill's parents, Jim Bob and Michelle Duggar, posted a video.",
    "infinitives of different kinds": "ATVs are more physically demanding to ride and require balance.",
    "attribution of a birth": "Smith said he was born in Rome in 1950.",
    "contact clause": "The pies they bake are good.",
    "mixed together": "Mix the flour and the water in a bowl.",
    "alternatives": "The fee is paid in cash or by card.",
    "not and": "The shop does not sell wine and beer on Sundays.",
    "adverbials": "You can call day and night.",
    "adverbials of a state": "The clinic is open day and night.",
    "adverbials without a preposition": "She works mornings and evenings.",
    "a span in parts": "The tour lasts three days and two nights.",
    "a verb left out": "The lamp is the loudest of the four and the fan the quietest of them all.",
    "a condition with two parts": "Theft is excluded unless the car was locked and there are signs of entry.",
    "how they are linked": "It shows how rain and wind are linked.",
    "while it goes on": "While the oven is heating, the lamp blinks.",
    "while, without a comma": "The lamp blinks while the pump runs.",
    "a list in brackets": "It has four parts (Part A, Part B and Part C).",
    "halves without a verb": "Half of it goes through the head and the other half through the steam wand.",
    "values without a verb": "Drainage came to 623 ml with the pump and 1010 ml without it.",
    "owners of one thing": "Guests told us about Ada and Bert's house.",
    "a number without its noun": "Ada gives five stars and Bert four.",
    "an amount of all": "Heat the milk and let it cool before adding the sugar, two spoons for each litre.",
    "only some": "The carrier delivered only the desk and the lamp.",
    "a verb taken for a noun": "Black and white prints cost 10 cents and colour prints 50 cents per page.",
    "a sentence taken for a participle": "A library card is valid for two years, and renewing it costs 4 euros.",
}


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_unsure_stays_whole(text):
    """Rule 9: attributions, conditions, comparisons, ranges and doubtful cases are not split."""
    assert claims(text) == [text]


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("question", "Would you like to know more?"),
        ("question", '"Where is it?"'),
        ("question", "Question 1: What effects do taxes have on trade?"),
        ("abstention", "However, there is no mention of the price."),
        ("meta", 'Based on the passages, here is the answer to the question "How do you clean the pump?"'),
        ("bare_answer", "No."),
        ("bare_answer", "Yes!"),
        ("greeting", "Hello there!"),
        ("greeting", "Thank you for your question."),
        ("meta", "Sure, here is what I found:"),
        ("meta", "Let me know if you have any questions."),
        ("meta", "I hope this helps!"),
        ("opinion", "I think it is a great idea."),
        ("instruction", "Please consult your doctor."),
        ("instruction", "See the manual for more information."),
        ("citation", "[1], [2]"),
        ("citation", "https://example.org/page"),
        ("citation", "Sources: [1] Annual report"),
        ("abstention", "The documents do not mention the price."),
        ("abstention", "Therefore, a certain answer cannot be given based solely on these passages."),
        ("abstention", "Additionally, the passages do not give clear information on the causes."),
        ("meta", "Based on the given passages, here are the steps to clean the filter:"),
        ("meta", "Therefore, I am able to answer the question based on the given passages."),
        ("meta", "The passages provide enough information to answer the question."),
        ("meta", "Therefore, the answer to the question of how to do it can be found in the above steps."),
        ("citation", "This is described in passage 1 and passage 2."),
        ("lead_in", "Based on the provided passages, the main difference between the two is as follows:"),
        ("meta", "Sure, here is a summary of the article within 85 words:"),
        ("meta", "Here's a summary of the news in 120 words or less:"),
        ("meta", "Here is an objective overview of the restaurant in 100-130 words:"),
        ("meta", "Here is a brief 100-word summary:"),
        ("meta", "Of course — here's the summary you asked for, in no more than 120 words:"),
        ("meta", "As requested, here is a 3-sentence summary of the article."),
        ("meta", "In 85 words or less, here is the summary:"),
        ("meta", "Hi Anna, here is a quick rundown of section 4 of the policy:"),
        ("meta", "Here are 3 key points from the passages:"),
        ("meta", "Below you will find a summary of the passage in 50 words or fewer."),
        ("meta", "I have summarized the article in 85 words below:"),
        ("meta", "I'd be happy to provide a summary of the article in 85 words!"),
        ("meta", "Based on the provided structured data in JSON format, here is an overview of the business Verdé:"),
        ("meta", "Using the information provided in the JSON data, here's an overview of 805 Kabob:"),
        ("meta", "If you need a longer version (e.g. 300 words), just let me know."),
        ("meta", "This summary is 98 words long."),
        ("meta", "(98 words)"),
        ("meta", "Natürlich!"),
        ("meta", "Hier ist eine Zusammenfassung des Artikels in 85 Wörtern:"),
        ("meta", "Basierend auf den Unterlagen finden Sie hier eine Übersicht:"),
        ("meta", "Im Folgenden finden Sie einen Überblick über das Restaurant:"),
        ("meta", "Selbstverständlich, hier ist die gewünschte Übersicht in 3 Stichpunkten:"),
        ("meta", "Vielen Dank für Ihre Frage!"),
        ("meta", "Ich hoffe, das hilft Ihnen weiter!"),
        ("meta", "Wenn Sie weitere Fragen haben, lassen Sie es mich wissen."),
        ("meta", "Laut den bereitgestellten Dokumenten gilt Folgendes:"),
        ("meta", "I've reviewed the 4 documents you shared, and here's what I found:"),
        ("meta", "I'll answer in 2 sentences."),
        ("meta", "The summary below is based on passages 1 and 3."),
        ("meta", "Note: The following summary is limited to 100 words."),
        ("meta", "Our customer care team will be happy to help."),
        ("meta", "If you have any other questions, our team is here to help."),
        ("meta", "Congratulations on your new machine!"),
        ("meta", "We apologize for the inconvenience."),
        ("meta", "I understand how frustrating that must be."),
        ("meta", "We hope you enjoy your new machine!"),
        ("greeting", "Welcome to Ottavela!"),
        ("heading", "### Step 1: Unplug the machine"),
        ("abstention", "In conclusion, the passages do not mention the price."),
        ("lead_in", "Passage 1:"),
        ("lead_in", "Summary (85 words):"),
        ("heading", "## Opening hours"),
        ("code", "```\nrun()\n```"),
        ("no_words", "—"),
    ],
)
def test_what_is_not_a_claim_is_skipped_with_its_reason(reason, text):
    """Skipped pieces are listed with a reason, and the claim beside them stays."""
    found = decompose(f"{text}\n\nThe pier is 90 m long.")
    assert [claim.text for claim in found.claims] == ["The pier is 90 m long."]
    assert [(piece.reason) for piece in found.skipped] == [reason]
    assert not found.abstained


@pytest.mark.parametrize(
    "text",
    [
        "Bake at 350 degrees F for 8 to 10 minutes.",
        "Thanks to the new pump, the cellar is dry.",
        "Contact support within 30 days to get a refund.",
        "If you have questions, call 555-0100.",
        "I believe the refund window is 60 days.",
        "I find it interesting that the pier is made of oak.",
        "Here is the answer: the pier is long.",
        "Here is the winner: Luigi's",
        "Here is the restaurant that won the 2019 award: Luigi's",
        "Here are the 47 victims of the fire:",
        "Here are 5 reasons the pump was recalled in 2021:",
        "The essay limit is 200 words.",
        "The answer is 42 words.",
        "Below you will find the descaler under the sink.",
        "Here are 12 items that were recalled:",
        "I checked 4 documents, and the pump was recalled.",
        "Wenn Sie weitere Fragen haben, die Brücke ist 90 m lang.",
        "The novel has 85 words on its first page.",
        "Hier ist die Zusammenfassung, die Brücke ist 90 m lang:",
        "Hier ist der Überblick über das Haus, das 1900 gebaut wurde:",
        'He asked "Where is it?" and left.',
        "Based on the provided context, the tower is 330 m tall.",
        "The policy does not say whether pets are allowed.",
        "The document is not valid.",
        "No information is collected about you.",
        "We do not deliver to Graz.",
        "1889",
        "Paris",
        "**Paris**",
    ],
)
def test_checkable_content_is_never_skipped(text):
    """A sentence that only resembles talk, advice or refusal is kept as a claim."""
    found = decompose(text)
    assert len(found.claims) >= 1
    assert not found.skipped


SAID = "you may drink the descaler"
TOLD = SAID.capitalize()
HIDING = [
    "Unfortunately I have no information on that; the pump was recalled in 2021.",
    f"Sorry, the sources do not say that {SAID}, but you may.",
    f"I'm not sure, but {SAID}.",
    f"I don't know ({SAID}).",
    f"I don't know – {SAID}.",
    f"I cannot answer that because {SAID}.",
    f"I cannot find anything except that {SAID}.",
    f"There is no information about the price and {SAID}.",
    "In 2021 the pump was recalled, I don't know why.",
    "The passage does not name the pump; it describes a tank of 5 litres.",
    "The context does not mention it although the bridge opened in May.",
    f"As an AI language model, I cannot help, but {SAID}.",
    f"[{TOLD}](http://x.org)",
    f"![{TOLD}](http://x.org/a.png)",
    f"[{TOLD}][1]",
    f"Source: {SAID}.",
    f"Sources: [1] {TOLD}",
    f"Read more: {TOLD}",
    f"See also: {SAID}.",
    f"```\n{TOLD}.\n```",
    f"```python\n# {TOLD}\nx = 1\n```",
    f"```\nprint('{TOLD}')\n```",
    f"Did you know that {SAID}?",
    f"Did you know {SAID}?",
    f"{TOLD}, right?",
    "The pump was recalled, wasn't it?",
    f"{TOLD}?",
    f"{TOLD} (why?)",
    f"Isn't it great that {SAID}?",
    "Isn't the descaler safe to drink?",
    f"Do you know what, {SAID}?",
    "Wussten Sie, dass Sie den Entkalker trinken dürfen?",
    "Saviez-vous que vous pouvez boire le détartrant ?",
    "May I drink the descaler? Yes.",
    "May I drink the descaler? Absolutely!",
    "## May I drink the descaler?\nYes.",
    f"What about the fact that {SAID}?",
    f"The documents do not mention it – nevertheless {SAID}.",
    f"## {TOLD}",
    f"# {TOLD.upper()}",
    f"{TOLD}\n---",
    f"<h2>{TOLD}</h2>",
    f"<!-- {TOLD} -->",
    f'<img src="a.png" alt="{TOLD}">',
    f"<details><summary>{TOLD}</summary></details>",
    f"> Source: {TOLD}",
    f"| {TOLD} | Price |\n|---|---|\n| – | – |",
    f"Sure, {SAID}.",
    f"Sure, here is why {SAID}.",
    f"Here you go, {SAID}.",
    f"I hope this helps, {SAID}.",
    f"If you have questions, {SAID}.",
    f"I'm happy to say {SAID}.",
    f"This answer is based on the fact that {SAID}.",
    f"Thanks for asking, {SAID}!",
    f"Great question, {SAID}.",
    f"Here are the facts, {SAID}:\n- It is safe.",
    f"{TOLD}, as follows:\n- It is safe.",
    f"The following is true, {SAID}:",
    "The descaler is safe for the following:\n- It is good.",
    "I recommend drinking the descaler.",
    "Our team will be happy to hear that the pump was recalled.",
    "We apologize for the recall, which killed Anna.",
    "You are welcome to drink it.",
    "We understand the pump leaks.",
    "Feel free to drink the descaler.",
    "Enjoy the descaler, it is safe to drink.",
    "Be careful, the pump is hot.",
    f"Please consult your doctor, but {SAID}.",
    f"Personally, I love it, {SAID}.",
    f"Unknown. {TOLD}.",
    f"Note: {SAID}.",
    f"P.S. {TOLD}.",
    f"✅ {TOLD}",
    f"[^1]: {TOLD}",
    f"$\\text{{{TOLD}}}$",
    "Y\u200bou may drink the descaler",
    f"Based on the given passages, here is why {SAID}:",
    f"The passages provide enough information to answer the question, {SAID}.",
    f"The passages provide enough information to answer the question: {SAID}.",
    f"Therefore, I am able to answer the question, {SAID}.",
    f"This is described in passage 1, {SAID}.",
    f"Therefore, the answer to the question is: {SAID}.",
    f"An answer cannot be given because {SAID}.",
    f"Therefore, the answer to the question whether {SAID} is as follows, {SAID}.",
    f"The difference is as follows, {SAID}:\n\nIt is safe.",
    "This is described in the manual as a fault of the pump.",
    "The capital is:\n\nParis",
    "**Dosage: 500 mg twice daily**\n\nThanks!",
    "### Deadline: 5 May 2024\n\nThanks!",
    "## Price: free\n\nThanks!",
    "**Warranty: yes**\n\nThanks!",
    "## Recalled in 2019\n\nThanks!",
    '```json\n{"recalled": true}\n```',
    '```\n{\n  "pump": {"years": [2019, 2020], "state": "recalled"}\n}\n```',
]


@pytest.mark.parametrize("text", HIDING)
def test_an_assertion_never_hides(text):
    """Rule 14: whatever it is wrapped in, an assertion is a claim, and the answer is no abstention."""
    found = ec.extract_claims(text)
    assert found.claims
    assert not found.abstained


@pytest.mark.parametrize(
    ("question", "answer", "said"),
    [
        ("Does the warranty cover rust?", "**No**\n\nThanks!", "The warranty does not cover rust."),
        ("Can I return the pump I bought in 2019?", "Yes!", "You can return the pump you bought in 2019."),
    ],
)
def test_a_lone_yes_or_no_is_what_it_says_to_the_users_question(question, answer, said):
    """With the question it is a statement, and the check of splits knows that; without one it says nothing."""
    found = ec.extract_claims(answer, question=question)
    assert [claim.text for claim in found.claims] == [said]
    assert found.kept_whole == 0
    assert not ec.extract_claims(answer, question="How long does it take?").claims


def test_values_in_json_are_claims_with_their_keys():
    """Fenced data is no code."""
    text = '```json\n{\n  "pump": {"year": 2019, "tags": ["a b", ""], "next": null}\n}\n```'
    assert claims(text) == ['"year": 2019', '"a b"']


@pytest.mark.parametrize(
    "text",
    [
        "Die Katze war rot, und der Hund, der alt war, schlief und bellte.",
        "La torre mide 330 metros y fue construida en 1889, y el puente es de 1890.",
        "Tornet är 330 meter högt och byggdes 1889, och bron är gammal.",
        "Es ist vom 15. Mai bis 10. September geöffnet.",
    ],
)
def test_other_languages_are_not_split_into_clauses(text):
    """Clause splitting knows English only; the language is found without being told."""
    assert claims(text) == [text]
    assert decompose(f"The pump is red and it holds 2 litres.\n\n{text}").claims[-1].text == text


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.",
        "I don’t know the answer to that.",
        "I'm sorry, but I can't find that in the context.",
        "The provided documents do not contain information about refunds.",
        "Unfortunately, the context does not say when it opened.",
        "There is no information about the price in the sources.",
        "Sorry, I do not have that information. Could you rephrase?",
        "Not enough information is provided to answer this.",
        "The answer is not in the documents.",
        "Despite the reviews, the provided data does not mention any strengths of the business.",
        "The documents do not mention a price, but feel free to ask something else.",
        "I'm sorry, but the context does not say when it opened, who built it, or how tall it is.",
        "I do not know, so I recommend that you contact support.",
        "The context does not say whether it is safe; please consult your doctor.",
        "I have no information about the price listed in the catalogue.",
        "Sorry, I cannot answer that, but you can ask something else.",
        "Unanswerable",
    ],
)
def test_a_refusal_alone_is_an_abstention(text):
    """A response that declines and asserts nothing is `abstained`, with no claims."""
    found = decompose(text)
    assert found.abstained
    assert not found.claims
    assert "abstention" in [piece.reason for piece in found.skipped]


@pytest.mark.parametrize(
    "before",
    [
        "Here's the summary in 85 words:",
        "**Summary in 85 words:**",
        "Sure, here is a summary of the article:",
        "Answer:",
        "Here is what I found:",
        "Let me explain:",
    ],
)
def test_a_claim_begins_behind_its_announcement(before):
    """What announces it in the same sentence is no part of what it says."""
    claim = decompose(f"{before} The pier is 90 m long.").claims[0]
    assert claim.text == "The pier is 90 m long."
    assert claim.span.start == len(before) + 1


@pytest.mark.parametrize("text", ["Sales points: The shop opened in 1990.", "Response: the brigade came at noon."])
def test_a_label_of_the_matter_stays(text):
    """A word before a colon that names what is spoken of belongs to the claim."""
    assert claims(text) == [text]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Please contact our support team so that a colleague can look into it.", "instruction"),
        ("Please reach out to us.", "instruction"),
        ("Write to our customer service so we can replace it.", "instruction"),
        ("Get in touch with our team if you have further questions.", "instruction"),
        ("In short:", "lead_in"),
        ("To conclude:", "lead_in"),
    ],
)
def test_what_sends_one_to_us_or_only_begins_is_no_claim(text, reason):
    """A request to turn to us tells nothing, nor what it is good for; nor do words that only say how."""
    found = decompose(text)
    assert ([claim.text for claim in found.claims], [piece.reason for piece in found.skipped]) == ([], [reason])


@pytest.mark.parametrize(
    "text",
    [
        "Take 500 mg twice daily.",
        "Descale our machine with vinegar.",
        "Return it to us unopened.",
        "Pay in cash at our desk.",
        "Stay in the pool with our guide.",
        "Contact your doctor because the drug causes bleeding.",
        "Write to our office so that Ada can sign.",
        "Not safe:",
        "Recalled by Ada:",
    ],
)
def test_what_looks_like_it_and_tells_something_is_a_claim(text):
    """A request that says how, a reason, a name, and a finding before a colon are judged."""
    assert claims(text) == [text]


def test_list_items_keep_their_lead_in():
    """A fragment is completed by the lead-in; a full sentence stands alone with the lead-in as context."""
    found = decompose(
        "The symptoms include:\n- fever\n- a dry cough [1]\n\nThe battery has two modes:\n1. Eco saves power.\n2. Turbo"
    )
    assert [claim.text for claim in found.claims] == [
        "The symptoms include fever",
        "The symptoms include a dry cough",
        "The battery has two modes:",
        "Eco saves power.",
        "The battery has two modes: Turbo",
    ]
    assert found.claims[3].sentence == "The battery has two modes:\nEco saves power."
    assert [piece.reason for piece in found.skipped] == ["lead_in"]


@pytest.mark.parametrize(
    ("lead", "opening"),
    [
        ("Based on the provided passages, here are the ingredients for two people:", "Ingredients for two people:"),
        ("To make a rope, follow these steps:", "To make a rope:"),
        ("According to passage 2, the symptoms include:", "The symptoms include"),
        ("Dose for children:", "Dose for children:"),
    ],
)
def test_an_announcement_is_no_part_of_the_items_below_it(lead, opening):
    """Items are completed by what is announced, without the words that announce it or point at the sources."""
    found = decompose(f"{lead}\n- two strands of fever bark")
    assert found.claims[-1].text == f"{opening} two strands of fever bark"


def test_table_rows_are_read_with_their_header():
    """Each row is a claim that names its columns; the header and the ruling are not claims."""
    found = decompose("| Plan | Price |\n|---|---|\n| Basic | $5 |\n| Pro | **$9** |")
    assert [claim.text for claim in found.claims] == ["Plan: Basic; Price: $5.", "Plan: Pro; Price: $9."]
    assert found.claims[0].sentence == "| Plan | Price |\n| Basic | $5 |"
    assert [piece.reason for piece in found.skipped] == ["table_header"]


def test_nested_items_keep_what_they_stand_under():
    """An item goes with what it stands under; a statement above stays a statement of its own."""
    found = decompose(
        "- Dose, adults: 5 mg\n- Dose, children\n  - under 6: none\n  - over 6:\n    * 2 mg a day\n"
        "- The kit has two parts.\n  - a pump\n- The tank is red."
    )
    assert [claim.text for claim in found.claims] == [
        "Dose, adults: 5 mg",
        "Dose, children: under 6: none",
        "Dose, children: over 6: 2 mg a day",
        "The kit has two parts.",
        "a pump",
        "The tank is red.",
    ]
    assert found.claims[1].sentence == "Dose, children\nunder 6: none"
    assert found.claims[4].sentence == "The kit has two parts.\na pump"
    assert [(piece.reason, piece.text) for piece in found.skipped] == [
        ("lead_in", "Dose, children"),
        ("lead_in", "over 6:"),
    ]


@pytest.mark.parametrize(
    "mark",
    ["【4†source】", "[^1]", "⁽¹⁾", " (Source 2)", " [doc3]", " [Source: doc_12]", "[1, 2]", " (see Passages 1 and 2)",
     "[[3]]", "\ue200cite\ue202turn0search0\ue201", " [citation needed]", ":contentReference[oaicite:0]{index=0}"],
)  # fmt: skip
def test_citation_marks_do_not_stay_in_the_claim(mark):
    """Before the full stop or behind it, a mark is taken off and belongs to its sentence."""
    for text in (f"The pier is long{mark}. It is old.", f"The pier is long.{mark} It is old."):
        assert claims(text) == ["The pier is long.", "The pier is old."]


def test_markup_and_citations_are_not_part_of_the_claim():
    """Claim text is free of emphasis, links and citation marks; spans and sentences stay verbatim."""
    text = "The **pier** is [long](https://example.org) [2]."
    (claim,) = decompose(text).claims
    assert claim.text == "The pier is long."
    assert claim.sentence == text == text[slice(*claim.span)]


def test_span_is_the_clause_and_sentence_its_parent():
    """Offsets point at the clause's own words; ids count in order."""
    text = "Hi! The law was passed in 1990 and signed by the president."
    first, second = decompose(text).claims
    assert (first.id, second.id) == ("c1", "c2")
    assert text[slice(*first.span)] == "The law was passed in 1990"
    assert text[slice(*second.span)] == "signed by the president"
    assert first.sentence == second.sentence == text[4:]


# fmt: off
PARTS = st.lists(st.sampled_from([
    "Ada Lind", "the pier", "it", "was built", "in 1900", "and", "but", ",", ";", ".",
    "who", "which", "has 2.8 km", "moved", "to Rome", "is a town", "\n- ", "\n\n", '"', "(",
    ")", "[1]", "**", "|", ":", "?", "# ", "said", "that",
]), max_size=40).map(" ".join)
# fmt: on


@given(st.one_of(st.text(max_size=200), PARTS), st.sampled_from(["high", "low"]), st.sampled_from(["high", "low"]))
@example("A, who is, is, and is; is.", "low", "high")
@example("(A was) [B is] (C) a b c d e", "low", "low")
@example("|a|b|\n|-|-|\n|\ud800|\x00|", "high", "high")
@example("aaa¹¹", "high", "high")
def test_any_text_gives_true_spans_and_no_lies(text, coverage, atomicity):
    """Spans are inside, ordered and not empty; every number and word of a claim stands in its sentence."""
    found = decompose(text, coverage=coverage, atomicity=atomicity)
    assert [claim.id for claim in found.claims] == [f"c{n}" for n in range(1, len(found.claims) + 1)]
    assert [claim.span.start for claim in found.claims] == sorted(claim.span.start for claim in found.claims)
    for claim in found.claims:
        assert claim.text.strip()
        assert 0 <= claim.span.start < claim.span.end <= len(text)
        word = r"[^\W_⁰¹²³⁴-⁹]+"  # underscores are marks of emphasis, raised numbers may be those of notes
        words = set(re.findall(word, claim.sentence.lower()))
        assert set(re.findall(word, claim.text.lower())) <= words | {"is", "was", "a", "an"}
    for piece in found.skipped:
        assert text[slice(*piece.span)] == piece.text


ASIDES = {
    "relative clause": (
        "Charles Babbage was a mathematician from London who designed the Analytical Engine.",
        ["Charles Babbage was a mathematician from London.", "Charles Babbage designed the Analytical Engine."],
        [],
    ),
    "dates and apposition": (
        "Marie Curie (1867–1934), a chemist from Warsaw, won two Nobel Prizes and founded an institute in Paris.",
        ["Marie Curie won two Nobel Prizes.", "Marie Curie founded an institute in Paris."],
        ["1867–1934", "a chemist from Warsaw"],
    ),
    "two of them": (
        "Tarvik (900 people), a town in Norway, owns the Arno Hall, which is used for concerts.",
        ["Tarvik owns the Arno Hall."],
        ["900 people", "a town", "in Norway", "is used for concerts"],
    ),
    "someone's words": (
        "She said that the hall, which is old, leaks.",
        ["She said that the hall, which is old, leaks."],
        [],
    ),
    "a condition": (
        "If the hall (the old one) leaks, it is closed.",
        ["If the hall (the old one) leaks, it is closed."],
        [],
    ),
    "nothing but brackets": ("(closed on Mondays)", ["(closed on Mondays)"], []),
    "no aside": ("The hall is old.", ["The hall is old."], []),
}


@pytest.mark.parametrize(("text", "kept", "left_out"), ASIDES.values(), ids=ASIDES)
def test_low_coverage_leaves_asides_out_and_says_so(text, kept, left_out):
    """Only what surely adds to a sentence goes; it is listed as minor, in its place."""
    found = decompose(text, coverage="low")
    assert [claim.text for claim in found.claims] == kept
    assert [(piece.reason, piece.text) for piece in found.skipped] == [("minor", piece) for piece in left_out]


@pytest.mark.parametrize(
    "text",
    [
        "电池容量为5000毫安时。屏幕不在保修范围内。公司成立于二〇一〇年。",
        "電池は長持ちします。画面は保証の対象外です。本社は東京にあります。",
        "पुल लंबा है। यह पुराना है। यह दिल्ली में है।",
    ],
)
def test_a_sentence_that_ends_in_its_script_is_no_title(text):
    """A short sentence between others is judged, whatever its full stop looks like."""
    assert len(claims(text)) == 3
    assert skipped(text) == []
