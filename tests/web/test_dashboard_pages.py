"""The dashboard's pages in a real browser: from a score to the evidence, and everything beside it."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import time
from dataclasses import replace
from pathlib import Path

import httpx
import pyarrow.parquet
import pytest
from real_pages import served

from everyclaim import Evaluator, score_file
from everyclaim.core.types import Label, Outcome, Passage, Result, Sample
from everyclaim.store.store import Store
from everyclaim.web.app import create_app
from scored_runs import PROVENANCE, C, S, U, answered, failed, keep_run, say, some_answers


@pytest.fixture(scope="module")
def kept_once(tmp_path_factory):
    place = str(tmp_path_factory.mktemp("kept") / "runs.db")
    with Store.open(place) as store:
        before = keep_run(store, [*some_answers(30, 4), failed()], name="towns-1", slices=["source"], release="v1")
        after = keep_run(store, some_answers(30, 18, release="v2"), name="towns-2", slices=["source"], release="v2")
        for record in list(store.records(before))[:24]:
            for claim in record.result.claims:
                people = Label.SUPPORTED if record.position % 6 else claim.verdict.label
                say(store, before, record.sample.id, claim.id, people)
    return place, before, after


@pytest.fixture
def two_runs(kept_once, place):
    """Give two releases of the same thirty answers, the second one worse, with labels of some claims."""
    kept, before, after = kept_once
    return shutil.copy(kept, place), before, after


@pytest.fixture
def dashboard(two_runs, serve):
    return serve(create_app(two_runs[0]))


def test_from_the_runs_to_the_evidence(dashboard, two_runs, watch):
    """A run is opened from the list, its contradicted claims are asked for, and an open claim lights up its evidence."""
    watched = watch(dashboard)
    page = watched.open("/")
    page.get_by_role("link", name="towns-2").click()
    assert page.locator("h1").inner_text().startswith("towns-2")
    assert "30 of 30 answers scored" in page.locator("main").inner_text()
    page.get_by_role("link", name="contradicted").first.click()
    assert "label=CONTRADICTED" in page.url
    page.locator("table.answers a").first.click()
    page.wait_for_load_state("networkidle")  # the script that lights evidence up is there
    assert page.get_by_text("95 %").count() == 0  # of an answer nothing is estimated
    claim = page.locator("details.finding.contradicted").first
    assert "is not what its passage says" in claim.locator("summary").inner_text()
    claim.locator("summary").click()
    lit = page.locator(".passage mark.on")
    lit.first.wait_for()
    assert lit.first.inner_text() in claim.inner_text()
    assert "numeric mismatch" in claim.inner_text()


FILTERS = {
    "": 31,
    "?label=CONTRADICTED": 3,
    "?mode=numeric_mismatch": 3,
    "?outcome=failed": 1,
    "?slice=source%3Dmulti": 10,
    "?q=town+7+": 1,
    "?q=1829": 1,
    "?q=100%25": 0,
    "?conflict=1": 0,
    "?label=CONTRADICTED&slice=source%3Dmulti": 1,
    "?slice=release%3Dv1": 30,
    "?slice=nothing%3D": 31,
}


def test_a_filter_finds_what_it_says(dashboard, two_runs):
    """Answers are filtered by label, mode, outcome, slice and text, alone and together."""
    pages = {query: httpx.get(f"{dashboard}/runs/{two_runs[1]}/answers{query}").text for query in FILTERS}
    told = {query: re.search(r"of (\d+) answers?<|No matching answers", page) for query, page in pages.items()}
    assert {query: int(found[1] or 0) for query, found in told.items()} == FILTERS


def test_pages_work_without_scripts(dashboard, two_runs, watch):
    """Lists, filters, answers and comparisons are there for browsers that run no scripts."""
    page = watch(dashboard, java_script_enabled=False).open("/")
    page.get_by_role("link", name="towns-1").click()
    page.get_by_role("link", name="Answers", exact=True).click()
    page.get_by_label("Outcome").select_option("failed")
    page.get_by_role("button", name="Show").click()
    page.locator("table.answers a").first.click()
    assert "missing verdict" in page.locator("main").inner_text().replace("_", " ")


def test_two_runs_are_compared(dashboard, two_runs, watch):
    """A comparison says what regressed, is drawn with intervals, and leads to an answer as it was and as it is."""
    watched = watch(dashboard)
    page = watched.open("/compare")
    page.get_by_label("Before").select_option(two_runs[1])
    page.get_by_label("After").select_option(two_runs[2])
    page.get_by_role("button", name="Compare").click()
    page.get_by_label("source").check()
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**by=source**")
    assert "regressed" in page.locator("main").inner_text()
    assert page.locator("svg.chart").count() > 0
    page.locator("section.change a").first.click()
    watched.check_accessibility()
    assert page.locator(".before-after .answer").count() == 2


def test_runs_over_time_mark_what_changed(place, serve, watch):
    """A series of runs over the same data has rates with intervals, and a mark where a level changed."""
    with Store.open(place) as store:
        for number, wrong in enumerate((6, 5, 6, 60, 62, 61), 1):
            keep_run(store, some_answers(120, wrong, release=f"v{number}"), name=f"run-{number}", release=f"v{number}")
        for name in ("other", "elsewhere/other"):  # two files of one name
            asked = [(replace(sample, question=f"{name}?"), result) for sample, result in some_answers(30, 3)]
            keep_run(store, asked, name=name)
    address = serve(create_app(place))
    watched = watch(address)
    page = watched.open("/trend")
    page.locator("svg.chart .marked").first.wait_for(state="attached")
    said = page.locator("main").inner_text()
    assert "Roll run-6 back to run-3" in said
    assert "from run-4 on" in page.locator(".said").inner_text()
    assert page.get_by_role("link", name="other").count() == 0
    page.get_by_label("Data").select_option("other.jsonl in elsewhere")
    page.get_by_role("button", name="Show").click()
    page.get_by_label("Data").select_option("other.jsonl")
    page.get_by_text("1 run: at least 3 are needed").wait_for()
    written = httpx.get(f"{address}/trend.json").json()
    assert [one["release"] for one in written["runs"]] == [f"v{number}" for number in range(1, 7)]
    assert {change["run"] for change in written["changes"]} == {written["runs"][3]["id"]}


def test_slices_by_failure_modes_lead_to_the_answers(dashboard, two_runs, watch):
    """A cell of the table is the number of claims, and leads to the answers that have them."""
    watched = watch(dashboard)
    page = watched.open(f"/runs/{two_runs[2]}/slices?tag=source")
    cell = page.get_by_role("row", name="multi").locator("td.heat a").first
    count = int(cell.locator(".small").inner_text())
    cell.click()
    page.get_by_text(f"of {count} answer").wait_for()
    page.go_back()
    page.get_by_label("Slice by").select_option("auto:length")
    page.get_by_text("1–3 claims").wait_for()


def test_what_labels_say_of_the_judge(dashboard, two_runs, watch):
    """With labels the page shows the judge's rates and the corrected share; new labels count at once; without, how to."""
    place, labelled, _ = two_runs
    watched = watch(dashboard)
    page = watched.open(f"/runs/{labelled}/judge")
    assert "72 labelled claims" in page.locator("main").inner_text()
    assert page.locator("svg.chart").count() == 2
    with Store.open(place) as store:
        say(store, labelled, "t028", "c1", Label.SUPPORTED)
        for number in range(1, 13):  # with fewer failing claims no rate is corrected
            say(store, labelled, f"t{number:03d}", "c1", Label.UNSUPPORTED)
    page.reload()
    assert "73 labelled claims" in page.locator("main").inner_text()
    page.goto(f"{dashboard}/runs/{labelled}")
    assert "! unreliable" in page.get_by_label("Corrected rate").inner_text()
    assert httpx.get(f"{dashboard}/runs/{labelled}/judge.json").json()["labels"]["claims"] == 73


