"""What a new user presses first: the approval level, the way out while something is asked, the last output."""

import asyncio

import pytest

from sightline.events import Request, RunEnded, RunStarted, State, Text, ToolResult, ToolUse
from sightline.host import AnswerRequest, Attach, CommandReply, Prompt, SetApproval, SetModel, Shell, Stop
from sightline.settings import store_key
from sightline.tty import Overlay
from sightline.views.console import _demo
from sightline.views.console.blocks._greeting import tries_in
from sightline.views.console.dialogs import dialog_for
from tests.views.console.sitting import Sitting

PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY")


@pytest.fixture
async def sitting(tmp_path):
    made = Sitting(tmp_path)
    made.console.current.note = ""
    made.hears(State("model", "opus"), State("approval", {"level": "auto", "flags": []}))
    made.replies["SetApproval"] = CommandReply(True, data={"level": "plan"})
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


async def test_the_list_of_agents_opens_while_a_question_is_open(sitting):
    """To look at what is asked about; the question comes back."""
    await asked(sitting)
    sitting.press("alt+a")
    await sitting.until(lambda: "── Agents " in sitting.rows, "the list")
    sitting.press("alt+a", "escape")
    await sitting.until(lambda: "Which one?" in sitting.rows and "── Agents " not in sitting.rows, "the question again")
    await sitting.until(lambda: sitting.console.screen.is_answered, "its keys")
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
    await sitting.until(lambda: "Bash last" in pager.render(80)[0], "its title")


async def test_an_image_that_is_mentioned_is_attached(sitting, tmp_path):
    """By any spelling of its path, once; what is no image, or not there, is only mentioned."""
    (tmp_path / "my shot.png").write_bytes(PNG)
    (tmp_path / "fake.png").write_text("no image")
    sitting.writes('look at @"my shot.png" and @./my @fake.png @none.png a@b.png')
    sitting.press("enter")
    prompt = await sitting.sent(Prompt)
    assert [command.name for command in sitting.commands if isinstance(command, Attach)] == ["my shot.png"]
    assert prompt.attachments == ["s-1"]
    assert '@"my shot.png"' in prompt.text


async def test_another_agent_reads_what_is_mentioned_itself(sitting, tmp_path):
    """Nothing is attached for it."""
    (tmp_path / "shot.png").write_bytes(PNG)
    sitting.hears(State("provider", "claude"))
    sitting.writes("look at @shot.png")
    sitting.press("enter")
    assert (await sitting.sent(Prompt)).attachments == []
    assert not any(isinstance(command, Attach) for command in sitting.commands)


async def test_leaving_while_a_shell_line_runs_asks_first(sitting):
    """It is not stopped unasked; it can go on."""
    sitting.writes("!sleep 100")
    sitting.press("enter")
    await sitting.sent(Shell)
    sitting.hears(ToolUse("s-1", "Bash", "Bash", "sleep 100", {"command": "sleep 100"}, source="person"))
    sitting.press("ctrl+d")
    await sitting.until(lambda: "Leave?" in sitting.rows, "the question")
    assert "Your command is running." in sitting.rows
    assert not any(isinstance(command, Stop) for command in sitting.commands)
    sitting.press("enter")
    await sitting.until(lambda: sitting.ended, "the end")
    assert not any(isinstance(command, Stop) for command in sitting.commands)


@pytest.mark.parametrize("key", ["", "sk-ant-api03-of-somebody-who-has-one"])
async def test_the_demo_is_taken_over_after_its_script(sitting, monkeypatch, key):
    """By a real model where there is one; else it is said how to get one, and nothing that was written is lost."""
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.replace("API_KEY", "BASE_URL"), raising=False)
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    if key:
        store_key("ANTHROPIC_API_KEY", key)
    _demo.take_over(sitting.console)
    sitting.hears(State("model", "scripted:../demo.json"), RunStarted(), Text("All pass.", 0), RunEnded())
    sitting.writes("now add a test")
    sitting.press("enter")
    if key:
        assert (await sitting.sent(SetModel)).model.startswith("anthropic/")
        assert (await sitting.sent(Prompt)).text == "now add a test"
    else:
        way = "clear the prompt with ctrl+c, leave with ctrl+d and run sightline"
        await sitting.until(lambda: way in " ".join(sitting.rows.split()), "what to do")
        await sitting.until(lambda: sitting.console.prompt.text == "now add a test", "the prompt in the editor again")
        sitting.press("enter")
        await sitting.until(
            lambda: "there is no model to continue with" in sitting.rows.split("\n")[-1], "the short answer"
        )
        await sitting.until(lambda: sitting.console.prompt.text == "now add a test", "the prompt in the editor again")
        assert " ".join(sitting.rows.split()).count(way) == 1, "how to set one up is said once"
        assert not any(isinstance(command, Prompt) for command in sitting.commands)


