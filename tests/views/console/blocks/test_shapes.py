"""Calls drawn by their shape: every kind of details, kinds of arguments, and whatever fits none of them."""

import os
import shlex
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.events import ToolResult, ToolUse
from sightline.transcript import Reached, TranscriptPiece
from sightline.tty import ImageStore
from sightline.views.console.blocks import block_for
from tests.views.console.blocks.support import COLOURS, HOSTILE, Clock, call, drawing, drawn, fits, told, ui

DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"


def shaped(kind: str, content: str = "told", **details: Any) -> Any:
    return call(details=ui(kind, **details), content=content)


@pytest.mark.parametrize(
    ("entry", "rows"),
    [
        pytest.param(
            call(
                args={"command": "make"},
                content="done",
                network={"b.io:443": Reached("allowed", 2, 100, 4096), "a.io:443": Reached("refused", 1)},
                network_more=3,
            ),
            ["✓ $ make", "│ done", "│ network: a.io:443 refused, b.io:443 allowed ×2 (100 B out, 4.0 KB in), 3 more"],
            id="a command with connections",
        ),
        pytest.param(
            shaped("diff", path="/home/me/project/x.py", diff=DIFF, added=1, removed=1),
            ["✓ Tool x.py  +1 -1", "  1   a", "  2 - b", "  2 + c"],
            id="diff",
        ),
        pytest.param(
            shaped("search", match_count=1, file_count=1, display_content="# a.py\n*    3│foo\n     4│bar"),
            ["✓ Tool  1 match in 1 file", "  a.py", "  3 * foo", "  4   bar"],
            id="search",
        ),
        pytest.param(
            shaped("files", file_count=2, files=["a.py", "/home/me/project/b.py"]),
            ["✓ Tool  2 files", "  a.py", "  b.py"],
            id="files",
        ),
        pytest.param(
            shaped("files", files=[{"path": "a", "resolved": [1], "problem": "is gone"}]),
            ["✓ Tool  1 file", "  a", "  a: is gone"],
            id="files with problems",
        ),
        pytest.param(
            call(details={"ui": {"kind": "table", "total": 2}}, content="a | bee\n--+----\n1 | 2\n3 | 4"),
            ["✓ Tool  2 rows", "  a │ bee", "  ──┼────", "  1 │ 2", "  3 │ 4"],
            id="table as text",
        ),
        pytest.param(
            shaped("table", columns=["n", "s"], rows=[[1, None], [2, "x"]]),
            ["✓ Tool  2 rows", "  n │ s", "  ──┼──", "  1 │", "  2 │ x"],
            id="table as data",
        ),
        pytest.param(shaped("table", content="no table"), ["✓ Tool", "  no table"], id="no table"),
        pytest.param(
            call(details={"ui": {"kind": "markdown", "path": "x.docx"}}, content="# T\n\n- a"),
            ["✓ Tool x.docx", "  # T", "", "  • a"],
            id="markdown",
        ),
        pytest.param(
            shaped("resource", path="local://plan", content="one\ntwo"),
            ["✓ Tool local://plan", "  one", "  two"],
            id="resource",
        ),
        pytest.param(
            shaped("question", question="Which?", chosen=["a", "b"], text="or c"),
            ["✓ Tool Which?", "  → a", "  → b", "  → or c"],
            id="question",
        ),
        pytest.param(
            shaped(
                "question",
                question="Which? · Why?",
                answers=[{"question": "Which?", "chosen": ["a"]}, {"question": "Why?", "chosen": [], "text": "so"}],
            ),
            ["✓ Tool Which? · Why?", "  → Which?: a", "  → Why?: so"],
            id="several questions",
        ),
        pytest.param(
            shaped("question", question="Which?", chosen=[], text=""),
            ["– Tool Which?", "  not answered"],
            id="unanswered",
        ),
        pytest.param(
            call(args={"question": "Which?", "choices": [{"label": "a"}], "several": False}, arg="Wh"),
            ["◌ Tool Which?"],
            id="a question that is open",
        ),
        pytest.param(
            call(args={"text": "Which?", "choices": ["a", "b"]}), ["◌ Tool Which?"], id="a question by its choices"
        ),
        pytest.param(
            call(args={"question": "Which?" + " really" * 30, "choices": []}),
            ["◌ Tool Which?" + " really" * 9 + "…"],
            id="a long question that is open",
        ),
        pytest.param(
            call(args={"question": "Why?", "repository": "x"}),
            ["◌ Tool", "  question: Why?", "  repository: x"],
            id="a question to somebody else",
        ),
        pytest.param(
            shaped("json", data={"a": [1, {"b": None}], "c": True}),
            ["✓ Tool", "  a: (2)", "    1. 1", "    2.", "      b: null", "  c: true"],
            id="json",
        ),
        pytest.param(call(content='{"a": "b"}'), ["✓ Tool", "  a: b"], id="content that is JSON"),
        pytest.param(
            shaped("code", path="x.py", content="import a\n"), ["✓ Tool x.py  1 line", "  import a"], id="code"
        ),
        pytest.param(
            call(
                details={"ui": {"kind": "image", "path": "a.png", "media_type": "image/png", "bytes": 2048}},
                content="[it]",
            ),
            ["✓ Tool a.png  image/png · 2.0 KB", "  [it]"],
            id="image",
        ),
        pytest.param(
            call(args={"file_path": "a.py", "old_string": "x", "new_string": "y"}, content="ok"),
            ["✓ Tool a.py", "  - x", "  + y"],
            id="arguments: a replacement",
        ),
        pytest.param(
            call(args={"path": "a.py", "content": "one\ntwo\n"}, content="ok"),
            ["✓ Tool a.py  2 lines", "  one", "  two"],
            id="arguments: a file",
        ),
        pytest.param(
            call(args={"patch": "@@ -1 +1 @@\n-a\n+b"}, content="ok"),
            ["✓ Tool", "  1 - a", "  1 + b"],
            id="arguments: a patch",
        ),
        pytest.param(
            call(args={"command": ["git", "log"]}, content="out", exit_code=0),
            ["✓ $ git log  exit 0", "│ out"],
            id="arguments: words of a command",
        ),
        pytest.param(
            call(args={"command": ["/bin/bash", "-lc", "echo hi | wc"]}, content="1", exit_code=0),
            ["✓ $ echo hi | wc  exit 0", "│ 1"],
            id="arguments: words that hand a script to a shell",
        ),
        pytest.param(
            call(args={"code": "x = 1\nprint(x)"}, content="", pieces=[TranscriptPiece("stdout", "1\n")], exit_code=0),
            ["✓ >>> 2 lines  exit 0", "│ x = 1", "│ print(x)", "│ 1"],
            id="arguments: code",
        ),
        pytest.param(
            shaped(
                "review",
                target="main..HEAD",
                verdict="request_changes",
                summary="It rounds.",
                findings=[
                    {"title": "it rounds", "file": "a.py", "first_line": 3, "priority": 0, "body": "so"},
                    {"title": "a nit", "priority": 3},
                ],
                left_out=2,
            ),
            [
                "✓ Tool main..HEAD  changes requested, 2 findings",
                "  It rounds.",
                "  P0 a.py:3 it rounds",
                "  P3 a nit",
                "  2 files left out: a rule denies reading",
                "  alt+r steps through them",
            ],
            id="review",
        ),
        pytest.param(
            call(
                details={"ui": {"kind": "review"}, "target": "x", "problem": "no key"}, content="Review", is_error=True
            ),
            ["✕ Tool x  0 findings", "  no key"],
            id="a review that failed",
        ),
        pytest.param(
            shaped("finding", title="it rounds", file="a.py", first_line=3, last_line=5, body="why\nso"),
            ["✓ Tool P2 a.py:3-5 it rounds", "  why", "  so"],
            id="finding",
        ),
        pytest.param(call(args={"url": "http://x"}, content="page"), ["✓ Tool http://x", "│ page"], id="anything else"),
        pytest.param(
            call(args={"n": 1, "deep": {"a": []}}), ["◌ Tool", "  n: 1", "  deep:", "    a: []"], id="no output yet"
        ),
    ],
)
def test_a_call_is_drawn_by_its_shape(entry: Any, rows: list[str]) -> None:
    """What it carries decides how it looks."""
    assert drawn(entry) == rows


