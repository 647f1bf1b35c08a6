"""What goes on in a session: jobs, agents, files that were changed. And models."""

import asyncio
import os

import pytest

from sightline.delegation import find_agents
from sightline.events import AgentState, Notice, ToolOutput, ToolResult, ToolUse
from sightline.events.stamping import stamp
from sightline.host import Abort, CancelCall, CancelJob, CommandReply, Prompt, Reload, SetModel
from sightline.settings import load
from sightline.settings._trust import trust
from sightline.transcript import Total, TranscriptAgent, TranscriptCall, TranscriptMessage, TranscriptText
from sightline.views.console._agent_names import agent_role
from sightline.views.console.selectors import _agents, _files, _jobs, _model, _panel
from sightline.views.console.selectors._agent_viewer import AgentViewer
from sightline.views.console.selectors._agents import AgentsPanel
from sightline.views.console.selectors._files import changed_files
from sightline.views.console.selectors._jobs import JobsSelector
from sightline.views.console.selectors._model import ModelChoice
from sightline.views.console.selectors._pager import Viewer
from sightline.views.console.selectors._panel import ChoicePanel
from tests.views.console.selectors.support import HOSTILE, WIDTHS, Desk, new_store

ENDED = {"content": "", "is_error": True, "exit_code": 2, "duration": 3.0}
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY")


@pytest.fixture
def store(tmp_path):
    return new_store(tmp_path)


async def closed(desk, task):
    """Leave whatever is open."""
    while not task.done():
        if desk.shown:
            desk.press("ctrl+c")
        await asyncio.sleep(0)
    await task
    for each in tuple(desk.tasks):
        each.cancel()


def running(desk, *ids):
    desk.state.state["jobs"] = [{"id": id, "label": f"build {id}", "status": "running", "started": 940.0} for id in ids]


async def test_jobs_that_run_come_first_then_those_that_ended(store):
    """What the session says, and what its transcript has of earlier ones; calls that never were jobs are not here."""
    desk = Desk(store, "abcdef")
    desk.state.entries = [
        TranscriptCall("", "call_1", "Bash", arg="ls", args={"command": "ls"}, content="", exit_code=0),
        TranscriptCall("", "abcdef-1", "Bash", is_job=True, args={"command": "make"}, **ENDED),
        TranscriptCall("", "abcdef-2", "Bash", is_job=True, args={"command": "old words"}),
    ]
    running(desk, "abcdef-2")
    task = asyncio.ensure_future(_jobs.open(desk, ""))
    await desk.until_shown(JobsSelector)
    rows = desk.rows(100)
    assert [item.value for item in desk.panel.list.matching] == ["abcdef-2", "abcdef-1"]
    assert any("build abcdef-2" in row and "1 min 0 s" in row for row in rows)
    assert any("make" in row and "failed · exit 2 · 3 s" in row for row in rows)
    await closed(desk, task)


async def test_a_job_is_looked_at_while_it_runs_and_after(store):
    """Its output opens, and the list is there again after that."""
    writer = store.create()
    session = writer.folder.name
    artifact = writer.artifact(f"{session}-1")
    artifact.write("stdout", b"building\n")
    desk = Desk(store, session, height=12)
    running(desk, f"{session}-1")
    task = asyncio.ensure_future(_jobs.open(desk, ""))
    await desk.until_shown(JobsSelector)
    desk.press("enter")
    await desk.until_rows("building", "following")
    desk.press("q")
    await desk.until_shown(JobsSelector)
    await closed(desk, task)
    artifact.close()
    writer.close()


async def test_a_job_is_cancelled_and_the_list_follows(store, monkeypatch):
    """The list sees by itself what became of it."""
    monkeypatch.setattr(_panel, "_POLL_SECONDS", 0.005)
    desk = Desk(store, "abcdef")
    running(desk, "abcdef-1", "abcdef-2")
    desk.answers[CancelJob] = lambda command: CommandReply(True, command.id)
    task = asyncio.ensure_future(_jobs.open(desk, ""))
    await desk.until_shown(JobsSelector)
    desk.press("delete")
    await desk.until_rows("cancelled")
    assert desk.submitted == [CancelJob("abcdef-2")]
    desk.state.state["jobs"] = [{"id": "abcdef-1", "label": "b", "status": "cancelled", "started": 1.0}]
    await desk.until(lambda: [item.group for item in desk.panel.list.matching] == ["ended"])
    await closed(desk, task)


