"""Where the key, the server and the conversation come from, and where the key never goes."""

import logging
import os
import re
import stat
from pathlib import Path

import pytest

from sightline.events import Error, Notice, RunEnded, RunStarted
from sightline.providers import ProviderPrompt
from sightline.providers.openai_compatible._failure import Mask
from sightline.providers.openai_compatible._request import OPTIONS
from sightline.providers.openai_compatible._run import ChatRun

from .chat_server import CALL, KEY, ChatServer, Reply, answer, failure, isolate, only, run


@pytest.fixture(autouse=True)
def own_environment(monkeypatch, own_home):
    isolate(monkeypatch)


@pytest.fixture
def home() -> Path:
    return Path(os.environ["SIGHTLINE_HOME"])


@pytest.fixture
def settings(home) -> Path:
    """An empty settings file that only its owner can read."""
    home.mkdir()
    file = home / "openai_compatible.toml"
    file.touch(mode=0o600)
    return file


async def test_the_key_appears_nowhere(caplog, tmp_path):
    """A server that echoes the key, in errors and in answers, cut anywhere: no event, log or file holds it."""
    caplog.set_level(logging.DEBUG)
    echo = failure(500, f"you sent Bearer {KEY}")
    body = answer(f"Your key is {KEY}, I think.").pieces[0]
    middle = body.index(KEY.encode()) + 9
    async with ChatServer(echo, Reply([body[:middle], body[middle:]])) as server:
        _, outcome = await run(server)  # which looks into every event
    assert outcome.text == "Your key is [key], I think."
    assert KEY not in caplog.text
    kept = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(kept) == 1
    assert not [text for text in kept if KEY in text]


def test_the_mask_finds_a_key_however_it_is_cut():
    text = f"a{KEY}b sk-secret-but-not sk-sec".encode()
    for size in range(1, 12):
        mask = Mask(KEY)
        pieces = [mask.feed(text[at : at + size]) for at in range(0, len(text), size)]
        assert b"".join([*pieces, mask.end()]) == b"a[key]b sk-secret-but-not sk-sec"


def test_a_stand_in_for_a_key_is_not_masked():
    """Local servers are given words such as "none"; an answer may contain them."""
    assert Mask("none").whole(b"none of them") == b"none of them"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"api_key": KEY}, "does not belong in options"),
        ({"extra": {"api_key": KEY}}, "does not belong in options"),
        ({"base_url": "http://me:secret@127.0.0.1/v1"}, "holds a password"),
        ({"base_url": "127.0.0.1:80"}, "not an http"),
        ({"temprature": 1}, "unknown option 'temprature'"),
        ({"stream": "yes"}, "option stream must be true or false"),
        ({"retries": 99}, "option retries must be"),
        ({"tools": ["read"]}, "a tool is declared in the wrong form"),
        ({"extra": {"x": object()}}, "cannot be sent as JSON"),
    ],
)
async def test_a_mistake_in_the_options_is_said_before_anything_is_sent(options, expected):
    async with ChatServer(answer()) as server:
        events, outcome = await run(server, options=options)
        assert server.requests == []
    assert expected in only(Error, events).text
    assert isinstance(events[-1], RunEnded)
    assert outcome.exit_code == 2


async def test_without_a_base_url_nothing_is_asked():
    chat = ChatRun(ProviderPrompt(prompt="Hi."))
    events = [event async for batch in chat.events() for event in batch]
    assert only(Error, events).text == "no server is set"
    assert "OPENAI_BASE_URL" in only(Error, events).hint


async def test_settings_come_from_the_environment_before_the_file(monkeypatch, settings):
    """The environment of the run counts as well; the file fills what is left."""
    monkeypatch.delenv("OPENAI_API_KEY")
    async with ChatServer(answer()) as server:
        settings.write_text(f'base_url = "{server.url}"\napi_key = "{KEY}"\nmodel = "from-file"\n')
        chat = ChatRun(ProviderPrompt(prompt="Hi."))
        events = [event async for batch in chat.events() for event in batch]
        assert not [event for event in events if isinstance(event, Notice)]
        other = ChatRun(
            ProviderPrompt(prompt="Hi.", env={"SIGHTLINE_OPENAI_API_KEY": "from-environment"}, model="asked")
        )
        _ = [batch async for batch in other.events()]
    assert [request.headers["authorization"] for request in server.requests] == [
        f"Bearer {KEY}",
        "Bearer from-environment",
    ]
    assert [request.body["model"] for request in server.requests] == ["from-file", "asked"]


