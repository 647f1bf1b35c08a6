"""Where constructs begin and end, in every language there is a grammar for."""

import subprocess
import sys
import textwrap

import pytest

from sightline.tools.files import _blocks
from sightline.tools.files._blocks import block_at, missing_hint, outline

pytest.importorskip("tree_sitter")

PYTHON = """\
import os

@dec
@dec2(
    1)
def f(a,
      b):
    '''doc'''
    if a:
        return 1
    else:
        return 2


class C:
    x = [
        1,
    ]

    async def m(self):
        pass
"""
RUST = (
    "/// doc\n#[derive(Debug)]\npub struct S {\n    a: u8,\n}\nimpl S {\n    fn f(&self) -> u8 {\n        1\n    }\n}\n"
)
TYPESCRIPT = """\
// words
export class A<T> extends B {
  private x: T;
  constructor() {
    super();
  }
}
export const f = async (x: number) => {
  g({
    x,
  });
};
if (a) {
  b();
} else {
  c();
}
"""

FOUND = [
    ("a.py", PYTHON, 1, (1, 1), "statement"),
    ("a.py", PYTHON, 3, (3, 12), "decorated definition at its first decorator"),
    ("a.py", PYTHON, 6, (6, 12), "definition below its decorators"),
    ("a.py", PYTHON, 8, (8, 8), "first statement of a body"),
    ("a.py", PYTHON, 9, (9, 12), "if with its else"),
    ("a.py", PYTHON, 11, (11, 12), "else clause"),
    ("a.py", PYTHON, 15, (15, 21), "class"),
    ("a.py", PYTHON, 16, (16, 18), "assignment over lines"),
    ("a.py", PYTHON, 20, (20, 21), "method"),
    ("a.py", PYTHON, 2, None, "blank line"),
    ("a.py", PYTHON, 18, None, "closing delimiter"),
    ("a.py", PYTHON, 0, None, "before the file"),
    ("a.py", PYTHON, 99, None, "after the file"),
    ("a.py", "def f(:\n    x\n", 1, None, "syntax error"),
    ("a.py", "def ok():\n    x\n\ndef f(:\n    x\n", 1, (1, 2), "syntax error elsewhere"),
    ("a.py", "a = 1; b = 2\n", 1, None, "two statements on its last line"),
    ("a.py", "a = 1  # note b\n", 1, (1, 1), "comment on its last line"),
    ("a.ts", TYPESCRIPT, 1, (1, 1), "comment"),
    ("a.ts", TYPESCRIPT, 2, (2, 7), "exported class"),
    ("a.ts", TYPESCRIPT, 4, (4, 6), "constructor"),
    ("a.ts", TYPESCRIPT, 8, (8, 12), "arrow function with its semicolon"),
    ("a.ts", TYPESCRIPT, 9, (9, 11), "call over lines"),
    ("a.ts", TYPESCRIPT, 11, None, "closing delimiters"),
    ("a.ts", TYPESCRIPT, 13, (13, 17), "if with its else"),
    ("a.ts", TYPESCRIPT, 15, None, "closing brace before else"),
    ("a.rs", RUST, 1, (1, 1), "doc comment is its own node"),
    ("a.rs", RUST, 2, (2, 2), "attribute is its own node"),
    ("a.rs", RUST, 3, (3, 5), "struct"),
    ("a.rs", RUST, 6, (6, 10), "impl"),
    ("a.unknown", "f {\n}\n", 1, None, "no grammar"),
    ("Makefile", "all:\n\techo\n", 1, None, "no suffix"),
]


@pytest.mark.parametrize(
    ("path", "text", "line", "span"),
    [pytest.param(*case[:4], id=f"edit.md/Inputs/block: {case[0]} {case[4]}") for case in FOUND],
)
def test_a_block_is_what_begins_on_the_line(path, text, line, span):
    """The largest construct whose first token is there; its lines from first to last."""
    assert block_at(text, path, line) == span


