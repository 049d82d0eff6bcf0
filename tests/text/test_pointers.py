"""What only points at the sources is no part of what a claim says."""

import pytest

from everyclaim.text.pointers import without_pointers


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("According to passage 2, the pump was recalled.", "The pump was recalled."),
        ("Based on the provided passages, bake it for 30 minutes.", "Bake it for 30 minutes."),
        ("Based on the given passages, passage 3 states that bees orient within a day.", "Bees orient within a day."),
        ("The passage also notes that a sauce may be cold.", "A sauce may be cold."),
        ("Passage 1 states that the hive faces south.", "The hive faces south."),
        ("Passage 3: Wrap the left section over the right.", "Wrap the left section over the right."),
        ("The stain's age matters (Passage 3).", "The stain's age matters."),
        ("Use a stiff broom (as described in Passage 3).", "Use a stiff broom."),
        ("Ribs take six hours (Source 1, Source 4).", "Ribs take six hours."),
        ("Ribs take six hours, according to the documents.", "Ribs take six hours."),
        ("It is also noted that the age of the stain matters.", "The age of the stain matters."),
        ("According to the article, two people were hurt.", "Two people were hurt."),
        ("Therefore, based on the given passages, pins hold a bandage.", "Pins hold a bandage."),
        ("Trauma: Passage 1 states that cuts can let germs in.", "Trauma: cuts can let germs in."),
        ("Honey: As mentioned in passage 1, honey kills germs.", "Honey: honey kills germs."),
        ("Aloe vera: Passage 3 suggests applying it twice.", "Aloe vera: applying it twice."),
        ('To answer the question "How?", based on these passages, the steps are two.', "The steps are two."),
        ("Rinse it with cool water (Passage 1, step 8).", "Rinse it with cool water."),
        ("Oven cleaner is one of the options in passage 1.", "Oven cleaner is one of the options."),
        ("In the passage, prisoners were searched twice a day.", "Prisoners were searched twice a day."),
    ],
)
def test_pointers_at_the_sources_are_left_out(said, left):
    """The statement is left, as a sentence."""
    assert without_pointers(said) == left


@pytest.mark.parametrize(
    "said",
    [
        "According to Reuters, two people were hurt.",
        "According to Dr. Moss, sources of iron matter.",
        "Based on a trial in Oslo, the dose was halved.",
        "The article was written in 1932.",
        "The documents state the price.",
        "The passage of the law took three years.",
        "To answer the question, engineers opened the pump.",
        "The answer is in passage 2.",
        "Rinse it with cool water (step 8).",
        "Passage 3 suggests a reason for it.",
        "Results from 12 clinics were pooled.",
        "The information desk closes at five.",
        "The paint dries in two hours (source: label).",
        "According to passage 2, no.",
        "",
        "Data: 5",
    ],
)
def test_other_words_stay(said):
    """Speakers, works by name, and sources that the sentence is about are part of what is said."""
    assert without_pointers(said) == said
