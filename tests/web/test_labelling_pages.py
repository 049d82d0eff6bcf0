"""The labelling page in a browser: people label by keyboard, nothing is lost or kept twice, and calibrate sees it."""

from __future__ import annotations

import json
import subprocess
import sys

import httpx
import pytest
import sqlalchemy as sa
from playwright.sync_api import expect
from real_pages import served

import everyclaim as ec
from everyclaim.core.types import Passage
from everyclaim.store.store import Store
from everyclaim.store.tables import LABEL_HISTORY
from everyclaim.web.app import Access, create_app
from everyclaim.web.settings import AccessTokens, add_token, new_token
from scored_runs import S, U, answered, keep_run, some_answers

WORDS = ("SUPPORTED", "UNSUPPORTED", "CONTRADICTED")


@pytest.fixture
def run(place):
    """Give a run of eight answers with three claims each."""
    with Store.open(place) as store:
        return keep_run(store, some_answers(8, 4), name="towns")


@pytest.fixture
def site(place, run):
    with served(create_app(place)) as address:
        yield address


def queue_of(place, run, who=("Ada",), n=12, **options):
    return ec.label_queue(run, n, annotators=list(who), store=place, by="random", **options).id


def desk_of(queue, who="Ada"):
    return f"/label/queues/{queue}/desk?who={who}"


def labels_of(place, run):
    with Store.open_to_read(place) as store:
        return {(one.annotator, one.key): one for one in store.labels(run)}


def saved(page):
    expect(page.locator("#kept")).to_have_text("saved")


def key_of(page):
    return page.locator("#item").get_attribute("data-key")


