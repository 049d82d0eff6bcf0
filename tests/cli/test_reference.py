"""The page of commands in the docs."""

from pathlib import Path

from everyclaim.cli.reference import reference

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def test_the_page_in_the_docs_is_what_the_commands_say():
    """A new option is in the docs, or this fails: run python docs/commands.py."""
    assert PAGE.read_text(encoding="utf-8") == reference()


def test_every_command_and_every_promised_option_is_on_the_page():
    """The surface that the design names."""
    page = reference()
    for command in ("score", "verify", "claims", "runs", "report", "doctor"):
        assert f"## everyclaim {command}" in page
    for option in ("--judge", "--map", "--slice", "--out", "--fail-under", "--max-failed", "--resume", "--json"):
        assert f"`{option}" in page
