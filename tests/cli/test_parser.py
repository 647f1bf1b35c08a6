"""A prompt is read without describing every other command first; nothing else may be different because of that."""

import gc

import pytest

from sightline.cli._main import without_collecting
from sightline.cli._parser import build_parser, parse
from sightline.exceptions import UserMistake


@pytest.mark.parametrize(
    "argv",
    [
        ["-p", "hello"],
        ["--prompt", "hello", "-v"],
        ["--model", "m", "-p", "-- is how a prompt may begin"],
        ["-p", "x", "--provider", "claude", "--timeout", "3", "--option", "a=b", "--option", "c=d"],
        [
            "-p",
            "x",
            "--allow",
            "exec(git push)",
            "--deny",
            "network",
            "--set",
            "read.default_limit=5",
            "--thinking",
            "low",
        ],
        ["-p", "x", "--resume", "abc", "--output-format", "events", "--color", "never", "--debug-log", "log"],
        ["-p", "x", "--continue", "--approval", "full"],
        ["-p", "x", "view", "file"],
        ["exec", "--", "mkdir", "-p", "folder"],
    ],
)
def test_a_prompt_is_read_as_the_whole_parser_reads_it(argv: list[str]) -> None:
    """The same options with the same values, whatever else is on the command line."""
    assert vars(parse(argv)) == vars(build_parser().parse_args(argv))


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["-p", "x", "--model"], "expected one argument"),
        (["-p", "x", "--provider", "nobody"], "invalid choice: 'nobody'"),
        (["-p", "x", "--continue", "--resume", "abc"], "not allowed with argument"),
        (["-p", "x", "vew"], "no command vew"),
    ],
)
def test_a_mistake_beside_a_prompt_is_told_by_the_whole_parser(argv: list[str], says: str) -> None:
    """The message knows the commands there are."""
    with pytest.raises(UserMistake, match=says) as mistake:
        parse(argv)
    with pytest.raises(UserMistake) as whole:
        build_parser().parse_args(argv)
    assert (mistake.value.message, mistake.value.hint) == (whole.value.message, whole.value.hint)


def test_help_beside_a_prompt_is_the_whole_help(capsys: pytest.CaptureFixture[str]) -> None:
    """Every command is in it."""
    with pytest.raises(SystemExit):
        parse(["-p", "x", "--help"])
    assert "completion" in capsys.readouterr().out


def test_garbage_is_collected_again_after_the_start() -> None:
    """Also when what was started failed."""
    usual = gc.get_threshold()
    with pytest.raises(ZeroDivisionError), without_collecting():
        1 / gc.isenabled()
    assert gc.isenabled()
    gc.unfreeze()
    gc.set_threshold(*usual)


@pytest.mark.parametrize("argv", [["--resume", ""], ["-p", "x", "--resume", " "], ["--resume="]])
def test_resuming_nothing_is_a_mistake(argv: list[str]) -> None:
    """Not a new session: a script whose variable is empty would not notice."""
    with pytest.raises(UserMistake, match="which session") as mistake:
        parse(argv)
    assert mistake.value.exit_code == 2