def test_a_review_of_many_findings_is_cut() -> None:
    """The first of them, how many more there are, and the key that steps through all; unfolded with their texts."""
    found = [{"title": f"finding {number}", "body": "why"} for number in range(50)]
    review = shaped("review", target="x", verdict="approve", findings=found)
    rows = drawn(review)
    assert rows[1] == "  P2 finding 0"
    assert rows[-2:] == ["  … 40 more rows (ctrl+o)", "  alt+r steps through them"]
    assert len(rows) == 13
    assert drawn(review, drawing(unfolded=True))[1:3] == ["  P2 finding 0", "     why"]
    assert len(drawn(review, drawing(linear=True))) == 102


def test_an_open_question_and_how_long_it_waits_are_one_row() -> None:
    """Its dialog has all of it; the row makes room for the time."""
    clock = Clock()
    args = {"question": "Which?" + " really" * 30, "choices": []}
    _, block = told(ToolUse("c", "Ask", args=args, time=1000.0), how=drawing(clock=clock))
    clock.now = 1065.0
    assert list(block.render(60)) == ["◌ Ask Which? really really really really really…  1 min 5 s"]


@pytest.mark.parametrize(
    ("typed", "title"),
    [
        ("/bin/bash -lc 'for i in 1 2; do echo $i; done'", "for i in 1 2; do echo $i; done"),
        (shlex.join(["/usr/bin/bash", "-c", "echo 'a b' \"$c\" \\n"]), "echo 'a b' \"$c\" \\n"),
        ("sh -c \"echo 'hi'\"", "echo 'hi'"),
        ("bash -lc ls", "ls"),
        ('bash -c "echo $HOME"', 'bash -c "echo $HOME"'),
        ("bash -c 'a' && b", "bash -c 'a' && b"),
        ("bash -c 'echo $0' name", "bash -c 'echo $0' name"),
        ("bash -c ''", "bash -c ''"),
        ("fish -c 'ls'", "fish -c 'ls'"),
        ("bash script.sh", "bash script.sh"),
    ],
)
def test_a_script_is_shown_without_the_shell_it_was_handed_to(typed: str, title: str) -> None:
    """What somebody meant is the title, of a call and of a job; where the quotes may hide something it stays."""
    assert drawn(call(args={"command": typed}, content="", exit_code=0)) == [f"✓ $ {title}  exit 0"]
    job = call(id="s-7", arg="job s-7", is_job=True, args={"command": typed}, content="", exit_code=0)
    assert drawn(job) == [f"✓ job 7 $ {title}  exit 0"]


