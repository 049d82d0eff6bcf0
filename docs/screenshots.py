"""Make the pictures of the documentation, or of every page, wide and narrow, light and dark.

    python docs/screenshots.py [FOLDER]

scores the two releases of the example, writes their reports and photographs them with a Chromium that is installed: to
``docs/pictures/`` what the documentation shows, to the folder given all. Look at them after a change of the look.
"""  # noqa: INP001 - a script

from __future__ import annotations

import io
import re
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import NamedTuple

import uvicorn
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import everyclaim as ec
from everyclaim.web.app import create_app

HERE = Path(__file__).parent.resolve()
EXAMPLE = HERE.parent / "examples" / "support_bot"
SIZES = {"desktop": (1200, 860), "phone": (390, 780)}
SCHEMES = ("light", "dark")


CONTRADICTED = """async () => {
    document.querySelector("a[data-show='1']").click();
    await new Promise((done) => setTimeout(done, 500));
    const entries = [...document.querySelectorAll("details.entry")];
    const chosen = entries.find((one) => one.querySelector(".id").textContent === "brewing-03");
    chosen.open = true;
    chosen.querySelector(".finding.contradicted").open = true;
    chosen.scrollIntoView();
}"""


class Picture(NamedTuple):
    """A page and what to do before it is photographed, in the page's own language."""

    name: str
    address: str
    prepare: str = ""


def example(folder: Path) -> Iterator[Picture]:
    """Score the example, write its reports, and say what to look at."""
    store = str(folder / "runs.db")
    with ec.Evaluator() as evaluator:
        for release, name in (("v1", "answers.jsonl"), ("v2", "answers_v2.jsonl")):
            shutil.copy(EXAMPLE / name, folder / name)
            evaluator.score_file(name, store=store, name=f"support bot {release}", release=release, slices=["topic"])
    before, after = (ec.find_run(f"support bot {release}", store=store) for release in ("v1", "v2"))
    ec.calibrate(before, EXAMPLE / "labels.jsonl")
    before.report(folder / "report.html")
    ec.compare(before, after, by=["topic"]).report(folder / "comparison.html")
    report, comparison = ((folder / name).as_uri() for name in ("report.html", "comparison.html"))
    yield Picture("report", report)
    yield Picture("report-slices", report, "document.querySelector('.slices').previousElementSibling.scrollIntoView()")
    yield Picture("report-answers", report, CONTRADICTED)
    yield Picture("comparison", comparison)
    open_first = (
        "const d = document.querySelector('section.change > details'); d.open = true; d.parentElement.scrollIntoView()"
    )
    yield Picture("comparison-answers", comparison, open_first)
    with served(store) as address:
        yield from dashboard(address, before.id, after.id)
        yield from labelling(address, after)


def dashboard(address: str, before: str, after: str) -> Iterator[Picture]:
    """Say what to look at in the dashboard."""
    run = f"{address}/runs/{before}"
    yield Picture("dashboard-run", run)
    yield Picture("dashboard-answers", f"{run}/answers?label=CONTRADICTED&order=worst")
    yield Picture(
        "dashboard-answer", f"{run}/answers/10", "document.querySelector('.finding.contradicted').open = true"
    )
    yield Picture("dashboard-slices", f"{run}/slices?tag=needs")
    yield Picture("dashboard-judge", f"{run}/judge")
    yield Picture("dashboard-compare", f"{address}/compare?before={before}&after={after}")
    yield Picture("dashboard-time", f"{address}/trend")
    yield Picture("dashboard-try", f"{address}/try?example=1", "document.querySelector('form.try').requestSubmit()")
    yield Picture("dashboard-runs", address)


def labelling(address: str, run: ec.Run) -> Iterator[Picture]:
    """Say what to look at of labelling: a queue, a claim with its words found, and the next one after a label."""
    queue = ec.label_queue(run, 40, annotators=["Ada", "Bo"], overlap=0.3, by="random", name="First labels")
    desk = f"{address}/label/queues/{queue.id}/desk?who=Ada"
    press = "document.body.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{}', bubbles: true }}))"
    yield Picture("labelling-queue", f"{address}/label/queues/{queue.id}")
    yield Picture("labelling", desk, press.format("w"))
    yield Picture("labelling-after", desk, press.format("1"))


@contextmanager
def served(store: str) -> Iterator[str]:
    """Serve the dashboard on loopback."""
    with ec.Evaluator() as evaluator, socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(create_app(store, evaluator=evaluator), log_level="error", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def shown() -> set[str]:
    """List the pictures that the documentation shows."""
    pages = [HERE.parent / "README.md", *HERE.rglob("*.md")]
    return {name for page in pages for name in re.findall(r"pictures/([\w-]+\.png)", page.read_text(encoding="utf-8"))}


def photograph(browser: Browser, picture: Picture, folder: Path, wanted: set[str] | None) -> Iterator[Path]:
    """Take a page's pictures that are wanted (None: all), in every size and scheme."""
    for size, (width, height) in SIZES.items():
        for scheme in SCHEMES:
            path = folder / f"{picture.name}-{size}-{scheme}.png"
            if wanted is not None and path.name not in wanted:
                continue
            view = {"width": width, "height": height}
            context = browser.new_context(viewport=view, color_scheme=scheme, bypass_csp=True)
            page: Page = context.new_page()
            page.goto(picture.address)
            page.wait_for_function("!document.title.startsWith('One moment')")  # numbers that are still added up
            page.wait_for_function("!document.body.innerText.includes('computing …')")
            page.wait_for_timeout(300)
            if picture.prepare:
                page.evaluate(picture.prepare)
                page.wait_for_timeout(200)
                page.wait_for_load_state("networkidle")
            shot = Image.open(io.BytesIO(page.screenshot()))
            shot.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)
            context.close()
            yield path


def main(folder: Path, wanted: set[str] | None) -> None:
    """Make the pictures that are wanted; None: all."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        sys.exit("chromium is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    with tempfile.TemporaryDirectory() as place, chdir(place), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        for picture in example(Path(place)):
            for path in photograph(browser, picture, folder, wanted):
                sys.stdout.write(f"{path}\n")
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]), None)
    else:
        main(HERE / "pictures", shown())