async def test_an_ended_job_does_not_offer_to_be_cancelled(store):
    """The hint is there for what runs alone."""
    desk = Desk(store, "abcdef")
    running(desk, "abcdef-1")
    desk.state.state["jobs"].append({"id": "abcdef-2", "label": "b", "status": "cancelled", "started": 1.0})
    task = asyncio.ensure_future(_jobs.open(desk, ""))
    await desk.until_shown(JobsSelector)
    assert "delete cancel" in desk.rows()[-1]
    desk.press("down")
    assert "cancel" not in desk.rows()[-1]
    await closed(desk, task)


async def test_without_jobs_it_says_so(store):
    """No empty list."""
    desk = Desk(store, "abcdef")
    desk.state.state["jobs"] = "nonsense from another version"
    await _jobs.open(desk, "")
    assert desk.told == [("info", "no jobs in this session", "")]


def with_agents(desk):
    desk.state.running = True
    desk.state.agents = {
        "a": TranscriptAgent("a", "", "scout", "look around", call="call_1", started=900.0),
        "a/b": TranscriptAgent("a/b", "a", "digger", "dig", running=False, is_error=True, started=900.0, ended=910.0),
    }
    desk.state.totals = {
        "": Total(turns=1, input_tokens=1000, output_tokens=500, cost=0.5),
        "a": Total(turns=2, input_tokens=20_000, output_tokens=300, cost=0.25),
    }
    desk.state.entries = [
        TranscriptMessage("", "go", seq=1),
        TranscriptText("a", 1, "I look", seq=2),
        TranscriptCall("a", "c1", "Bash", arg="ls", args={"command": "ls"}, content="file.py\n", seq=3),
        TranscriptText("", 2, "root words", seq=4),
    ]
    desk.state.seq = 4


async def test_agents_are_a_tree_with_what_they_do_and_cost(store):
    """State, time, tokens and cost of each; who started whom."""
    desk = Desk(store, "abcdef")
    with_agents(desk)
    task = asyncio.ensure_future(_agents.open(desk, ""))
    await desk.until_shown(AgentsPanel)
    described = {item.label: item.description for item in desk.panel.list.matching}
    assert described == {
        "Main": ("running · 1.5k tokens · $0.50 · with its agents 21.8k tokens, $0.75 · root words"),
        "  scout: look around": "running · 1 min 40 s · 20.3k tokens · $0.25 · Bash ls",
        "    digger: dig": "failed · 10 s",
    }
    await closed(desk, task)


def stand(desk, path, state, **more):
    fact = AgentState(state, **more)
    desk.state.agents[path].stand(fact, desk.state.seq, 950.0)


async def test_what_an_agent_of_ours_is_doing_is_in_its_row(store):
    """Its state, the model, what it has not read; why it was aborted; that it waits for the user before anything
    else. An agent that is not the root has its colour here, too."""
    desk = Desk(store, "abcdef")
    with_agents(desk)
    stand(desk, "a", "idle", model="small-1", unread=2)
    stand(desk, "a/b", "aborted", reason="too many turns")
    task = asyncio.ensure_future(_agents.open(desk, ""))
    await desk.until_shown(AgentsPanel)

    def described():
        return {item.value: item.description for item in _agents.items_of(desk.state, 1000.0)}

    assert described()["a"] == "idle · 2 unread · 50 s · small-1 · 20.3k tokens · $0.25 · Bash ls"
    assert described()["a/b"] == "aborted: too many turns · 10 s"
    desk.press("down")
    assert any("20.3k tokens · $0.25 · Bash ls" in row for row in desk.rows()), "below the list all of it has room"
    desk.height = 12
    assert not any("Bash ls" in row for row in desk.rows())
    desk.state.requests["r1"] = {"id": "r1", "agent": "a"}
    assert described()["a"].startswith("waits for you · ")
    assert described()[_agents._ROOT].startswith("running · ")
    desk.state.totals["a/b"] = Total(turns=1, input_tokens=700, cost=0.5)
    assert "· with its agents 21k tokens, $0.75 ·" in described()["a"]
    assert [item.role for item in _agents.items_of(desk.state, 1000.0)] == ["", agent_role("a"), agent_role("a/b")]
    await closed(desk, task)


