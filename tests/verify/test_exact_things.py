"""Addresses, paths, options, identifiers, versions and codes are compared to the letter; a made-up one is found."""

from __future__ import annotations

import everyclaim as ec

MAIL, GUIDE = "Write to support@arden.example for help.", "The guide is at https://docs.arden.example/v2/upload-limits."
KEPT, CALL = "Settings are kept in /etc/arden/server.toml.", "Call client.upload_file() to send a file."
PAIRS = [  # a passage, what it says in other words, what is made up
    (MAIL, "For help, write to support@arden.example.", "Write to help@arden.example for help."),
    (MAIL, MAIL, "Write to support@arden.example.net for help."),
    (GUIDE, "You find the guide at https://docs.arden.example/v2/upload-limits.", GUIDE.replace("v2", "v3")),
    (GUIDE, GUIDE, GUIDE.replace("upload", "rate")),
    (KEPT, "The settings are in the file /etc/arden/server.toml.", KEPT.replace("server", "client")),
    (KEPT, KEPT, KEPT.replace("/etc/", "/var/")),
    ("Set `max_retries` to limit attempts.", "Set max_retries to limit attempts.", "Set max_attempts to limit attempts."),
    ("Set `max_retries` to limit attempts.", "Attempts are limited by `max_retries`.", "Attempts are limited by `retries_max`."),
    (CALL, "A file is sent with client.upload_file().", "A file is sent with client.uploadFile()."),
    (CALL, CALL, "Call client.send_file() to send a file."),
    ("The bug is fixed in version 2.4.1.", "The bug is fixed in version 2.4.1.", "The bug is fixed in version 2.4.2."),
    ("The error code is E-4012.", "The error code is E-4012.", "The error code is E-4021."),
    ("Part number AX-310-B fits the pump.", "The pump takes part AX-310-B.", "The pump takes part AX-310-C."),
    ("Run `arden deploy --dry-run` first.", "First run arden deploy --dry-run.", "First run arden deploy --dryrun."),
    ("Set the variable ARDEN_API_KEY.", "Set the variable ARDEN_API_KEY.", "Set the variable ARDEN_API_TOKEN."),
    ("Use the endpoint POST /v1/messages.", "Use the endpoint POST /v1/messages.", "Use the endpoint POST /v1/chats."),
    ("The coupon code is SUMMER24.", "The coupon code is SUMMER24.", "The coupon code is SUMMER25."),
    ("Install it with pip install ardenkit.", "Install it with `pip install ardenkit`.", "Install it with `pip install arden-kit`."),
    ("Set `client.timeout` to 30.", "Set `client.timeout` to 30.", "Set `client.time_out` to 30."),
]  # fmt: skip


def test_what_is_made_up_is_found_and_what_is_there_is_not() -> None:
    """Of nineteen pairs; the reason names both."""
    with ec.Evaluator() as evaluator:
        for passage, right, wrong in PAIRS:
            assert not evaluator.score(response=right, passages=[passage]).failing, right
            assert evaluator.score(response=wrong, passages=[passage]).failing, wrong
    result = ec.score(response=PAIRS[0][2], passages=[MAIL])
    (claim,) = result.claims
    assert claim.verdict.rationale == "the passages say support@arden.example, the claim says help@arden.example"
    assert claim.text[slice(*claim.verdict.difference.claim)] == "help@arden.example"


def test_code_with_a_name_that_no_passage_has_is_not_taken_for_checked() -> None:
    """A block of code holds no claim; a made-up function in it is listed as unchecked, a line before it as a lead-in."""
    passage = "To upload, call:\n\n```python\nclient.upload_file(path, retries=3)\n```"
    answer = "Use this code:\n\n```python\nclient.{}(path, retries=3)\n```\n\nIt retries 3 times."
    made_up = ec.score(response=answer.format("send_file"), passages=[passage])
    right = ec.score(response=answer.format("upload_file"), passages=[passage])
    assert [piece.reason for piece in made_up.unchecked] == ["code"]
    assert not right.unchecked
    assert [piece.reason for piece in right.skipped] == ["lead_in", "code"]


def test_names_in_code_count_only_beside_a_name_that_the_sources_have() -> None:
    """Own variables, the language's functions and commands that no passage knows are nobody's to judge."""
    passage = "Call `client.fetch(query, limit=100)`; install it with `pip install quickgrid`. Retrying is automatic."
    right = (
        "```python\nrows = client.fetch(query, limit=5)\nresult = []\nfor row in rows:\n    result.append(row.total)\n```",
        "```bash\ncd project\nmake build\npip install quickgrid\n```",
        "```python\nrows = client.fetch(query)  # then call client.discard, or 'client.forget'\n```",
        "```yaml\nname: build\non:\n  push:\n    branches: main\n```",
    )
    wrong = ("```python\nrows = client.fetch(query, batch=5)\n```", "```bash\npip install fastgrid\n```")
    with ec.Evaluator() as evaluator:
        for code in right:
            assert not evaluator.score(response=f"Do this:\n\n{code}", passages=[passage]).unchecked, code
        for code in wrong:
            assert evaluator.score(response=f"Do this:\n\n{code}", passages=[passage]).unchecked, code
