"""Lists of what a contract says and which tests hold it: tests are found in the source, not run."""

import ast
from functools import cache
from pathlib import Path


class Test:
    """A test as its source tells of it."""

    __test__ = False

    def __init__(self, words: str, table: str) -> None:
        self.words = words  # its name, and the documentation of it and of what it is in
        self.table = table  # where its cases are


@cache
def tests_of(path: Path) -> dict[str, Test]:
    """The tests of a file by their names in a report."""
    source = path.read_text()
    tree = ast.parse(source)
    found: dict[str, Test] = {}
    for node in tree.body:
        holder = [node] if isinstance(node, ast.ClassDef) else []
        for function in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and function.name.startswith("test_"):
                name = "::".join([*(one.name for one in holder), function.name])
                words = [function.name, *(ast.get_docstring(one) or "" for one in [tree, *holder, function])]
                found[name] = Test(" ".join(words), _table(function, tree, source))
    return found


def _table(function: ast.FunctionDef | ast.AsyncFunctionDef, tree: ast.Module, source: str) -> str:
    """Its decorators, and what they refer to in the same file: tables and the texts their ids begin with."""
    given = {
        target.id: node
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    parts: list[ast.AST] = list(function.decorator_list)
    for part in parts:
        names = [one.id for one in ast.walk(part) if isinstance(one, ast.Name)]
        parts += [given.pop(name) for name in names if name in given]
    return "\n".join(ast.get_source_segment(source, part) or "" for part in parts)


def test_named(name: str, folder: Path) -> Test:
    """The test `file::name` below a folder; fails when there is none."""
    file, _, function = name.partition("::")
    assert (folder / file).exists(), f"no file {file}"
    assert function in tests_of(folder / file), f"no test {name}"
    return tests_of(folder / file)[function]


test_named.__test__ = False  # type: ignore[attr-defined]
