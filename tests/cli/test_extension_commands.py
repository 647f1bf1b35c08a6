"""Extensions from the command line: what they say at the start, and their commands in the place of a prompt."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.support import sightline

COMMANDS = """
def setup(extension):
    @extension.command("shout")
    def shout(args):
        return args.upper()

    @extension.command("work")
    async def work(args):
        await extension.prompt("work on it")

    @extension.command("fail")
    def fail(args):
        raise ValueError("no luck")

    @extension.command("wait")
    async def wait(args):
        import asyncio
        await asyncio.Event().wait()
"""


@pytest.fixture
def run(tmp_path: Path):
    """A prompt in a folder with an extension of one's own and a broken one of the project's."""
    for folder in (tmp_path / "home" / "extensions", tmp_path / "work" / ".sightline" / "extensions"):
        folder.mkdir(parents=True)
    (tmp_path / "home" / "extensions" / "commands.py").write_text(COMMANDS)
    (tmp_path / "script.json").write_text(json.dumps([[{"text": "A model says this."}]]))
    environment = {**os.environ, "SIGHTLINE_HOME": str(tmp_path / "home")}

    def prompt(text: str, *options: str, **more: object):
        model = f"scripted:{tmp_path / 'script.json'}"
        words = ("-p", text, "--model", model, *options)
        return sightline(*words, cwd=tmp_path / "work", env=environment, **more)

    return prompt


@pytest.mark.parametrize(
    ("prompt", "options", "code", "out", "err"),
    [
        pytest.param("/shout hello you", [], 0, "HELLO YOU\n", "", id="its words are the output"),
        pytest.param("/work", [], 0, "A model says this.\n", "", id="a prompt it hands the agent is worked on"),
        pytest.param("/shouting", [], 0, "A model says this.\n", "", id="no command, so the model's"),
        pytest.param("/fail", [], 1, "", "error: /fail failed: ValueError: no luck\n", id="a failure"),
        pytest.param("/wait", ["--timeout", "0.5"], 124, "", "error: timed out after 0.5 s\n", id="a timeout"),
    ],
)
def test_a_command_is_a_run(run, prompt: str, options: list[str], code: int, out: str, err: str) -> None:
    """Words on stdout, what went wrong on stderr, and the exit code of a run."""
    done = run(prompt, *options)
    assert (done.returncode, done.stdout.decode()) == (code, out)
    assert done.stderr.decode() == err  # no session is named: there is no conversation in it to resume


def test_what_is_piped_in_is_the_commands(run, tmp_path: Path) -> None:
    """As it is a prompt's."""
    (tmp_path / "input").write_text("piped")
    with (tmp_path / "input").open() as stdin:
        assert run("/shout and", stdin=stdin).stdout == b"AND\n\nPIPED\n"


def test_what_is_said_at_the_start_is_seen(run, tmp_path: Path) -> None:
    """That a project's extensions are not loaded, and which file is broken: before the first word, and once."""
    (tmp_path / "work" / ".sightline" / "extensions" / "theirs.py").write_text("1/0")
    (tmp_path / "home" / "extensions" / "broken.py").write_text("1/0")
    done = run("hello")
    assert done.stdout == b"A model says this.\n"
    said = done.stderr.decode()
    assert said.count("not loaded: the folder is not trusted\nhint: read them, then `sightline config trust") == 1
    assert said.count("broken.py:1 is left out: ZeroDivisionError") == 1
    lines = run("hello", "--output-format", "events").stdout.decode().splitlines()
    assert [json.loads(line)["kind"] for line in lines][:2] == ["notice", "notice"]
