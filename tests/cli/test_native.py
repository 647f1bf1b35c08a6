"""`sightline -p` with our own agent, as a person or a script meets it: exit codes, channels, signals, bad places."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sightline.agent.loop._headless_commands import _INSTEAD, _WORKING
from sightline.events import Event, RunEnded, RunStarted, Text, ToolResult, User
from sightline.journal import SessionReader, Store
from sightline.views.console._actions import COMMANDS
from tests.cli.support import SIGHTLINE, is_alive, running_sessions, sightline, until

pytestmark = pytest.mark.usefixtures("hosts")

FREE = ("--set", "permissions.sandbox=false", "--allow", "exec")
HELLO: list[Any] = [[{"text": "Hello."}]]


def bash(command: str, **more: object) -> dict[str, object]:
    return {"tool": "bash", "args": {"command": command, **more}}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def script(folder: Path, turns: list[Any], name: str = "script.json") -> str:
    path = folder.parent / name
    path.write_text(json.dumps(turns))
    return f"scripted:{path}"


def native(folder: Path, turns: list[Any], *words: str, **options: Any) -> "subprocess.CompletedProcess[bytes]":
    return sightline("-p", "go", "--model", script(folder, turns), *FREE, *words, **options)


def started(folder: Path, turns: list[Any], *words: str, **options: Any) -> "subprocess.Popen[bytes]":
    command = [SIGHTLINE, "-p", "go", "--model", script(folder, turns), *FREE, *words]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **options}
    return subprocess.Popen(command, **options)


def store() -> Store:
    return Store(Path(os.environ["SIGHTLINE_HOME"]))


def kept(session: str = "") -> list[Event]:
    return list(SessionReader(store().folder(session or store().sessions()[0])).events())


def read_until(process: "subprocess.Popen[bytes]", text: bytes) -> bytes:
    assert process.stdout is not None
    said = b""
    while text not in said:
        more = os.read(process.stdout.fileno(), 4096)
        assert more, said
        said += more
    return said


@pytest.mark.parametrize(
    ("words", "out"),
    [
        ((), b"Looking.\nDone.\n"),
        (("-v",), b"Looking.\n\xe2\x97\x8f Bash echo hi\n  hi\nDone.\n"),
    ],
)
def test_words_alone_are_on_stdout(work: Path, words: tuple[str, ...], out: bytes) -> None:
    """Text is words, with -v calls and their output; nothing but the sum -v adds is on stderr when nothing is wrong."""
    done = native(work, [[{"text": "Looking."}, bash("echo hi")], [{"text": "Done."}]], *words)
    said = f"session {store().sessions()[0]}".encode() if words else b""
    assert (done.returncode, done.stdout) == (0, out)
    assert done.stderr.startswith(said)
    assert done.stderr.count(b"\n") == len(words)


@pytest.mark.parametrize("form", ["json", "events"])
def test_every_event_is_a_line(work: Path, form: str) -> None:
    """What is written is what is kept."""
    done = native(work, [[{"text": "Looking."}, bash("echo hi")], [{"text": "Done."}]], "--output-format", form)
    assert done.returncode == 0
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert len(kept()) == len(lines)


ERROR = [[{"text": "so far "}, {"error": {"kind": "auth", "message": "bad key"}}]]
REFUSED = [[{"tool": "bash", "args": {"command": "true", "sandbox": False}}], [{"text": "Could not."}]]


@pytest.mark.parametrize("form", ["text", "json", "events"])
@pytest.mark.parametrize(
    ("turns", "words", "code"),
    [
        pytest.param(HELLO, (), 0, id="done"),
        pytest.param(ERROR, (), 1, id="failed"),
        pytest.param(REFUSED, (), 3, id="refused"),
        pytest.param([[bash("true")], [{"text": "Could not."}]], ("--approval", "plan"), 3, id="plan"),
        pytest.param([[bash("true")], [{"text": "Could not."}]], ("--deny", "exec(true)"), 3, id="denied"),
        pytest.param([[{"text": "x", "delay_ms": 60000}]], ("--timeout", "0.3"), 124, id="timeout"),
    ],
)
def test_exit_codes(work: Path, turns: list[Any], words: tuple[str, ...], code: int, form: str) -> None:
    """The same in every form; the journal has the run's end."""
    model = script(work, turns)
    done = sightline("-p", "go", "--model", model, "--output-format", form, *words)
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr
    assert isinstance(kept()[-1], RunEnded) or any(isinstance(event, RunEnded) for event in kept())
    if code == 1 and form != "events":
        assert b"error: bad key" in done.stderr
    if code == 3 and form == "text":
        assert b"warning: refused" in done.stderr
        assert (
            b"--al" in done.stderr or b"--approval auto" in done.stderr or b"rule exec(true) denies it" in done.stderr
        )


