"""The whole program around the real CLIs: `sightline -p … --provider …`."""

import json
import subprocess
from pathlib import Path

import pytest
from lab import TIMEOUT, Lab, Script, program, scripted, steps
from tests.cli.support import is_alive, until

from sightline.events import RunEnded, decode_event
from sightline.testing.captures.chat import converse
from sightline.testing.place import write_project
from sightline.testing.standin import StandIn

pytestmark = pytest.mark.live

COMMANDS: Script = [
    [{"tool": "Bash", "args": {"command": "ls"}}],
    [{"tool": "Bash", "args": {"command": "for i in 1 2; do\n  echo $i\ndone"}}],
    [{"tool": "Bash", "args": {"command": "echo " + "many words " * 10}}],
    [{"tool": "Bash", "args": {"command": "printf '%s\\n' '日本語 👨‍👩‍👧‍👦 שלום'"}}],
    [{"text": "Four commands, 日本語 and all.\n\n- done\n"}],
]


def verbose_output(lab: Lab, provider: str) -> bytes:
    """What a person sees of the script with `-v`.

    The fifth provider runs no tools, so a plain client runs them, and its response bodies are what is viewed.
    """
    if provider != "openai_compatible":
        done = lab.sightline(provider, COMMANDS, "-v")
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout
    write_project(lab.folder / "chat")
    with StandIn.in_thread(COMMANDS) as server:
        bodies = converse(server, "Go.", lab.folder / "chat", stream=True)
    command = [program(), "view", "-v", "--provider", provider]
    return subprocess.run(
        command, input=b"".join(body.content for body in bodies), capture_output=True, check=True
    ).stdout


def test_verbose_output_is_the_same_whoever_does_the_work(tmp_path: Path) -> None:
    """One block per response, all calls shell commands: five providers, one output, byte for byte."""
    providers = ["claude", "codex", "gemini", "opencode", "openai_compatible"]
    outputs = {provider: verbose_output(Lab(tmp_path / provider), provider) for provider in providers}
    assert outputs["claude"].count(b"Bash") == 4
    assert outputs["claude"].endswith("Four commands, 日本語 and all.\n\n- done\n".encode())
    for provider in providers:
        assert outputs[provider].decode() == outputs["claude"].decode(), provider


def test_default_output_is_the_words_and_nothing_else(lab: Lab, provider: str) -> None:
    """Without `-v` stdout is exactly what the model said."""
    done = lab.sightline(provider, COMMANDS)
    assert done.stdout.decode() == "Four commands, 日本語 and all.\n\n- done\n"
    assert done.returncode == 0


def test_events_of_the_program_are_those_of_the_script(lab: Lab, provider: str) -> None:
    """`--output-format events` is NDJSON of our vocabulary, numbered from 1."""
    done = lab.sightline(provider, COMMANDS, "--output-format", "events")
    events = [decode_event(line) for line in done.stdout.splitlines()]
    assert steps(events) == scripted(COMMANDS, provider)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert any(isinstance(event, RunEnded) for event in events)


@pytest.mark.parametrize(("approval", "happens"), [("plan", False), ("full", True)])
def test_approval_is_what_the_cli_makes_of_it(lab: Lab, provider: str, approval: str, happens: bool) -> None:
    """Whatever its settings say, `plan` lets a CLI change nothing and `full` anything."""
    lab.allow = False
    script: Script = [[{"tool": "Bash", "args": {"command": "touch made.txt"}}], [{"text": "Tried."}]]
    lab.sightline(provider, script, "--approval", approval)
    assert (lab.folder / "project/made.txt").exists() == happens


def test_a_failed_run_exits_with_one(lab: Lab, provider: str) -> None:
    """Whatever code the CLI itself has for it, a failed run is 1, and the reason is on stderr."""
    done = lab.sightline(provider, [[{"error": "the request was rejected", "status": 400}]])
    assert done.returncode == 1
    assert b"the request was rejected" in done.stderr
    assert done.stdout == b""


def test_it_is_seen_and_stopped_from_elsewhere(lab: Lab, provider: str) -> None:
    """`ps` lists it, `attach` has its words, `stop` ends it with the command it runs."""
    command = "test -e began || { echo $$ > pid; mv pid began; sleep 300; }"
    script: Script = [[{"text": "One moment."}, {"tool": "Bash", "args": {"command": command}}], [{"text": "Later."}]]
    with lab.working(provider, script) as (process, environment):

        def sightline(*words: str) -> subprocess.CompletedProcess[bytes]:
            return subprocess.run([program(), *words], env=environment, capture_output=True, timeout=TIMEOUT)

        began = lab.folder / "project/began"
        until(began.exists, "the command")
        (host,) = json.loads(sightline("ps", "--json").stdout)
        assert (host["pid"], host["state"]) == (process.pid, "working")
        watcher = subprocess.Popen([program(), "attach", host["id"]], env=environment, stdout=subprocess.PIPE)
        assert sightline("stop", host["id"]).returncode == 0
        seen, _ = watcher.communicate(timeout=TIMEOUT)
        assert seen.count(b"One moment.") == 1 or provider == "opencode"  # which prints a text when a turn is over
        out, err = process.communicate(timeout=TIMEOUT)
        assert process.returncode == 130
        assert out.count(b"One moment.") == seen.count(b"One moment.")
        assert f"Resume with: sightline --resume {host['id']}".encode() in err
        until(lambda: not is_alive(int(began.read_text())), "the end of the command")
        assert json.loads(sightline("ps", "--json").stdout) == []
