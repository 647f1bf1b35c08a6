"""What a new user presses first: the approval level, the way out while something is asked, the last output."""

import pytest

from sightline.events import Request, State, ToolResult, ToolUse
from sightline.host import AnswerRequest, Reply, SetApproval, SetModel
from tests.views.console.sitting import Sitting


@pytest.fixture
async def sitting(tmp_path):
    made = Sitting(tmp_path)
    made.console.status.note = ""
    made.hears(State("model", "opus"), State("approval", {"level": "auto", "flags": []}))
    made.replies["SetApproval"] = Reply(True, data={"level": "plan"})
    yield made
    await made.close()


QUESTION = Request("r1", "question", "Which one?", ["a", "b"])


async def asked(sitting):
    sitting.hears(QUESTION)
    await sitting.until(lambda: "Which one?" in sitting.rows and sitting.console.screen.is_answered, "the question")


async def test_shift_tab_takes_the_next_approval_level(sitting):
    """And another key the next thinking level."""
    sitting.press("shift+tab")
    assert await sitting.sent(SetApproval) == SetApproval(level="plan")
    sitting.press("alt+e")
    await sitting.sent(SetModel)


async def test_the_level_changes_while_a_question_is_open(sitting):
    """The question stays; so does what the key means in it."""
    await asked(sitting)
    for key in ("shift+tab", "alt+p"):
        sitting.commands.clear()
        sitting.press(key)
        assert await sitting.sent(SetApproval) == SetApproval(level="plan")
    assert "Which one?" in sitting.rows
    sitting.press("1")
    assert (await sitting.sent(AnswerRequest)).answer == {"chosen": ["a"]}


async def test_the_key_to_leave_asks_while_a_question_is_open(sitting):
    """As it does otherwise; who stays has the question again."""
    await asked(sitting)
    sitting.press("ctrl+d")
    await sitting.until(lambda: "Leave?" in sitting.rows, "the question whether to leave")
    sitting.press("escape")
    await sitting.until(lambda: "Which one?" in sitting.rows and "Leave?" not in sitting.rows, "the question again")
    assert not sitting.ended


async def test_the_last_call_opens_whether_or_not_it_is_cut(sitting):
    """Not an earlier one of which more could be shown."""
    long = "".join(f"line {number}\n" for number in range(500))
    sitting.hears(ToolUse("c1", "Bash", "Bash", "seq", {"command": "seq"}), ToolResult("c1", long))
    sitting.hears(ToolUse("c2", "Bash", "Bash", "last", {"command": "last"}), ToolResult("c2", "short"))
    sitting.press("ctrl+o")
    pager = await sitting.until(lambda: sitting.console.screen.asking, "the pager")
    assert "Bash last" in pager.render(80)[0]
