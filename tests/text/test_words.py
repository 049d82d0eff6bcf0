"""Words: normalised text, opposites, what a sentence leans on, and English without a model."""

import hashlib
import json
import subprocess
import sys

from everyclaim.text.anaphora import leaned_on
from everyclaim.text.antonyms import pairs
from everyclaim.text.tokens import normalise


def test_normalising_folds_what_does_not_change_meaning_and_nothing_else():
    """Quotes, dashes, case, ligatures, white space; never a fraction or an exponent into a number."""
    assert normalise("“The\u00a0 ﬁrst”—so\u00adlong\n")[0] == '"the first"-solong '
    assert normalise("cafe\u0301")[0] == normalise("café")[0]
    assert (normalise("2½")[0], normalise("10²")[0]) == ("2 1/2", "10^2")


def test_the_table_of_opposites_is_the_one_the_judges_are_fitted_to():
    """1,688 pairs; another table is another judge, and is fitted anew."""
    found = list(pairs())
    assert len(found) == 1688
    assert hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16] == "fc7871a8d6231502"
    assert {("decreas", "increas"), ("buy", "sold")} <= {*found, *((b, a) for a, b in found)}


def test_what_is_leaned_on_is_the_nearest_sentence_that_stands():
    """Its names, else its first content words; nothing before the first."""
    said = "It began.|Lebkuchen comes from Nuremberg.|It is sweet.|It keeps.|Rye flour is dark.|They mill it."
    found = list(leaned_on(said.split("|")))
    assert found[0] == found[1] == found[4] == ""
    assert "Nuremberg" in found[2]
    assert found[2] == found[3]
    assert "rye" in found[5].lower()


def test_plain_english_loads_no_model():
    """An English answer is recognised without loading the detector."""
    code = (
        "import sys; from everyclaim.text.language import language_of;"
        "assert language_of('The tank holds 2 litres. It is made of steel.') == 'en';"
        "sys.exit('py3langid' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