def test_a_run_under_way_is_followed(place, serve, watch):
    """The page of a run that is being scored tells how far it is by itself, and becomes the whole page at its end."""
    with Store.open(place) as store:
        run = keep_run(store, some_answers(5, 1), name="slow", is_finished=False, total=20)
        address = serve(create_app(place))
        watched = watch(address)
        page = watched.open(f"/runs/{run}")
        page.get_by_text("5 of 20").wait_for()
        watched.check_accessibility()
        assert page.get_by_text("95 %").count() == 0
        more = list(store.records(run))[:3]
        store.save_all(run, [one._replace(position=one.position + 5) for one in more])
        page.get_by_text("8 of 20").wait_for()
        store.finish_run(run, "finished")
        page.get_by_text("8 of 8 answers scored").wait_for()


def test_what_is_shown_can_be_taken_along(dashboard, two_runs, tmp_path, monkeypatch):
    """Exports hold the answers of the filter: results, or a row per claim; also one alone. No file stays behind."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    files = set(tmp_path.iterdir())
    base = f"{dashboard}/runs/{two_runs[1]}/export"
    rows = [json.loads(line) for line in httpx.get(f"{base}.jsonl?label=CONTRADICTED").text.splitlines()]
    assert len(rows) == 3
    assert all(any(claim["verdict"]["label"] == "CONTRADICTED" for claim in row["claims"]) for row in rows)
    table = list(csv.DictReader(io.StringIO(httpx.get(f"{base}.csv").text)))
    assert len(table) == 30 * 3 + 1
    parquet = httpx.get(f"{base}.parquet", timeout=60)
    assert pyarrow.parquet.read_table(io.BytesIO(parquet.content)).num_rows == 91
    assert "attachment" in parquet.headers["content-disposition"]
    one = httpx.get(f"{base}.jsonl?position=30").text
    assert json.loads(one)["outcome"] == "failed"
    with httpx.stream("GET", f"{base}.jsonl"):
        pass  # taken to its end by nobody
    deadline = time.monotonic() + 30
    while set(tmp_path.iterdir()) != files and time.monotonic() < deadline:
        time.sleep(0.05)
    assert set(tmp_path.iterdir()) == files
    assert httpx.get(f"{base}.exe").status_code == 404
    assert httpx.get(f"{base}.csv?label=BLUE").status_code == 404


HOSTILE = [
    "<script>window.broken = 1</script>",
    "</textarea></pre></title><img src=x onerror=window.broken=1>",
    '"><svg onload=window.broken=1>',
    "{{ 7 * 7 }} {% raw %}",
    "=cmd|' /C calc'!A0",
    "\u202egnp.exe \u2066 \u200f \u05d0\u05d1",
    "nul \x00 bell \x07 escape \x1b[31m",
    "😀 👩‍👩‍👧 \ud83d e\u0301",
    "w" * 200_000,
    "/runs/../../etc/passwd?<b>",
]


def test_hostile_content_is_text(place, serve, watch):
    """Whatever stands in an answer, a passage, an id, a name or a tag is shown as text, runs nothing, and hides nothing."""
    answers = [
        answered(
            [text, "A second one."],
            [C, U],
            name=text[:900],
            question=text,
            passages=[Passage(text[:900], f"{text} in the passage", text)],
            tags={text[:80]: text[:80]},
            release=text[:80],
        )
        for text in HOSTILE
    ]
    with Store.open(place) as store:
        runs = [keep_run(store, answers, name=text[:80], slices=[text[:80]]) for text in HOSTILE]
    address = serve(create_app(place))
    watched = watch(address)
    for path in (
        "/",
        "/trend",
        *(f"/runs/{runs[0]}/answers/{place}" for place in range(len(HOSTILE))),
        *(f"/runs/{runs[0]}{page}" for page in ("", "/answers", "/judge")),
        *(f"/runs/{run}/slices" for run in runs),
        f"/compare?before={runs[0]}&after={runs[1]}&by=auto",
    ):
        page = watched.open(path)
        assert page.evaluate("window.broken") is None, path
        assert page.locator("script:not([src]), img:not([src^='/static/']), iframe, object").count() == 0, path
        assert page.locator("footer.site").count() == 1, path
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), path
    for number, text in enumerate(HOSTILE):
        begun = re.sub(r"[\x00-\x1f\ud800-\udfff\u202e\u2066]", "", text)[:20].split()[0]
        assert begun in watched.open(f"/runs/{runs[0]}/answers/{number}").locator(".response").inner_text()
    exported = httpx.get(f"{address}/runs/{runs[0]}/export.csv").text
    csv.field_size_limit(10**7)
    cells = [cell for row in csv.reader(io.StringIO(exported)) for cell in row]
    assert not any(cell.startswith(("=", "+", "@")) for cell in cells)


def test_runs_of_every_kind_have_pages(place):
    """A run whose answers all failed, that holds none, or whose answers have no claims is shown like any other."""
    nothing = Sample("x", "Nothing.")
    sample, result = answered(["A.", "B."], [S, C])
    kinds = {
        "failed": [failed(), failed("g")],
        "empty": [],
        "without claims": [
            (nothing, Result.of(nothing, PROVENANCE, Outcome.NO_CLAIMS)),
            (
                nothing,
                Result.of(nothing, PROVENANCE, Outcome.SCORED, 0.4, components={"precision": 0.3, "recall": None}),
            ),
        ],
        "with a reference": [(replace(sample, reference="A. B."), replace(result, reference_claims=result.claims))],
    }
    with Store.open(place) as store:
        runs = {name: keep_run(store, answers, name=name) for name, answers in kinds.items()}
    with served(create_app(place)) as address, httpx.Client(base_url=address, timeout=60) as client:
        for name, run in runs.items():
            for path in ("", "/answers", "/answers?order=worst", "/slices", "/judge", "/export.csv"):
                assert client.get(f"/runs/{run}{path}").status_code == 200, (name, path)
            expected = 404 if name == "empty" else 200
            assert client.get(f"/runs/{run}/answers/0").status_code == expected, name
            pair = {"before": run, "after": runs["failed"], "by": "auto"}
            assert client.get("/compare", params=pair).status_code in {200, 404}, name
        assert client.get("/trend").status_code == 200
        assert client.get("/").status_code == 200


def test_try_an_answer_and_score_a_file(place, tmp_path, serve, watch):
    """What is pasted is judged by the real judge, JSON sources too, and not kept; a file scored appears in the list."""
    with Evaluator() as evaluator:
        address = serve(create_app(place, evaluator=evaluator))
        watched = watch(address)
        page = watched.open("/try")
        page.get_by_label("Answer").fill("The mill was built in 1820. It has four wheels.")
        page.get_by_label("Sources").fill('[{"name": "mill", "built": 1850}, "The mill on the Aller has four wheels."]')
        page.get_by_role("button", name="Judge the claims").click()
        page.locator("details.finding").nth(1).wait_for()
        watched.check_accessibility()
        assert page.locator("details.finding.contradicted, details.finding.unsupported").count() == 1
        assert page.get_by_label("Answer").input_value().startswith("The mill was built")
        assert not Path(place).exists()
        answers = tmp_path / "answers.jsonl"
        answers.write_text(
            json.dumps({"id": "a", "response": "It has four wheels.", "contexts": ["It has four wheels."]})
        )
        score_file(answers, store=place, name="by hand")
        page.goto(address)
        page.get_by_role("link", name="by hand").click()
        page.get_by_text("1 of 1 answer scored").wait_for()
        with httpx.Client(base_url=address, timeout=60) as client:  # judging costs
            assert client.post("/try", data={"response": "x"}).status_code == 403
            csrf = re.search(r'name="csrf" value="(\w+)"', client.get("/try").text)[1]
            empty = client.post("/try", data={"csrf": csrf, "response": " "})
            book = client.post("/try", data={"csrf": csrf, "response": "x " * 150_000})
        assert (empty.status_code, book.status_code) == (400, 400)
        assert "200,000 characters" in book.text


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_every_page_fits_its_window(dashboard, two_runs, watch, width, scheme):
    """No page is wider than the window, and its colours can be read, on a phone and at a desk, light and dark."""
    _, before, after = two_runs
    watched = watch(dashboard, viewport={"width": width, "height": 800}, color_scheme=scheme)
    for path in (
        "/",
        "/trend",
        f"/compare?before={before}&after={after}&by=source",
        f"/runs/{before}",
        f"/runs/{before}/answers",
        f"/runs/{before}/answers/3",
        f"/runs/{before}/slices",
        f"/runs/{before}/judge",
    ):
        page = watched.open(path)
        page.locator("footer.site").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), path
        watched.check_accessibility()
