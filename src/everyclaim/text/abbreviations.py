"""Abbreviations of English whose full stop ends no sentence, as alternatives for a pattern; one list for all readers.

Those of other languages are in `stops`.
"""

PEOPLE = "Mr|Mrs|Ms|Dr|Prof|Hon|Rev|Gen|Col|Capt|Lt|Sgt|Sen|Rep|Gov"
PLACES_AND_KIN = "St|Sr|Jr"
COMPANIES = "Inc|Ltd|Co|Corp"
MONTHS = "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
NAMED = f"{PEOPLE}|{PLACES_AND_KIN}|{COMPANIES}|vs|No"  # before or behind a name or a number

# What tells that a full stop behind an abbreviation ends a sentence, or that a single letter is no initial.
OPENING_ADVERBS = (  # with a comma behind them; not any word in "-ly", for Emily and Kelly are people
    "Additionally|Accordingly|Alternatively|Consequently|Conversely|Currently|Eventually|Finally|Firstly|Formerly|"
    "Fortunately|Generally|Historically|Importantly|Initially|Interestingly|Lastly|Notably|Occasionally|Originally|"
    "Previously|Recently|Reportedly|Secondly|Similarly|Specifically|Subsequently|Typically|Ultimately|Unfortunately|Usually|"
    "Also|Afterwards|Furthermore|Hence|Instead|Later|Meanwhile|Moreover|Nevertheless|Nonetheless|Now|Overall|Therefore|"
    "Thus|Today"
)
LETTERED = (  # a letter that numbers something: "Annex B. Meals are paid"
    r"\b(?i:annex|appendix|schedule|exhibit|section|part|type|vitamin|plan|group|class|grade|hepatitis|option|phase|"
    r"category|level|column|item)\s[A-Z]"
)