def test_a_long_text_is_cut_and_says_how_much_is_left() -> None:
    """delegation-ui.md/Phase 3: Twenty rows folded, two hundred unfolded, and the key for all of it."""
    entry = call(content="\n".join(f"row {n}" for n in range(1000)))
    rows = drawn(entry)
    assert len(rows) == 21
    assert rows[-1] == "│ … 981 more lines (ctrl+o)"
    assert len(drawn(entry, drawing(unfolded=True))) == 201


def test_a_diff_of_several_files_names_them() -> None:
    """Every path is in the header and in the diff."""
    two = DIFF + DIFF.replace("x.py", "y.py")
    results = [{"path": "x.py", "added": 1, "removed": 1}, {"path": "y.py", "added": 1, "removed": 1}]
    rows = drawn(shaped("diff", path="x.py", diff=two, per_file_results=results))
    assert rows[0] == "✓ Tool x.py, y.py  +2 -2"
    assert "  x.py" in rows
    assert "  y.py" in rows


def test_a_deep_value_does_not_exhaust_the_stack() -> None:
    """A tree is walked without recursion."""
    value: Any = "end"
    for _ in range(5000):
        value = [value]
    assert len(drawn(shaped("json", data=value))) == 11


def test_a_picture_is_fetched_and_holds_its_block_open_until_it_is_there() -> None:
    """How high a picture is, is known when its bytes are: until then nothing of it is final."""
    png = bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
        "0000000d49444154789c6360000000000500010d0a2db40000000049454e44ae426082"
    )
    asked: list[Any] = []
    how = drawing()
    how.images = ImageStore("kitty")
    how.fetch = lambda name, then: asked.append((name, then))
    details = {"ui": {"kind": "image", "path": "a.png", "media_type": "image/png", "bytes": 70}}
    fold, block = told(ToolUse("call-1", "Read"), how=how)
    fold.apply(ToolResult("call-1", "[it]", details))
    block.render(80)
    name, then = asked[0]
    assert name == "call-1-image0.png"
    assert not block.done
    then(png)
    assert "[it]" not in "".join(map(str, block.render(80)))
    assert block.done
    missing = block_for(call(details=details, content="[it]"), how, {})
    missing.render(80)
    asked[-1][1](None)
    assert missing.done
    assert missing.render(80)[-1] == "  [it]"


