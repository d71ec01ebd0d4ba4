"""Where one small change of a Python file makes a mutant: the same four kinds as for Rust (`sites/`)."""

import ast
from pathlib import Path
from typing import Any

Part = str | tuple[int, int, bool]
_MOVED = {ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">")}


def sites(root: Path, file: str) -> list[dict[str, Any]]:
    """List the mutants of `file`, in the order of its text."""
    source = (root / file).read_bytes()
    finder = _Finder(file, source)
    finder.visit(ast.parse(source))
    return finder.found


class _Finder(ast.NodeVisitor):
    def __init__(self, file: str, source: bytes) -> None:
        self.file = file
        self.source = source
        self.context: list[str] = []
        self.found: list[dict[str, Any]] = []
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        start = self.starts[node.lineno - 1] + node.col_offset
        return start, self.starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def text(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        line = " ".join(self.source[start:end].decode().split())
        return line if len(line) <= 70 else f"{line[:70]}..."

    def add(self, kind: str, what: str, node: ast.expr | ast.stmt, parts: list[Part]) -> None:
        start, end = self.span(node)
        self.found.append(
            {
                "file": self.file,
                "line": node.lineno,
                "start": start,
                "end": end,
                "kind": kind,
                "what": what,
                "in": ".".join(self.context),
                "parts": parts,
            }
        )

    def whole(self, node: ast.expr | ast.stmt, switched: bool = True) -> Part:
        return (*self.span(node), switched)

    def condition(self, node: ast.expr, holds: bool) -> None:
        question, word = ("(ON or (", "always") if holds else ("(not ON and (", "never")
        self.add("condition", f"`{self.text(node)}` holds {word}", node, [question, self.whole(node), "))"])

    def branch(self, node: ast.expr, both: bool = True) -> None:
        if not isinstance(node, ast.BoolOp | ast.NamedExpr):
            if both:
                self.condition(node, True)
            self.condition(node, False)

    def instead(self, kind: str, what: str, node: ast.expr, mutated: list[Part]) -> None:
        self.add(kind, what, node, ["((", *mutated, ") if ON else (", self.whole(node), "))"])

    def scope(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self.context.append(node.name)
        for child in node.body:
            self.visit(child)
        self.context.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = scope  # noqa: N815

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave what is only shown as it is."""

    def visit_match_case(self, node: ast.match_case) -> None:
        """Leave patterns as they are: they hold no expressions."""
        for child in node.body:
            self.visit(child)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.skip(node)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.skip(node)
        self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if not isinstance(node.targets[0], ast.Name | ast.Tuple):
            self.skip(node)
        self.visit(node.value)

    def skip(self, node: ast.stmt) -> None:
        self.add("statement", f"`{self.text(node)}` is skipped", node, ["if not ON: ", self.whole(node)])

    def visit_If(self, node: ast.If) -> None:
        self.branch(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.branch(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self.branch(node.test, both=False)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self.branch(test)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for value in node.values:
            if not isinstance(value, ast.BoolOp):
                self.condition(value, isinstance(node.op, ast.And))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        moved = _MOVED.get(type(node.ops[0]))
        if moved is not None and len(node.ops) == 1:
            right = node.comparators[0]
            mutated: list[Part] = [
                "(",
                self.whole(node.left, False),
                f") {moved[1]} (",
                self.whole(right, False),
                ")",
            ]
            self.instead("bound", f"`{self.text(node)}` with {moved[1]}", node, mutated)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in ("min", "max") and len(node.args) == 2:
            mutated = [self.whole(node.args[0], False)]
            self.instead("bound", f"`{self.text(node)}` without {node.func.id}", node, mutated)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            changed = repr(not value)
        elif isinstance(value, int):
            changed = repr(value + 1 if value < 16 else 2 * value)
        elif isinstance(value, float):
            changed = repr(2 * value if value else 1.0)
        else:
            return
        self.instead("literal", f"{changed} for {self.text(node)}", node, [changed])
