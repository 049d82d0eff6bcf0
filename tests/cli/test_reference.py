"""The page of commands in the docs."""

from pathlib import Path

from everyclaim.cli.reference import reference

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def test_the_page_in_the_docs_is_what_the_commands_say():
    """A new option is in the docs, or this fails: run python docs/commands.py."""
    assert PAGE.read_text(encoding="utf-8") == reference()
