"""Files of slash commands: what they say, which are none, and what a shell would make of arguments."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.agent import CommandCatalogue, CommandFile, find_commands
from sightline.agent.commands._discovery import MOST_COMMANDS
from sightline.agent.commands._template import CommandWords, pieces_of
from sightline.exceptions import UserMistake
from sightline.settings._trust import trust
from sightline.text import clean_line, clean_text


class Place:
    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        self.own = folder / "own" / "commands"
        self.own.mkdir(parents=True)
        (self.work / ".git").mkdir(parents=True)
        self.environ = {"HOME": str(folder / "home"), "SIGHTLINE_HOME": str(folder / "own")}

    def find(self) -> CommandCatalogue:
        return find_commands(self.work, self.environ, {"help": "a command of the console"})

    def one(self) -> CommandFile:
        (found,) = self.find().files
        return found


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize(
    ("head", "description", "arguments", "model"),
    [
        ("description: Fix: one", "Fix: one", "", ""),
        ("description: [WIP] fix it", "[WIP] fix it", "", ""),
        ("description: 'in quotes'", "in quotes", "", ""),
        ("description: |\n  two\n  lines", "two lines", "", ""),
        ("argument-hint: [a] [b]", "Do it", "[a] [b]", ""),
        ("argument-hint: [a]", "Do it", "[a]", ""),
        ("argument-hint: add [id] | remove [id]", "Do it", "add [id] | remove [id]", ""),
        ("model: claude-3-5-haiku-20241022", "Do it", "", "claude-3-5-haiku-20241022"),
        ("model: inherit", "Do it", "", ""),
        ("allowed-tools:\n  - Read\n  - Bash(git diff:*)", "Do it", "", ""),
    ],
)
def test_what_a_file_says(place: Place, head: str, description: str, arguments: str, model: str) -> None:
    """In the forms in which people write it."""
    (place.own / "do.md").write_text(f"---\r\n{head}\r\n---\r\n\r\n# Do it\r\n\r\nNow.\r\n")
    found = place.one()
    assert (found.state, found.why) == ("usable", "")
    assert (found.description, found.arguments, found.model) == (description, arguments, model)
    assert found.text == "# Do it\n\nNow."
    assert found.ignored == (("allowed-tools",) if "allowed" in head else ())


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (lambda path: path.write_text(""), "it has no text to send"),
    "no body": (lambda path: path.write_text("---\ndescription: a\n---\n"), "it has no text to send"),
    "no end": (lambda path: path.write_text("---\ndescription: a\n"), "its front matter has no end"),
    "huge": (lambda path: path.write_bytes(b"a" * 70_000), "it is larger than 64 KB"),
    "bytes": (lambda path: path.write_bytes(b"\xff\xfe"), "it is not UTF-8 text"),
    "nul": (lambda path: path.write_bytes(b"a\0"), "it has a NUL byte"),
    "pipe": (lambda path: os.mkfifo(path), "it is not a file"),
    "nowhere": (lambda path: path.symlink_to("/nowhere"), "No such file or directory"),
    "bomb": (lambda path: path.write_text("---\na: &a [x]\nb: *a\n---\nx"), "anchors and aliases"),
    "scripted": (lambda path: path.write_text("---\nmodel: Scripted:/x\n---\nx"), "a scripted model"),
    "model": (lambda path: path.write_text("---\nmodel: {a: b}\n---\nx"), "model must be text"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_file_that_is_none_is_broken_with_a_reason(place: Place, kind: str) -> None:
    """The others are used."""
    make, why = HOSTILE[kind]
    make(place.own / "bad.md")
    (place.own / "good.md").write_text("Go.")
    found = place.find()
    assert list(found.usable) == ["good"]
    (broken,) = (each for each in found.files if each.state == "broken")
    assert why in broken.why
    assert found.notices == [f"{place.own}/bad.md is not used: {broken.why}"]


def test_names_that_could_not_be_typed_are_refused(place: Place) -> None:
    """And shown without what drives a terminal."""
    for name in (b"a b.md", b"\x1b]0;x\x07.md", b"\xff.md", "\u202egnp.md".encode(), b"-x.md", b"a:.md"):
        Path(os.fsdecode(os.fsencode(place.own) + b"/" + name)).write_text("Go.")
    found = place.find()
    assert not found.usable
    assert {each.state for each in found.files} == {"broken"}
    assert all(clean_line(each.name) == each.name for each in found.files)
    assert len(found.notices) == 6, "five, and how many more"


def test_a_link_must_not_lead_out_of_the_project(place: Place, tmp_path: Path) -> None:
    """The user's own may."""
    target = tmp_path / "elsewhere.md"
    target.write_text("Go.")
    folder = place.work / ".claude/commands"
    folder.mkdir(parents=True)
    (folder / "out.md").symlink_to(target)
    (place.own / "mine.md").symlink_to(target)
    trust(place.work)
    found = place.find()
    assert list(found.usable) == ["mine"]
    assert found.files[0].why == "it is a link that leads outside the project"