@pytest.mark.parametrize("again", ["--continue", "--resume"])
def test_a_rule_given_once_is_there_when_the_session_is_resumed(work: Path, again: str) -> None:
    """The second command line names none: what was denied is still refused, by that rule."""
    model = script(work, HELLO)
    assert sightline("-p", "go", "--model", model, "--deny", "exec(true)").returncode == 0
    (session,) = store().sessions()
    model = script(work, [*HELLO, [bash("true")], [{"text": "Could not."}]])
    words = [again] if again == "--continue" else [again, session]
    done = sightline("-p", "go", "--model", model, *words)
    assert done.returncode == 3
    assert b"the rule exec(true) denies it" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(("--model", "nobody/nothing"), b"no model", id="unknown model"),
        pytest.param(("--allow", "bogus(x"), b"not a rule", id="bad rule"),
        pytest.param(("--set", "no.such=1"), b"no such setting", id="unknown setting"),
        pytest.param(("--set", "nothing"), b"not NAME=VALUE", id="no value"),
        pytest.param(("--resume", "zzzzzz"), b"no session", id="unknown session"),
        pytest.param(("--resume", ""), b"--resume needs the id of a session", id="empty session"),
        pytest.param(("--resume=",), b"--resume needs the id of a session", id="empty value"),
        pytest.param(("--continue",), b"no session in this folder to resume", id="nothing to continue"),
        pytest.param(("--model", "scripted:/nowhere.json"), b"cannot read", id="no script"),
    ],
)
def test_mistakes(work: Path, words: tuple[str, ...], said: bytes) -> None:
    """One line, a hint, exit code 2, and no session is left behind by it."""
    done = sightline("-p", "go", *(words if "--model" in words else ("--model", script(work, HELLO), *words)))
    assert done.returncode == 2
    assert done.stdout == b""
    assert said in done.stderr
    assert b"hint: " in done.stderr
    assert store().sessions() == []


def test_keys_that_cannot_be_read_are_reported_once(work: Path) -> None:
    """They are not masked: the user should know where the session begins."""
    keys = Path(os.environ["SIGHTLINE_HOME"]) / "keys"
    keys.mkdir(parents=True, mode=0o700)
    (keys / "keys.json").write_text('{"OPENAI_API_KEY": "sk-mine",}')
    done = native(work, HELLO)
    assert done.returncode == 0
    assert done.stderr.count(b"stored keys are not used, and not masked where they appear") == 1


def test_console_commands_that_make_sense_work(work: Path) -> None:
    """`/compact` compacts the session that is resumed, `/status` says what it is; no model is asked for `/status`."""
    model = script(work, [[{"text": "Answer " + "word " * 4000}]])
    for words in ((), ("--continue",)):
        assert sightline("-p", "Say " + "and " * 4000, "--model", model, *words).returncode == 0
    small = ("--set", "compaction.keep_recent=1000")
    done = sightline("-p", "/compact", "--continue", "--model", script(work, [[{"text": "All."}]], "two.json"), *small)
    assert (done.returncode, done.stdout) == (0, b"Compacted.\n"), done.stderr
    done = sightline("-p", "/status", "--continue", "--model", model)
    assert done.returncode == 0
    assert b"approval level auto" in done.stdout
    assert f"session {store().sessions()[0]}".encode() in done.stdout


