"""Slices from Python: tags, what answers show by themselves, cuts, and failure modes within them."""

from pathlib import Path

import pytest

import everyclaim as ec


def judge(claim: ec.Claim, passages: list[str]) -> dict[str, object]:
    """Find a claim in the passages that hold its last word; nine litres are contradicted."""
    if "9 litres" in claim.text:
        return {"label": "CONTRADICTED"}
    quotes = [passage.text for passage in passages if claim.text.split()[-1] in passage.text]
    return {"label": "SUPPORTED" if quotes else "UNSUPPORTED", "evidence": quotes}


def split(response: str) -> list[str]:
    return [piece.strip() for piece in response.split("|") if piece.strip()]


def score(rows: list[dict[str, object]], store: Path, **options: object) -> ec.Run:
    return ec.score_file(rows, judge=judge, decomposer=split, store=store, **options)


def row(name: str, response: str, question: str = "", **tags: object) -> dict[str, object]:
    return {
        "id": name,
        "question": question,
        "response": response,
        "contexts": ["the kettle", "the mill", "It holds 2 litres."],
        **tags,
    }


ROWS = [
    row("short", "It is a kettle", "How many litres does it hold?", source="shop"),
    row(
        "both",
        "It is a kettle|It is a mill|Made in May 2021 as a mill|12 of the kettle",
        "When was it made?",
        source="web",
    ),
    row("cited", "As it says [1] it is a kettle", "Is it a kettle?", source="web"),
    row("nothing", "Nobody knows more", "Tell me about it.", source="shop"),
]


def test_auto_stands_for_every_automatic_slice(tmp_path: Path) -> None:
    """Passages used, length, numbers (not those of citations), dates, and what the question asks for."""
    run = score(ROWS, tmp_path / "runs.db", slices=["auto"])
    found = {tag: {value: group.total for value, group in groups.items()} for tag, groups in run.summary.slices.items()}
    assert found == {
        "auto:sources": {"none": 1, "one passage": 2, "several passages": 1},
        "auto:length": {"1–3 claims": 3, "4–6 claims": 1},
        "auto:numbers": {"no numbers": 3, "numbers": 1},
        "auto:dates": {"dates": 1, "no dates": 3},
        "auto:question": {"how much": 1, "other": 1, "when": 1, "yes or no": 1},
    }
    again = ec.find_run(run.id, store=tmp_path / "runs.db")
    assert again.summary == run.summary


def test_a_cut_has_a_slice_for_every_pair_that_occurs(tmp_path: Path) -> None:
    """Tags and automatic slices cut each other; a slice with few answers is marked, and has its failure modes."""
    run = score(
        [*ROWS, row("torn", "It holds 9 litres", source="web")], tmp_path / "runs.db", slices=["source+auto:length"]
    )
    groups = run.summary.slices["source+auto:length"]
    assert {value: group.total for value, group in groups.items()} == {
        "shop + 1–3 claims": 2,
        "web + 1–3 claims": 2,
        "web + 4–6 claims": 1,
    }
    run.report(tmp_path / "run.html")
    assert "By slice</h2>\n<h3><bdi>source + number of claims<" in (tmp_path / "run.html").read_text("utf-8")
    assert all(group.is_small for group in groups.values())
    assert groups["web + 1–3 claims"].failure_modes == {"numeric_mismatch": 1}
    assert sum(sum(group.failure_modes.values()) for group in groups.values()) == sum(
        run.summary.failure_modes.values()
    )


def test_a_slice_that_there_is_none_of_is_refused_with_the_nearest(tmp_path: Path) -> None:
    """Before anything is scored."""
    with pytest.raises(ec.ConfigError, match=r"no automatic slice 'auto:lenght'; did you mean 'auto:length'\?"):
        score(ROWS, tmp_path / "runs.db", slices=["auto:lenght"])
    for name in ("source+source", "+source", "source+", ""):
        with pytest.raises(ec.ConfigError, match="does not cross two tags"):
            score(ROWS, tmp_path / "runs.db", slices=[name])
    with pytest.raises(ec.InputError, match="topic"):
        score(ROWS, tmp_path / "runs.db", slices=["source+topic"])
