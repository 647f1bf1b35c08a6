"""Patches nobody would write: they come to a result or to the tool's own error."""

import random
import string
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.tools import ToolError
from sightline.tools.edit import EditTool
from sightline.tools.files._blocks import block_at, outline
from sightline.tools.hashline import (
    FileText,
    PatchTarget,
    Snapshots,
    merge,
    parse,
    patch,
    refuse_overlaps,
    strip_display,
)

from ..edit.support import Desk
from ..support import make_context, run

FILE = "import os\n\ndef f(a):\n    if a:\n        return 1\n    return 2\n\nclass C:\n    x = 1\n"
TAG = Snapshots().record(Path("/a.py"), FILE)
PIECES = [
    "¶",
    "¶a.py",
    f"¶a.py#{TAG}",
    "#",
    TAG,
    "\n",
    "\n",
    "\n",
    "+",
    "-",
    "replace",
    "delete",
    "insert",
    " ",
    "block",
]
PIECES += ["before", "after", "head", "tail", ":", "..", "…", "0", "1", "3", "8", "99", "9" * 30, "@@", "*** Abort"]
PIECES += ["*** Begin Patch", "*** Update File: ", "\r", "\t", "x", "é", "\0", "\u2028", "\ufeff", "\ud800", "\x1b[0m"]
PATCHES = st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=40).map("".join)


def attempt(text):
    store = Snapshots()
    store.record(Path("/a.py"), FILE)
    target = PatchTarget(Path("/a.py"), "a.py", FileText.of(FILE), lambda lines: lambda n: block_at(FILE, "a.py", n))
    sections = parse(text)
    for section in merge(sections, [section.path for section in sections]):
        refuse_overlaps(section.hunks)
        patched = patch(section, target, store)
        assert patched.text.render() != FILE


@settings(max_examples=1000, deadline=None)
@given(PATCHES)
def test_any_text_is_a_patch_or_the_tools_error(text):
    """Never anything else, and a result always differs from what was."""
    with suppress(ToolError):
        attempt(text)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10), st.text("ab\r", max_size=3)), min_size=1, max_size=5))
def test_hunks_at_random_come_to_text_that_reads_back(spans):
    """The lines of a result are the lines of the text it is written as."""
    hunks = "\n".join(f"replace {first}..{last}:\n+{row}" for first, last, row in spans)
    store = Snapshots()
    tag = store.record(Path("/a.py"), FILE)
    target = PatchTarget(Path("/a.py"), "a.py", FileText.of(FILE), lambda lines: lambda n: None)
    try:
        patched = patch(parse(f"¶a.py#{tag}\n{hunks}")[0], target, store)
    except ToolError:
        return
    assert FileText.of(patched.text.render()) == patched.text


@settings(deadline=None)
@given(st.text())
def test_text_survives_being_taken_apart(text):
    """Byte for byte."""
    assert FileText.of(text).render() == text


@settings(deadline=None)
@given(st.text(), st.integers(-1, 20))
def test_any_text_can_be_asked_for_blocks(text, line):
    """There is one or there is none."""
    for name in ("a.py", "a.ts", "a.json", "a.html"):
        found = block_at(text, name, line)
        assert found is None or found[0] == line <= found[1] <= text.count("\n") + 1
        spans = outline(text, name)
        assert all(1 <= first <= last <= text.count("\n") + 1 for first, last in spans)


@settings(deadline=None)
@given(st.text())
def test_any_content_can_be_stripped(text):
    """And is itself when there was nothing to take away."""
    content, stripped = strip_display(text)
    assert stripped or content == text


SLOW = ["insert", "replace 1", "delete block", "¶", "* ", "@@ -1", "*** ", "1", "1 2", "Update File:¶", "replace 1.."]


@pytest.mark.parametrize("start", SLOW)
@pytest.mark.parametrize("filling", [" ", "\t", "*", "¶", "1", "#", ".", "block "])
def test_long_lines_take_no_long_time(start, filling):
    """No line is read again and again."""
    began = time.process_time()
    with suppress(ToolError):
        attempt(f"¶a.py#{TAG}\nreplace 1:\n+x\n{start}{filling * 50_000}x\n")
    assert time.process_time() - began < 0.5


async def test_fuzzed_patches_leave_files_whole(tmp_path):
    """Through the tool, on disk: after an error every byte is as before, after a success the tag is right."""
    desk = Desk(make_context(tmp_path))
    chance = random.Random(11)
    alphabet = string.ascii_letters[:4] + "é\t "
    for number in range(150):
        lines = ["".join(chance.choices(alphabet, k=3)) for _ in range(6)]
        text = chance.choice(["", "\ufeff"]) + chance.choice(["\n", "\r\n"]).join(lines) + chance.choice(["", "\n"])
        tag = desk.show("a.txt", text)
        rows = [f"¶a.txt#{tag}"]
        for _ in range(chance.randint(1, 3)):
            verb = chance.choice(
                ["replace {}..{}:", "delete {}..{}", "insert after {}:", "nonsense {}", "insert head:"]
            )
            rows.append(verb.format(chance.randint(0, 7), chance.randint(0, 7)))
            if chance.random() < 0.7:
                rows.append("+" + "".join(chance.choices(alphabet, k=2)))
        try:
            outcome = await run(EditTool(), desk.context, input="\n".join(rows))
        except ToolError:
            assert desk.text("a.txt") == text, number
        else:
            assert outcome.text.startswith(f"¶a.txt#{Snapshots().record(desk.path('a.txt'), desk.text('a.txt'))}\n")
    assert [path.name for path in desk.context.cwd.iterdir()] == ["a.txt"]
