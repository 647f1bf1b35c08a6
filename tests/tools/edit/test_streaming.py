"""The diff that is shown while an edit is still written."""

import json
import random
import time

import pytest

from sightline.tools import ToolContext
from sightline.tools.edit import EditTool

LINES = [f"line {number}" for number in range(1, 31)]
BEFORE = "".join(f"{line}\n" for line in LINES)


def stream(desk, patch, *, step=1, call="aaaaaa-1", key="input"):
    """The details after each piece of the arguments."""
    context = ToolContext(call, desk.context.workplace)
    written = json.dumps({key: patch})
    tool = EditTool()
    cuts = [*range(0, len(written), step), len(written)]
    return [tool.partial(written[:cut], context) for cut in cuts]


@pytest.mark.parametrize("step", [1, 7, 1000])
async def test_the_last_preview_is_the_diff_of_the_result(desk, step):
    """In whatever pieces it arrives."""
    tag = desk.show("a.txt", BEFORE)
    patch = f'¶a.txt#{tag}\nreplace 3..4:\n+"quoted" \\n 😀\n+\tü\ndelete 20\ninsert tail:\n+end'
    last = stream(desk, patch, step=step)[-1]
    outcome = await desk.edit(patch)
    assert last["diff"] == outcome.details["diff"]
    assert last["ui"] == {"kind": "diff"}
    assert last["path"] == "a.txt"


def test_lines_appear_as_they_are_written(desk):
    """A row is shown when it is complete."""
    tag = desk.show("a.txt", BEFORE)
    shown = [details["diff"] for details in stream(desk, f"¶a.txt#{tag}\nreplace 3:\n+one\n+two\n") if details]
    assert [diff.count("\n+") for diff in dict.fromkeys(shown)] == [0, 1, 2, 3]  # `+++` is the first


def test_a_block_that_cannot_be_found_is_left_out(desk):
    """edit.md/Tolerated input shapes: the streaming preview drops it without a word."""
    tag = desk.show("a.txt", BEFORE)
    last = stream(desk, f"¶a.txt#{tag}\nreplace block 3:\n+x\nreplace 5:\n+y")[-1]
    assert "+y" in last["diff"]
    assert "+x" not in last["diff"]


def test_a_block_is_shown_where_it_is(desk):
    """As soon as its header is there."""
    pytest.importorskip("tree_sitter_python")
    tag = desk.show("a.py", "def f():\n    return 1\n\n\nx = 1\n")
    assert "-    return 1" in stream(desk, f"¶a.py#{tag}\ndelete block 1")[-1]["diff"]


@pytest.mark.parametrize("ops", ["delete 99", "replace 3:\n+a\nreplace 3:\n+b", "insert after 5:\n"])
def test_a_hunk_that_cannot_be_placed_is_left_out(desk, ops):
    """The others stay."""
    tag = desk.show("a.txt", BEFORE)
    assert "-line 10" in stream(desk, f"¶a.txt#{tag}\ndelete 10\n{ops}")[-1]["diff"]


def test_what_makes_no_sense_keeps_what_was_shown(desk):
    """Until then it did."""
    tag = desk.show("a.txt", BEFORE)
    last = stream(desk, f"¶a.txt#{tag}\ndelete 10\n@@ nonsense\n+more\ndelete 1\n")[-1]
    assert "-line 10" in last["diff"]
    assert "-line 1\n" not in last["diff"]


def test_a_file_never_shown_has_its_new_lines_shown(desk):
    """A new file, for one. The disk is not read for it."""
    last = stream(desk, "¶new.txt\ninsert head:\n+one\n+two")[-1]
    assert last["diff"] == "+++ b/new.txt\n@@ insert head @@\n+one\n+two\n"


def test_several_sections_are_shown_one_below_the_other(desk):
    """Each with its own header."""
    one, two = desk.show("one.txt", BEFORE), desk.show("two.txt", BEFORE)
    last = stream(desk, f"¶one.txt#{one}\ndelete 1\n¶two.txt#{two}\ndelete 2\n")[-1]
    assert last["diff"].index("--- a/one.txt") < last["diff"].index("--- a/two.txt")


ODD = [
    "",
    "\0",
    "{",
    '["input"]',
    '{"input"',
    '{"input": 5}',
    '{"input": null',
    '{"input": "\\ud83d',
    '{"input": "\\x',
    '{"input":"¶',
    '{"input":"¶\\u0000#0A3B\\ndelete 1\\n"}',
    '{"input":"¶http://x#0A3B\\ndelete 1\\n"}',
    '{"input":"\\ud800\\n',
]


@pytest.mark.parametrize("written", ODD)
def test_odd_arguments_are_no_error(desk, written):
    """There is nothing to show yet."""
    for cut in range(len(written) + 1):
        assert EditTool().partial(written[:cut], desk.context) is None


def test_random_arguments_are_no_error(desk):
    """Whatever arrives."""
    tag = desk.show("a.txt", BEFORE)
    chance = random.Random(5)
    words = [
        f"¶a.txt#{tag}",
        "\\n",
        "replace 1..3:",
        "+x",
        "delete 2",
        '"',
        "\\",
        "\\u00",
        "¶b",
        "insert head:",
        "@@",
        "9",
    ]
    for number in range(300):
        written = '{"input": "' + "".join(chance.choices(words, k=30))
        context = ToolContext(f"aaaaaa-{number}", desk.context.workplace)
        for cut in range(0, len(written), 5):
            EditTool().partial(written[:cut], context)


def test_a_long_edit_is_cheap_to_show(desk):
    """2,000 lines in 10,000 pieces; what is shown is bounded."""
    tag = desk.show("a.txt", BEFORE)
    patch = f"¶a.txt#{tag}\ninsert after 3:\n" + "".join(f"+{'row ' * 10}{number}\n" for number in range(2000))
    began = time.process_time()
    shown = stream(desk, patch, step=9)
    assert len(shown) > 9000
    assert time.process_time() - began < 3.0
    assert len(shown[-1]["diff"].split("\n")) <= 201


def test_what_is_shown_stays_small(desk):
    """Whatever is written."""
    patch = "¶new.txt\ninsert head:\n" + f"+{chr(1) * 3000}\n" * 300
    assert len(json.dumps(stream(desk, patch, step=5000)[-1])) < 40 * 1024


async def test_a_call_that_ran_is_forgotten(desk):
    """Nothing is kept for it."""
    from sightline.tools.edit._streaming import Streams

    tag = desk.show("a.txt", BEFORE)
    patch = f"¶a.txt#{tag}\ndelete 1"
    stream(desk, patch)
    await desk.edit(patch)
    assert not desk.context.shared(Streams)._streams