def test_the_todo_list_is_shown_and_cleared_without_a_screen(work: Path) -> None:
    """`/todo` prints it as Markdown, `/todo clear` empties it for good."""
    todo = {
        "tool": "todo",
        "args": {"ops": [{"op": "init", "list": [{"phase": "Work", "items": ["Write it", "Test it"]}]}]},
    }
    assert native(work, [[todo], [{"text": "Planned."}]]).returncode == 0
    model = script(work, HELLO)
    shown = sightline("-p", "/todo", "--continue", "--model", model)
    assert shown.returncode == 0, shown.stderr
    assert [row for row in shown.stdout.decode().splitlines() if "Write it" in row or "Test it" in row]
    for prompt in ("/todo clear", "/todo"):
        done = sightline("-p", prompt, "--continue", "--model", model)
        assert (done.returncode, done.stdout) == (0, b"The todo list is empty.\n"), done.stderr
    done = sightline("-p", "/todo edit", "--continue", "--model", model)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"hint: without a screen: /todo, or /todo clear" in done.stderr


def test_a_session_is_renamed_and_commands_are_listed_without_a_screen(work: Path) -> None:
    """The new title is in `sightline sessions`."""
    model = script(work, HELLO)
    assert sightline("-p", "go", "--model", model).returncode == 0
    done = sightline("-p", "/rename A better title", "--continue", "--model", model)
    assert (done.returncode, done.stdout) == (0, b"Renamed to: A better title\n"), done.stderr
    assert json.loads(sightline("sessions", "--json").stdout)[0]["title"] == "A better title"
    helped = sightline("-p", "/help", "--continue", "--model", model).stdout.decode()
    assert {row.split()[0] for row in helped.splitlines()} >= {"/todo", "/compact", "/rename", "/help"}


def test_every_console_command_is_decided_about() -> None:
    """It works without a screen, or is a mistake with a hint; none is sent to the model as a prompt."""
    assert set(COMMANDS) <= {*_WORKING, *_INSTEAD}
    assert not set(_WORKING) & set(_INSTEAD)


def test_a_branch_is_summed_up_by_the_model_of_its_session(work: Path) -> None:
    """`tree --summarize` needs neither a key nor a model in the settings."""
    model = script(work, [[{"text": "In short."}]])
    for words in ((), ("--continue",)):
        assert sightline("-p", "go", "--model", model, *words).returncode == 0
    first = json.loads(sightline("tree", "-", "--filter", "user-only", "--json").stdout)[0]["id"]
    done = sightline("tree", "-", "--to", first, "--summarize")
    assert done.returncode == 0, done.stderr
    assert b'branch_summary: "In short' in sightline("tree", "-", "--filter", "all").stdout


@pytest.mark.parametrize(
    ("prompt", "hint"),
    [
        ("/resume", b"give --resume ID"),
        ("/jobs", b"sightline jobs"),
        ("/theme dark", b"sightline config set theme"),
        ("/serve", b"sightline serve"),
        ("/provider codex", b"--provider NAME"),
        ("/redraw", b"open the console"),
    ],
)
def test_console_commands_that_need_a_screen_are_mistakes(work: Path, prompt: str, hint: bytes) -> None:
    """Exit code 2, and what to do instead. The model is not asked."""
    done = sightline("-p", prompt, "--model", script(work, HELLO))
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"works only in the console" in done.stderr
    assert hint in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("words", [(), ("-v",), ("--output-format", "events"), ("--output-format", "json")])
