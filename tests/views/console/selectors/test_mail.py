"""`/mail`: the messages between agents as one conversation that the user reads and joins."""

import asyncio

import pytest

from sightline.events import AgentState, MailChanged, MailReader, MailSent
from sightline.events.stamping import stamp
from sightline.host import CommandReply, SendMail
from sightline.text import clean_line
from sightline.transcript import Transcript
from sightline.views.console._agent_names import agent_role
from sightline.views.console.selectors import _agents, _mail
from sightline.views.console.selectors._agents import AgentsPanel
from sightline.views.console.selectors._mail import MailViewer
from sightline.views.console.selectors._pager import Viewer
from sightline.views.console.selectors._panel import QuestionPanel
from tests.views.console.selectors.support import HOSTILE, WIDTHS, Desk, new_store
from tests.views.console.selectors.test_linear import Spoken
from tests.views.console.selectors.test_work import stand, with_agents


def sent(id, sender, text, *readers, **more):
    """By an agent at this path, or (None) by the user."""
    readers = [each if isinstance(each, MailReader) else MailReader(each, "delivered", unread=True) for each in readers]
    source = "person" if sender is None else "irc"
    return MailSent(id, text, readers, agent=sender or "", source=source, **more)


def arrive(desk, *events):
    """They happen in the session."""
    fold = Transcript(desk.state)
    for event in events:
        fold.apply(stamp(event, desk.state.seq + 1, 1000.0))


def with_mail(desk, *mail):
    """Messages of these senders, each to all others; both agents take messages."""
    for path in ("a", "a/b"):
        stand(desk, path, "idle")
    for number, (sender, text) in enumerate(mail, 1):
        others = [path for path in ("", "a", "a/b") if path != sender]
        arrive(desk, sent(f"m{number}", sender, text, *others, to_all=True))


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.setattr("sightline.views.console.selectors._mail._LOOKS_APART", 0.002)
    made = Desk(new_store(tmp_path), "abcdef", height=16)
    made.answers[SendMail] = lambda command: CommandReply(
        True,
        "m9",
        data={"receipts": [{"to": "all" if command.to_all else command.agent or "Main", "outcome": "woken"}]},
    )
    with_agents(made)
    with_mail(made)
    return made


async def opened(desk):
    task = asyncio.ensure_future(_mail.open(desk, ""))
    await desk.until_shown(MailViewer)
    return task


async def left(desk, task):
    desk.press("q")
    await asyncio.wait_for(task, 60)
    await desk.settled()


async def test_messages_are_shown_in_order_as_they_come(desk):
    """From whom to whom, what they answer, and what becomes of them; without any, how to write one."""
    task = await opened(desk)
    assert "no messages between agents yet; m writes one" in desk.rows()
    arrive(desk, sent("m1", "a", "Halfway.\nMore of it.", ""))
    await desk.until_rows("Mail: 1 message · 1 unread", "a → Main  m1 · delivered · unread", "Halfway.", "More of it.")
    arrive(
        desk,
        MailChanged(["m1"], "read", agent=""),
        sent("m2", "", "And now?", MailReader("a", "woken"), reply_to="m1"),
        sent("m3", "a/b", "Hello?", MailReader("Nobody", "failed", "there is no agent Nobody")),
        sent("m4", None, "Stop.", "", "a", "a/b", to_all=True),
        MailChanged(["m4"], "read", agent="a"),
    )
    await desk.until_rows("Mail: 4 messages", "a → Main  m1 · read", width=100)
    rows = "\n".join(desk.rows(100))
    assert "Main → a  m2 · answers m1 · woken · read" in rows
    assert "a/b → Nobody  m3 · failed: there is no agent Nobody" in rows
    assert "you → all  m4 · 1 read · 2 unread" in rows
    assert rows.index("m1") < rows.index("m2") < rows.index("m3") < rows.index("m4")
    await left(desk, task)


async def test_a_name_has_the_colour_of_its_agent(desk):
    """As everywhere."""
    styled = []
    desk.drawing.theme.style = lambda role, text: styled.append((role, text)) or text
    arrive(desk, sent("m1", "a", "x", "a/b"))
    task = await opened(desk)
    desk.rows()
    assert {(agent_role("a"), "a"), (agent_role("a/b"), "a/b")} <= set(styled)
    del desk.drawing.theme.style
    await left(desk, task)


