"""Two runs compared: what is planted is found and named, and chance is not called a difference."""

import numpy as np

from everyclaim.analysis.comparison import Comparison
from everyclaim.analysis.run_differences import Side, claim_changes, compare_figures
from everyclaim.core.types import FailureMode, JudgedClaim, Label, Outcome, Span, Verdict
from everyclaim.store.store import Figures

MODES = ("numeric_mismatch", "negation", "entity_swap", "other")
SUPPORTED, UNSUPPORTED_CODE, CONTRADICTED_CODE = range(3)


def run_of(samples, *, claims=6, seed=0, failing=0.1, ids=None):
    """A run whose claims fail by chance, some answers more than others; half of the answers are multi-source."""
    random = np.random.default_rng(seed)
    hardness = random.beta(2 * failing / (1 - failing), 2, size=samples).repeat(claims)
    fails = random.random(samples * claims) < hardness
    label = np.where(fails, np.where(random.random(len(fails)) < 0.3, CONTRADICTED_CODE, UNSUPPORTED_CODE), SUPPORTED)
    mode = np.where(fails, random.integers(0, len(MODES), len(fails)), -1)
    rows = np.arange(samples, dtype=np.int32)
    tags = {"source": {"multi": rows[rows % 2 == 0], "single": rows[rows % 2 == 1]}}
    tags["topic"] = {f"t{value}": rows[rows % 5 == value] for value in range(5)}
    return figures(label, mode, samples, claims, ids or [f"s{row}" for row in rows], tags)


def figures(label, mode, samples, claims, ids, tags):
    sample = np.arange(samples, dtype=np.int32).repeat(claims)
    supported = np.bincount(sample, weights=label == SUPPORTED, minlength=samples)
    return Figures(
        ids=tuple(ids),
        positions=np.arange(samples, dtype=np.int64),
        outcome=np.zeros(samples, dtype=np.int8),
        score=supported / claims,
        text=np.arange(samples, dtype=np.uint64),
        release=(),
        released=np.full(samples, -1, dtype=np.int16),
        time=np.full(samples, np.nan),
        sample=sample,
        label=label.astype(np.int8),
        mode=mode.astype(np.int16),
        modes=MODES,
        claim=np.arange(samples * claims, dtype=np.uint64),
        tags=tags,
    )


def with_more(run, *, share, mode, rows, label=UNSUPPORTED_CODE, seed=1):
    """The same run, where a share of the claims of these samples fail in this way as well."""
    random = np.random.default_rng(seed)
    chosen = np.isin(run.sample, rows) & (run.label == SUPPORTED) & (random.random(len(run.label)) < share)
    labels, modes = run.label.copy(), run.mode.copy()
    labels[chosen], modes[chosen] = label, MODES.index(mode)
    return figures(labels, modes, len(run.ids), len(run.label) // len(run.ids), run.ids, run.tags)


def said(first, second, **options):
    numbers = compare_figures(first, second, **options)
    sides = [
        Side(f"id-{name}", "", name, "embedded", len(run.ids), {Outcome.SCORED: len(run.ids)}, "finished")
        for name, run in (("v1", first), ("v2", second))
    ]
    return Comparison(*sides, numbers, ())


def test_a_regression_of_three_points_in_one_slice_and_one_mode_is_found_and_named():
    """Of 2,000 answers, half from several sources, whose claims get 3.3 points of numeric mismatch more."""
    before = run_of(2000)
    after = with_more(before, share=0.033, mode="numeric_mismatch", rows=before.tags["source"]["multi"])
    found = said(before, after, by=["source", "topic", "source+mode"])
    parts = [delta for delta in found.regressed if delta.mode or delta.where]
    named = {(delta.where, delta.mode) for delta in parts}
    assert ((("source", "multi"),), "numeric_mismatch") in named
    assert not any(("source", "single") in where for where, _ in named)
    assert {delta.mode for delta in parts} <= {None, "numeric_mismatch"}
    (cell,) = [delta for delta in parts if delta.where == (("source", "multi"),) and delta.mode]
    assert 0.02 < cell.low < cell.difference < cell.high < 0.04
    where = "the rate of failure mode numeric mismatch on answers with source=multi"
    assert f"{where} rose by {100 * cell.difference:.1f} points, from " in found.sentence


def test_claims_are_matched_by_text_then_by_likeness():
    """Both verdicts of a claim that changed; one that appeared is told when it fails."""

    def row(text, label, mode=None):
        verdict = Verdict("c", Label(label), failure_mode=mode and FailureMode(mode))
        return JudgedClaim("c", text, Span(0, len(text)), text, verdict)

    before = [row("It is red.", "SUPPORTED"), row("It takes 35 minutes.", "SUPPORTED"), row("It is old.", "SUPPORTED")]
    after = [
        row("It  is RED.", "CONTRADICTED", "negation"),
        row("It takes 45 minutes.", "UNSUPPORTED", "numeric_mismatch"),
        row("Rome has seven hills and a river.", "UNSUPPORTED", "other"),
        row("Nothing else is quite like that one.", "SUPPORTED"),
    ]
    changes = claim_changes(before, after)
    assert [change.by for change in changes] == ["text", "likeness", "none"]
    assert changes[0].before.verdict.label is Label.SUPPORTED
    assert changes[0].after.verdict.label is Label.CONTRADICTED
    assert changes[1].before.text == "It takes 35 minutes."
    assert changes[2].before is None
    assert changes[2].after.text.startswith("Rome")