async def test_words_of_ours_are_not_the_users_in_the_tree(tmp_path):
    """A reminder is automatic: not under the user's own messages, not counted, not found in their place."""
    from sightline.journal import SessionTree, Store
    from sightline.journal.tree._outline import outline
    from tests.journal.conversations import Talk, assistant, user

    store = Store(tmp_path / "home")
    talk = Talk(store, cwd="/p")
    talk.step(user("fix it"))
    talk.step(assistant("done"))
    talk.step(user("You have open tasks.", "todo"))
    talk.step(assistant("really done"))
    tree = SessionTree.load(store.folder(talk.close()))
    assert [node.role for node in tree.path()] == ["user", "assistant", "automatic", "assistant"]
    assert len(outline(tree, filter="user-only")) == 1
    [record] = store.conversations()
    assert (record.messages, record.first_prompt) == (3, "fix it")
    assert store.search("tasks") == []
    reminder = tree.path()[2]
    assert tree.move(reminder.id).prefill == ""


async def test_nothing_typed_behind_the_key_to_leave_is_acted_on(sitting):
    """Not even what came in the same moment: there is one end, and nothing is sent."""
    answered = asyncio.Event()

    async def slow_host(command):
        sitting.commands.append(command)
        await answered.wait()
        return CommandReply(True)

    sitting.console.sessions.link.submit = slow_host
    sitting.press("ctrl+d", *"hello", "enter")
    await sitting.sent(Stop)
    sitting.press(*"more", "enter", "alt+m")
    answered.set()
    await sitting.until(lambda: sitting.ended, "the end")
    assert [type(command) for command in sitting.commands] == [Stop]
    assert sitting.console.screen.asking is None
    assert sitting.console.prompt.text == ""


async def test_what_is_typed_behind_the_key_to_leave_does_not_answer_whether_to(sitting):
    """Before the question was on the screen, enter would say yes to something that was never read."""
    sitting.hears(RunStarted())
    sitting.press("ctrl+d", *"hello", "enter")
    async with asyncio.timeout(30):
        while sitting.console.screen.asking is None:  # noqa: ASYNC110, the very turn in which it is there, not yet drawn
            await asyncio.sleep(0)
    sitting.press("enter")
    await sitting.until(lambda: "Leave?" in sitting.rows and sitting.console.screen.is_answered, "the question")
    assert not sitting.ended
    sitting.press("escape")
    await sitting.until(lambda: "Leave?" not in sitting.rows, "the editor")
    assert sitting.console.prompt.text == ""
    sitting.press("x")
    assert sitting.console.prompt.text == "x"


@pytest.mark.parametrize("private", [True, False])
async def test_a_session_is_named_where_it_can_be_resumed(sitting, private):
    """A private run alone is no conversation: the session would be refused."""
    args = {"command": "ls", **({"private": True} if private else {})}
    sitting.hears(ToolUse("s-1", "Bash", "Bash", "ls", args, source="person"), ToolResult("s-1", "", {}))
    sitting.press("ctrl+d")
    await sitting.until(lambda: sitting.ended, "the end")
    assert sitting.console.sessions.farewell == ("" if private else "Resume with: sightline --resume s")


async def test_a_host_that_is_gone_is_not_said_to_be_open_elsewhere(sitting):
    """Only one that says so is."""
    sitting.hears(Text("hi", 0))
    for reply, farewell in (
        (CommandReply(False, error="the session is no longer running"), "Resume with: sightline --resume s"),
        (CommandReply(False, data={"watched": True}), "Still open in another console. Attach with: sightline attach s"),
    ):
        sitting.replies["Stop"] = reply
        await sitting.console.sessions._end(None, None)
        assert sitting.console.sessions.farewell == farewell


async def test_ctrl_d_leaves_from_the_whole_output(sitting):
    """Which closes, so that what may be asked is seen."""
    sitting.hears(ToolUse("c1", "Bash", "Bash", "seq", {"command": "seq"}), ToolResult("c1", "1"), RunStarted())
    sitting.press("ctrl+o")
    await sitting.until(lambda: sitting.console.screen.asking, "the pager")
    sitting.press("ctrl+d")
    await sitting.until(lambda: "Leave?" in sitting.rows, "the question")
    assert len(sitting.console.screen._mounted) == 1


async def test_whether_to_leave_is_asked_above_what_covers_the_window(sitting):
    """Such as a dialog of an extension's own: the question has the keys."""
    sitting.hears(RunStarted())
    covering = dialog_for({"what": "question", "text": "Which one?", "choices": ["a", "b"]}, sitting.console.drawing)
    sitting.console.spawn(sitting.console.ask(covering, Overlay()))
    await sitting.until(lambda: sitting.console.screen.has_overlay, "the dialog")
    sitting.press("ctrl+d")
    asked = await sitting.until(lambda: sitting.console.sessions._whether_to_leave, "the question")
    await sitting.until(lambda: sitting.display.visible_overlays()[-1].component.contains(asked), "it on top")
    sitting.press("escape")
    await sitting.until(lambda: sitting.console.screen.asking is covering, "the dialog again")
    assert not sitting.ended


@pytest.mark.parametrize(("files", "named"), [(["app.py", "go.mod", "README.rst"], "README.rst"), (["app.py"], "FILE")])
def test_the_greeting_names_a_file_that_is_there(tmp_path, files, named):
    """What one is invited to try works here."""
    for name in files:
        (tmp_path / name).touch()
    assert f"@{named} what is missing here?" in dict(tries_in(str(tmp_path)))
