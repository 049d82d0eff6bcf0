"""Which conditions of the code do answers need? How many make each of them true, and how many false.

    python benchmarks/accuracy/conditions.py DATA/answers/dev.jsonl.xz --texts DATA --rooms text verify decompose \
        [--most 2400] [--fewer 8] [--json FILE]

Scores marked answers with both offline judges while every `if`, every operand of `and` and `or`, and every function of
the rooms counts the answers it is asked for. Prints those with an outcome in fewer than `--fewer` answers: what to look
at first when code is to go. Other doors may need them (language models, conversations, other languages, odd input).
"""

from __future__ import annotations

import argparse
import ast
import builtins
import json
import random
import sys
from collections import defaultdict
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "training"))

SITES: list[tuple[str, int, str, str]] = []  # file, line, kind, text
ASKED: defaultdict[tuple[int, bool], set[int]] = defaultdict(set)  # site and outcome → answers
NOW = [0]  # the answer that is scored


def asked(site: int, value: Any) -> Any:
    """Count an outcome and return it."""
    ASKED[site, bool(value)].add(NOW[0])
    return value


class Counting(ast.NodeTransformer):
    """Puts `asked` around conditions, and a call of it at the head of functions."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text

    def _call(self, node: ast.AST, kind: str, value: ast.expr, said: str = "") -> ast.Call:
        text = said or " ".join((ast.get_source_segment(self.text, node) or "").split())
        SITES.append((self.path, node.lineno, kind, text[:100]))  # type: ignore[attr-defined]
        return ast.Call(ast.Name("asked__", ast.Load()), [ast.Constant(len(SITES) - 1), value], [])

    def visit(self, node: ast.AST) -> ast.AST:
        """Count the conditions of a node, and of those inside it."""
        self.generic_visit(node)
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            node.test = self._call(node.test, "if", node.test)
        elif isinstance(node, ast.BoolOp):
            kind = "and" if isinstance(node.op, ast.And) else "or"
            node.values = [self._call(one, kind, one) for one in node.values]
        elif isinstance(node, ast.comprehension):
            node.ifs = [self._call(one, "for … if", one) for one in node.ifs]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            at = 1 if ast.get_docstring(node, clean=False) is not None else 0
            node.body.insert(at, ast.Expr(self._call(node, "def", ast.Constant(value=True), node.name)))
        return node


def watch(rooms: list[str]) -> None:
    """Count in every module of the rooms that is imported from here on."""
    plain, names = SourceFileLoader.get_code, tuple(f"everyclaim.{room}" for room in rooms)

    def get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
        if not name.startswith(names):
            return plain(loader, name)
        text = loader.get_data(loader.path).decode("utf-8")
        tree = Counting(loader.path.rpartition("everyclaim/")[2], text).visit(ast.parse(text))
        return compile(ast.fix_missing_locations(tree), loader.path, "exec")

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    builtins.__dict__["asked__"] = asked


def main() -> None:
    """Score, and print what is seldom needed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", type=Path, nargs="*", help="marked answers, JSON lines")
    parser.add_argument("--texts", type=Path, help="folder of the data, for the answers of training/answers/texts")
    parser.add_argument("--rooms", nargs="+", default=["text", "verify", "decompose"])
    parser.add_argument("--most", type=int, default=2400, help="answers, drawn at random")
    parser.add_argument("--fewer", type=int, default=8)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    watch(given.rooms)
    # Imported here, so that what they import is counted.
    from answers.read import from_json_lines, from_texts, public_passages
    from everyclaim import Evaluator

    answers = [one for path in given.answers for one in from_json_lines(path)]
    answers += from_texts(public_passages(given.texts)) if given.texts else []
    drawn = random.Random(0).sample(answers, min(given.most, len(answers)))
    with Evaluator(judge="embedded") as embedded, Evaluator(judge="lexical") as lexical:
        for NOW[0], one in enumerate(drawn):
            for evaluator in (embedded, lexical):
                evaluator.score(question=one.question, response=one.response, passages=list(one.contexts))
    rows = [(*site, len(ASKED[at, True]), len(ASKED[at, False])) for at, site in enumerate(SITES)]
    for path, line, kind, text, true, false in sorted(rows):
        if (true if kind == "def" else min(true, false)) < given.fewer:
            print(f"{path}:{line}  {kind:8} true {true:5}  false {false:5}  {text}")
    if given.json:
        given.json.write_text(json.dumps(rows), "utf-8")


if __name__ == "__main__":
    main()