async def test_only_what_is_in_the_window_is_drawn(desk):
    """Of thousands of messages, and of one of 64 KiB its beginning; the keys lead to the first and the last."""
    for number in range(5000):
        arrive(desk, sent(f"m{number + 1}", "a", f"text {number}", ""))
    arrive(desk, sent("m5001", "a", "\n".join(f"line {number} of it" for number in range(4000)), ""))
    task = await opened(desk)
    rows = desk.rows()
    assert len(rows) == desk.height
    assert "    line 0 of it" in [row.replace("▌", " ") for row in rows]
    assert any("… 4,000 lines in all (o)" in row for row in rows)
    assert not any("line 3 of it" in row for row in rows)
    assert any("text 4999" in row for row in rows)
    desk.press("home")
    assert any("text 0" in row for row in desk.rows())
    assert any("5000 below" in row for row in desk.rows())
    desk.press("pagedown", "down", "up", "end")
    assert any("following" in row for row in desk.rows())
    assert len(desk.panel._drawn) < 60
    assert desk.panel.render(80) is desk.panel.render(80)
    await left(desk, task)


async def test_a_message_can_be_read_whole(desk):
    """With what became of it for each reader. Then the conversation is there again."""
    arrive(desk, sent("m1", "a", "\n".join(f"line {number} of it" for number in range(40)), "", "a/b"))
    task = await opened(desk)
    desk.press("o")
    await desk.until_shown(Viewer)
    await desk.until_rows("m1: a to Main, a/b", "line 0 of it")
    desk.press("end")
    await desk.until_rows("Main: delivered · unread", "a/b: delivered · unread")
    desk.press("q")
    await desk.until_shown(MailViewer)
    desk.press("/")
    await desk.until_shown(Viewer)
    await desk.until_rows("m1 a to Main, a/b · 2 unread")
    desk.press("q")
    await desk.until_shown(MailViewer)
    await left(desk, task)


async def test_a_message_is_answered(desk):
    """Enter answers the marked one, to its sender. To another agent the same line is no answer."""
    arrive(desk, sent("m1", "a", "Halfway.", ""), sent("m2", "a/b", "Done.", ""))
    task = await opened(desk)
    desk.press("up", "enter")
    assert desk.rows()[-1].startswith("answer m1 to a (tab: another) ")
    desk.type("why?")
    assert desk.rows()[-1] == "answer m1 to a › why?"
    desk.press("enter")
    await desk.until_rows("following · sent: a woken")
    desk.press("enter", "down")
    assert desk.rows()[-1].startswith("to all ")
    desk.press("shift+tab", "shift+tab", "shift+tab")
    assert desk.rows()[-1].startswith("to Main ")
    desk.type("hm")
    desk.press("enter")
    await desk.until_rows("sent: Main woken")
    assert desk.submitted == [SendMail("why?", agent="a", reply_to="m1"), SendMail("hm")]
    await left(desk, task)


async def test_a_message_is_written_to_one_or_to_all(desk):
    """The session's own agent first, then each that takes messages, then all of them. Nothing is sent without words."""
    stand(desk, "a/b", "aborted")
    task = await opened(desk)
    desk.press("m")
    names = []
    for _ in range(4):
        names.append(desk.rows()[-1].split()[1])
        desk.press("tab")
    assert names == ["Main", "a", "all", "Main"]
    desk.press("enter")
    assert desk.submitted == []
    desk.press("m", "tab", "tab")
    desk.type("stop")
    desk.press("enter")
    await desk.until_rows("sent: all woken")
    assert desk.submitted == [SendMail("stop", to_all=True)]
    desk.press("m", "x", "escape")
    assert not any("to Main" in row for row in desk.rows())
    await left(desk, task)


async def test_what_could_not_be_sent_is_not_lost(desk):
    """Why is shown when the line is left."""
    desk.answers[SendMail] = lambda command: CommandReply(False, error="a was stopped", hint="start another agent")
    task = await opened(desk)
    desk.press("m")
    desk.type("go on")
    desk.press("enter")
    await desk.until_rows("to Main › go on")
    desk.press("escape")
    assert any("a was stopped; start another agent" in row for row in desk.rows(100))
    await left(desk, task)