async def test_what_an_agent_does_is_shown_as_it_comes(store, monkeypatch):
    """In the blocks of the transcript: its own words and calls and those of agents below it, and no one else's."""
    monkeypatch.setattr("sightline.views.console.selectors._agent_viewer._LOOKS_APART", 0.005)
    desk = Desk(store, "abcdef", height=14)
    with_agents(desk)
    task = asyncio.ensure_future(_agents.open(desk, ""))
    await desk.until_shown(AgentsPanel)
    desk.press("down", "enter")
    await desk.until_shown(AgentViewer)
    await desk.until_rows("scout: look around · running", "I look", "✓ $ ls", "│ file.py", "following")
    assert not any("root words" in row for row in desk.rows())
    desk.state.entries.append(TranscriptText("a", 3, "I found it", seq=5))
    desk.state.entries.append(TranscriptText("a/b", 4, "I dig", seq=6))
    desk.state.seq = 6
    await desk.until_rows("I found it", "✕ digger dig", "│ I dig")
    assert desk.panel.render(80) is desk.panel.render(80)
    desk.press("q")
    await desk.until_shown(AgentsPanel)
    await closed(desk, task)


async def test_one_agent_is_opened_by_its_path(store, monkeypatch):
    """Without the list; a console that was opened for it waits for its session. Closed, the list does not come."""
    monkeypatch.setattr("sightline.views.console.selectors._agent_viewer._LOOKS_APART", 0.005)
    desk = Desk(store, "abcdef", height=14)
    task = asyncio.ensure_future(_agents.open(desk, "a"))
    await asyncio.sleep(0)
    with_agents(desk)
    await desk.until_shown(AgentViewer)
    await desk.until_rows("scout: look around · running", "I look")
    desk.press("q")
    await task
    assert desk.told == []


async def test_an_agent_that_is_not_there_is_reported(store):
    """With those that are."""
    desk = Desk(store, "abcdef")
    with_agents(desk)
    await _agents.open(desk, "c")
    assert desk.told == [("error", "there is no agent c", "agents here: a, a/b")]


async def test_a_definition_is_written_for_the_project(store, tmp_path):
    """As the command line writes it, once; where it is and what to do next is reported."""
    desk = Desk(store, "abcdef")
    desk.cwd = str(tmp_path)
    await _agents.open(desk, "new critic")
    path = tmp_path / ".sightline" / "agents" / "critic.md"
    assert "name: critic\n" in path.read_text()
    hint = "edit it; its agents can be started when the folder is trusted: sightline config trust"
    assert desk.told == [("info", f"written: {path}", hint)]
    path.write_text("mine")
    await _agents.open(desk, "new critic")
    await _agents.open(desk, "new ../critic")
    await _agents.open(desk, "new")
    assert [text for _, text, _ in desk.told[1:]] == [
        f"already there: {path}",
        "not the name of an agent: ../critic",
        "what is the agent called?",
    ]
    assert path.read_text() == "mine"


async def test_a_definition_in_a_trusted_folder_can_be_used_at_once(store, tmp_path):
    """The folder is trusted with it."""
    tmp_path = tmp_path / "work"
    tmp_path.mkdir()
    trust(tmp_path)
    desk = Desk(store, "abcdef")
    desk.cwd = str(tmp_path)
    await _agents.open(desk, "new critic")
    ((_, _, hint),) = desk.told
    assert hint == "edit it: who the agent is, and what it is for; critic can be started at once"
    assert "critic" in find_agents(tmp_path, os.environ).agents


