"""The report as a file: opened from the disk in a browser, read with the keyboard, on a phone, on paper, in any state."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

import everyclaim as ec
from everyclaim.core.types import Passage
from everyclaim.store.store import Store
from scored_runs import C, S, U, answered, failed, keep_run, some_answers

WITHOUT_SCRIPT = {"java_script_enabled": False}


@pytest.fixture
def report(place, tmp_path):
    """Keep answers as a run, write its report, and give the folder's address."""

    def write(answers, **config):
        with Store.open(place) as store:
            run = keep_run(store, answers, **config)
        ec.find_run(run, store=place).report(tmp_path / "report.html")
        return tmp_path.as_uri()

    return write


@pytest.fixture
def compared(place, tmp_path):
    """Two releases compared in a file."""
    with Store.open(place) as store:
        keep_run(store, some_answers(40, 4), name="old")
        keep_run(store, some_answers(40, 26, release="v2"), name="new")
    ec.compare("old", "new", by=["source"], store=place).report(tmp_path / "comparison.html")
    return tmp_path.as_uri()


def test_from_the_headline_to_the_evidence_with_the_keyboard(report, watch):
    """Filter to contradicted answers, step to the first, open a claim: its evidence lights up in its passage."""
    browser = watch(report(some_answers(60, 20), name="nightly", slices=["source"]))
    page = browser.open("/report.html")
    expect(page.get_by_role("heading", name="nightly")).to_be_visible()
    expect(page.get_by_text("160 of 180 claims")).to_be_visible()
    page.get_by_label("Show").focus()
    page.get_by_label("Show").select_option("with a contradicted claim")
    expect(page.locator("#status")).to_have_text(re.compile(r"^1\d of 60 answers"))
    page.get_by_role("button", name="Clear").focus()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    entry = page.locator("details.entry[open]").first
    expect(entry).to_be_visible()
    finding = entry.locator("details.finding.contradicted")
    while not finding.locator("summary").evaluate("one => one === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(finding.get_by_text("is not what its passage says")).to_be_visible()
    lit = entry.locator(".passage mark.on.contradicted")
    expect(lit).to_have_text(re.compile(r"^It has \d+ bridges\.$"))
    expect(lit).to_be_visible()
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0


def test_a_link_to_an_answer_opens_it_among_all_others(report, watch):
    """One of the worst answers, which are in the page before its script runs, is no exception."""
    browser = watch(report(some_answers(12, 4)))
    page = browser.open("/report.html")
    worst = page.locator("#entries > details").first.get_attribute("id")
    page = browser.open(f"/report.html?again#{worst}")
    expect(page.locator("#entries > details")).to_have_count(12)
    expect(page.locator(f"#{worst}")).to_have_attribute("open", "")
    expect(page.locator("#status")).to_have_text(re.compile("^12 answers"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_bars_anybody(report, watch, scheme):
    """Axe finds no serious fault, with answers, claims and passages open."""
    answers = [*some_answers(30, 12), failed(), answered(["A", "B"], [U, C], name="table", passages=[TABLE, RECORD])]
    browser = watch(report(answers, slices=["source"]), color_scheme=scheme)
    page = browser.open("/report.html")
    expect(page.locator("#entries > details")).to_have_count(20)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    browser.check_accessibility()


TABLE = Passage("t", "| Model | Price |\n| --- | --- |\n| Piccola | €449 |")
RECORD = Passage("r", '{"name": "Roma", "hours": {"Monday": "9:0-17:0"}, "tags": ["a", "b"]}')


def test_without_a_script_headline_and_worst_answers_are_there(report, watch):
    """A mail reader that runs nothing shows the numbers, the worst answers and their claims."""
    page = watch(report(some_answers(40, 10)), **WITHOUT_SCRIPT).open("/report.html")
    expect(page.get_by_text("110 of 120 claims")).to_be_visible()
    entries = page.locator("#entries > details")
    expect(entries).to_have_count(5)
    entries.first.locator("> summary").click()
    expect(entries.first.locator(".response")).to_be_visible()
    entries.first.locator("details.finding.unsupported, details.finding.contradicted").first.locator("summary").click()
    expect(entries.first.get_by_text("is not what its passage says").first).to_be_visible()


@pytest.mark.parametrize("file", ["report.html", "comparison.html"])
def test_a_phone_shows_it_without_scrolling_sideways(report, compared, watch, file):
    """Nothing is wider than the screen, every figure of a table is in view, and the keyboard reaches what scrolls."""
    report(some_answers(30, 12), slices=["source"])
    browser = watch(compared, viewport={"width": 390, "height": 844})
    page = browser.open(f"/{file}")
    cells = page.locator("table.figures").locator("th, td").filter(visible=True)
    edges = cells.evaluate_all("cells => cells.map(one => [one.getBoundingClientRect().right, one.textContent])")
    assert len(edges) > 20
    assert max(edges)[0] <= 390, max(edges)
    page.set_viewport_size({"width": 360, "height": 740})
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    browser.check_accessibility()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_comparison_shows_both_answers(compared, watch, scheme):
    """The sentence, what is shown, and the claims that changed with both answers beside each other."""
    browser = watch(compared, color_scheme=scheme)
    page = browser.open("/comparison.html")
    expect(page.locator("p.sentence")).to_contain_text("new compared with old: the mean score fell by")
    expect(page.locator(".word.regressed").first).to_be_visible()
    change = page.locator("section.change").first
    change.locator("> details > summary").click()
    expect(change.locator(".before-after .answer")).to_have_count(2)
    browser.check_accessibility()


@pytest.mark.parametrize(
    "answers", [[], [failed()], [answered(["It is so."], [S], name="")]], ids=["nothing", "failed", "no id"]
)
def test_a_run_with_hardly_anything_in_it(report, watch, answers):
    """It says what there is, and nothing breaks."""
    page = watch(report(answers)).open("/report.html")
    expect(page.locator("#status")).to_have_text(re.compile("^(1 answer, page|No matching answers)"))
    assert "NaN" not in page.content()
