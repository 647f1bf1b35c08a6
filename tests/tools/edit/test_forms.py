"""Every form of the patch language and every warning, through the tool. Ids name the section of the document."""

import pytest

from sightline.tools.hashline import _messages as messages

BEFORE = 'const X = "a";\nconst Y = X;\n\nconsole.log(X);\nconsole.log(Y);\nexport { X, Y };\n'
LINES = BEFORE.split("\n")[:-1]
CODE = (
    "import os\n\n\n@cached\ndef f(a):\n    return a\n\n\nclass C:\n    def m(self):\n        x = 1\n        return x\n"
)
CODE_LINES = CODE.split("\n")[:-1]


def changed(*edits: tuple[int, int, list[str]], lines: list[str] = LINES) -> str:
    """The file with lines `first..last` replaced, edits from the last to the first."""
    result = list(lines)
    for first, last, rows in edits:
        result[first - 1 : last] = rows
    return "".join(f"{line}\n" for line in result)


def form(section: str, name: str, ops: str, expected: str, warning: str = ""):
    return pytest.param(ops, expected, warning, id=f"edit.md/{section}/{name}")


INPUTS = "Inputs"
EXAMPLES = "Worked examples"
LENIENT = "Tolerated input shapes"
BARE = messages.BARE_BODY_AUTO_PIPED_WARNING
TWO_ROWS = ['const X = "b";', "export const Y = X;"]

FORMS = [
    form(INPUTS, "replace N..M", "replace 1..2:\n+one\n+two\n+three", changed((1, 2, ["one", "two", "three"]))),
    form(INPUTS, "delete N..M", "delete 2..3", changed((2, 3, []))),
    form(INPUTS, "insert before N", "insert before 4:\n+x", changed((4, 3, ["x"]))),
    form(INPUTS, "insert after N", "insert after 4:\n+x", changed((5, 4, ["x"]))),
    form(INPUTS, "insert head", "insert head:\n+x\n+y", changed((1, 0, ["x", "y"]))),
    form(INPUTS, "insert tail", "insert tail:\n+x", changed((7, 6, ["x"]))),
    form(INPUTS, "+ alone is a blank line", "insert after 1:\n+", changed((2, 1, [""]))),
    form(INPUTS, "+-text is a literal minus", "insert after 1:\n+-a", changed((2, 1, ["-a"]))),
    form(INPUTS, "++text is a literal plus", "insert after 1:\n++a", changed((2, 1, ["+a"]))),
    form(INPUTS, "row text is kept as it is", "insert after 1:\n+\t a  ", changed((2, 1, ["\t a  "]))),
    form(
        INPUTS,
        "a row may look like a header",
        "insert after 1:\n+delete 4\n+¶x#0000",
        changed((2, 1, ["delete 4", "¶x#0000"])),
    ),
    form(
        INPUTS,
        "numbers mean the file as shown",
        "delete 1..2\nreplace 6..6:\n+end",
        changed((6, 6, ["end"]), (1, 2, [])),
    ),
    form(INPUTS, "hunks in any order", "replace 6..6:\n+end\ndelete 1..2", changed((6, 6, ["end"]), (1, 2, []))),
    form(
        INPUTS,
        "insert beside a replaced range",
        "replace 2..3:\n+m\ninsert before 2:\n+b\ninsert after 3:\n+a",
        changed((2, 3, ["b", "m", "a"])),
    ),
    form(
        INPUTS,
        "insertions at one place in order",
        "insert before 2:\n+c\ninsert after 1:\n+a\ninsert after 1:\n+b",
        changed((2, 1, ["a", "b", "c"])),
    ),
    form(INPUTS, "envelope is ignored", "*** Begin Patch\ndelete 1\n*** End Patch", changed((1, 1, []))),
    form(INPUTS, "tag in small letters", "delete 1", changed((1, 1, []))),
    form(EXAMPLES, "replace line 1", "replace 1..1:\n+" + "\n+".join(TWO_ROWS), changed((1, 1, TWO_ROWS))),
    form(
        EXAMPLES,
        "insert below line 5",
        "insert after 5:\n+console.log(X + Y);",
        changed((6, 5, ["console.log(X + Y);"])),
    ),
    form(
        EXAMPLES,
        "insert above line 5",
        "insert before 5:\n+console.log(X + Y);",
        changed((5, 4, ["console.log(X + Y);"])),
    ),
    form(EXAMPLES, "delete lines 4..5", "delete 4..5", changed((4, 5, []))),
    form(
        EXAMPLES,
        "head and tail",
        "insert head:\n+// header\ninsert tail:\n+// trailer",
        "// header\n" + BEFORE + "// trailer\n",
    ),
    form(LENIENT, "replace N", "replace 2:\n+x", changed((2, 2, ["x"]))),
    form(LENIENT, "delete N", "delete 2", changed((2, 2, []))),
    form(LENIENT, "replace without colon", "replace 2..3\n+x", changed((2, 3, ["x"]))),
    form(LENIENT, "insert without colon", "insert after 2\n+x", changed((3, 2, ["x"]))),
    form(LENIENT, "insert head without colon", "insert head\n+x", changed((1, 0, ["x"]))),
    form(LENIENT, "replace N-M", "replace 2-3:\n+x", changed((2, 3, ["x"]))),
    form(LENIENT, "replace N…M", "replace 2…3:\n+x", changed((2, 3, ["x"]))),
    form(LENIENT, "replace N M", "replace 2 3:\n+x", changed((2, 3, ["x"]))),
    form(LENIENT, "bare rows", "replace 2..3:\nx\n  y", changed((2, 3, ["x", "  y"])), BARE),
    form(LENIENT, "bare blank row between rows", "replace 2..3:\n+x\n\n+y", changed((2, 3, ["x", "", "y"])), BARE),
    form(
        LENIENT, "blank lines between hunks", "\ndelete 2\n\n\nreplace 4:\n+x\n\n", changed((4, 4, ["x"]), (2, 2, []))
    ),
    form(LENIENT, "Abort keeps what came before", "delete 2\n*** Abort\n-nonsense", changed((2, 2, []))),
    form(LENIENT, "CRLF in the input", "replace 2:\r\n+x\r", changed((2, 2, ["x"]))),
]