def test_a_signal_ends_it_and_keeps_everything(work: Path, number: signal.Signals, words: tuple[str, ...]) -> None:
    """130, what was said is kept, the command is gone, nobody sees a traceback."""
    turns = [[{"text": "Words."}, bash("echo $$ > pid; sleep 60")], [{"text": "never"}]]
    process = started(work, turns, *words)
    pid = int(until(lambda: (work / "pid").exists() and (work / "pid").read_text().strip(), "the command"))
    process.send_signal(number)
    out, err = process.communicate(timeout=90)
    assert process.returncode == 130
    assert b"Words." in out
    assert b"Traceback" not in err
    assert b"never retrieved" not in err
    until(lambda: not is_alive(pid), "the command to be gone")
    events = kept()
    assert [event.stop_reason for event in events if isinstance(event, RunEnded)] == ["cancelled"]
    assert [event.details["ended"] for event in events if isinstance(event, ToolResult)] == ["cancelled"]
    assert not list((Path(os.environ["SIGHTLINE_HOME"]) / "run").glob("*.sock"))


@pytest.mark.parametrize("form", ["text", "json", "events"])
def test_a_reader_that_goes_away(work: Path, form: str) -> None:
    """The run is ended, the journal is whole and says so, and the shell hears of the pipe."""
    turns = [[{"text": "x" * 5000, "chunk": 1, "delay_ms": 2}]]
    process = started(work, turns, "--output-format", form)
    read_until(process, b"x")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=90) == 141
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    events = kept()
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [event.stop_reason for event in events if isinstance(event, RunEnded)] == ["cancelled"]


def test_a_reader_that_does_not_read_loses_nothing(work: Path) -> None:
    """Thousands of events while nobody reads: the run goes on, and every one of them is there afterwards, once."""
    turns = [[{"text": "y" * 12_000, "chunk": 1}, bash("touch over")], [{"text": "Done."}]]
    process = started(work, turns, "--output-format", "events")
    until(lambda: (work / "over").exists(), "the run to go on without a reader")
    out, err = process.communicate(timeout=90)
    assert (process.returncode, err) == (0, b"")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert sum(line["kind"] == "text" for line in lines) == 12_001


def test_a_reader_that_does_not_read_can_be_left(work: Path) -> None:
    """Ctrl+C does not wait for it."""
    process = started(work, [[{"text": "y" * 200_000, "chunk": 10}, bash("touch over; sleep 60")]])
    until(lambda: (work / "over").exists(), "the command")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=90) == 130
    process.communicate()


def test_going_on(work: Path, tmp_path: Path) -> None:
    """--continue is the last of this folder; --resume takes the beginning of an id, from any folder."""
    assert native(work, HELLO).returncode == 0
    session = store().sessions()[0]
    more = [[{"text": "x"}], [{"text": "Again."}], [{"text": "Once more."}]]
    assert native(work, more, "--continue").stdout == b"Again.\n"
    other = tmp_path / "elsewhere"
    other.mkdir()
    done = native(work, more, "--resume", session[:5], cwd=other)
    assert (done.stdout, done.returncode) == (b"Once more.\n", 0)
    assert store().sessions() == [session]
    assert native(work, more, "--continue", cwd=other).returncode == 2
    said = [event.text for event in kept() if isinstance(event, User)]
    assert said == ["go"] * 3
    blocks = [event.block for event in kept() if isinstance(event, Text)]
    assert len(blocks) == len(set(blocks))


def test_a_session_that_runs_is_not_resumed(work: Path) -> None:
    """It says how to watch it instead."""
    process = started(work, [[{"text": "on"}, bash("sleep 60")]])
    read_until(process, b"on")
    session = running_sessions()[0]["id"]
    done = sightline("-p", "go", "--model", script(work, HELLO, "other.json"), "--resume", session)
    assert done.returncode == 2
    assert f"sightline attach {session}".encode() in done.stderr
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=90)


def test_a_session_of_commands_has_no_conversation(work: Path) -> None:
    """Resuming it is a mistake that says so."""
    assert sightline("exec", "--", "true").returncode == 0
    done = sightline("-p", "go", "--model", script(work, HELLO), "--resume", store().sessions()[0])
    assert done.returncode == 2
    assert b"no conversation" in done.stderr


