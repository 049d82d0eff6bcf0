"""``everyclaim label RUN``: what people should label."""

from __future__ import annotations

from typing import Annotated

import typer

from everyclaim.analysis.choosing import WAYS
from everyclaim.api.labels import label as choose
from everyclaim.api.queues import label_queue
from everyclaim.api.running import find_run
from everyclaim.cli import options as opt
from everyclaim.cli.finish import check_destination
from everyclaim.cli.screen import warn
from everyclaim.core.errors import ConfigError
from everyclaim.io import check_apart


def label(
    run: Annotated[
        str | None, typer.Argument(metavar="RUN", help="Id, beginning of an id, or name; the newest if left out.")
    ] = None,
    *,
    n: Annotated[int, typer.Option("--n", metavar="N", min=1, help="How many to label.")] = 100,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            metavar="|".join(WAYS),
            help="By the judge's label; at random; where it is unsure; or as makes the corrected rate sharp.",
        ),
    ] = "stratified",
    out: Annotated[
        str, typer.Option("--out", metavar="FILE", help="JSONL, JSON or CSV by suffix; - is JSONL on stdout.")
    ] = "-",
    answers: Annotated[bool, typer.Option("--answers", help="Whole answers instead of claims.")] = False,
    annotator: Annotated[
        list[str] | None, typer.Option("--annotator", metavar="NAME", help="Who labels. Repeatable.")
    ] = None,
    overlap: Annotated[
        float,
        typer.Option("--overlap", metavar="SHARE", min=0, max=1, help="Share that every one of several labels (0.2)."),
    ] = 0.2,
    queue: Annotated[
        bool, typer.Option("--queue", help="Keep it in the store, for the labelling page of everyclaim ui; no file.")
    ] = False,
    with_verdicts: Annotated[
        bool, typer.Option("--with-verdicts", help="Show the judge's verdict; people tend to follow it.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Of the draw.")] = 0,
    store: opt.Store = None,
    config: opt.Config = None,
) -> None:
    """Choose claims of a run for people to label, and write them to a file.

    Every row has question, sentence, claim, passages and evidence, and an empty label: fill in SUPPORTED, UNSUPPORTED
    or CONTRADICTED, then `everyclaim calibrate RUN FILE`. What is labelled already is not chosen again. With --queue
    people label in a browser instead, each in a queue of their own.
    """
    settings = opt.settings(config, store=store)
    check_destination("--out", out)
    found = find_run(run, store=settings.store)
    check_apart({"the data set of the run": found.record.dataset, "the store": found.store_location}, {"--out": out})
    names = [one.strip() for one in annotator or ()]
    if not all(names):
        raise ConfigError("--annotator: the name is empty")
    way = opt.one_of("--by", by, WAYS)
    if queue:
        if out != "-" or with_verdicts:
            raise ConfigError("--queue keeps the claims in the store: it takes neither --out nor --with-verdicts")
        made = label_queue(
            found, n, by=way, answers=answers, annotators=names or ["annotator"], overlap=overlap, seed=seed
        )
        shares = ", ".join(f"{name} {one.left:,}" for name, one in made.progress.items())
        warn(
            f"queue {made.id} of run {made.run} ({shares}): `everyclaim ui` has it at /label/queues/{made.id}", kind=""
        )
        return
    sheet = choose(
        found,
        n,
        by=way,
        answers=answers,
        annotators=names,
        overlap=overlap,
        with_verdicts=with_verdicts,
        seed=seed,
    )
    sheet.write(out)
    warn(str(sheet), kind="")