@pytest.mark.parametrize(("ops", "expected", "warning"), FORMS)
async def test_a_form_changes_the_file_as_it_says(desk, request, ops, expected, warning):
    """The file is what the operations say, and warnings are told."""
    tag = desk.show("a.txt", BEFORE)
    outcome = await desk.edit(f"¶a.txt#{tag.lower() if 'small letters' in request.node.name else tag}\n{ops}")
    assert desk.text("a.txt") == expected
    assert ("Warnings:" in outcome.text) is bool(warning)
    assert warning in outcome.text


BLOCKS = [
    form(INPUTS, "replace block N", "replace block 10:\n+    pass", changed((10, 12, ["    pass"]), lines=CODE_LINES)),
    form(
        INPUTS,
        "replace block at the first decorator",
        "replace block 4:\n+f = 1",
        changed((4, 6, ["f = 1"]), lines=CODE_LINES),
    ),
    form(
        INPUTS,
        "replace block below the decorator",
        "replace block 5:\n+def f(): ...",
        changed((5, 6, ["def f(): ..."]), lines=CODE_LINES),
    ),
    form(INPUTS, "delete block N", "delete block 9", changed((9, 12, []), lines=CODE_LINES)),
    form(INPUTS, "insert after block N", "insert after block 5:\n+g = f", changed((7, 6, ["g = f"]), lines=CODE_LINES)),
    form(
        LENIENT, "replace block without colon", "replace block 9\n+C = 1", changed((9, 12, ["C = 1"]), lines=CODE_LINES)
    ),
]


@pytest.mark.parametrize(("ops", "expected", "warning"), BLOCKS)
async def test_a_block_form_finds_where_the_block_ends(desk, ops, expected, warning):
    """The block that opens on a line is taken whole, and the result says which lines that were."""
    pytest.importorskip("tree_sitter_python")
    tag = desk.show("a.py", CODE)
    outcome = await desk.edit(f"¶a.py#{tag}\n{ops}")
    assert desk.text("a.py") == expected
    operation = ops.split("\n")[0].rstrip(":")
    assert f"{operation} → resolved lines " in outcome.text.split("\n")[1]


HEADERS = [
    pytest.param(head, id=f"edit.md/{LENIENT}/{head}")
    for head in (
        "¶ a.txt#TAG",
        "¶Update File: a.txt#TAG",
        "¶ *** Update File: a.txt#TAG ***",
        "*** Add File: ¶a.txt#TAG",
        "*** ¶a.txt#TAG",
        "¶¶a.txt#TAG",
        '¶"a.txt"#TAG',
        "  ¶a.txt#TAG  ",
        "¶./a.txt#TAG",
    )
]


@pytest.mark.parametrize("head", HEADERS)
async def test_noise_around_a_path_is_taken_away(desk, head):
    """A header with another format's words around the path still means the file."""
    tag = desk.show("a.txt", BEFORE)
    await desk.edit(f"{head.replace('TAG', tag)}\ndelete 1")
    assert desk.text("a.txt") == changed((1, 1, []))