def test_ten_claims_by_keyboard_with_the_page_closed_in_the_middle(site, place, run, watch):
    """Keys label, the page goes on where it was after it was closed, undo brings the claim back, calibrate sees all."""
    queue = queue_of(place, run, n=10)
    seen = watch(site)
    page = seen.open(desk_of(queue))
    expect(page.locator("#item h1")).to_have_text("Claim 1 of 10")
    expect(page.locator("#item")).not_to_contain_text("judge:")
    said = {}
    for number in range(5):
        said[key_of(page)] = number % 3
        page.keyboard.press(str(number % 3 + 1))
        expect(page.locator("#item h1")).to_have_text(f"Claim {number + 2} of 10")
    saved(page)
    expect(page.locator("#last-judged")).to_contain_text("judge:")
    seen = watch(site)  # another browser: nothing is left of the first one's
    page = seen.open(desk_of(queue))
    expect(page.locator("#counts")).to_have_text("5 of 10 done")
    expect(page.locator("#item h1")).to_have_text("Claim 6 of 10")
    page.keyboard.press("2")
    saved(page)
    page.keyboard.press("u")
    expect(page.locator("#item h1")).to_have_text("Claim 6 of 10")
    expect(page.locator("#counts")).to_have_text("5 of 10 done")
    for number in range(5):
        said[key_of(page)] = 0
        page.keyboard.press("1")
        if number < 4:
            expect(page.locator("#item h1")).to_have_text(f"Claim {number + 7} of 10")
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    page.get_by_role("button", name="Undo the last label").click()
    expect(page.locator("#item h1")).to_have_text("Claim 10 of 10")
    page.keyboard.press("1")
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    assert {key: WORDS.index(one.value.value) for (_, key), one in labels_of(place, run).items()} == said
    done = subprocess.run(
        [sys.executable, "-m", "everyclaim", "calibrate", run, "--store", place, "--json"],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert json.loads(done.stdout)["labels"]["claims"] == 10


def test_what_was_labelled_can_be_gone_back_to(site, place, run, watch):
    """By arrow keys, from the answer's box and from the last page too, and by links that show the keys."""
    seen = watch(site)
    page = seen.open(desk_of(queue_of(place, run, n=2)))
    first = key_of(page)
    page.locator(".in-answer").focus()
    page.keyboard.press("1")
    page.wait_for_function("key => document.querySelector('#item').dataset.key !== key", arg=first)
    page.locator(".in-answer").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("key => document.querySelector('#item').dataset.key === key", arg=first)
    page.get_by_role("link", name="Next").click()
    page.wait_for_function("key => document.querySelector('#item').dataset.key !== key", arg=first)
    second = key_of(page)
    page.keyboard.press("2")
    page.locator(".finished").wait_for()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("key => document.querySelector('#item').dataset.key === key", arg=second)


def test_without_a_connection_nothing_is_lost_and_nothing_is_kept_twice(site, place, run, watch):
    """What is pressed waits in the browser, over a closed page too; an answer lost on its way back does no harm."""
    queue = queue_of(place, run)
    seen = watch(site)
    seen.expects_errors = True
    page = seen.open(desk_of(queue))
    page.wait_for_load_state("networkidle")

    def lose_the_answer(route):
        route.fetch()
        route.abort()

    page.context.route("**/do", lose_the_answer)
    page.keyboard.press("1")
    expect(page.locator("#kept")).to_contain_text("no connection")
    page.keyboard.press("2")
    expect(page.locator("#kept")).to_contain_text("no connection")
    assert len(labels_of(place, run)) == 1
    page.context.unroute("**/do")
    other = page.context.new_page()
    page.close()
    other.goto(site + desk_of(queue))
    expect(other.locator("#counts")).to_have_text("2 of 12 done")
    saved(other)
    with Store.open_to_read(place) as store, store.reading() as connection:
        assert connection.scalars(sa.select(LABEL_HISTORY.c.action)).all() == ["label", "label"]
    assert len(labels_of(place, run)) == 2


def test_two_people_label_apart_and_somebody_settles_where_they_differ(site, place, run, watch):
    """Overlap, agreement, adjudication by keyboard: the settled label is what calibrate takes."""
    queue = queue_of(place, run, ("Ada", "Björn"), n=6, overlap=1)
    differing: list[str] = []  # the first three that Ada sees
    for who in ("Ada", "Björn"):
        page = watch(site).open(f"/label/queues/{queue}")
        page.get_by_role("link", name=f"Label as {who}").click()
        page.wait_for_load_state("networkidle")
        for number in range(1, 7):
            expect(page.locator("#item h1")).to_have_text(f"Claim {number} of 6")
            if who == "Ada" and number <= 3:
                differing.append(key_of(page))
            page.keyboard.press("2" if who == "Björn" and key_of(page) in differing else "1")
        expect(page.get_by_role("heading", name="All done")).to_be_visible()
    page = watch(site).open(f"/label/runs/{run}")
    assert len(labels_of(place, run)) == 12
    expect(page.locator("main")).to_contain_text("6 texts were labelled by more than one of 2 annotators")
    assert ec.calibrate(ec.find_run(run, store=place)).disputed == 3
    page.get_by_role("link", name="Adjudicate 3").click()
    expect(page.locator(".others")).to_contain_text("Ada")
    expect(page.locator(".others")).to_contain_text("Björn")
    expect(page.locator("#item")).not_to_contain_text("Judge's verdict")
    page.wait_for_load_state("networkidle")
    for number in range(3):
        page.keyboard.press("2")
        expect(page.locator("#counts")).to_have_text(f"{number + 1} of 3 done")
    expect(page.get_by_role("heading", name="No disagreements left")).to_be_visible()
    after = ec.calibrate(ec.find_run(run, store=place))
    assert (after.disputed, after.used) == (0, 6)


HARD = "A\r\nB\x00 \ud83d\ude00 <b>red</b> & “blue” \u202eevil\u202c end. Second sentence here."


@pytest.fixture
def hard(place):
    """Give a run with texts that break pages: markup, controls, direction, emoji, tables, one very long word."""
    passages = (
        Passage("<p>", HARD.encode("utf-16", "surrogatepass").decode("utf-16"), "<script>alert(1)</script>"),
        Passage("</textarea>", "| a | b |\n|---|---|\n| one cell | 2.4 kW |\n\nAfter the table.", "=cmd|'/C calc'!A0"),
        Passage("r", '{"name": "field", "value": "12 kW"}', ""),
        Passage("long", "x" * 300_000 + " tail", "long"),
    )
    sample = answered(
        ('It is <img src=x onerror=alert(1)> "big" </textarea>\u202e.', "Blue."), (U, S), name="h", passages=passages
    )
    with Store.open(place) as store:
        return keep_run(store, [sample], name="<script>alert(2)</script>")


def test_evidence_is_what_was_selected_whatever_the_passage_holds(place, hard, watch):
    """Offsets are those of the passage as given, over escapes, emoji, cells and records, by pointer or by keys."""
    queue = queue_of(place, hard, n=1)
    with Store.open_to_read(place) as store:
        passages = next(iter(store.records(hard))).sample.passages
    with served(create_app(place)) as site:
        page = watch(site).open(desk_of(queue))
        page.wait_for_load_state("networkidle")
        select = """([number, from, to]) => {
            const passage = document.querySelector(`[data-passage="${number}"]`);
            const found = (text) => [...passage.querySelectorAll("[data-s]")].find((one) => one.textContent.includes(text)).firstChild;
            const [first, last] = [found(from), found(to)];
            const range = document.createRange();
            range.setStart(first, first.data.indexOf(from));
            range.setEnd(last, last.data.indexOf(to) + to.length);
            getSelection().removeAllRanges();
            getSelection().addRange(range);
        }"""
        for number, start, end in ((0, "red", "end"), (1, "cell", "2.4"), (2, "12", "kW")):
            page.evaluate(select, [number, start, end])
            page.keyboard.press("e")
        page.keyboard.press("/")
        page.keyboard.type("second")
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        page.keyboard.press("e")
        expect(page.locator("#picked li")).to_have_count(4)
        page.reload()  # what was picked and not sent is still there
        expect(page.locator("#picked li")).to_have_count(4)
        page.keyboard.press("1")
        saved(page)
    [label] = labels_of(place, hard).values()
    quotes = [passages[one.passage].text[one.start : one.end] for one in label.evidence]
    assert quotes[0].startswith("red</b> & “blue”")
    assert quotes[0].endswith("evil\u202c end")
    assert quotes[1:] == ["cell | 2.4", "12 kW", "Second sentence here."]


def test_hostile_text_is_text_on_every_labelling_page(place, hard, watch):
    """Markup, controls and direction marks of a run, a passage, a claim, a name or a comment do nothing."""
    who = "<img src=x onerror=alert(3)>"
    queue = queue_of(place, hard, (who, "Bo"), n=2, overlap=1, name="</title><script>alert(4)</script>")
    with served(create_app(place)) as site:
        seen = watch(site)
        seen.page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        page = seen.open(f"/label/queues/{queue}")
        page.get_by_role("link", name=f"Label as {who}").click()
        page.wait_for_load_state("networkidle")
        expect(page.locator("#item")).to_contain_text("onerror=alert(1)")
        assert "\u202e" not in page.content()
        page.keyboard.press("c")
        page.keyboard.type("</textarea><script>alert(5)</script>")
        page.keyboard.press("Escape")
        page.keyboard.press("2")
        saved(page)
        page.keyboard.press("1")
        expect(page.get_by_role("heading", name="All done")).to_be_visible()
        page = seen.open(desk_of(queue, "Bo"))
        page.wait_for_load_state("networkidle")
        page.keyboard.press("1")
        saved(page)
        page.keyboard.press("3")
        expect(page.get_by_role("heading", name="All done")).to_be_visible()
        for path in ("/label", f"/label/runs/{hard}", f"/label/runs/{hard}/desk"):
            seen.open(path)
            assert page.locator("img[src=x]").count() == 0
            assert page.locator("script:not([src])").count() == 0
        table = httpx.get(f"{site}/label/runs/{hard}/labels.csv").text
        assert "\n=" not in table
        assert ",=" not in table


def test_the_pages_are_usable_by_everybody(site, place, run, watch):
    """Axe finds nothing serious on any labelling page, wide or narrow, light or dark, before and after labelling."""
    queue = queue_of(place, run, ("Ada", "Bo"), n=3, overlap=1)
    answers = queue_of(place, run, n=2, answers=True)
    for options in ({}, {"color_scheme": "dark", "viewport": {"width": 390, "height": 844}}):
        seen = watch(site, **options)
        for path in ("/label", f"/label/queues/{queue}", desk_of(answers), desk_of(queue)):
            page = seen.open(path)
            seen.check_accessibility()
        page.wait_for_load_state("networkidle")
        page.keyboard.press("b")
        seen.check_accessibility()
        page.keyboard.press("2")
        saved(page)
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        seen.check_accessibility()
        page.keyboard.press("Escape")
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".verdict")).to_be_visible()
        seen.check_accessibility()
        width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width[0] <= width[1]
        with Store.open(place) as store:  # Bo labels what Ada marked
            from everyclaim.api.labeling import LabelingSession

            desk = LabelingSession.of_queue(store, queue, "Bo")
            for number, key in enumerate(desk.left()):
                desk.say(f"bo-{number:08}", key, S)
        for path in (f"/label/runs/{run}", f"/label/runs/{run}/desk"):
            seen.open(path)
            seen.check_accessibility()


