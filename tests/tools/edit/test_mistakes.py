"""Every mistake a patch can hold, through the tool. Ids name the section of the document."""

import pytest

BEFORE = 'const X = "a";\nconst Y = X;\n\nconsole.log(X);\nconsole.log(Y);\nexport { X, Y };\n'
CODE = "import os\n\n\n@cached\ndef f(a):\n    return a\n"

INPUTS = "Inputs"
LENIENT = "Tolerated input shapes"


def mistake(section: str, name: str, patch: str, *parts: str):
    return pytest.param(patch, parts, id=f"edit.md/{section}/{name}")


ERRORS = "Errors"
MISTAKES = [
    mistake(ERRORS, "Missing section header", "replace 1:\n+x", 'must begin with "¶PATH#HASH"', "got: 'replace 1:'"),
    mistake(ERRORS, "Missing section header, nothing", "", "got: nothing"),
    mistake(ERRORS, "Missing section header, no path", "¶#0A3B\ndelete 1", "must begin with"),
    mistake(ERRORS, "Missing tag", "¶a.txt\ndelete 1", "Missing hashline snapshot tag", "a.txt"),
    mistake(ERRORS, "Missing tag, insertion at the head", "¶a.txt\ninsert head:\n+x", "Missing hashline snapshot tag"),
    mistake(ERRORS, "Malformed tag", "¶a.txt#12\ndelete 1", "line 1:", "four hex digits"),
    mistake(ERRORS, "Stray payload line", "¶a.txt#TAG\n+x", "line 2: payload line has no preceding hunk header", "'x'"),
    mistake(ERRORS, "Stray payload line, bare", "¶a.txt#TAG\nx", "line 2: payload line has no preceding hunk header"),
    mistake(ERRORS, "Minus row", "¶a.txt#TAG\nreplace 1:\n-x\n+y", "line 3: `-` rows are not valid", "`+-…`"),
    mistake(
        ERRORS,
        "Empty replace",
        "¶a.txt#TAG\nreplace 1..2:",
        "line 2: `replace 1..2:` needs at least one `+TEXT`",
        "use `delete N..M`",
    ),
    mistake(
        ERRORS,
        "Empty insert",
        "¶a.txt#TAG\ninsert after 2:\ndelete 1",
        "line 2: `insert after 2:` needs at least one `+TEXT`",
    ),
    mistake(ERRORS, "Empty insert head", "¶a.txt#TAG\ninsert head:\n\n", "`insert head:` needs at least one"),
    mistake(
        ERRORS,
        "Empty replace block",
        "¶a.txt#TAG\nreplace block 2:",
        "`replace block 2:` needs at least one",
        "use `delete block N`, or `delete N..M`",
    ),
    mistake(
        ERRORS,
        "Empty insert after block",
        "¶a.txt#TAG\ninsert after block 2:",
        "`insert after block 2:` needs at least one",
    ),
    mistake(
        ERRORS,
        "Unresolvable replace block",
        "¶a.txt#TAG\nreplace block 2:\n+x",
        "line 2: `replace block 2:` could not resolve",
        "`replace 2..M:`",
        "\n\n 1:",
        "\n*2:const Y",
    ),
    mistake(
        ERRORS, "Unresolvable delete block", "¶a.txt#TAG\ndelete block 2", "could not resolve", "`delete 2..M`", "\n*2:"
    ),
    mistake(
        ERRORS,
        "Unresolvable insert after block",
        "¶a.txt#TAG\ninsert after block 3:\n+x",
        "could not resolve",
        "`insert after M:`",
        "\n*3:",
    ),
    mistake(
        ERRORS,
        "Delete with body",
        "¶a.txt#TAG\ndelete 1..2\n+x",
        "line 3: `delete 1..2` does not take",
        "`replace N..M:`",
    ),
    mistake(ERRORS, "Delete with bare body", "¶a.txt#TAG\ndelete 1..2\nx", "does not take"),
    mistake(
        ERRORS,
        "Delete block with body",
        "¶a.txt#TAG\ndelete block 1\n+x",
        "`delete block 1` does not take",
        "`replace block N:`",
    ),
    mistake(ERRORS, "Range out of order", "¶a.txt#TAG\nreplace 3..2:\n+x", "line 2: range 3..2 ends before it starts."),
    mistake(
        ERRORS,
        "Overlapping hunks",
        "¶a.txt#TAG\nreplace 1..3:\n+x\ndelete 3",
        "line 4: anchor line 3 is already targeted by another hunk on line 2",
        "ONE hunk per range",
    ),
    mistake(ERRORS, "Overlapping hunks, same range", "¶a.txt#TAG\nreplace 2:\n+x\nreplace 2:\n+y", "anchor line 2"),
    mistake(ERRORS, "Insertion inside a range", "¶a.txt#TAG\ndelete 1..4\ninsert after 2:\n+x", "anchor line 2"),
    mistake(
        ERRORS,
        "apply_patch sentinel, Update",
        "¶a.txt#TAG\n*** Update File: b",
        "line 2: apply_patch sentinel",
        "Update File: b",
    ),
    mistake(
        ERRORS, "apply_patch sentinel, Add", "¶a.txt#TAG\ndelete 1\n*** Add File: b", "line 3: apply_patch sentinel"
    ),
    mistake(ERRORS, "apply_patch sentinel, Delete", "¶a.txt#TAG\ndelete 1\n*** Delete File: b", "apply_patch sentinel"),
    mistake(ERRORS, "apply_patch sentinel, Move", "¶a.txt#TAG\ndelete 1\n*** Move to: b", "apply_patch sentinel"),
    mistake(ERRORS, "unified-diff hunk header", "¶a.txt#TAG\n@@ -1,2 +1,2 @@\n+x", "line 2: unified-diff hunk header"),
    mistake(
        ERRORS,
        "bracketed hunk header",
        "¶a.txt#TAG\n@@ replace 1 @@\n+x",
        "line 2: `@@`-bracketed hunk header",
        "Drop the brackets",
    ),
    mistake(
        ERRORS,
        "bare number",
        "¶a.txt#TAG\n3\n+x",
        "line 2: hunk headers need a verb. Use `replace 3..3:`",
        "`delete 3`",
    ),
    mistake(ERRORS, "bare number with colon", "¶a.txt#TAG\n3:\n+x", "hunk headers need a verb"),
    mistake(
        ERRORS,
        "bare range N M",
        "¶a.txt#TAG\n3 4\n+x",
        "line 2: bare range hunk header '3 4'",
        "`replace 3..4:`",
        "`delete 3..4`",
    ),
    mistake(ERRORS, "bare range N..M", "¶a.txt#TAG\n3..4\n+x", "bare range hunk header '3..4'"),
    mistake(
        ERRORS, "Out-of-range anchor", "¶a.txt#TAG\ninsert after 7:\n+x", "Line 7 does not exist (file has 6 lines)"
    ),
    mistake(ERRORS, "Out-of-range end", "¶a.txt#TAG\nreplace 5..9:\n+x", "Line 9 does not exist (file has 6 lines)"),
    mistake(ERRORS, "Out-of-range zero", "¶a.txt#TAG\ndelete 0", "Line 0 does not exist"),
    mistake(
        ERRORS, "Out-of-range, very large", "¶a.txt#TAG\ndelete " + "9" * 5000, "does not exist (file has 6 lines)"
    ),
    mistake(
        ERRORS,
        "Stale tag, never recorded",
        "¶a.txt#0000\ndelete 4",
        "#0000 was never given for a.txt",
        "¶a.txt#TAG",
        "\n*4:console.log(X);",
        "\n 2:const Y",
        "\n 6:export",
    ),
    mistake(
        ERRORS,
        "No-op edit",
        "¶a.txt#TAG\nreplace 2:\n+const Y = X;",
        "a.txt",
        "produced no change",
        "verify the anchor",
    ),
    mistake(ERRORS, "No file", "¶none.txt#0A3B\ndelete 1", "none.txt does not exist"),
    mistake(ERRORS, "No operations", "¶a.txt#TAG\n", "no operation follows ¶a.txt"),
    mistake(
        ERRORS, "Header with text after the colon", "¶a.txt#TAG\nreplace 1: x", "line 2:", "not a complete hunk header"
    ),
    mistake(ERRORS, "Nearly a header", "¶a.txt#TAG\ninsert 3:\n+x", "line 2:", "not a complete hunk header"),
    mistake(ERRORS, "Two tags for one file", "¶a.txt#TAG\ndelete 1\n¶./a.txt#0000\ndelete 2", "under two tags"),
    mistake(LENIENT, "delete with a colon", "¶a.txt#TAG\ndelete 1..2:", "line 2: `delete 1..2` does not take a colon"),
    mistake(
        LENIENT, "Abort does not fill an empty hunk", "¶a.txt#TAG\nreplace 1:\n*** Abort\n+x", "needs at least one"
    ),
    mistake(
        LENIENT,
        "header recovered but without a tag",
        "¶Update File: a.txt\ndelete 1",
        "Missing hashline snapshot tag",
        "a.txt",
    ),
    mistake(INPUTS, "half of a surrogate pair", "¶a.txt#TAG\nreplace 1:\n+\ud800", "surrogate"),
]


