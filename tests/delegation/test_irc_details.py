"""`irc`, in detail: who is listed, how long is waited, what is dropped, and where a message is found again."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sightline.delegation._bound import Bound
from sightline.delegation._mailboxes import MAILBOX_AT_MOST, MESSAGE_AT_MOST, Mail
from sightline.delegation.tools._irc import IrcParams, IrcTool
from sightline.events import Text, ToolResult, ToolUse, User
from sightline.settings import Settings
from tests.agent.support import Lab, lab
from tests.delegation.teamwork import call, handed_back, of_agent, result_of, started, states, text
from tests.host.support import until


def directory_of(here: Lab) -> Any:
    return here.running.worker.team.directory


def mail(number: int) -> Mail:
    return Mail(f"m{number}", "One", "Main", f"text {number}")


async def test_the_list_has_parked_agents_and_none_that_were_stopped(tmp_path: Path) -> None:
    """With how many messages each has not read, and who started it."""
    scripts = {"One": [handed_back()], "Two": [handed_back()]}
    turns = [[started(scripts)], [text("So.")], [call("irc", op="list")], [text("Listed.")]]
    async with lab(tmp_path, turns) as here:
        await here.run()
        directory = directory_of(here)
        await directory.park(directory.get("One"))
        directory.get("One").mailbox.put(mail(1))
        directory.get("Two").become("aborted", "cancelled")
        await here.run("who?")
        listed = result_of(here, 1)
        assert listed.content.startswith("1 peer:\n- One [task · ours · parked] · 1 unread · active ")
        assert listed.content.endswith("[a parked agent is revived by a message]")
        assert listed.details["peers"] == [{"id": "One", "state": "parked"}]


async def test_the_parent_of_an_agent_is_listed(tmp_path: Path) -> None:
    home = tmp_path / "home" / "agents"
    home.mkdir(parents=True)
    (home / "boss.md").write_text('---\nname: boss\ndescription: for a test\nspawns: "*"\n---\n\nYou work.\n')
    inner = started({"Inner": [handed_back()]})
    turns = [[started({"Outer": [[inner], handed_back()]}, "boss")], [call("irc", op="list")], [text("So.")]]
    async with lab(tmp_path, turns, environ={"SIGHTLINE_HOME": str(tmp_path / "home")}) as here:
        await here.run()
        assert "- Outer.Inner [task · ours · idle] · started by Outer" in result_of(here, 1).content


async def test_the_inbox_is_emptied_and_peeking_leaves_it(tmp_path: Path) -> None:
    """In the order they came; the second look finds nothing."""
    looks = [call("irc", op="inbox", peek=True), call("irc", op="inbox"), call("irc", op="inbox")]
    async with lab(tmp_path, [looks, [text("So.")]]) as here:
        box = directory_of(here).root_mail
        box.put(mail(1))
        box.put(mail(2))
        await here.run()
        peeked, read, empty = (result_of(here, number) for number in range(3))
        assert peeked.content == read.content == "2 messages:\n- [m1] One: text 1\n- [m2] One: text 2"
        assert [each["id"] for each in read.details["inbox"]] == ["m1", "m2"]
        assert empty.content == "Inbox empty."


async def test_what_was_dropped_is_counted(tmp_path: Path) -> None:
    async with lab(tmp_path, [[call("irc", op="inbox")], [text("So.")]]) as here:
        for number in range(MAILBOX_AT_MOST + 3):
            directory_of(here).root_mail.put(mail(number))
        await here.run()
        content = result_of(here).content
        assert content.startswith("[3 older messages were dropped: the mailbox was full]\n100 messages:\n- [m3] ")


async def test_a_long_message_is_cut(tmp_path: Path) -> None:
    async with lab(tmp_path, [[started({"One": [handed_back()]})], [text("So.")]]) as here:
        await here.run()
        one = directory_of(here).get("One")
        one.become("running")  # it reads nothing by itself
        directory_of(here).send(None, "One", "x" * (MESSAGE_AT_MOST + 1))
        cut, mark = one.mailbox.peek()[0].text.split("\n\n")
        assert (len(cut), mark) == (MESSAGE_AT_MOST, "[1 more characters: the sender has it]")
        one.become("idle")


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (None, 7.0),
        (0, 1800.0),
        (1e300, 1800.0),
        (1500, 1.5),
        (0.2, 0.001),
        (2.9, 0.002),
        (-1, 120.0),
        (float("nan"), 120.0),
        (float("inf"), 120.0),
    ],
)
def test_how_long_is_waited(given: float | None, seconds: float) -> None:
    """The setting, unless the call names a time; 0 is the longest, what makes no sense waits two minutes."""
    settings = Settings()
    settings = type(settings)(irc=type(settings.irc)(timeout_seconds=7))
    context: Any = SimpleNamespace(settings=settings)
    tool = IrcTool(None, None)  # type: ignore[arg-type]
    assert tool._seconds(IrcParams("wait", timeout_ms=given), context) == seconds


async def test_no_answer_in_time_is_no_error(tmp_path: Path) -> None:
    """The message was sent; the result names how to look again."""
    send = call("irc", op="send", to=" one ", message="Well?", **{"await": True, "timeoutMs": 10})
    turns = [[started({"One": [handed_back(), [text("Hm.")]]})], [send], [text("So.")]]
    async with lab(tmp_path, turns) as here:
        await here.run()
        result = result_of(here, 1)
        assert not result.is_error
        assert result.content == "One: woken (m1)\nNo message within 0.01 s. Look with inbox later, or wait."
        assert result.details["receipts"] == [{"to": "One", "outcome": "woken", "error": ""}]
        assert result.details["waited"] is None


async def test_a_wait_ends_with_the_run(tmp_path: Path) -> None:
    """It has no limit of its own, and holds nothing up."""
    async with lab(tmp_path, [[call("irc", op="wait", timeoutMs=0)]]) as here:
        await here.agent.prompt("go")
        await here.until(lambda: bool(here.of(ToolUse)))
        here.agent.stop()
        assert (await here.ended()).exit_code == 130


async def test_waiting_for_an_unknown_agent_is_a_mistake(tmp_path: Path) -> None:
    async with lab(tmp_path, [[call("irc", op="wait", **{"from": "Nobody"})], [text("So.")]]) as here:
        await here.run()
        assert result_of(here).is_error
        assert "there is no agent Nobody" in result_of(here).content


async def test_a_message_is_in_the_history_of_its_reader(tmp_path: Path) -> None:
    """And its answer is an ordinary turn of it."""
    one = [handed_back(), [text("I looked again.")]]
    turns = [[started({"One": one})], [call("irc", op="send", to="One", message="Look again.")], [text("So.")]]
    async with lab(tmp_path, turns) as here:
        await here.run()
        await here.until(lambda: states(here, "One")[-2:] == ["running", "idle"] and len(states(here, "One")) == 4)
        told = [event.text for event in of_agent(here, "One", User) if event.source == "irc"]
        assert len(told) == 1
        transcript = here.running.worker.team.transcript("One") or ""
        assert "Look again." in transcript
        assert "I looked again." in transcript
        assert "I looked again." in "".join(event.text for event in of_agent(here, "One", Text))


async def test_one_that_was_stopped_gets_nothing_and_the_call_is_an_error(tmp_path: Path) -> None:
    turns = [[started({"One": [handed_back()]})], [text("So.")], [call("irc", op="send", to="One", message="x")], []]
    async with lab(tmp_path, turns) as here:
        await here.run()
        directory_of(here).get("One").become("aborted", "timeout")
        await here.run("write to it")
        assert result_of(here, 1).is_error
        assert result_of(here, 1).content == "One: failed: One was stopped: timeout"


async def test_with_one_place_two_agents_still_talk(tmp_path: Path) -> None:
    """Each gives its place away while it waits, and gets one again when the other waits or is done."""
    scripts = {
        "One": [[call("irc", op="wait")], [call("irc", op="send", to="Two", message="Here.")], handed_back("one")],
        "Two": [[call("irc", op="send", to="One", message="Where?", **{"await": True})], handed_back("two")],
    }
    async with lab(tmp_path, [[started(scripts)], [text("So.")]], settings={"task.max_concurrency": "1"}) as here:
        await here.run()
        content = result_of(here).content
        assert "Agent `One` (task) is done" in content
        assert "Agent `Two` (task) is done" in content
        assert any("Two: Where?" in event.content for event in of_agent(here, "One", ToolResult))
        assert any("One: Here." in event.content for event in of_agent(here, "Two", ToolResult))


async def test_a_message_is_not_lost_when_its_reader_is_stopped_before_it_has_a_place(tmp_path: Path) -> None:
    """It was waited for and had come, but another had the place."""
    async with lab(tmp_path, [[started({"One": [handed_back()]})], [text("So.")]]) as here:
        await here.run()
        directory = directory_of(here)
        one, bound = directory.get("One"), Bound(lambda: 1)
        context: Any = SimpleNamespace(settings=Settings())
        async with bound.place() as one.place:
            waiting = asyncio.ensure_future(IrcTool(directory, one).execute(IrcParams("wait"), context))
            await until(lambda: bound.taken == 0)
            async with bound.place():
                assert one.mailbox.put(Mail("m1", "Main", "One", "Hello."))
                await until(lambda: bool(bound._waiting))
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
        assert [mail.id for mail in one.mailbox.take_all()] == ["m1"]
