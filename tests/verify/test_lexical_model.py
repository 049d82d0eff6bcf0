"""The evaluator of the shipped model: the same numbers as the library that fitted it, with numpy alone."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from everyclaim.core.errors import ConfigError
from everyclaim.verify.lexical.model import Model, Trees, shipped_model
from everyclaim.verify.lexical.verifier import share_out


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


def test_shipped_model_answers_every_question_within_bounds():
    """Any row of numbers gives a probability."""
    model = shipped_model()
    rng = np.random.default_rng(1)
    rows = [dict(zip(model.features, rng.normal(size=len(model.features)), strict=True)) for _ in range(50)]
    for answer in model.predict(rows):
        assert ((answer >= 0) & (answer <= 1)).all()


def test_rows_do_not_influence_each_other():
    """A row's answer is the same alone and among others."""
    model = shipped_model()
    rng = np.random.default_rng(2)
    rows = [dict(zip(model.features, rng.normal(size=len(model.features)), strict=True)) for _ in range(7)]
    together = model.predict(rows)[0]
    alone = [model.predict([row])[0][0] for row in rows]
    np.testing.assert_allclose(together, alone, rtol=1e-12)


def test_unknown_format_is_refused():
    """A model file from another time is named as such."""
    with pytest.raises(ConfigError, match="format 99"):
        Model.parse({"format": 99})


@pytest.mark.parametrize("supported", [0.0, 0.2, 0.34, 0.45, 0.5, 0.500001, 0.7, 1.0])
@pytest.mark.parametrize("contradicted", [0.0, 0.3, 0.5, 0.6, 1.0])
def test_three_probabilities_agree_with_the_two_answers(supported, contradicted):
    """Above one half a claim is supported; below, the likelier of the other two is the label."""
    shared = share_out(supported, contradicted)
    assert sum(shared) == pytest.approx(1)
    assert shared.supported == pytest.approx(supported)
    if supported > 0.5:
        assert shared.label == "SUPPORTED"
    else:
        assert shared.label == ("CONTRADICTED" if contradicted > 0.5 else "UNSUPPORTED")
