"""The whole way of an alert, with real servers: service and watch → Prometheus → Alertmanager → whoever is to be told.

Prometheus and Alertmanager are Debian's (`apt-get install prometheus prometheus-alertmanager`), started by hand on
loopback with the files of `deploy/`, in which only addresses, paths and intervals are others.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from everyclaim.cli.app import run
from everyclaim.monitor.rules import dashboard
from everyclaim.testing import JudgeServer, play
from everyclaim.testing.script import Request, rejected
from loopback_server import free_port

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PROMETHEUS = shutil.which("prometheus")
ALERTMANAGER = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (PROMETHEUS and ALERTMANAGER) and "NEEDS_PROMETHEUS" not in os.environ,
        reason="Prometheus or Alertmanager is not installed",
    ),
]


class Live:
    """A service judged by a loopback model, a watch judged by words, and what looks at them."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        sys.path[:0] = [str(ROOT / "tests" / name) for name in ("web", "monitor")]
        from loopback import receiving
        from running_service import Service

        self.folder = folder
        self.checks: list[Callable[[], None]] = []
        self.log = folder / "answers.jsonl"
        self.log.touch()
        self.told = stack.enter_context(receiving())
        judge = stack.enter_context(JudgeServer(answer))
        lines = []
        for name, scopes in (("prometheus", "read"), ("ci", "score")):
            made = [sys.executable, "-m", "everyclaim", "serve", "--new-token", name, "--scopes", scopes]
            done = subprocess.run([*made, "--tokens", "tokens"], cwd=folder, capture_output=True, text=True, check=True)
            lines.append(done.stdout.strip())
        (folder / "metrics-token").write_text(lines[0])
        self.headers = {"Authorization": f"Bearer {lines[1]}"}
        (folder / "prices.toml").write_text('[openai.models]\n"gpt-5-mini" = { input = 0.25, output = 2.0 }\n')
        judging = ("--judge", "openai:gpt-5-mini", "--base-url", judge.base_url, "--prices", "prices.toml")
        options = ("--tokens", "tokens", "--metrics", *judging)
        self.service = Service(folder, *options, env={"OPENAI_API_KEY": "none"})
        stack.callback(self.service.kill)
        watch, self.port, manager = free_port(), free_port(), free_port()
        everyclaim = [sys.executable, "-m", "everyclaim"]
        self.processes = {"the service": self.service.process}
        self.start(
            stack, "watch", *everyclaim, "watch", str(self.log), "--every", "0.5", "--judge", "lexical",
            "--store", str(folder / "watched.db"), "--observe", f"prometheus:{watch}",
            "--alert-above", "0.1", "--alert", f"webhook:{self.told.url}/detector",
        )  # fmt: skip
        self.write_configuration(watch, manager)
        self.start(
            stack, "alertmanager", ALERTMANAGER, "--config.file=alertmanager.yml", "--storage.path=alertmanager",
            f"--web.listen-address=127.0.0.1:{manager}", "--cluster.listen-address=",
        )  # fmt: skip
        self.start(
            stack, "prometheus", PROMETHEUS, "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb",
            f"--web.listen-address=127.0.0.1:{self.port}",
        )  # fmt: skip
        self.until(lambda: len(self.query("up == 1")) == 2)
        self.until(lambda: urllib.request.urlopen(f"http://127.0.0.1:{manager}/-/ready", timeout=10).status == 200)

    def start(self, stack: ExitStack, name: str, *command: str | None) -> None:
        assert command[0], f"{name} is not installed: apt-get install prometheus prometheus-alertmanager"
        log = stack.enter_context((self.folder / f"{name}.log").open("w"))
        process = subprocess.Popen([str(word) for word in command], cwd=self.folder, stdout=log, stderr=log)
        stack.callback(process.wait, 30)
        stack.callback(process.terminate)
        self.processes[name] = process

    def until(self, is_true: Callable[[], bool], seconds: float = 300) -> None:
        """Wait for it; a program that ended fails at once, with what it wrote last."""
        deadline = time.monotonic() + seconds
        while True:
            for name, process in self.processes.items():
                log = self.folder / f"{name}.log"
                assert process.poll() is None, f"{name} ended: {log.read_text()[-2_000:] if log.exists() else ''}"
            with suppress(OSError):  # it starts
                if is_true():
                    return
            assert time.monotonic() < deadline, "it did not come"
            time.sleep(0.2)

    def evaluate(self) -> None:
        """Wait until every rule has been evaluated on what is counted now."""
        now = float(self.ask("query", query="time()")["result"][1])

        def is_evaluated() -> bool:
            groups = self.ask("rules")["groups"]
            return all(datetime.fromisoformat(one["lastEvaluation"]).timestamp() > now + 1 for one in groups)

        self.until(is_evaluated)

    def write_configuration(self, watch: int, manager: int) -> None:
        assert run(["rules", "--rate", "0.02", "--out", str(self.folder / "rules.yml")]) == 0
        config = yaml.safe_load((DEPLOY / "prometheus.yml").read_text("utf-8"))
        config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        config["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"] = [f"127.0.0.1:{manager}"]
        (scraped,) = config["scrape_configs"]
        scraped["authorization"]["credentials_file"] = "metrics-token"
        scraped["static_configs"][0]["targets"] = [f"127.0.0.1:{self.service.port}", f"127.0.0.1:{watch}"]
        (self.folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        config = yaml.safe_load((DEPLOY / "alertmanager.yml").read_text("utf-8"))
        config["route"] |= {"group_wait": "1s", "group_interval": "1s"}
        config["receivers"][0]["slack_configs"][0]["api_url_file"] = str(self.folder / "alert-url")
        (self.folder / "alert-url").write_text(f"{self.told.url}/slack")
        (self.folder / "alertmanager.yml").write_text(yaml.safe_dump(config))

    def ask(self, path: str, **query: str) -> Any:
        address = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(address, timeout=10) as reply:
                return json.load(reply)["data"]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it starts
                raise
            raise AssertionError(f"{query}: {error.read().decode()}") from None

    def query(self, expression: str) -> list[Any]:
        return list(self.ask("query", query=expression)["result"])

    def counted(self, release: str) -> float:
        found = self.query(f'sum(everyclaim_answers_total{{release="{release}"}})')
        return float(found[0]["value"][1]) if found else 0.0

    def score(self, release: str, count: int, **more: str) -> None:
        for number in range(count):
            self.service.ask("POST", "/v1/score", row(number, release) | more, self.headers)

    def append(self, *rows: dict[str, Any]) -> None:
        with self.log.open("a") as file:
            file.writelines(json.dumps(one) + "\n" for one in rows)

    def firing(self) -> set[tuple[str, str]]:
        found = self.query('ALERTS{alertstate="firing"}')
        return {(one["metric"]["alertname"], one["metric"].get("release", "")) for one in found}

    def posts(self, path: str) -> list[str]:
        return [one.body.decode() for one in self.told.requests if one.path == path]


def answer(request: Request) -> Any:
    if "unjudgeable" in request.text:
        return rejected("it is not to be judged")
    return play(request)


def row(number: int, release: str, right: bool = True) -> dict[str, Any]:
    weight = number + 10
    said = weight if right else weight + 1
    return {
        "response": f"The unit weighs {said} kg.", "contexts": [f"The unit weighs {weight} kg."],
        "question": "How heavy is it?", "release": release,
    }  # fmt: skip


def long_row(number: int, release: str) -> dict[str, Any]:
    sentences = [f"Unit {number * 100 + place} weighs {place + 10} kg." for place in range(25)]
    return {"response": " ".join(sentences), "contexts": [" ".join(sentences)], "release": release}


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with ExitStack() as stack:
        yield Live(tmp_path_factory.mktemp("live"), stack)


def test_a_planted_release_is_told_of_and_told_to_be_over(live: Live) -> None:
    """Good answers, silence; a release with wrong ones, an alert that names it; once it is mended, the word of that."""
    live.score("r1", 5)
    live.append(row(0, "r1"), row(0, "r2"))  # a rise is counted from what is there
    live.until(lambda: live.counted("r1") == 6 and live.counted("r2") == 1)
    live.score("r1", 2, response="The unjudgeable unit weighs 2 kg.")
    live.append(*(row(number, "r1") for number in range(1, 41)))
    live.until(lambda: live.counted("r1") == 48)
    live.evaluate()
    assert live.firing() == set()
    assert live.told.requests == []
    live.append(*(row(number, "r2", right=number > 20) for number in range(1, 36)))
    live.until(lambda: any("EveryclaimContradictedClaims r2" in post for post in live.posts("/slack")))
    assert live.firing() == {("EveryclaimContradictedClaims", "r2")}
    first = live.posts("/slack")[0]
    assert "of the claims are contradicted" in first
    assert "Over: " not in first
    live.until(lambda: bool(live.posts("/detector")))
    assert json.loads(live.posts("/detector")[0])["measure"] == "contradicted"
    live.append(*(long_row(number, "r2") for number in range(12)))
    live.until(lambda: any("Over: EveryclaimContradictedClaims r2" in post for post in live.posts("/slack")))
    assert live.firing() == set()


def test_rules_and_dashboard_name_what_there_is(live: Live) -> None:
    """Every rule is evaluated without a fault, every metric that it names is there, every panel shows something."""
    groups = live.ask("rules")["groups"]
    assert [rule["name"] for group in groups for rule in group["rules"] if rule["health"] != "ok"] == []
    names = set(live.ask("label/__name__/values"))
    text = (live.folder / "rules.yml").read_text("utf-8")
    expressions = [target["expr"] for panel in dashboard()["panels"] for target in panel["targets"]]
    named = set(re.findall(r"everyclaim[\w:]+", text + " ".join(expressions)))
    raw = {name for name in named if ":" not in name and name.startswith("everyclaim_")}
    assert raw - names == {"everyclaim_flagged_claims_total"}, "there where a verdict has a flag, as none here has"
    empty = []
    for expression in expressions:
        filled = expression.replace("$__rate_interval", "5m").replace("$release", ".*")
        if not live.query(filled):
            empty.append(filled)
    assert empty == []
    (variable,) = [one for one in dashboard()["templating"]["list"] if one["name"] == "release"]
    assert variable["query"]["query"] == "label_values(everyclaim_answers_total, release)"
    assert {"r1", "r2"} <= set(live.ask("label/release/values"))
