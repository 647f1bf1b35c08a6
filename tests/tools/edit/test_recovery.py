"""Edits whose tag is not the file's state any more: moved when that can be proved, refused otherwise."""

import pytest

from sightline.tools.hashline import Snapshots
from sightline.tools.hashline import _messages as messages

LINES = [f"line {number}" for number in range(1, 31)]
BEFORE = "".join(f"{line}\n" for line in LINES)


def text(lines):
    return "".join(f"{line}\n" for line in lines)


def tag_in(outcome):
    return outcome.text.split("\n")[0].rpartition("#")[2]


async def test_a_change_elsewhere_by_someone_else_moves_the_edit(desk):
    """edit.md/Warnings: RECOVERY_EXTERNAL_WARNING."""
    tag = desk.show("a.txt", BEFORE)
    desk.put("a.txt", text(["new", "new too", *LINES]))
    outcome = await desk.edit(f"¶a.txt#{tag}\nreplace 20..21:\n+changed")
    assert desk.text("a.txt") == text(["new", "new too", *LINES[:19], "changed", *LINES[21:]])
    assert outcome.text.endswith(f"Warnings:\n{messages.RECOVERY_EXTERNAL_WARNING}")


async def test_an_earlier_edit_elsewhere_moves_the_edit(desk):
    """edit.md/Warnings: RECOVERY_SESSION_CHAIN_WARNING."""
    tag = desk.show("a.txt", BEFORE)
    await desk.edit(f"¶a.txt#{tag}\ndelete 1..4")
    outcome = await desk.edit(f"¶a.txt#{tag}\nreplace 20:\n+changed")
    assert desk.text("a.txt") == text([*LINES[4:19], "changed", *LINES[20:]])
    assert messages.RECOVERY_SESSION_CHAIN_WARNING in outcome.text


async def test_an_earlier_edit_right_beside_is_counted_through(desk):
    """edit.md/Warnings: RECOVERY_SESSION_REPLAY_WARNING."""
    tag = desk.show("a.txt", BEFORE)
    await desk.edit(f"¶a.txt#{tag}\nreplace 19:\n+one\n+two")
    outcome = await desk.edit(f"¶a.txt#{tag}\nreplace 20:\n+changed")
    assert desk.text("a.txt") == text([*LINES[:18], "one", "two", "changed", *LINES[20:]])
    assert messages.RECOVERY_SESSION_REPLAY_WARNING in outcome.text


async def test_steps_of_several_edits_are_counted_together(desk):
    """A tag three edits old still names its lines."""
    tag = desk.show("a.txt", BEFORE)
    for patch in ("delete 21", "insert before 20:\n+x", "insert head:\n+y"):
        await desk.edit(f"¶a.txt#{tag}\n{patch}")
    await desk.edit(f"¶a.txt#{tag}\nreplace 20:\n+changed")
    assert desk.text("a.txt") == text(["y", *LINES[:19], "x", "changed", *LINES[21:]])


async def test_recovery_does_not_echo_blocks(desk):
    """edit.md/Outputs: resolved lines are told only when the file is what the tag names."""
    pytest.importorskip("tree_sitter_python")
    code = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"
    tag = desk.show("a.py", code)
    desk.put("a.py", "import os\n\n" + code)
    outcome = await desk.edit(f"¶a.py#{tag}\ndelete block 5")
    assert desk.text("a.py") == "import os\n\ndef f():\n    return 1\n\n\n"
    assert "resolved lines" not in outcome.text


REFUSED = [
    pytest.param([*LINES[:19], "other", *LINES[20:]], "replace 20:\n+x", id="the line itself changed"),
    pytest.param([*LINES[:17], "other", *LINES[18:]], "replace 20:\n+x", id="a line within three changed"),
    pytest.param([*LINES, *LINES], "replace 20:\n+x", id="the lines are there twice"),
    pytest.param(["other", *LINES], "insert head:\n+x", id="the head changed"),
    pytest.param([*LINES, "other"], "insert tail:\n+x", id="the tail changed"),
    pytest.param([*LINES[15:], *LINES[:15]], "delete 5\ndelete 25", id="the order changed"),
    pytest.param([], "delete 5", id="everything is gone"),
]


@pytest.mark.parametrize(("now", "ops"), REFUSED)
async def test_what_cannot_be_proved_is_refused(desk, now, ops):
    """edit.md/Errors: a known tag of a changed file, with the current tag and two lines around each anchor."""
    tag = desk.show("a.txt", BEFORE)
    desk.put("a.txt", text(now))
    message = await desk.refused(f"¶a.txt#{tag}\n{ops}")
    current = desk.context.shared(Snapshots).record(desk.path("a.txt"), text(now))
    assert f"#{tag} is an earlier state of a.txt" in message
    assert f"¶a.txt#{current}" in message