async def test_hostile_texts_and_names_are_harmless(desk):
    """Whatever they are, each row fits and is clean (`rows` checks both)."""
    arrive(
        desk,
        sent("m1", "a", HOSTILE * 50, HOSTILE, "a/b", reply_to="m0"),
        sent("m2", HOSTILE, "", "a"),
        sent("m3", "a", "日本語" * 500, *[f"agent-{number}" for number in range(40)]),
        sent("m4", "a", "x", MailReader(HOSTILE, "failed", HOSTILE)),
    )
    task = await opened(desk)
    for width in (1, 2, 5, *WIDTHS):
        desk.rows(width) if width >= 4 else desk.panel.render(width)
    desk.press("o")
    await desk.until_shown(Viewer)
    desk.rows()
    desk.press("q")
    await desk.until_shown(MailViewer)
    await left(desk, task)


async def test_the_list_of_agents_leads_there_and_counts_the_same(desk):
    """And back to it. What the session's own agent has not read is in its row, too."""
    stand(desk, "a", "running", unread=1)
    arrive(desk, sent("m1", "a/b", "x", "a", ""))
    task = asyncio.ensure_future(_agents.open(desk, ""))
    await desk.until_shown(AgentsPanel)
    rows = "\n".join(desk.rows(100))
    assert "ctrl+t messages" in rows
    assert rows.count("1 unread") >= 2
    assert desk.state.unread == {"a": 1, "": 1}
    assert AgentState.among(desk.state.agents["a"].state).unread == desk.state.unread["a"]
    await desk.go("ctrl+t")
    assert isinstance(desk.panel, MailViewer)
    assert "Mail: 1 message · 2 unread" in desk.rows()[0]
    await desk.go("q")
    assert isinstance(desk.panel, AgentsPanel)
    desk.press("escape")
    await asyncio.wait_for(task, 60)


async def test_the_count_of_what_is_unread_is_that_of_the_rows(desk):
    """Words of the user that wait for the next step of their reader are unread as well."""
    task = await opened(desk)
    arrive(desk, sent("m1", "a", "x", ""), sent("m2", None, "y", "a"), sent("m3", None, "z", "a/b"))
    await desk.until_rows("Mail: 3 messages · 3 unread")
    assert sum("delivered · unread" in row for row in desk.rows()) == 3
    arrive(desk, MailChanged(["m3"], "dropped", "its reader stopped before reading it", agent="a/b"))
    await desk.until_rows(
        "Mail: 3 messages · 2 unread", "you → a/b  m3 · dropped: its reader stopped before reading it"
    )
    await left(desk, task)


async def test_for_who_listens_it_is_text_and_a_choice(tmp_path):
    """All messages are read out; then the user chooses whom to write to, or no one."""
    desk = Spoken(new_store(tmp_path), "abcdef")
    desk.answers[SendMail] = lambda command: CommandReply(True, data={"receipts": [{"to": "a", "outcome": "woken"}]})
    with_agents(desk)
    with_mail(desk, ("a", "Halfway."))
    task = asyncio.ensure_future(_mail.open(desk, ""))
    await desk.until(lambda: desk.shown, "a choice")
    assert "m1 a to all · 2 unread\nHalfway." in desk.told[0][1]
    heard = desk.heard()
    assert "to Main" in heard
    assert "to all" in heard
    await desk.enter("3")
    await desk.until_shown(QuestionPanel)
    await desk.enter("go on")
    await asyncio.wait_for(task, 60)
    assert desk.submitted == [SendMail("go on", agent="a")]
    assert desk.told[-1] == ("info", "sent: a woken", "")


@pytest.mark.parametrize("width", [100, 60, 20])
def test_what_leaves_the_view_is_named_beside_any_note(desk, width):
    """Words on what became of a message are cut before that."""
    viewer = MailViewer(desk)
    viewer._note = "the agent is not there any more; " * 5
    row = clean_line(viewer.render(width)[-1])
    assert row.endswith("q leave")
    assert len(row) <= width
