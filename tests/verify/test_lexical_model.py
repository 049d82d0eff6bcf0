"""The evaluator of the shipped model: the same numbers as the library that fitted it, with numpy alone."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import everyclaim as ec
from everyclaim.verify.lexical.model import Trees, load_model
from everyclaim.verify.lexical.verifier import decided


def test_trees_equal_scikit_learn():
    """Trees taken from scikit-learn give its log-odds on inputs never seen."""
    rng = np.random.default_rng(3)
    values = np.round(rng.normal(size=(600, 5)), 1)  # rounded: many ties at the thresholds
    target = (values[:, 0] + values[:, 1] * values[:, 2] + rng.normal(size=600) > 0).astype(int)
    fitted = HistGradientBoostingClassifier(max_iter=30, random_state=0).fit(values, target)
    trees = []
    for (tree,) in fitted._predictors:
        nodes = tree.nodes
        leaf = nodes["is_leaf"].astype(bool)
        trees.append(
            {
                "feature": np.where(leaf, -1, nodes["feature_idx"]).tolist(),
                "threshold": np.where(leaf, 0.0, nodes["num_threshold"]).tolist(),
                "left": nodes["left"].tolist(),
                "right": nodes["right"].tolist(),
                "value": np.where(leaf, nodes["value"], 0.0).tolist(),
            }
        )
    ours = Trees.parse(float(np.ravel(fitted._baseline_prediction)[0]), trees)
    fresh = np.round(rng.normal(size=(400, 5)), 1)
    np.testing.assert_allclose(ours.log_odds(fresh), fitted.decision_function(fresh), atol=1e-9)


@pytest.mark.parametrize("judge", ["embedded", "lexical"])
def test_labels_follow_from_the_probabilities_by_the_rule_of_the_model(judge):
    """No verdict departs from the stated rule, and what is near one half says so."""
    alarm = load_model(f"everyclaim.verify.{judge}").alarm
    assert 0.5 < alarm.named < alarm.other < 1
    passages = ["The Classica takes 35 minutes to descale. Ada Moss said that the pump may leak. It weighs 4 kg."]
    claims = [
        "The Classica takes 35 minutes to descale.", "The Classica takes 55 minutes to descale.", "The pump may leak.",
        "The pump never leaks.", "Bo Hart said that the pump may leak.", "The Classica weighs 4 kg and is red.",
        "It is sold in Peru.", "Descaling the Classica takes a good half hour.",
    ]  # fmt: skip
    for claim in ec.verify_claims(claims, passages, judge=judge):
        probabilities = claim.verdict.probabilities
        differs = "passage says" in claim.verdict.rationale or "attributes" in claim.verdict.rationale
        assert claim.verdict.label in {decided(probabilities, alarm.named if differs else alarm.other), "SUPPORTED"}
        assert (claim.verdict.label == "SUPPORTED") == (probabilities.supported > 0.5)
        assert ("unsure" in claim.verdict.flags) == (abs(probabilities.supported - 0.5) < 0.05)


def test_an_answer_has_a_probability_that_does_not_punish_length():
    """It falls with every doubtful claim, and a long answer of sure claims is not doubted for its length."""
    sure = "The Classica takes 35 minutes to descale."
    passages = [sure + " It weighs 4 kg. The tank holds 2 litres. It was made in Turin in 1998."]
    good = ec.score(response=passages[0], passages=passages)
    bad = ec.score(response=sure + " It weighs 9 kg. The tank is red. It was made in Peru.", passages=passages)
    short = ec.score(response=sure, passages=passages)
    assert 0 <= bad.probability < 0.3 < good.probability <= 1
    assert good.probability > 0.5 * short.probability
    assert ec.score(response="Hello!", passages=passages).probability is None