async def test_a_long_transcript_of_an_agent_can_be_scrolled(store, monkeypatch):
    """What is in the window stays there while more comes; at the end it is followed."""
    monkeypatch.setattr("sightline.views.console.selectors._agent_viewer._LOOKS_APART", 0.005)
    desk = Desk(store, "abcdef", height=14)
    with_agents(desk)
    desk.state.entries += [TranscriptText("a", n, f"line {n}", seq=n) for n in range(10, 300)]
    desk.state.seq = 300
    task = asyncio.ensure_future(_agents.open(desk, ""))
    await desk.until_shown(AgentsPanel)
    desk.press("down", "enter")
    await desk.until_shown(AgentViewer)
    await desk.until_rows("line 299")
    await desk.until(lambda: desk.panel._view.component.held is None)
    desk.press("pageup", "up")
    shown = desk.rows()[1:-1]
    assert "line 299" not in shown
    desk.state.entries.append(TranscriptText("a", 300, "the last", seq=301))
    desk.state.seq = 301
    await desk.until(lambda: desk.panel._seen == 301)
    assert desk.rows()[1:-1] == shown
    desk.press("home")
    assert "I look" in desk.rows()
    desk.press("end")
    assert "the last" in desk.rows()
    await closed(desk, task)


async def test_an_agents_transcript_is_searched_as_text(store):
    """Blocks have no search; the text of them has, and there it is copied. The session's own is text at once."""
    desk = Desk(store, "abcdef", height=14)
    with_agents(desk)
    task = asyncio.ensure_future(_agents.open(desk, ""))
    await desk.until_shown(AgentsPanel)
    await desk.go("down", "enter")
    await desk.go("/")
    assert isinstance(desk.panel, Viewer)
    await desk.until_rows("I look", "$ Bash ls", "file.py")
    await desk.go("q")
    await desk.go("up", "enter")
    assert isinstance(desk.panel, Viewer)
    await desk.until_rows("root words")
    await closed(desk, task)


async def test_an_agent_is_stopped_by_the_call_that_started_it(store):
    """The session's own is stopped as Escape does, and what was queued comes back; one that ended cannot be."""
    desk = Desk(store, "abcdef")
    with_agents(desk)
    desk.draft = "mine"
    desk.answers[CancelCall] = lambda command: CommandReply(True)
    desk.answers[Abort] = lambda command: CommandReply(True, data={"queued": ["later"]})
    task = asyncio.ensure_future(_agents.open(desk, ""))
    await desk.until_shown(AgentsPanel)
    desk.press("down", "down", "delete")
    assert any("it is not running" in row for row in desk.rows())
    desk.press("up", "delete", "up", "delete")
    await desk.until(lambda: len(desk.submitted) == 2)
    assert desk.submitted == [CancelCall("call_1"), Abort()]
    await desk.until(lambda: desk.draft == "later\n\nmine")
    await closed(desk, task)


async def test_an_agent_of_ours_is_written_to_and_stopped_in_its_view(store):
    """Enter opens a line, enter sends it, escape gives it up; delete stops the agent. What is refused says why."""
    desk = Desk(store, "abcdef", height=14)
    with_agents(desk)
    stand(desk, "a", "running")
    desk.answers[Prompt] = lambda command: CommandReply(True)
    desk.answers[Abort] = lambda command: CommandReply(False, error="a is not working")
    task = asyncio.ensure_future(_agents.open(desk, ""))
    await desk.until_shown(AgentsPanel)
    desk.press("down", "enter")
    await desk.until_shown(AgentViewer)
    assert "enter write to it · delete stop" in desk.rows()[-1]
    desk.press("enter", *"no", "escape", "enter", "enter")
    assert desk.submitted == [], "what was given up and what is empty is not sent"
    desk.press("enter", *"look again", "enter")
    await desk.until_rows("following · sent · ")
    desk.press("delete")
    await desk.until_rows("a is not working")
    assert desk.submitted == [Prompt("look again", agent="a"), Abort(agent="a")]
    desk.press("q")
    await desk.until_shown(AgentsPanel)
    await closed(desk, task)


