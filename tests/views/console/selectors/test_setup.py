"""The first screen without a key: a key is checked and stored, a CLI or a local server is used, or it is closed."""

import asyncio
import json
import os
import stat
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sightline.events import Notice, State
from sightline.events.stamping import stamp
from sightline.host import CommandReply, Prompt, Reload, SetModel
from sightline.models import open_model
from sightline.paths import keys_folder
from sightline.secrets import secrets_in
from sightline.settings import Settings, load, stored_keys
from sightline.transcript import Transcript
from sightline.views.console.selectors import _model, _setup
from sightline.views.console.selectors._panel import ChoicePanel, QuestionPanel
from sightline.views.console.selectors._setup import KeyPanel
from tests.views.console.selectors.support import Desk
from tests.views.console.sitting import Sitting

KEY = "sk-ant-api03-Kx7vQ2mZp9Lw4TnB8sRd3fGh6"
VARIABLES = (
    *("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY"),
    *("OPENAI_BASE_URL", "GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "OPENROUTER_BASE_URL"),
)


@pytest.fixture
def vendor(monkeypatch):
    """A server that accepts one key, and counts what it was asked."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, self.headers.get("x-api-key") or self.headers.get("authorization")))
            fine = KEY in (asked[-1][1] or "") or self.path == "/local/v1/models"
            body = json.dumps({"data": [{"id": "claude-sonnet-4-5"}]} if fine else {"error": {"message": KEY}}).encode()
            self.send_response(200 if fine else 401)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    server.asked, server.url = asked, url
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def desk(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    made = Desk(cwd=str(folder), settings=load(folder).settings)
    made.answers[SetModel] = lambda command: CommandReply(True)
    made.answers[Reload] = lambda command: CommandReply(True, data={"later": []})
    return made


async def pasting(desk):
    task = asyncio.ensure_future(_setup.open(desk, ""))
    await desk.until_shown(ChoicePanel)
    desk.press("enter")
    await desk.until_shown(KeyPanel)
    return task


async def test_a_key_is_checked_with_one_request_stored_for_its_owner_and_used(desk, vendor):
    """It is never shown in full, and masked wherever secrets are."""
    task = await pasting(desk)
    desk.paste(f" {KEY}\n")
    shown = desk.rows()
    desk.press("enter")
    await asyncio.wait_for(task, 20)
    assert [path for path, _ in vendor.asked] == ["/v1/models?limit=1000"]
    file = keys_folder() / "keys.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert stored_keys() == {"ANTHROPIC_API_KEY": KEY}
    assert KEY not in "\n".join([*shown, *map(str, desk.told)])
    assert "•" in "\n".join(shown)
    [command] = desk.submitted
    assert command.model.startswith("anthropic/claude")
    assert KEY in secrets_in(Settings(), {}).values()


async def test_a_wrong_key_is_named_and_the_screen_stays(desk, vendor):
    """Nothing is stored; the right one can be pasted right away."""
    task = await pasting(desk)
    desk.paste("sk-ant-api03-wrong-wrong-wrong")
    desk.press("enter")
    await desk.until_rows("Anthropic does not accept this key")
    assert not keys_folder().exists()
    desk.paste("has a space")
    desk.press("enter")
    await desk.until_rows("This is not an API key")
    assert len(vendor.asked) == 1
    desk.paste(KEY)
    desk.press("enter")
    await asyncio.wait_for(task, 20)
    assert stored_keys() == {"ANTHROPIC_API_KEY": KEY}


async def test_a_key_that_cannot_be_stored_is_said_and_the_screen_stays(desk, vendor, tmp_path):
    """The file for it is a link: keys are not written where a sandboxed command could read them."""
    keys_folder().mkdir(parents=True)
    (keys_folder() / "keys.json").symlink_to(tmp_path / "elsewhere.json")
    task = await pasting(desk)
    desk.paste(KEY)
    desk.press("enter")
    await desk.until_rows("The key was not stored")
    (keys_folder() / "keys.json").unlink()
    desk.paste(KEY)
    desk.press("enter")
    await asyncio.wait_for(task, 20)
    assert stored_keys() == {"ANTHROPIC_API_KEY": KEY}
    assert not (tmp_path / "elsewhere.json").exists()


async def test_escape_goes_back_and_leaves(desk, vendor):
    """From the key to the list, from the list to the editor; how to come back is said."""
    task = await pasting(desk)
    desk.press(*"abc", "escape")
    await desk.until_shown(ChoicePanel)
    desk.press("escape")
    await asyncio.wait_for(task, 20)
    assert not vendor.asked
    assert desk.told == [("info", "No model yet", "/setup opens this again")]


async def test_a_key_of_nobody_known_is_asked_about(desk, vendor):
    """Which provider it belongs to cannot be seen in every key."""
    task = await pasting(desk)
    desk.paste("0123456789abcdef")
    desk.press("enter")
    await desk.until_rows("Whose key is this?", "OPENROUTER_API_KEY")
    desk.press("enter")
    await desk.until_rows("Anthropic does not accept this key")
    desk.press("escape")
    await desk.until_shown(ChoicePanel)
    desk.press("escape")
    await asyncio.wait_for(task, 20)


async def test_a_local_server_is_asked_for_its_models_and_stored_in_the_settings(desk, vendor, tmp_path):
    """An address without models says why, and can be corrected."""
    task = asyncio.ensure_future(_setup.open(desk, ""))
    await desk.until_rows("Use a local server")
    desk.press("up", "up", "enter")
    await desk.until_shown(QuestionPanel)
    rows = desk.rows()
    assert any("Press enter for http://localhost:11434/v1, or type another address" in row for row in rows)
    assert desk.panel.input.text == ""  # what stands there is used on enter, and goes when something is typed
    desk.type(f"{vendor.url}/nothing")
    desk.press("enter")
    await desk.until_rows("HTTP 401")
    desk.press("ctrl+u")
    desk.type(f"{vendor.url}/local/v1")
    desk.press("enter")
    await asyncio.wait_for(task, 20)
    assert desk.settings.models.servers["local"].base_url == f"{vendor.url}/local/v1"
    assert any(isinstance(each, SetModel) for each in desk.submitted)
    file = os.path.join(os.environ["SIGHTLINE_HOME"], "settings.toml")
    assert ("info", f"The server {vendor.url}/local/v1 is stored in {file}", "") in desk.told


async def test_an_address_without_v1_is_asked_there_too(desk, vendor):
    """Servers print it either way."""
    task = asyncio.ensure_future(_setup.open(desk, ""))
    await desk.until_rows("Use a local server")
    desk.press("up", "up", "enter")
    await desk.until_shown(QuestionPanel)
    desk.type(f"{vendor.url}/local/")
    desk.press("enter")
    await asyncio.wait_for(task, 20)
    assert desk.settings.models.servers["local"].base_url == f"{vendor.url}/local/v1"


async def test_the_address_that_is_offered_is_used_on_enter(desk, vendor, monkeypatch):
    """Without a letter typed."""
    monkeypatch.setattr(_setup, "_SERVER_URL", f"{vendor.url}/local/v1")
    task = asyncio.ensure_future(_setup.open(desk, ""))
    await desk.until_rows("Use a local server")
    desk.press("up", "up", "enter")
    await desk.until_shown(QuestionPanel)
    desk.press("enter")
    await asyncio.wait_for(task, 20)
    assert desk.settings.models.servers["local"].base_url == f"{vendor.url}/local/v1"


async def test_the_demo_takes_no_key(desk, vendor):
    """It would be stored in a folder that is deleted: that is said before anything is typed."""
    desk.sessions.lasting = False
    await _setup.open(desk, "")
    ((_, text, hint),) = desk.told
    assert text == "The demo stores nothing, so a key would be lost"
    assert "run sightline and enter /setup there" in hint


async def test_installed_clis_are_offered(desk, vendor, tmp_path, monkeypatch):
    """By what is found on PATH; one that is not installed is not offered."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "codex").write_text("#!/bin/sh\n")
    (folder / "codex").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    task = asyncio.ensure_future(_setup.open(desk, ""))
    rows = await desk.until_rows("Use Codex", "Play the demo", "Paste an API key")
    assert not any("Claude Code" in row for row in rows or desk.rows())
    desk.press("escape")
    await asyncio.wait_for(task, 20)


async def test_without_a_model_the_list_of_models_leads_there(desk, vendor, monkeypatch):
    """`/model` with nothing to choose from offers to add one."""
    monkeypatch.delenv("ANTHROPIC_BASE_URL")
    task = asyncio.ensure_future(_model.open(desk, ""))
    await desk.until_rows("Add a model")
    desk.press("enter")
    await desk.until_rows("Paste an API key")
    desk.press("escape")
    await asyncio.wait_for(task, 20)


async def test_a_stored_key_opens_models_and_the_environment_wins(vendor, monkeypatch):
    """And no process of ours puts it into the environment."""
    from sightline.settings import store_key

    store_key("ANTHROPIC_API_KEY", KEY)
    model = open_model("anthropic/claude-sonnet-4-5", Settings(), {})
    assert KEY in str(model._transport._headers)
    own = open_model("anthropic/claude-sonnet-4-5", Settings(), {"ANTHROPIC_API_KEY": "sk-ant-of-my-own"})
    assert "sk-ant-of-my-own" in str(own._transport._headers)
    assert "ANTHROPIC_API_KEY" not in os.environ


async def test_it_opens_by_itself_where_there_is_no_model_and_only_once(tmp_path):
    """A session of another agent, or with a model, is not asked about."""
    sitting = Sitting(tmp_path)
    sitting.hears(State("provider", "claude"), State("model", ""))
    sitting.hears(State("provider", ""))
    await sitting.until(lambda: "Paste an API key" in sitting.rows, "the first screen")
    assert "OPENROUTER_API_KEY" in sitting.rows
    sitting.press("escape")
    await sitting.until(lambda: "Paste an API key" not in sitting.rows, "the editor")
    sitting.hears(State("model", ""))
    assert "Paste an API key" not in sitting.rows
    await sitting.close()


@pytest.fixture
async def sitting(tmp_path):
    made = Sitting(tmp_path)
    yield made
    await made.close()


async def test_it_does_not_open_over_what_is_written(sitting):
    """However long that takes: a key that was meant for the editor chooses nothing."""
    sitting.press("h")
    sitting.hears(State("model", ""))
    await sitting.until(lambda: sitting.console.screen.asking is not None, "the first screen to wait")
    screen = sitting.console.screen
    screen._last_key = float("-inf")  # as if the last key had been long ago
    screen._show_above(screen._mounted[-1])
    sitting.press("i")
    assert "Paste an API key" not in sitting.rows
    assert sitting.console.prompt.text == "hi"
    sitting.press("backspace", "backspace")
    await sitting.until(lambda: "Paste an API key" in sitting.rows, "the first screen")


async def test_a_prompt_without_a_model_opens_it_and_stays_in_the_editor(sitting):
    """Nothing is sent, nothing is lost; and once there is a model it is sent with one key."""
    sitting.hears(State("model", ""))
    await sitting.until(lambda: "Paste an API key" in sitting.rows, "the first screen")
    sitting.press("escape")
    await sitting.until(lambda: "No model yet" in sitting.rows, "the editor")
    sitting.writes("hello")
    sitting.press("enter")
    await sitting.until(lambda: "Paste an API key" in sitting.rows, "the first screen again")
    assert sitting.console.prompt.text == "hello"
    assert not any(isinstance(command, Prompt) for command in sitting.commands)


async def test_it_does_not_push_a_list_aside_that_was_opened_meanwhile(sitting, monkeypatch):
    """It comes when the list is closed."""
    began, may_end = threading.Event(), threading.Event()

    def slowly():
        began.set()
        may_end.wait(10)
        return []

    monkeypatch.setattr(_setup, "installed_clis", slowly)
    sitting.hears(State("model", ""))
    await sitting.until(began.is_set, "the look for programs")
    sitting.console.spawn(sitting.console.run_command("thinking"))
    await sitting.until(lambda: "Thinking" in sitting.rows, "the list")
    may_end.set()
    await sitting.until(lambda: not sitting.console._offered_setup, "the first screen to step back")
    assert "Thinking" in sitting.rows
    sitting.press("escape")
    await sitting.until(lambda: "Paste an API key" in sitting.rows, "the first screen")


@pytest.mark.parametrize("command", ["", "thinking", "resume", "settings"])
async def test_ctrl_d_leaves_from_every_list(sitting, command):
    """As on the empty editor; the first screen is one of them."""
    sitting.hears(State("model", "opus" if command else ""))
    if command:
        sitting.console.spawn(sitting.console.run_command(command))
    await sitting.until(lambda: sitting.console.screen.is_answered, "the list")
    sitting.press("ctrl+d")
    await sitting.until(lambda: sitting.ended, "the end")


async def test_the_ways_to_a_model_are_not_offered_over_a_session_that_has_one(tmp_path, vendor, monkeypatch):
    """It was switched to while they were looked up."""
    looks_up, found = threading.Event(), threading.Event()

    def slow():
        looks_up.set()
        assert found.wait(60)
        return []

    monkeypatch.setattr(_setup, "installed_clis", slow)
    sitting = Sitting(tmp_path)
    without, has = Transcript(), Transcript()
    without.apply(stamp(State("model", ""), 1, 1000.0))
    has.apply(stamp(State("model", "scripted:x"), 1, 1000.0))
    sitting.console.frame(without.now)
    await sitting.until(looks_up.is_set, "the look")
    sitting.console.show(has.now)
    found.set()
    await sitting.until(lambda: not sitting.console._offered_setup, "the end of the look")
    assert "Choose a model" not in sitting.rows
    await sitting.close()


async def test_a_first_screen_greets_and_names_each_variable_once(tmp_path, vendor):
    """The name and the version, what is missing, and the ways to it; whatever came before the console looked."""
    sitting = Sitting(tmp_path)
    notice = Notice("there is no model to work with", "warning", "/setup in the console adds one")
    fold = Transcript()
    for number, event in enumerate((State("model", ""), notice), 1):
        fold.apply(stamp(event, number, 1000.0))
    sitting.console.frame(fold.now)
    await sitting.until(lambda: "Choose a model to work with" in sitting.rows, "the ways")
    rows = sitting.rows
    assert rows.index("Sightline ") < rows.index("there is no model") < rows.index("Choose a model")
    assert [rows.count(name) for name in ("Sightline ", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY")] == [1, 1, 1]
    await sitting.close()
