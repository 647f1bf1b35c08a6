"""Help, completion and usage errors: what a new user meets first."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tools.completions import SHELLS, script

SIGHTLINE = str(Path(sys.executable).with_name("sightline"))
ROOT = Path(__file__).parent.parent.parent
COMMANDS = ["view", "events", "flow", "exec", "jobs", "attach", "logs", "cancel", "ps", "stop", "serve"]
COMMANDS += ["sessions", "resume", "tree", "fork", "models", "config", "doctor", "demo", "gallery", "completion"]
COMMANDS += ["agents"]
BELOW = [["flow", "run"], ["flow", "check"], ["jobs", "prune"]]
BELOW += [["config", name] for name in ("get", "set", "unset", "path", "trust", "untrust", "rules")]
BELOW += [["agents", "show"], ["agents", "new"]]


def sightline(*arguments):
    return subprocess.run([SIGHTLINE, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_scripts_are_those_of_the_parser(shell):
    """`make completions` was run after the last change to the parser."""
    assert sightline("completion", shell).stdout == script(shell)


def test_bash_accepts_its_completion_script():
    """The shell itself reads it without complaint."""
    done = subprocess.run(["bash", "-n", "-c", script("bash")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS), *BELOW])
def test_every_command_has_help(command):
    """`--help` says what it does and ends with 0."""
    done = sightline(*command, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("usage: sightline")


def test_the_reference_lists_every_option():
    """docs/reference/cli.md and `--help` name the same commands and options."""
    page = (ROOT / "docs/reference/cli.md").read_text()
    for command in ([], *([name] for name in COMMANDS), *BELOW):
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", sightline(*command, "--help").stdout):
            assert option in page, (command, option)
    for name in COMMANDS:
        assert f"sightline {name}" in page


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "error: the console needs a terminal"),
        (["-p", "x", "--model", "nobody/nothing"], "error: "),
        (["-p", "x", "--allow", "exec("], "error: not a rule: exec("),
        (["-p", "x", "--set", "read.limit"], "error: not NAME=VALUE: read.limit"),
        (["-p", "x", "--option", "a=b"], "error: Sightline's own agent takes no --option"),
        (["-p", "", "--provider", "claude"], "error: the prompt is empty"),
        (["-p"], "error: the prompt is empty"),
        (["-p", "-", "--provider", "claude"], "error: the prompt is empty"),
        (["-p", "x", "--provider", "nobody"], "invalid choice: 'nobody'"),
        (["-p", "x", "--provider", "claude", "--timeout", "0"], "not a number of seconds above 0: 0"),
        (["-p", "x", "--provider", "claude", "--option", "odd"], "error: not an option: odd"),
        (["-p", "x", "--provider", "claude", "--continue"], "error: no conversation with Claude Code in this folder"),
        (["-p", "x", "--provider", "claude", "--timeout", "abc"], "not a number of seconds above 0: abc"),
        (["-p", "x", "--provider", "claud"], "hint: did you mean claude?"),
        (["-p", "x", "--provider", "claude", "doctor"], "error: a prompt and a command cannot be combined"),
        (["flow"], "the following arguments are required"),
        (["frobnicate"], "no command frobnicate"),
        (["-p", "x", "--colour", "never"], "error: no option --colour\nhint: did you mean --color?"),
        (["--bogus", "x"], "error: no option --bogus"),
        (["--color", "never", "frobnicate"], "no command frobnicate"),
    ],
)
def test_a_users_mistake_is_said_in_a_line_and_ends_with_2(arguments, says):
    """What is wrong, what to do, no traceback."""
    done = sightline(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