async def test_in_the_view_of_an_agent_keys_are_offered_where_they_do_something(store, monkeypatch):
    """One that rests cannot be stopped, and one whose working copy is gone takes nothing."""
    monkeypatch.setattr("sightline.views.console.selectors._agent_viewer._LOOKS_APART", 0.005)
    desk = Desk(store, "abcdef", height=14)
    with_agents(desk)
    desk.answers[Abort] = lambda command: CommandReply(True)
    for path in ("a", "a/b"):
        stand(desk, path, "running")
    task = asyncio.ensure_future(_agents.open(desk, ""))
    await desk.until_shown(AgentsPanel)
    desk.press("down", "enter")
    await desk.until_shown(AgentViewer)
    desk.press("delete")
    await desk.until_rows("· stopping ·")
    stand(desk, "a", "idle", stopped=True)
    assert "delete stop" in desk.rows()[-1], "the one below it works"
    stand(desk, "a/b", "idle")
    last = desk.rows()[-1]
    assert "enter write to it" in last
    assert "stop" not in last
    stand(desk, "a", "parked", workplace="worktree")
    assert "write to it" not in desk.rows()[-1]
    desk.press("enter", *"hello", "enter", "delete")
    assert desk.submitted == [Abort(agent="a")]
    desk.press("q")
    await desk.until_shown(AgentsPanel)
    await closed(desk, task)


async def test_a_message_that_an_agent_refuses_is_not_lost(store):
    desk = Desk(store, "abcdef", height=14)
    with_agents(desk)
    stand(desk, "a", "idle")
    desk.answers[Prompt] = lambda command: CommandReply(False, error="a was stopped: timeout")
    task = asyncio.ensure_future(_agents.open(desk, "a"))
    await desk.until_shown(AgentViewer)
    desk.press("enter", *"look again", "enter")
    await desk.until_rows("a was stopped: timeout")
    desk.press("enter")
    assert "message › look again" in desk.rows()[-1]
    desk.press("escape", "q")
    await task


async def test_an_agent_that_the_user_stopped_says_so_in_the_list(store):
    """The head says that it is being stopped until it has."""
    desk = Desk(store, "abcdef")
    with_agents(desk)
    for path in ("a", "a/b"):
        stand(desk, path, "running")
    desk.answers[Abort] = lambda command: CommandReply(True)
    task = asyncio.ensure_future(_agents.open(desk, ""))
    await desk.until_shown(AgentsPanel)
    desk.press("down", "delete")
    await desk.until_rows("── Agents  stopping ──")
    for path in ("a", "a/b"):
        stand(desk, path, "idle", stopped=True)
    await desk.until(lambda: "stopping" not in desk.rows()[0])
    described = {item.value: item.description for item in _agents.items_of(desk.state, 1000.0)}
    assert described["a"].startswith("idle: stopped by you · ")
    assert "stop" not in desk.rows()[-1]
    await closed(desk, task)


async def test_an_agent_of_another_program_takes_no_messages(store):
    """Neither key is offered in its view, and pressed all the same they do nothing."""
    desk = Desk(store, "abcdef", height=14)
    with_agents(desk)
    task = asyncio.ensure_future(_agents.open(desk, ""))
    await desk.until_shown(AgentsPanel)
    desk.press("down", "enter")
    await desk.until_shown(AgentViewer)
    desk.press("enter", "delete")
    assert "write to it" not in desk.rows()[-1]
    assert desk.submitted == []
    desk.press("q")
    await desk.until_shown(AgentsPanel)
    await closed(desk, task)