BODY = "    a = 1;\n    b = 2;\n    c = 3;\n    d = 4;\n"
LANGUAGES = [
    ("a.py", "def f():\n    a = 1\n    b = 2\n    c = 3\n    d = 4\n", (1, 5)),
    ("a.js", f"function f() {{\n{BODY}}}\n", (1, 6)),
    ("a.jsx", f"function f() {{\n{BODY}}}\n", (1, 6)),
    ("a.ts", f"function f(): void {{\n{BODY}}}\n", (1, 6)),
    ("a.tsx", f"function f(): void {{\n{BODY}}}\n", (1, 6)),
    ("a.rs", "fn f() {\n    let a = 1;\n    let b = 2;\n    let c = 3;\n    let d = 4;\n}\n", (1, 6)),
    ("a.go", "func f() {\n\ta := 1\n\tb := 2\n\tc := 3\n\td := 4\n}\n", (1, 6)),
    ("a.java", "class A {\n  void f() {\n    int a;\n    int b;\n    int c;\n    int d;\n  }\n}\n", (2, 7)),
    ("a.c", f"void f(void) {{\n{BODY}}}\n", (1, 6)),
    ("a.cpp", f"void A::f() {{\n{BODY}}}\n", (1, 6)),
    ("a.h", f"void f() {{\n{BODY}}}\n", (1, 6)),
    ("a.sh", "f() {\n  a\n  b\n  c\n  d\n}\n", (1, 6)),
    ("a.rb", "def f(x)\n  a\n  b\n  c\n  d\nend\n", (1, 6)),
    ("a.cs", "class A {\n  void F() {\n    int a;\n    int b;\n    int c;\n    int d;\n  }\n}\n", (2, 7)),
    ("a.php", "<?php\nfunction f() {\n  $a = 1;\n  $b = 2;\n  $c = 3;\n  $d = 4;\n}\n", (2, 7)),
    ("a.css", "a {\n  b: c;\n  d: e;\n  f: g;\n  h: i;\n}\n", (1, 6)),
]


@pytest.mark.parametrize(("path", "text", "span"), [pytest.param(*case, id=case[0]) for case in LANGUAGES])
def test_a_function_is_found_and_its_body_left_out(path, text, span):
    """In each language: the block is the function, the outline keeps its first and last line."""
    first, last = span
    assert block_at(text, path, first) == span
    end = last if path.endswith(".py") else last - 1
    assert outline(text, path) == [(first + 1, end)]


@pytest.mark.parametrize(
    ("path", "text"),
    [("a.json", '{\n  "a": [\n    1\n  ],\n  "b": 2\n}\n'), ("a.html", "<p>\n  <b>\n  x\n  </b>\n</p>\n")],
)
def test_data_has_blocks_and_no_outline(path, text):
    """There is no code in it to leave out."""
    assert block_at(text, path, 2) == (2, 4)
    assert outline(text, path) == []


def test_an_outline_keeps_classes_and_short_bodies():
    """Members stay visible; what is inside a function goes with it."""
    text = textwrap.dedent("""\
        class A:
            def short(self):
                return 1

            def long(self):
                def inner():
                    a = 1
                    b = 2
                    c = 3
                    d = 4
                return inner

        def after(
            a,
        ):
            one = 1
            two = 2
            three = 3
            return four
    """)
    assert outline(text, "a.py") == [(6, 11), (16, 19)]


def test_a_text_too_long_is_not_parsed():
    """The limit is stated."""
    text = "x = 1\n" * (_blocks.MAX_BYTES // 6 + 1)
    assert block_at(text, "a.py", 1) is None
    assert outline(text, "a.py") == []


def test_without_parsers_nothing_is_known(monkeypatch):
    """And the extra is named, where it would help."""
    monkeypatch.setattr(_blocks, "_language", lambda module, function: None)
    assert block_at("def unseen(): ...\n", "a.py", 1) is None
    assert outline("def unseen(): ...\n", "a.py") == []
    assert "sightline[code]" in missing_hint("a.py")
    assert missing_hint("a.unknown") == ""
    _blocks._parsed.cache_clear()


def test_the_language_of_a_path_is_its_suffix():
    """In whatever case; a name without one has none."""
    assert block_at("def f():\n    pass\n", "dir/A.PY", 1) == (1, 2)
    assert block_at("def f():\n    pass\n", "a", 1) is None


def test_many_constructs_are_looked_at_without_harm() -> None:
    """In a process of its own: with a parser that frees what it does not own it would not come back."""
    program = (
        "from sightline.tools.files._blocks import block_at, outline\n"
        "body = ''.join(f'    x{n} = {n}\\n' for n in range(20))\n"
        "text = ''.join(f'def f{n}():\\n{body}\\n\\n' for n in range(300))\n"
        "assert len(outline(text, 'a.py')) == 300\n"
        "assert all(block_at(text, 'a.py', 1 + 23 * n) == (1 + 23 * n, 21 + 23 * n) for n in range(300))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
