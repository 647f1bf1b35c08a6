"""`sightline "fix the tests"`: the console, with that said first; a word that is no command is a mistake."""

import json
from pathlib import Path
from typing import Any

import pytest

from sightline.cli._parser import parse
from sightline.exceptions import UserMistake
from tests.cli.support import sightline

pytestmark = pytest.mark.usefixtures("hosts")


@pytest.mark.parametrize(
    ("argv", "opening", "model"),
    [
        (["fix the tests"], "fix the tests", ""),
        (["fix the tests", "--model", "m"], "fix the tests", "m"),
        (["--model", "m", "fix\nit"], "fix\nit", "m"),
        (["--model", "m", "view now, please", "--continue"], "view now, please", "m"),
        (["--model", "a model"], "", "a model"),
    ],
)
def test_words_in_quotes_open_the_console(argv: list[str], opening: str, model: str) -> None:
    """Options may stand before and after them."""
    arguments = parse(argv)
    assert (arguments.opening, arguments.model, arguments.prompt) == (opening, model, None)
    assert arguments.latest == ("--continue" in argv)


@pytest.mark.parametrize(
    ("argv", "said", "hint"),
    [
        (["atach"], "no command atach", "did you mean attach?"),
        (["atach", "k3m9qz"], "no command atach", "did you mean attach?"),
        (["hello"], "no command hello", "for a prompt: sightline -p hello; commands: sightline --help"),
        (["-p", "fix", "the", "tests"], "no command the", "a prompt goes in quotes: sightline -p 'fix the tests'"),
        (
            ["-p", "fix", "the", "tests", "--model", "m"],
            "no command the",
            "a prompt goes in quotes: sightline -p 'fix the tests' --model m",
        ),
        (["hello", "-v"], "no command hello", "for a prompt: sightline -p hello; commands: sightline --help"),
        (["fix", "the", "tests"], "no command fix", "a prompt goes in quotes: sightline 'fix the tests'"),
        ([" "], "no command  ", "for a prompt: sightline -p ' '; commands: sightline --help"),
        (["fix the tests", "--modle", "m"], "unrecognized arguments: --modle m", "see `sightline --help`"),
        (["fix it", "and that"], "unrecognized arguments: and that", "see `sightline --help`"),
    ],
)
def test_what_is_no_command_and_no_prompt_is_a_mistake(argv: list[str], said: str, hint: str) -> None:
    """A mistyped command costs no model's answer."""
    with pytest.raises(UserMistake) as mistake:
        parse(argv)
    assert (mistake.value.message, mistake.value.hint) == (said, hint)


def test_off_a_terminal_the_way_is_named() -> None:
    """Nothing is asked of anybody."""
    done = sightline("fix the tests")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.endswith(b"hint: run it with -p: sightline -p 'fix the tests'\n")
    assert sightline("fix it", "-p", "and that").stderr.startswith(b"error: there are two prompts\n")


@pytest.mark.parametrize("more", [(), ("--set", "permissions.sandbox=false")], ids=["painted", "parsed"])
def test_it_is_said_as_if_it_had_been_entered(in_terminal: Any, tmp_path: Path, more: tuple[str, ...]) -> None:
    """And the person goes on from there; whether or not the paint came before the parser."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps([[{"text": "The first answer."}], [{"text": "The second answer."}]]))
    terminal = in_terminal("--model", f"scripted:{script}", "fix the tests", *more)
    terminal.wait_for("fix the tests", "The first answer.")
    terminal.press(b"go on\r")
    terminal.wait_for("The second answer.")
    terminal.press(b"\x04")
    assert terminal.wait() == 0