async def test_the_stop_key_is_offered_where_it_can_do_something(store):
    """Where a program cannot stop one of its agents alone, the row of keys has it for the session's own only. Pressed
    all the same, the answer says why not."""
    desk = Desk(store, "abcdef")
    with_agents(desk)
    desk.state.state["stops_agents"] = False
    sentence = "Gemini CLI cannot stop one agent alone"
    desk.answers[CancelCall] = lambda command: CommandReply(False, command.id, sentence)
    task = asyncio.ensure_future(_agents.open(desk, ""))
    await desk.until_shown(AgentsPanel)
    assert "delete stop" in desk.rows()[-1]
    desk.press("down")
    assert "stop" not in desk.rows()[-1]
    assert "enter open" in desk.rows()[-1]
    desk.press("delete")
    await desk.until_rows(sentence)
    desk.state.state["stops_agents"] = True
    assert "delete stop" in desk.rows()[-1]
    await closed(desk, task)


def diff(path, text, **more):
    return {"ui": {"kind": "diff"}, "path": path, "diff": text, **more}


A = "--- a.py\n+++ a.py\n@@ -1 +1,2 @@\n-old\n+new\n+more\n"
B = "--- /dev/null\n+++ b.py\n@@ -0,0 +1 @@\n+fresh\n"


def edit(id, details, **more):
    return TranscriptCall("", id, "anything", args={}, details=details, **{"content": "", **more})


def test_files_are_found_by_shape_and_joined_by_path():
    """Whatever the tool is called; several files of one call; what failed or is not done changed nothing."""
    entries = [
        TranscriptText("", 1, "words"),
        edit("1", diff("a.py", A)),
        edit("2", diff("a.py", A + B, per_file_results=[diff("a.py", A), diff("b.py", B, op="create")])),
        edit("3", diff("failed.py", A), is_error=True),
        edit("4", diff("running.py", A), content=None),
        edit("5", diff("partial.py", A, partial=True)),
        edit("6", {"ui": {"kind": "table"}, "path": "t", "diff": A}),
        edit("7", {"ui": "diff", "diff": 3}),
        edit("8", [1, 2]),
    ]
    files = changed_files(entries)
    assert {path: (file.added, file.removed, len(file.diffs), file.created) for path, file in files.items()} == {
        "a.py": (4, 2, 2, False),
        "b.py": (1, 0, 1, True),
    }


async def test_a_changed_file_is_looked_at_and_edited(store, monkeypatch):
    """Its diffs in the pager, the others beside it; the person's own editor on a key."""
    monkeypatch.setenv("VISUAL", "ed --fast")
    desk = Desk(store, "abcdef", cwd="/here", height=14)
    desk.state.entries = [edit("1", diff("a.py", A)), edit("2", diff("b.py", B, op="create"))]
    task = asyncio.ensure_future(_files.open(desk, ""))
    await desk.until_shown(ChoicePanel)
    assert any("b.py" in row and "new · +1 −0" in row for row in desk.rows())
    await desk.go("down", "enter")
    await desk.until_rows("+fresh", "2/2")
    desk.press("left")
    await desk.until_rows("-old", "1/2")
    await desk.go("q")
    await desk.go("ctrl+e")
    assert desk.programs == [["ed", "--fast", "/here/b.py"]]
    await closed(desk, task)


async def test_without_changes_it_says_so(store):
    """No empty list."""
    desk = Desk(store, "abcdef")
    await _files.open(desk, "")
    assert desk.told == [("info", "no file has been changed in this session", "")]


@pytest.fixture
def models(monkeypatch, tmp_path):
    """A machine with no key and no server but those of the settings."""
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "sightline-home"
    home.mkdir(exist_ok=True)
    settings = home / "settings.toml"

    def desk(text):
        settings.write_text(f"[models]\ndiscover = false\n{text}")
        made = Desk(new_store(tmp_path), "abcdef", cwd=str(tmp_path), settings=load(tmp_path).settings)
        made.answers |= {SetModel: lambda command: CommandReply(True), Reload: lambda command: CommandReply(True)}
        return made

    return desk


