"""What `deploy/` holds, as far as it can be held against the real things without a container engine."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
import yaml

from everyclaim.cli.app import app

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def instructions():
    """The Containerfile's instructions, continued lines joined."""
    text = (DEPLOY / "Containerfile").read_text("utf-8").replace("\\\n", " ")
    return [line.split(None, 1) for line in text.splitlines() if line.strip() and not line.startswith("#")]


def compose():
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))


def unit():
    lines = (DEPLOY / "everyclaim.service").read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def commands():
    container = next(rest for name, rest in instructions() if name == "CMD")
    texts = "\n".join(path.read_text("utf-8") for path in DEPLOY.iterdir() if path.is_file())
    said = re.findall(r"^#   (?:.*\s)?(?:\S*/)?everyclaim ((?:serve|watch) [^>&#\n]*)", texts, re.MULTILINE)
    return [
        json.loads(container),
        compose()["services"]["everyclaim"]["command"],
        shlex.split(unit()["ExecStart"])[1:],
        *map(shlex.split, said),
    ]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_commands_are_there_with_their_options(words):
    """Every command in these files, in comments too, is one that the command line takes."""
    command = typer.main.get_command(app).commands[words[0]]
    context = command.make_context(words[0], list(words[1:]), resilient_parsing=False)
    assert not context.args


@pytest.mark.slow
def test_the_health_check_of_the_container_answers(tmp_path, monkeypatch):
    """The command of the health check succeeds at a healthy service, and fails where there is none."""
    monkeypatch.syspath_prepend(ROOT / "tests" / "web")
    from running_service import Service

    check = json.loads(next(rest for name, rest in instructions() if name == "HEALTHCHECK").partition("CMD ")[2])
    service = Service(tmp_path)
    code = check[2].replace("8700", str(service.port))
    assert subprocess.run([sys.executable, *check[1:2], code], check=False, capture_output=True).returncode == 0
    service.kill()
    assert subprocess.run([sys.executable, *check[1:2], code], check=False, capture_output=True).returncode == 1


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")
def test_prometheus_takes_its_configuration(tmp_path):
    """Promtool finds nothing wrong with it, with the rules that the command of compose.yaml writes."""
    from everyclaim.cli.app import run

    text = (DEPLOY / "prometheus.yml").read_text("utf-8")
    (tmp_path / "token").write_text("x")
    (tmp_path / "prometheus.yml").write_text(text.replace("/run/secrets/metrics-token", str(tmp_path / "token")))
    assert run(["rules", "--rate", "0.02", "--out", str(tmp_path / "rules.yml")]) == 0
    command = ["promtool", "check", "config", str(tmp_path / "prometheus.yml")]
    found = subprocess.run(command, check=False, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
    assert yaml.safe_load(text)["scrape_configs"][0]["static_configs"][0]["targets"] == ["everyclaim:8700"]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_takes_the_unit(tmp_path):
    """systemd-analyze finds nothing wrong with it, and little that it exposes."""
    text = (DEPLOY / "everyclaim.service").read_text("utf-8")
    path = tmp_path / "everyclaim.service"
    path.write_text(text.replace("/opt/everyclaim/bin/everyclaim", sys.executable))
    found = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(path)], check=False, capture_output=True, text=True
    )
    ours = [line for line in found.stderr.splitlines() if "everyclaim.service" in line]
    assert ours == []
    rated = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--no-pager", str(path)],
        check=False,
        capture_output=True,
        text=True,
    )
    exposure = re.search(r"exposure level for \S+: (\d+\.\d+)", rated.stdout)
    assert exposure, rated.stderr
    assert float(exposure[1]) < 2.5