def test_a_queue_is_made_on_the_page_and_what_is_wrong_is_said_there(site, place, run, watch):
    """Who, how many, and how; a mistake keeps what was filled in."""
    seen = watch(site)
    seen.expects_errors = True
    page = seen.open("/label")
    page.get_by_label("Annotators").fill("Ada, adjudicated")
    page.get_by_label("Number of items").fill("8")
    page.get_by_role("button", name="Create queue").click()
    expect(page.get_by_role("alert")).to_contain_text("is reserved for adjudication")
    assert page.get_by_label("Number of items").input_value() == "8"
    page.get_by_label("Annotators").fill("Ada, Bo")
    page.get_by_role("button", name="Create queue").click()
    expect(page.get_by_role("link", name="Label as Bo")).to_be_visible()
    with Store.open_to_read(place) as store:
        [queue] = store.labelling.queues(run)
    assert queue.annotators == ("Ada", "Bo")
    page.get_by_text("Delete this queue").click()
    page.get_by_role("button", name="Delete the queue").click()
    with Store.open_to_read(place) as store:
        assert store.labelling.queues(run) == []


# ---- what programs and foreign pages may not


def test_who_may_label_and_in_whose_name(place, run, tmp_path):
    """A token without the scope may look; whoever a proxy names labels in that name alone."""
    queue = queue_of(place, run, ("Ada", "Bo"))
    path = tmp_path / "tokens"
    shown, kept = new_token("looker", ["ui"])
    add_token(path, kept)
    with served(create_app(place, access=Access(AccessTokens(path)))) as site:
        looker = {"authorization": f"Bearer {shown}"}
        assert httpx.get(site + f"/label/runs/{run}", headers=looker).status_code == 200
        assert httpx.get(site + desk_of(queue), headers=looker).status_code == 403
        assert httpx.get(site + desk_of(queue), headers={"accept": "text/html"}).status_code == 303
    with served(create_app(place, access=Access(proxy_header="x-user"))) as site:
        assert httpx.get(site + desk_of(queue), headers={"x-user": "Ada"}).status_code == 200
        assert httpx.get(site + desk_of(queue, "Bo"), headers={"x-user": "Ada"}).status_code == 403
        assert httpx.get(site + desk_of(queue)).status_code == 401


def test_labels_come_out_as_calibrate_reads_them(site, place, run, tmp_path):
    """The export of one store is read into another, with who said it, how it was chosen, and the comment."""
    queue = queue_of(place, run, n=5)
    with Store.open(place) as store:
        from everyclaim.api.labeling import LabelingSession

        desk = LabelingSession.of_queue(store, queue, "Ada")
        for number, key in enumerate(desk.left()):
            desk.say(f"ada-{number:08}", key, U, note="=1+1, no", failure_mode=ec.FailureMode.INVENTION)
    other = str(tmp_path / "other.db")
    with Store.open(other) as store:
        again = keep_run(store, some_answers(8, 4), name="towns")
    for form in ("jsonl", "csv"):
        path = tmp_path / f"labels.{form}"
        path.write_bytes(httpx.get(f"{site}/label/runs/{run}/labels.{form}").content)
        found = ec.calibrate(again, path, store=other)
        assert (found.used, found.by_way) == (5, {"random": 5})
    assert httpx.get(f"{site}/label/runs/{run}/labels.exe").status_code == 404