@pytest.mark.parametrize(("patch", "parts"), MISTAKES)
async def test_a_mistake_is_named_and_nothing_is_written(desk, patch, parts):
    """The message says what was wrong and what to do; the file stays as it is."""
    tag = desk.show("a.txt", BEFORE)
    message = await desk.refused(patch.replace("TAG", tag))
    for part in parts:
        assert part.replace("TAG", tag) in message


UNRESOLVED = [
    pytest.param("a.py", "x = 1\n\n", 2, id="edit.md/Inputs/block on a blank line"),
    pytest.param("a.ts", "f({\n  a: 1,\n});\n", 3, id="edit.md/Inputs/block on a closing delimiter"),
    pytest.param("a.py", "def f(:\n    x\n", 1, id="edit.md/Inputs/block with a syntax error"),
    pytest.param("a.py", "x = (1 +\n     2)\n# c\ny = 1; z = 2\n", 4, id="edit.md/Inputs/line with two statements"),
    pytest.param("a.unknown", "f {\n}\n", 1, id="edit.md/Inputs/block in an unsupported language"),
]


@pytest.mark.parametrize(("name", "text", "line"), UNRESOLVED)
async def test_a_block_that_cannot_be_found_is_refused(desk, name, text, line):
    """With the line marked in its surroundings and the way out."""
    tag = desk.show(name, text)
    message = await desk.refused(f"¶{name}#{tag}\nreplace block {line}:\n+x")
    assert f"could not resolve a syntactic block beginning on line {line}" in message
    assert f"*{line}:" in message


async def test_blocks_without_parsers_say_how_to_get_them(desk, monkeypatch):
    """edit.md/Tolerated input shapes: block forms need a wired resolver; the extra is named."""
    from sightline.tools.files import _blocks

    monkeypatch.setattr(_blocks, "_language", lambda module, function: None)
    text = f"# parsed by no other test\n{CODE}"
    message = await desk.refused(f"¶a.py#{desk.show('a.py', text)}\nreplace block 6:\n+x")
    _blocks._parsed.cache_clear()
    assert "sightline[code]" in message