KINDS = [
    "agent_delegation",
    "diff",
    "search",
    "files",
    "table",
    "markdown",
    "resource",
    "question",
    "json",
    "code",
    "image",
    "todo",
    "jobs",
    "command",
    "read",
    "listing",
    "x",
]


def test_a_folded_table_says_how_many_rows_there_are_besides_those_shown() -> None:
    """All of them, also those beyond what is ever drawn."""
    for count, left_out in ((20, 13), (600, 593)):
        rows = drawn(shaped("table", columns=["n"], rows=[[number] for number in range(count)]))
        assert rows[-2:] == ["  6", f"  … {left_out} more rows (ctrl+o)"]


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_text_stays_inside_its_rows(kind: str) -> None:
    """Names, outputs, arguments and details of any kind cannot leave the width nor drive the terminal."""
    for text in HOSTILE:
        item = {"id": text, "agent": text, "task": text, "status": "ok", "preview": text, "content": text, "path": text}
        details = {
            "ui": {"kind": kind, "mode": "chain", "items": [item], "path": text, "media_type": text},
            **dict.fromkeys(("path", "diff", "display_content", "question", "text", "code", "job", "ended"), text),
            "files": [text],
            "chosen": [text],
            "columns": [text, text],
            "rows": [[text, 1]],
            "phases": [{"name": text, "tasks": [{"content": text or "x", "status": "in_progress", "notes": [text]}]}],
            "jobs": [{"id": text, "label": text, "status": "failed", "error_text": text, "duration_ms": 1}],
        }
        for content in (None, text):
            for how in (drawing(), drawing(COLOURS, unfolded=True)):
                entry = call(name=text, arg=text, args={"q": text}, details=details, content=content, status=text)
                fits(block_for(entry, how, {}))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=8), below, max_size=4),
    max_leaves=12,
)
FIELDS = [
    "diff",
    "phases",
    "jobs",
    "files",
    "rows",
    "columns",
    "items",
    "display_content",
    "data",
    "chosen",
    "cancelled",
    "path",
    "added",
    "warnings",
]


@settings(max_examples=200 if os.environ.get("CI") else 60, deadline=None)
@given(
    st.sampled_from(KINDS),
    st.dictionaries(st.sampled_from(FIELDS), anything, max_size=5),
    anything,
    st.none() | st.text(max_size=50),
    st.booleans(),
)
def test_no_details_and_no_arguments_are_an_error(
    kind: str, details: Any, args: Any, content: Any, failed: bool
) -> None:
    """delegation-ui.md/Constraints: Whatever a tool puts into its details, its call is drawn."""
    entry = call(details={"ui": {"kind": kind, **details}, **details}, args=args, content=content, is_error=failed)
    block = block_for(entry, drawing(unfolded=failed), {})
    for width in (20, 80):
        block.render(width)
    assert isinstance(block.source, str)