async def test_lines_that_were_there_twice_cannot_be_told_apart(desk):
    """One of them is gone: it may be the one that was meant."""
    again = [*LINES[9:16], "x", *LINES[9:16]]
    tag = desk.show("a.txt", text(again))
    desk.put("a.txt", text(["other", *again[5:]]))
    assert "earlier state" in await desk.refused(f"¶a.txt#{tag}\nreplace 4:\n+x")


async def test_a_mismatch_shows_two_lines_around_each_anchor(desk):
    """edit.md/Limits & Caps: MISMATCH_CONTEXT."""
    desk.show("a.txt", BEFORE)
    message = await desk.refused("¶a.txt#0000\nreplace 5..6:\n+x\ndelete 20")
    rows = message.partition("\n\n")[2].split("\n")
    assert rows == [
        " 3:line 3", " 4:line 4", "*5:line 5", "*6:line 6", " 7:line 7", " 8:line 8", "...",
        " 18:line 18", " 19:line 19", "*20:line 20", " 21:line 21", " 22:line 22",
    ]  # fmt: skip


async def test_the_tag_of_a_mismatch_can_be_used_at_once(desk):
    """No read is needed after the error."""
    tag = desk.show("a.txt", BEFORE)
    desk.put("a.txt", "other\n")
    message = await desk.refused(f"¶a.txt#{tag}\nreplace 20:\n+x")
    current = message.partition("¶a.txt#")[2][:4]
    await desk.edit(f"¶a.txt#{current}\nreplace 1:\n+x")
    assert desk.text("a.txt") == "x\n"


@pytest.mark.parametrize("ops", ["insert after 5:\n+x", "insert head:\n+x", "replace 5:\n+x\n+y", "delete 5"])
async def test_the_same_edit_sent_twice_is_made_once(desk, ops):
    """The second is refused, not made again."""
    tag = desk.show("a.txt", BEFORE)
    await desk.edit(f"¶a.txt#{tag}\n{ops}")
    assert "earlier state" in await desk.refused(f"¶a.txt#{tag}\n{ops}")


async def test_the_tag_of_a_result_is_the_next_edits(desk):
    """edit.md/Inputs: a successful edit gives out a tag."""
    tag = desk.show("a.txt", "a\nb\n")
    tag = tag_in(await desk.edit(f"¶a.txt#{tag}\ndelete 1"))
    outcome = await desk.edit(f"¶a.txt#{tag}\nreplace 1:\n+c")
    assert desk.text("a.txt") == "c\n"
    assert "Warnings" not in outcome.text


async def test_a_tag_belongs_to_its_path(desk):
    """The same state of another file is not what was shown."""
    tag = desk.show("a.txt", BEFORE)
    desk.put("b.txt", BEFORE)
    assert f"#{tag} was never given for b.txt" in await desk.refused(f"¶b.txt#{tag}\ndelete 1")


async def test_of_a_file_shown_in_part_only_those_lines_can_be_edited(desk):
    """Lines shown under any tag count, as long as they are still the same."""
    path = desk.put("a.txt", BEFORE)
    store = desk.context.shared(Snapshots)
    store.record_lines(path, {number: f"line {number}" for number in range(1, 6)})
    tag = store.record_lines(path, {number: f"line {number}" for number in range(10, 16)})
    assert "Line 7 of a.txt was not shown" in await desk.refused(f"¶a.txt#{tag}\nreplace 7:\n+x")
    assert "Line 16 of a.txt was not shown" in await desk.refused(f"¶a.txt#{tag}\ndelete 15..16")
    await desk.edit(f"¶a.txt#{tag}\nreplace 12:\n+x\nreplace 3:\n+y\ninsert tail:\n+z")
    assert desk.text("a.txt") == text([*LINES[:2], "y", *LINES[3:11], "x", *LINES[12:], "z"])


async def test_no_lines_shown_prove_nothing(desk):
    """Not even for an insertion at the tail."""
    path = desk.put("a.txt", BEFORE)
    tag = desk.context.shared(Snapshots).record_lines(path, {})
    assert "earlier state" in await desk.refused(f"¶a.txt#{tag}\ninsert tail:\n+x")


async def test_a_part_that_changed_is_a_mismatch(desk):
    """Nothing can be proved about a part."""
    path = desk.put("a.txt", BEFORE)
    tag = desk.context.shared(Snapshots).record_lines(path, {5: "line 5", 6: "line 6"})
    desk.put("a.txt", "new\n" + BEFORE)
    assert "earlier state" in await desk.refused(f"¶a.txt#{tag}\ndelete 5")