SERVER = '[models.servers.mine]\nbase_url = "http://127.0.0.1:9/v1"\nmodels = ["large-3", "small-1"]\ncontext = 32000\n'


async def test_models_that_can_be_used_are_listed_and_one_is_chosen(models):
    """In groups by where they are from; the one there is now is marked; letters in order find one."""
    desk = models(SERVER)
    desk.state.state["model"] = "mine/small-1"
    task = asyncio.ensure_future(_model.open(desk, ""))
    await desk.until_shown(ModelChoice)
    assert desk.panel.list.highlighted.value == "mine/small-1"
    assert any("mine/small-1" in row and "now · " in row and "32k context" in row for row in desk.rows())
    assert any(row.startswith("mine (") for row in desk.rows())
    desk.type("lrg")
    desk.press("enter")
    await task
    assert desk.submitted == [SetModel(model="mine/large-3")]


async def test_a_model_that_is_not_listed_can_be_named(models):
    """Given with the command, or typed into the list; a refusal is told."""
    desk = models(SERVER)
    await _model.open(desk, "opus")
    task = asyncio.ensure_future(_model.open(desk, ""))
    await desk.until_shown(ModelChoice)
    desk.type("nobody/knows")
    assert any("not listed" in row for row in desk.rows())
    desk.answers[SetModel] = lambda command: CommandReply(False, error="no model", hint="see `sightline models`")
    desk.press("enter")
    await task
    assert desk.submitted == [SetModel(model="opus"), SetModel(model="nobody/knows")]
    assert desk.told == [("error", "no model", "see `sightline models`")]


async def test_without_a_model_it_says_how_to_get_one(models):
    """First start without a key."""
    desk = models("")
    task = asyncio.ensure_future(_model.open(desk, ""))
    await desk.until_shown(ModelChoice)
    assert any("Add a model" in row for row in desk.rows())
    desk.press("enter")
    await desk.until_rows("Paste an API key", "ANTHROPIC_API_KEY")
    desk.press("escape")
    await task
    assert desk.submitted == []


async def test_roles_and_thinking_are_set_from_the_list(models):
    """And the list is there again after that."""
    desk = models(SERVER)
    task = asyncio.ensure_future(_model.open(desk, ""))
    await desk.until_shown(ModelChoice)
    await desk.go("ctrl+r")
    await desk.go("down", "enter")
    assert desk.settings.models.small == "mine/large-3"
    assert any("mine/large-3" in row and "small" in row for row in desk.rows(120))
    await desk.go("ctrl+t")
    await desk.go("home", "enter")
    assert SetModel(thinking="off") in desk.submitted
    await closed(desk, task)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("height", [8, 24])
async def test_they_fit_and_stay_clean(models, width, height):
    """With hostile names, labels, paths and tasks."""
    desk = models(SERVER)
    desk.height = height
    with_agents(desk)
    desk.state.agents["x"] = TranscriptAgent("x", "gone", HOSTILE, HOSTILE)
    desk.state.state["jobs"] = [{"id": f"abcdef-{n}", "label": HOSTILE, "status": HOSTILE} for n in range(20)]
    desk.state.entries += [edit(str(n), diff(f"{HOSTILE}{n}", A)) for n in range(20)]
    for module in (_jobs, _agents, _files, _model):
        task = asyncio.ensure_future(module.open(desk, ""))
        await desk.until_shown()
        assert len(desk.rows(width)) <= height - 3
        assert desk.panel.render(width) is desk.panel.render(width)
        await closed(desk, task)


def test_the_fold_gives_what_is_shown_here(store):
    """A call whose details came with its result is found in a real fold, too."""
    from sightline.transcript import fold

    events = [
        ToolUse("c1", "Write", args={"path": "a.py"}),
        ToolOutput("c1", "x"),
        ToolResult("c1", "done", details=diff("a.py", A)),
        Notice("something"),
    ]
    state = fold([stamp(event, number, float(number)) for number, event in enumerate(events, start=1)])
    assert list(changed_files(state.shown)) == ["a.py"]
