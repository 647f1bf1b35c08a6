"""What a console must survive: sessions that change under it, hosts that end, files that are gone, keys too early."""

import asyncio
import os
import socket
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec
import pytest

from sightline.events import (
    Event,
    Notice,
    Request,
    RequestResolved,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolOutput,
    ToolResult,
    ToolUse,
    TurnEnded,
    User,
)
from sightline.exceptions import OutsideFailure
from sightline.host import AnswerRequest, Client, Command, CommandReply, Hello, Shell, Stop
from sightline.journal import Store
from sightline.settings import StartOptions
from sightline.transcript import Snapshot
from sightline.tty import Overlay, measure
from sightline.tty.components import TextComponent as Words
from sightline.views.console import _keys
from sightline.views.console._desk import Answerable
from sightline.views.console._git import branch_of
from sightline.views.console.input import Attachment, Drafts, PromptDraft, Submission
from sightline.views.console.input._drafts import DraftWriter
from sightline.views.console.session import _link, _sessions
from sightline.views.console.session._link import Link
from tests.views.console.sitting import Sitting


@pytest.fixture
async def sat(tmp_path: Path, own_home: None) -> AsyncIterator[Sitting]:
    one = Sitting(tmp_path)
    yield one
    await one.close()
    if one.ended and not one.application._ended.cancelled():
        one.application._ended.exception()


def failure(sat: Sitting) -> BaseException | None:
    """What ended the program, if something did."""
    return sat.application._ended.exception() if sat.ended else None


async def settled(sat: Sitting) -> None:
    """All that was begun has come as far as it can without anybody else."""
    for _ in range(20):
        await asyncio.sleep(0)


# ---- what the console says itself


async def test_what_the_console_said_is_there_after_the_host_has_told_everything(sat: Sitting) -> None:
    """A warning about the host's version comes before its first snapshot, and stays."""
    sat.console.report("another version", "warning")
    sat.console.frame(Snapshot())
    assert "another version" in sat.rows


