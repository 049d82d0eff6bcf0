"""Abbreviations of English whose full stop ends no sentence, as alternatives for a pattern; one list for all readers.

Those of other languages are in `stops`.
"""

PEOPLE = "Mr|Mrs|Ms|Dr|Prof|Hon|Rev|Gen|Col|Capt|Lt|Sgt|Sen|Rep|Gov"
PLACES_AND_KIN = "St|Sr|Jr"
COMPANIES = "Inc|Ltd|Co|Corp"
MONTHS = "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
NAMED = f"{PEOPLE}|{PLACES_AND_KIN}|{COMPANIES}|vs|No"  # before or behind a name or a number