async def test_a_settings_file_others_can_read_is_warned_about(settings):
    settings.write_text('api_key = "sk-other-key"\n')
    settings.chmod(0o644)
    async with ChatServer(answer()) as server:
        quiet, _ = await run(server)
        events, _ = await run(server, env={"OPENAI_API_KEY": ""})
    assert not [event for event in quiet if isinstance(event, Notice)]
    assert "others can read" in only(Notice, events).text
    assert only(Notice, events).hint == f"chmod 600 {settings}"


@pytest.mark.parametrize("content", [f"api_key = {KEY}", 'colour = "red"', "model = 7"])
async def test_a_broken_settings_file_is_named_and_never_quoted(content, settings):
    settings.write_text(content)
    events, outcome = await run("http://127.0.0.1:9/v1")
    assert "openai_compatible.toml" in only(Error, events).text
    assert outcome.exit_code == 2


async def test_no_key_sends_no_authorization(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    async with ChatServer(answer()) as server:
        await run(server)
    assert "authorization" not in server.requests[0].headers


async def test_a_conversation_goes_on_where_it_was():
    """The session id resumes it: the messages so far, calls answered as not run, the same model and system prompt."""
    async with ChatServer(answer("Look.", "tool_calls", tool_calls=[CALL]), answer("Fine.")) as server:
        events, first = await run(server, model="m", options={"system": "Be brief."})
        assert only(RunStarted, events).session == first.session != ""
        _, second = await run(server, prompt="Go on.", resume=first.session)
    assert second.session == first.session
    messages = server.requests[1].body["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool", "user"]
    assert messages[2] == {"role": "assistant", "content": "Look.", "tool_calls": [CALL]}
    assert (messages[3]["tool_call_id"], messages[4]["content"]) == ("c1", "Go on.")
    assert server.requests[1].body["model"] == "m"


async def test_a_kept_conversation_is_readable_by_its_owner_only(home):
    async with ChatServer(answer()) as server:
        _, outcome = await run(server)
    folder = home / "chat"
    (file,) = folder.iterdir()
    assert file.name == f"{outcome.session}.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


async def test_a_failed_run_keeps_nothing(home):
    async with ChatServer(failure(400, "no")) as server:
        _, outcome = await run(server)
    assert outcome.session == ""
    assert not home.exists()


async def test_a_conversation_that_cannot_be_kept_does_not_fail_the_run(home):
    home.write_text("a file where the folder should be")
    async with ChatServer(answer()) as server:
        events, outcome = await run(server)
    assert (outcome.exit_code, outcome.session) == (0, "")
    assert "cannot be stored" in only(Notice, events).text
    assert isinstance(events[-1], RunEnded)


@pytest.mark.parametrize("ident", ["chat-nothing", "../../etc/passwd", "a/b"])
async def test_an_unknown_conversation_is_an_error_with_a_hint(ident):
    async with ChatServer(answer()) as server:
        events, outcome = await run(server, resume=ident)
        assert server.requests == []
    assert only(Error, events).hint
    assert outcome.exit_code == 2


async def test_a_prompt_with_broken_characters_is_sent_all_the_same():
    """A command line may hold bytes that are no text."""
    async with ChatServer(answer()) as server:
        await run(server, prompt="caf\udce9")
    assert server.requests[0].body["messages"][0]["content"] == "caf?"


def test_the_page_names_the_cadence_and_every_option():
    """US5: that everything comes in one burst is said plainly, and the table of options is complete."""
    reference = (Path(__file__).parents[2] / "docs/reference/providers.md").read_text()
    page = reference.partition("\n## openai_compatible:")[2]
    assert "one burst after the response completes" in page
    assert "does not stream" in page
    table = page.split("### openai_compatible: options")[1].split("##")[0]
    assert set(re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in table.splitlines() if "|" in row))) == set(
        OPTIONS
    )