async def test_that_a_session_goes_on_is_said_where_it_can_be_read(
    sat: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who goes to another session while this one works is told how to come back."""
    monkeypatch.setattr(_sessions, "launch_agent", never)
    sat.hears(RunStarted("s"), User("go", source="person"))
    await sat.console.switch("")
    assert "session s keeps running" in sat.rows


async def never(wanted: StartOptions) -> str:
    await asyncio.Event().wait()
    return ""


# ---- sessions that change


class Hosts:
    """Hosts that boot when told, and links that only say what they were asked to follow."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.booting: list[asyncio.Future[str]] = []
        self.followed: list[tuple[Link, str]] = []
        self.stopped: list[str] = []
        hosts = self

        async def launch(wanted: StartOptions) -> str:
            hosts.booting.append(asyncio.get_running_loop().create_future())
            return await hosts.booting[-1]

        async def follow(link: Link, session: str, after: int | None = None) -> None:
            link.session = session
            hosts.followed.append((link, session))
            await asyncio.Event().wait()

        async def submit(link: Link, command: Command) -> CommandReply:
            await asyncio.sleep(0)
            if isinstance(command, Stop):
                hosts.stopped.append(link.session)
            return CommandReply(True)

        monkeypatch.setattr(_sessions, "launch_agent", launch)
        monkeypatch.setattr(Link, "follow", follow)
        monkeypatch.setattr(Link, "submit", submit)


async def test_a_host_that_boots_for_a_session_nobody_wants_any_more_is_not_followed(
    sat: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was left before its host was there does not come back over the one that is shown, and its host ends."""
    hosts = Hosts(monkeypatch)
    await sat.console.switch("")
    await sat.until(lambda: hosts.booting)
    await sat.console.switch("")
    await sat.until(lambda: len(hosts.booting) == 2)
    hosts.booting[1].set_result("second")
    await sat.until(lambda: hosts.followed)
    hosts.booting[0].set_result("first")
    await sat.until(lambda: "first" in hosts.stopped)
    shown = [session for link, session in hosts.followed if link is sat.console.sessions.link]
    assert shown == ["second"]


async def test_what_is_written_is_not_lost_by_going_to_another_session(
    sat: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A draft goes along, behind the words the other session begins with."""
    Hosts(monkeypatch)
    sat.writes("half a thought")
    await sat.console.switch("", draft="once more")
    assert sat.console.draft == "once more\n\nhalf a thought"


async def test_the_offer_to_resume_goes_away_with_the_session(sat: Sitting, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who goes elsewhere after the host died is not asked about it there."""
    Hosts(monkeypatch)
    sat.console.sessions._lost("killed")
    await sat.until(lambda: "The session has stopped" in sat.rows)
    await sat.console.switch("")
    await settled(sat)
    assert sat.console.screen.asking is None


async def test_the_end_of_a_session_one_leaves_is_no_news(sat: Sitting, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that is told to end says goodbye before it answers; nobody is asked whether to resume it."""
    hosts = Hosts(monkeypatch)
    left = sat.console.sessions.link

    async def ends_first(command: Command) -> CommandReply:
        left._end("")
        return CommandReply(True)

    monkeypatch.setattr(left, "submit", ends_first)
    await sat.console.switch("")
    await sat.until(lambda: hosts.booting)
    assert sat.console.screen.asking is None
    assert not sat.console.sessions._gone


async def test_a_shell_line_of_another_session_cannot_be_stopped_here(
    sat: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Escape means the session that is shown."""
    Hosts(monkeypatch)
    sat.writes("!sleep 9")
    sat.press("enter")
    await sat.until(lambda: sat.console.current.running)
    await sat.console.switch("")
    assert not sat.console.stopping.can_stop


async def test_a_session_that_cannot_be_read_does_not_end_the_console(
    sat: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is wrong is asked about, and the console stays."""

    async def fails(wanted: StartOptions) -> str:
        raise OutsideFailure("no such session", "pick another")

    monkeypatch.setattr(_sessions, "launch_agent", fails)
    await sat.console.switch("20260101-000000-aaaa")
    await sat.until(lambda: "could not start" in sat.rows)
    assert failure(sat) is None


async def test_a_host_that_cannot_be_started_at_all_is_told(sat: Sitting, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without room for another process says so; the console stays."""

    async def fails(wanted: StartOptions) -> str:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(_sessions, "launch_agent", fails)
    await sat.console.switch("")
    await sat.until(lambda: "could not start" in sat.rows)
    assert failure(sat) is None


# ---- what is asked


class Overlaid(Answerable, Words):
    """Something over the window that knows no key."""


async def test_keys_are_not_the_editors_while_something_lies_over_it(
    sat: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl+C closes what lies there and clears nothing; Ctrl+D leaves, as it does everywhere."""
    monkeypatch.setattr(_keys, "TWICE", -1.0)
    sat.writes("a draft")
    asked = asyncio.ensure_future(sat.console.ask(Overlaid("over"), Overlay()))
    await settled(sat)
    sat.press("ctrl+c")
    assert await asyncio.wait_for(asked, 60) is None
    assert sat.console.draft == "a draft"
    sat.console.prompt.clear()
    asked = asyncio.ensure_future(sat.console.ask(Overlaid("over"), Overlay()))
    await settled(sat)
    sat.press("ctrl+d")
    await settled(sat)
    assert sat.ended
    asked.cancel()


async def test_leaving_twice_asks_once(sat: Sitting) -> None:
    """Ctrl+D, held down, while the agent works."""
    sat.hears(RunStarted("s"), User("go", source="person"))
    sat.press("ctrl+d", "ctrl+d", "ctrl+d")
    await sat.until(lambda: "Leave?" in sat.rows)
    await settled(sat)
    assert len(sat.console.screen._mounted) == 1


async def test_an_answer_is_never_for_the_request_of_another_session(sat: Sitting) -> None:
    """Two sessions number their requests alike."""
    made = asyncio.Event()

    async def slowly(request: object) -> tuple[Answerable, None, bool]:
        await made.wait()
        return Overlaid("the first one's"), None, False

    sat.console.requests._dialog_for = slowly  # type: ignore[assignment]
    sat.hears(Request("request-1", "dialog", "the first", details={"ui": {"kind": "custom"}}))
    await settled(sat)
    sat.console.show(Snapshot())
    sat.hears(Request("request-1", "dialog", "the second", details={"ui": {"kind": "custom"}}))
    made.set()
    await sat.until(lambda: sat.console.screen.asking is not None)
    sat.press("ctrl+c")
    answer = await sat.sent(AnswerRequest)
    assert answer.id == "request-1"
    assert len([c for c in sat.commands if isinstance(c, AnswerRequest)]) == 1


async def test_a_component_that_is_never_made_does_not_keep_others_from_being_asked(sat: Sitting) -> None:
    """Once its request is moot, the next one is asked."""
    real = sat.console.requests._dialog_for

    async def never_made(request: dict[str, object]) -> object:
        if request["id"] == "request-1":
            await asyncio.Event().wait()
        return await real(request)

    sat.console.requests._dialog_for = never_made  # type: ignore[assignment]
    sat.hears(Request("request-1", "dialog", "slow", details={"ui": {"kind": "custom"}}))
    await settled(sat)
    sat.hears(RequestResolved("request-1", None), Request("request-2", "question", "Which one?", ["a", "b"]))
    await sat.until(lambda: "Which one?" in sat.rows)


# ---- what is entered


async def test_a_picture_that_is_gone_when_it_is_sent_is_told(sat: Sitting, tmp_path: Path) -> None:
    """The words come back, and the console stays."""
    gone = Attachment(tmp_path / "gone.png", "gone.png", 10, "image/png")
    sat.console.entering.enter(Submission("look at this", attachments=(gone,), written="look at this"))
    await sat.until(lambda: sat.console.draft == "look at this")
    assert failure(sat) is None
    assert "gone.png" in sat.rows


async def test_a_picture_that_became_a_pipe_makes_nobody_wait(sat: Sitting, tmp_path: Path) -> None:
    """Between the look at it and the sending a command can put anything in its place."""
    os.mkfifo(tmp_path / "shot.png")
    swapped = Attachment(tmp_path / "shot.png", "shot.png", 10, "image/png")
    sat.console.entering.enter(Submission("look at this", attachments=(swapped,), written="look at this"))
    await sat.until(lambda: sat.console.draft == "look at this")
    assert failure(sat) is None
    assert "shot.png cannot be read: not a regular file" in sat.rows


async def test_a_shell_line_that_ended_before_its_answer_came_is_over(sat: Sitting) -> None:
    """Events and answers come by different ways: what has ended is not stopped by escape for ever."""
    ended = CommandReply(True, id="s-7")

    async def submit(command: Command) -> CommandReply:
        sat.commands.append(command)
        if isinstance(command, Shell):
            sat.hears(ToolUse("s-7", "Bash", source="person"), ToolResult("s-7", "done"))
        return ended

    sat.console.sessions.link.submit = submit  # type: ignore[method-assign]
    sat.writes("!true")
    sat.press("enter")
    await sat.sent(Shell)
    await settled(sat)
    assert not sat.console.stopping.can_stop


async def test_what_nobody_took_before_the_end_is_kept_as_a_draft(sat: Sitting, own_home: None) -> None:
    """Entered while the host boots, and left at once: it is there next time."""
    waiting = asyncio.Event()

    async def submit(command: Command) -> CommandReply:
        await waiting.wait()
        return CommandReply(True)

    sat.console.sessions.link.submit = submit  # type: ignore[method-assign]
    sat.console.began("s")
    await sat.until(lambda: sat.console.prompt._draft_writer)
    sat.writes("a long prompt")
    sat.press("enter")
    await settled(sat)
    sat.console.sessions.detach()
    assert sat.console._drafts.load("s").text == "a long prompt"


# ---- what else could end it


@pytest.mark.parametrize("editor", ["vi 'unbalanced", "   "])
async def test_an_editor_that_is_named_wrongly_is_told(
    sat: Sitting, monkeypatch: pytest.MonkeyPatch, editor: str
) -> None:
    """`/todo edit` with a $EDITOR nobody can run."""
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)
    monkeypatch.setattr(sat.console, "run_program", lambda argv: 127)
    await sat.console.run_command("todo", "edit")
    assert "$EDITOR" in sat.rows


async def test_a_file_is_not_edited_by_an_editor_that_is_named_wrongly(
    sat: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`/files`, edit, with an unbalanced quotation mark in $EDITOR."""
    from sightline.views.console._external import edit_file

    monkeypatch.setenv("VISUAL", "vi 'unbalanced")
    edit_file(sat.console, "a.py")
    assert "$VISUAL" in sat.rows


async def test_a_program_that_cannot_copy_is_told(
    sat: Sitting, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A clipboard program that is none."""
    (tmp_path / "pbcopy").write_text("no program")
    (tmp_path / "pbcopy").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    sat.console.copy("text")
    await sat.until(lambda: "pbcopy" in sat.rows.replace("\n  ", ""))
    assert failure(sat) is None


def test_a_hostile_git_file_names_no_branch(tmp_path: Path) -> None:
    """A NUL in it is no path."""
    (tmp_path / ".git").write_bytes(b"gitdir: a\0b")
    assert branch_of(str(tmp_path)) == ""


async def test_a_draft_that_is_flushed_is_the_last_word(tmp_path: Path) -> None:
    """A write that was on its way does not come after it."""
    drafts = Drafts(tmp_path)
    spawned: list[asyncio.Task[object]] = []
    loop = asyncio.get_running_loop()
    begun, go_on = loop.create_future(), threading.Event()
    real = drafts.save

    def slow(session: str, draft: PromptDraft) -> str:
        if draft.text == "old":
            loop.call_soon_threadsafe(begun.set_result, None)
            go_on.wait(0.2)
        return real(session, draft)

    drafts.save = slow  # type: ignore[method-assign]
    keeper = DraftWriter(
        drafts, drafts.claim("s"), lambda work: spawned.append(loop.create_task(work)), lambda problem: None
    )
    keeper.changed(PromptDraft("old"))
    await begun
    keeper.changed(PromptDraft("new"))
    keeper.flush()
    go_on.set()
    for task in spawned:
        task.cancel()
    await asyncio.gather(*spawned, return_exceptions=True)
    await asyncio.get_running_loop().run_in_executor(None, lambda: None)
    await asyncio.sleep(0.05)
    assert drafts.load("s").text == "new"


# ---- the transcript and the panels


@pytest.mark.parametrize(
    "between",
    [
        ToolUse("p-1", "Bash", args={"command": "true"}, source="person"),
        Notice("warning", "the disk is nearly full"),
        ToolResult("j-1", "over", details={"ui": {"kind": "jobs"}}),
    ],
    ids=["shell", "notice", "result"],
)
async def test_words_go_on_after_something_came_in_between(sat: Sitting, between: Event) -> None:
    """What the model says while something else happens is shown to its end, once."""
    sat.hears(RunStarted("s"), User("go", source="person"), Text("The first half", 1))
    sat.hears(between)
    assert "The first half" in sat.rows
    sat.hears(Text(" and the second half", 1))
    rows = " ".join(sat.rows.split())
    assert rows.count("and the second half") == rows.count("The first half") == 1
    sat.hears(RunEnded())
    assert " ".join(sat.rows.split()).count("and the second half") == 1


async def test_words_after_their_end_are_not_lost(sat: Sitting) -> None:
    """A provider that says a turn is over too early."""
    sat.hears(RunStarted("s"), User("go", source="person"), Text("The first half", 1), TurnEnded())
    assert "The first half" in sat.rows
    sat.hears(Text(" and the second half", 1), RunEnded())
    rows = " ".join(sat.rows.split())
    assert rows.count("and the second half") == rows.count("The first half") == 1
    assert sat.console.transcript.blocks[-1].source == " and the second half"


async def test_long_words_that_still_stream_are_whole_after_attaching(sat: Sitting) -> None:
    """Attached while the model speaks and something else was begun after: what it says then is not lost."""
    long = "\n\n".join(f"Paragraph {number} " + "word " * 200 for number in range(40))
    sat.hears(RunStarted("s"), User("go", source="person"), Text(long, 1))
    sat.hears(ToolUse("p-1", "Bash", args={"command": "true"}, source="person"))
    sat.console.frame(sat.console.transcript.fold.snapshot())
    sat.hears(Text(" the very end", 1))
    await sat.until(lambda: "the very end" in sat.rows)


@pytest.mark.parametrize("width", [20, 40, 80])
async def test_a_job_with_wide_letters_fits(sat: Sitting, width: int) -> None:
    """A label of letters two cells wide."""
    sat.hears(
        ToolUse("s-1", "bash", args={"command": "x"}), ToolOutput("s-1", "输出输出输出输出输出输出输出输出\n", 0, 20)
    )
    jobs = [{"id": "s-1", "label": "编译编译编译编译编译编译编译编译编译", "status": "running", "started": 1.0}]
    sat.hears(State("jobs", jobs))
    assert all(measure(row) <= width for row in sat.console.jobs.render(width))


async def test_a_job_that_began_long_ago_is_not_looked_for_with_every_frame(sat: Sitting) -> None:
    """The panel finds its call once, and shows what it says from then on."""
    sat.hears(ToolUse("s-1", "bash", args={"command": "x"}), ToolOutput("s-1", "first\n", 0, 6))
    sat.hears(State("jobs", [{"id": "s-1", "label": "build", "status": "running", "started": 1.0}]))
    assert "· first" in sat.console.jobs.render(80)[0]  # what it printed is apart from the time
    entries = sat.console.state.entries
    sat.console.state.entries = []
    try:
        sat.hears(ToolOutput("s-1", "second\n", 6, 7))
        assert "second" in sat.console.jobs.render(80)[0]
    finally:
        sat.console.state.entries = entries


async def test_a_huge_prompt_does_not_slow_every_event_down(sat: Sitting, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a megabyte that was pasted no more than a title needs is looked at, however often."""
    from sightline.views.console.input import _queue
    from sightline.views.console.shapes import _shape
    from sightline.views.console.status import _attention

    huge = "word " * 200_000
    longest: list[int] = []
    for module in (_queue, _shape, _attention):
        real = module.clean_line

        def looked(text: str, real: Callable[[str], str] = real) -> str:
            longest.append(len(text))
            return real(text)

        monkeypatch.setattr(module, "clean_line", looked)
    sat.hears(RunStarted("s"), User(huge, source="person"))
    sat.hears(State("queue", [{"text": huge, "how": "steer"}]))
    assert _shape.short(huge, 80).startswith("word word")
    assert "steering: word word" in sat.rows
    assert max(longest) <= 1000


async def test_a_file_that_comes_in_one_piece_is_revealed_a_frame_at_a_time(sat: Sitting) -> None:
    """However much the model wrote at once, a frame draws no more of it than it has time for."""
    from sightline.views.console.shapes import _writing

    now, later = _writing._portion("a line\n" * 10_000)
    assert now.count("\n") == _writing._MOST_A_FRAME
    assert now + later == "a line\n" * 10_000


# ---- the way to the host


async def test_who_waits_for_an_answer_when_the_console_leaves_gets_a_refusal(
    tmp_path: Path, own_home: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that never answers keeps nobody waiting for ever."""

    ours, theirs = socket.socketpair()
    heard, writer = await asyncio.open_unix_connection(sock=theirs)
    reader, our_writer = await asyncio.open_unix_connection(sock=ours)
    client = Client(Hello("s", "0", 1), reader, our_writer, b"")

    async def connected(store: Store, session: str) -> Client:
        return client

    monkeypatch.setattr(_link, "attach", connected)
    link = Link(Store(tmp_path))
    following = asyncio.ensure_future(link.follow("s"))
    asked = asyncio.ensure_future(link.submit(Stop()))
    await heard.readline()
    assert not asked.done()
    link.close()
    reply = await asyncio.wait_for(asked, 60)
    assert not reply.ok
    following.cancel()
    writer.close()


async def test_a_host_nobody_understands_is_gone_and_not_the_end(
    tmp_path: Path, own_home: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its greeting is of another version, or no greeting at all."""

    async def connected(store: Store, session: str) -> Client:
        raise msgspec.ValidationError("Expected `object`")

    monkeypatch.setattr(_link, "attach", connected)
    gone: list[str] = []
    link = Link(Store(tmp_path), on_end=gone.append)
    await link.follow("s")
    assert gone
    assert not (await link.submit(Stop())).ok


# ---- what anybody may say


@pytest.mark.parametrize("listed", [1.5, 7, True, {"a": 1}, "abc"])
async def test_choices_that_are_no_list_are_none(sat: Sitting, listed: object) -> None:
    """A request of a provider's or an extension's may be anything; it can be closed."""
    sat.hears(Request("r", "dialog", "Which?", details={"ui": {"kind": "select"}, "choices": listed}))
    await sat.until(lambda: "Which?" in sat.rows)
    sat.press("ctrl+c")
    assert (await sat.sent(AnswerRequest)).id == "r"


@pytest.mark.parametrize("listed", [1.5, True, {"a": 1}, "abc"])
async def test_jobs_that_are_no_list_are_none(sat: Sitting, listed: object) -> None:
    """/jobs of a session that says nonsense."""
    sat.hears(State("jobs", listed))
    await sat.console.run_command("jobs")
    assert "no jobs in this session" in sat.rows


# ---- a host that is gone


async def test_nothing_goes_on_without_a_host(sat: Sitting, monkeypatch: pytest.MonkeyPatch) -> None:
    """No clock counts on, nothing is asked for nobody, and what waited to be said is in the editor again."""
    Hosts(monkeypatch)
    sat.hears(RunStarted("s"), User("go", source="person"), ToolUse("s-1", "bash", args={"command": "make"}))
    sat.hears(State("queue", [{"text": "and then this", "how": "follow_up"}]))
    sat.hears(State("jobs", [{"id": "s-2", "label": "build", "status": "running", "started": 1.0}]))
    sat.hears(Request("request-1", "question", "Which one?", ["a", "b"]))
    await sat.until(lambda: "Which one?" in sat.rows)
    sat.writes("a draft")
    sat.console.sessions._lost("killed")
    await sat.until(lambda: "The session has stopped" in sat.rows)
    assert "Which one?" not in sat.rows
    assert not sat.console.transcript.ticking
    assert not sat.console.jobs.ticks
    assert not sat.console.stopping.can_stop
    assert not [command for command in sat.commands if isinstance(command, AnswerRequest)]
    assert sat.console.draft.startswith("and then this")


async def test_who_stayed_without_a_host_is_offered_it_again(sat: Sitting, monkeypatch: pytest.MonkeyPatch) -> None:
    """Having looked around, the person enters something: it comes back, and one key resumes."""
    hosts = Hosts(monkeypatch)
    sat.console.sessions._lost("killed")
    await sat.until(lambda: "The session has stopped" in sat.rows)
    sat.press("ctrl+c")
    await sat.until(lambda: sat.console.screen.asking is None)
    sat.replies["Prompt"] = CommandReply(False, error="the session is no longer running")
    sat.writes("go on")
    sat.press("enter")
    await sat.until(lambda: "Resume" in sat.rows)
    assert sat.console.draft == "go on"
    sat.press("enter")
    await sat.until(lambda: hosts.booting)
    assert sat.console.draft == "go on"


async def test_the_session_whose_host_is_gone_can_be_resumed_from_the_list(
    sat: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """/resume, and the one that is shown; while its host lives that changes nothing, and is said."""
    hosts = Hosts(monkeypatch)
    await sat.console.switch("s")
    assert "this session is open already" in sat.rows
    sat.console.sessions._gone = True
    await sat.console.switch("s")
    await sat.until(lambda: hosts.booting)


async def test_ctrl_c_twice_leaves_although_something_is_asked(sat: Sitting) -> None:
    """The first closes what is asked, the second, soon after, leaves."""
    asked = asyncio.ensure_future(sat.console.ask(Overlaid("over"), Overlay()))
    await settled(sat)
    sat.press("ctrl+c", "ctrl+c")
    await asyncio.wait_for(asked, 60)
    await sat.until(lambda: sat.ended)


async def test_leaving_does_not_end_what_somebody_else_watches(sat: Sitting) -> None:
    """The host says so; the session goes on, and how to come back is told."""
    sat.replies["Stop"] = CommandReply(False, error="another viewer is in this session", data={"watched": True})
    sat.press("ctrl+d")
    assert (await sat.sent(Stop)).unless_watched
    await sat.until(lambda: sat.ended)
    assert "Attach with: " in sat.console.sessions.farewell


async def test_what_waits_to_be_sent_is_a_draft_after_leaving(sat: Sitting) -> None:
    """Stopping a session throws nothing away."""
    sat.hears(RunStarted("s"), User("go", source="person"), State("queue", [{"text": "later", "how": "follow_up"}]))
    sat.replies["Unqueue"] = CommandReply(True, data={"queued": ["later"]})
    sat.press("ctrl+d")
    await sat.until(lambda: "Leave?" in sat.rows)
    sat.press("down", "enter")
    await sat.until(lambda: sat.ended)
    assert sat.console.prompt.text == "later"


async def test_an_answer_that_was_stopped_says_so(sat: Sitting) -> None:
    """Live, and afterwards."""
    sat.hears(RunStarted("s"), User("go", source="person"), Text("half an ans", 3), RunEnded(stop_reason="cancelled"))
    assert "· stopped" in sat.rows