def test_there_is_an_end_to_them(place: Place) -> None:
    """More than that are broken, and a folder with far too many is not used at all."""
    for number in range(MOST_COMMANDS + 1):
        (place.own / f"c{number:03}.md").write_text("Go.")
    found = place.find()
    assert len(found.usable) == MOST_COMMANDS
    assert found.files[-1].why == "there are more than 200 commands"
    for number in range(501):
        (place.own / f"c{number:03}.md").write_text("Go.")
    assert not place.find().files
    assert place.find().notices[0].startswith("too many files: ")


def test_of_the_same_name_the_first_counts(place: Place) -> None:
    """And the console's before all."""
    folder = place.work / ".claude/commands"
    folder.mkdir(parents=True)
    for where in (folder, place.own):
        (where / "fix.md").write_text("Go.")
    (place.own / "help.md").write_text("Go.")
    trust(place.work)
    states = [(each.source, each.name, each.state, each.why) for each in place.find().files]
    assert states == [
        ("project", "fix", "usable", ""),
        ("user", "fix", "shadowed", f"shadowed by {folder}/fix.md"),
        ("user", "help", "shadowed", "shadowed by a command of the console"),
    ]


@given(st.text(max_size=300))
@settings(max_examples=300, deadline=None)
def test_any_text_is_taken_apart_without_a_loss(text: str) -> None:
    """What is neither a command nor a file is there as it was."""
    pieces = pieces_of(text)
    rest = iter(text)
    assert all(character in rest for piece in pieces for character in piece.text), "in the same order"
    if all(piece.kind == "text" for piece in pieces):
        assert "".join(piece.text for piece in pieces) == text


LINES = (
    "printf '%s\\n' $1",
    'printf "%s\\n" "$1"',
    'printf "%s\\n" "a $2" "$1"',
    "printf '%s\\n' --x=$1 $ARGUMENTS",
    "printf '%s\\n' '$1'",
    'printf "%s\\n" "$(printf %s "$1")"',
    "cat <<EOF\n$1\nEOF",
    'printf "%s\\n" it\\"s $1',
    "if [[ $1 -gt 1 ]]; then true; fi",
    "if (( $1 )); then true; fi",
    "true # it's\nprintf '%s\\n' $1",
)


@given(st.sampled_from(LINES), st.text("ab[]$`\"'\\;|&<>()!#~*{}\n -/=", max_size=12))
@settings(max_examples=150, deadline=None)
def test_no_argument_is_run(line: str, given: str) -> None:
    """Whatever stands around it, a real shell reads arguments, or they are refused."""
    run = "echo $((40+2))ran >&2"
    words = CommandWords(f"{given} a[$({run})] $({run}) `{run}`;{run}")
    try:
        command = words.in_command(line)
    except UserMistake:
        return
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, cwd="/")
    assert "42ran" not in done.stderr, (command, done.stderr)


def test_clean_text_is_sent(place: Place) -> None:
    """Without what drives a terminal."""
    (place.own / "do.md").write_text("Go \x1b[31mred\x1b]0;t\x07.")
    assert place.one().text == clean_text(place.one().text) == "Go red."