def test_watching_and_stopping_it(work: Path) -> None:
    """`ps` lists it, `attach` shows words, calls and the end, `stop` stops it."""
    go = work / "go"
    turns = [
        [{"text": "Words first."}, bash(f"echo out; until [ -e {go} ]; do sleep 0.02; done; echo more")],
        [{"text": "Done."}],
    ]
    process = started(work, turns)
    read_until(process, b"Words first.")
    session = running_sessions()[0]["id"]
    watching = subprocess.Popen([SIGHTLINE, "attach", session], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = read_until(watching, b"out\n")
    go.touch()
    rest, err = watching.communicate(timeout=90)
    assert (said + rest).startswith("> go\nWords first.\n● Bash echo out; until".encode())
    assert (said + rest).endswith(b"  out\n  more\nDone.\n")
    assert (watching.returncode, err) == (0, b"")
    process.communicate(timeout=90)
    assert process.returncode == 0
    again = sightline("attach", session)
    assert again.stdout.endswith(b"  out\n  more\nDone.\n")
    assert again.returncode == 0


def test_leaving_and_stopping_it(work: Path) -> None:
    """A watcher that leaves changes nothing; `stop` ends it as a cancel does."""
    process = started(work, [[{"text": "Words first."}, bash("sleep 60")]])
    read_until(process, b"Words first.")
    session = running_sessions()[0]["id"]
    watching = subprocess.Popen([SIGHTLINE, "attach", session], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    read_until(watching, b"Bash sleep 60")
    watching.send_signal(signal.SIGINT)
    _, err = watching.communicate(timeout=90)
    assert watching.returncode == 130
    assert b"still running" in err
    assert process.poll() is None
    assert sightline("stop", session).returncode == 0
    process.communicate(timeout=90)
    assert process.returncode == 130
    assert sightline("attach", session).returncode == 130


# Places and prompts


def test_a_home_that_cannot_be_made_is_no_full_disk() -> None:
    """The hint fits the reason."""
    done = sightline("exec", "--", "true", env={**os.environ, "SIGHTLINE_HOME": "/proc/nowhere"})
    assert done.returncode == 1
    assert b"hint: choose another folder with SIGHTLINE_HOME\n" in done.stderr


def test_a_home_with_a_long_name(work: Path, tmp_path: Path) -> None:
    """Longer than a socket's path may be."""
    home = tmp_path / ("d" * 120) / ("e" * 120)
    done = native(work, HELLO, env={**os.environ, "SIGHTLINE_HOME": str(home)})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"Hello.\n", b"")


def test_a_home_that_cannot_be_written(work: Path, tmp_path: Path) -> None:
    """It says where, and what to do."""
    (tmp_path / "file").touch()
    done = native(work, HELLO, env={**os.environ, "SIGHTLINE_HOME": str(tmp_path / "file" / "home")})
    assert done.returncode == 1
    assert b"SIGHTLINE_HOME" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_folder_that_is_gone(work: Path) -> None:
    """One line and a hint."""
    command = f'rmdir "$PWD"; exec {SIGHTLINE} -p go --model {script(work, HELLO)}'
    done = subprocess.run(["sh", "-c", command], cwd=work, capture_output=True, timeout=90)
    assert done.returncode == 2
    assert b"the current folder no longer exists" in done.stderr
    assert b"hint: " in done.stderr


@pytest.mark.parametrize(
    "words", ["sessions --here", "resume -", "config", "config path", "models", "doctor", "exec -- true"]
)
def test_other_commands_in_a_folder_that_is_gone(work: Path, words: str) -> None:
    """The same line from each that must know where it is."""
    done = subprocess.run(
        ["sh", "-c", f'rmdir "$PWD"; exec {SIGHTLINE} {words}'], cwd=work, capture_output=True, timeout=30
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"error: the current folder no longer exists\nhint: change to another folder\n"


def test_names_that_are_no_text(work: Path, tmp_path: Path) -> None:
    """A file's is shown as well as it can be. In a folder whose own is none no model could name a file."""
    fine = tmp_path / "fine"
    fine.mkdir()
    open(os.fsencode(fine) + b"/file\xfe", "w").close()
    done = native(work, [[bash("echo *; pwd")], [{"text": "ok"}]], "--output-format", "events", cwd=fine)
    assert done.returncode == 0, done.stderr
    events = kept()
    assert isinstance(events[0], RunStarted)
    assert len(events) == len(done.stdout.splitlines())
    odd = os.fsencode(tmp_path) + b"/odd\xff\x9b"
    os.mkdir(odd)
    done = native(work, HELLO, cwd=odd)
    assert done.returncode == 2
    assert b"not UTF-8" in done.stderr
    assert sightline("sessions", "--here", cwd=odd).returncode == 0
    for words in (("resume", "-"), ("tree", "-"), ("fork", "-")):
        done = sightline(*words, cwd=odd)
        assert done.returncode == 2
        assert b"no session in this folder" in done.stderr


@pytest.mark.parametrize("words", [("-p",), ("-p", "-"), ("--prompt",)])
def test_a_prompt_that_is_all_piped_in(work: Path, words: tuple[str, ...]) -> None:
    """However long it takes to come."""
    done = sightline("--model", script(work, HELLO), *words, stdin=None, input=b"fix it\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"Hello.\n", b"")
    assert [event.text for event in kept() if isinstance(event, User)] == ["fix it\n"]


def test_a_prompt_that_is_all_piped_in_for_a_provider(work: Path) -> None:
    """It is the provider's prompt as well: one that is there is not called empty."""
    words = ("-p", "--provider", "claude", "--continue")
    done = sightline(*words, stdin=None, input=b"fix it\n")
    assert b"error: no conversation with Claude Code" in done.stderr
    assert b"error: the prompt is empty" in sightline(*words).stderr


def test_no_prompt_on_a_terminal(work: Path, in_terminal: Any) -> None:
    """Nobody waits for one to be typed."""
    terminal = in_terminal("-p")
    until(lambda: terminal.read() or "the prompt is empty" in terminal.text, "the mistake")
    assert terminal.process.wait(20) == 2


@pytest.mark.parametrize(
    ("words", "said"), [((), "error: no prompt\nhint: "), (("go", "nobody/nothing"), "error: no model nobody/nothing")]
)
def test_the_example_of_a_program_says_what_is_wrong(work: Path, words: tuple[str, ...], said: str) -> None:
    """As the program itself does, without a traceback."""
    example = Path(__file__).parents[2] / "examples" / "agent_program.py"
    done = subprocess.run([sys.executable, str(example), *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith(said)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("prompt", "piped", "warned"),
    [
        pytest.param(b"a \xff\xfe prompt", b"", b"", id="not UTF-8"),
        pytest.param(b"go", b"a\0b\xff\x1b[31m", b"2 of 9 bytes on stdin are not text", id="NUL and escapes on stdin"),
        pytest.param(b"go", b"a" * 3_900_000, b"", id="nearly 4 MB on stdin"),
    ],
)
def test_odd_prompts(work: Path, prompt: bytes, piped: bytes, warned: bytes) -> None:
    """They are taken as well as they can be."""
    command = [SIGHTLINE.encode(), b"-p", prompt, b"--model", script(work, HELLO).encode()]
    done = subprocess.run(command, input=piped, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, b"Hello.\n")
    assert warned in done.stderr
    assert bool(warned) == bool(done.stderr)
    assert any(isinstance(event, User) for event in kept())


def test_a_prompt_that_is_too_long(work: Path) -> None:
    """A mistake that says how long it may be, and that leaves nothing behind."""
    command = [SIGHTLINE, "-p", "go", "--model", script(work, HELLO)]
    done = subprocess.run(command, input=b"a" * 5_000_000, capture_output=True, timeout=60)
    assert done.returncode == 2
    assert b"4000000" in done.stderr


def test_a_secret_is_not_in_the_title(work: Path) -> None:
    """What is listed has the prompt's first line, without it."""
    secret = "sk-very-secret-0123456789"
    done = sightline("-p", f"use {secret}", "--model", script(work, HELLO), env={**os.environ, "SOME_API_KEY": secret})
    assert done.returncode == 0
    assert secret.encode() not in sightline("sessions").stdout
    assert secret not in (store().folder(store().sessions()[0]) / "journal.jsonl").read_text()


# What is told


def test_a_failed_call_is_seen_to_have_failed(work: Path) -> None:
    """With -v, and to whoever attaches."""
    turns = [[bash("echo out; exit 3")], [{"text": "Done."}]]
    assert native(work, turns, "-v").stdout == "● Bash echo out; exit 3\n  out\n  ✕ exit code 3\nDone.\n".encode()
    assert "  ✕ exit code 3\n".encode() in sightline("attach", store().sessions()[0]).stdout


def test_binary_output_is_said_and_can_be_had(work: Path) -> None:
    """With -v, to whoever attaches, and all of it with the command that is named."""
    turns = [[bash("printf 'before\\n\\0\\0\\nafter\\n'")], [{"text": "Done."}]]
    said = native(work, turns, "-v").stdout.decode().splitlines()
    call = f"{store().sessions()[0]}-c1"
    rows = ["  before", f"  binary output, 16 B: stored, not shown; sightline logs {call} has it"]
    assert said == ["● Bash printf 'before\\n\\0\\0\\nafter\\n'", *rows, "Done."]
    assert sightline("attach", store().sessions()[0]).stdout.decode().splitlines()[2:4] == rows
    assert sightline("logs", call).stdout == b"before\n\0\0\nafter\n"


def test_a_timeout_says_so_and_how_to_go_on(work: Path) -> None:
    """On stderr; in the events the run has failed."""
    done = native(work, [[{"text": "x", "delay_ms": 60000}]], "--timeout", "0.3")
    hint = f"Resume with: sightline --resume {store().sessions()[0]}\n"
    assert done.stderr.decode() == f"error: timed out after 0.3 s\n{hint}"
    assert [event.is_error for event in kept() if isinstance(event, RunEnded)] == [True]


def test_a_cancel_says_so_and_how_to_go_on(work: Path) -> None:
    """The last words, after what was said."""
    process = started(work, [[{"text": "Words."}, bash("touch over; sleep 60")]])
    until(lambda: (work / "over").exists(), "the command")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=90)
    assert err.decode() == f"cancelled\nResume with: sightline --resume {store().sessions()[0]}\n"


def test_a_session_is_named_once_after_a_cancel(work: Path) -> None:
    """Also with -v, which has a line of its own for it where nothing else names it."""
    process = started(work, [[{"text": "Words."}, bash("touch over; sleep 60")]], "-v")
    until(lambda: (work / "over").exists(), "the command")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert err.decode().count(store().sessions()[0]) == 1


def test_a_cancelled_side_question_names_no_session(work: Path) -> None:
    """As the first prompt it leaves no conversation that could be resumed."""
    turns = [{"blocks": [{"text": "An answer.", "delay_ms": 60000}], "aside": True}]
    process = subprocess.Popen(
        [SIGHTLINE, "-p", "/btw why?", "-v", "--model", script(work, turns)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    until(lambda: store().sessions() and any(isinstance(event, User) for event in kept()), "the question")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err.decode()) == (130, "cancelled\n")
    id = store().sessions()[0]
    assert b"has no conversation" in sightline("-p", "go", "--resume", id, "--model", script(work, HELLO)).stderr


def test_a_question_nobody_answers_is_told(work: Path) -> None:
    """With what to do about it."""
    question = {"tool": "ask", "args": {"question": "Which one?"}}
    done = native(work, [[question], [{"text": "Done."}]])
    assert (
        b"the agent asked, and no user is there to answer: Which one?\nhint: give the answer in the prompt\n"
        in done.stderr
    )
