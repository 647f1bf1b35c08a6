"""Images that go with a prompt: pasted paths, dragged files, the clipboard."""

import os
import stat
from pathlib import Path

import pytest

from sightline.tty import CURSOR, measure
from sightline.views.console.input import Attachment
from sightline.views.console.input._images import MOST, mentioned_images, pasted_images

from .support import FakeDesk, paste, png, press, prompt_editor, shown


@pytest.fixture
def desk(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return FakeDesk(folder)


@pytest.fixture
def editor(desk):
    made = prompt_editor(desk)
    made.handed_in = []
    desk.enter = made.handed_in.append
    return made


def picture(folder: Path, name: str = "shot.png") -> Path:
    path = folder / name
    path.write_bytes(png())
    return path


@pytest.mark.parametrize(
    "form", ["{path}", "'{path}'", '"{path}"', "{escaped}", "file://{quoted}", "{path}\n", " {path} "]
)
def test_a_pasted_path_of_an_image_becomes_an_attachment(editor, tmp_path, form):
    """As it is copied, and in the ways terminals hand a dragged file over."""
    path = picture(tmp_path, "my shot.png")
    escaped, quoted = str(path).replace(" ", "\\ "), str(path).replace(" ", "%20")
    paste(editor, form.format(path=path, escaped=escaped, quoted=quoted))
    assert editor.attachments == (Attachment(path, "my shot.png", len(png()), "image/png"),)
    assert editor.text == ""
    assert shown(editor)[1].startswith(" [1 my shot.png ")


def test_several_dragged_files_are_all_attached(editor, tmp_path):
    """Terminals put the paths on one line."""
    one, two = picture(tmp_path, "one.png"), picture(tmp_path, "two.png")
    paste(editor, f"{one} '{two}'")
    assert [attachment.name for attachment in editor.attachments] == ["one.png", "two.png"]


@pytest.mark.parametrize(
    "text", ["shot.png", "see {path}", "{path}.txt", "/nowhere/shot.png", "{fake}", "{path} {fake}"]
)
def test_anything_else_is_pasted_as_text(editor, tmp_path, text):
    """A bare name, a sentence, a file that is none or no image."""
    path = picture(tmp_path)
    (tmp_path / "fake.png").write_text("not a picture")
    text = text.format(path=path, fake=tmp_path / "fake.png")
    paste(editor, text)
    assert (editor.text, editor.attachments) == (text, ())


def test_a_path_in_a_shell_line_stays_text(editor, tmp_path):
    """`!open ` and a dragged file is a command with a path in it."""
    path = picture(tmp_path)
    press(editor, "'!open ")
    paste(editor, str(path))
    assert (editor.text, editor.attachments) == (f"!open {path}", ())


def test_a_relative_path_is_seen_from_the_sessions_folder(editor, desk):
    """`./shot.png` is the project's."""
    path = picture(Path(desk.cwd))
    paste(editor, "./shot.png")
    assert [attachment.path for attachment in editor.attachments] == [path]


def test_a_named_pipe_makes_nobody_wait(tmp_path):
    """What looks like an image and never answers is no image."""
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "link.png").symlink_to("pipe.png")
    (tmp_path / "device.png").symlink_to("/dev/zero")
    (tmp_path / "folder.png").mkdir()
    assert pasted_images(str(tmp_path / "pipe.png"), "/") == []
    held = os.open(tmp_path / "pipe.png", os.O_RDWR)  # a writer that says nothing, then the beginning of an image
    for written in (b"", b"\x89PNG\r\n\x1a\n" * 4):
        os.write(held, written)
        for name in ("pipe.png", "link.png", "device.png", "folder.png"):
            assert mentioned_images(f"look at @{name}", str(tmp_path)) == []
    os.close(held)


def test_attachments_are_handed_in_with_the_prompt_and_gone_then(editor, tmp_path):
    """An image alone is a prompt, too."""
    path = picture(tmp_path)
    paste(editor, str(path))
    press(editor, "'what is this?", "enter")
    assert [one.path for one in editor.handed_in[0].attachments] == [path]
    assert (editor.attachments, len(shown(editor))) == ((), 3)
    paste(editor, str(path))
    press(editor, "enter")
    assert (editor.handed_in[1].text, len(editor.handed_in[1].attachments)) == ("", 1)


def test_a_command_leaves_attachments_where_they_are(editor, tmp_path):
    """They wait for the words they belong to."""
    paste(editor, str(picture(tmp_path)))
    press(editor, "'!ls", "enter")
    assert (editor.handed_in[0].attachments, len(editor.attachments)) == ((), 1)


def test_backspace_at_the_beginning_removes_the_last_one(editor, tmp_path):
    """Behind the first letter it deletes letters."""
    for name in ("one.png", "two.png"):
        paste(editor, str(picture(tmp_path, name)))
    press(editor, "'a", "backspace")
    assert len(editor.attachments) == 2
    press(editor, "backspace")
    assert [attachment.name for attachment in editor.attachments] == ["one.png"]
    press(editor, "backspace", "backspace")
    assert editor.empty


def test_there_is_a_most(editor, desk, tmp_path):
    """One more than may go with a prompt is refused, and said."""
    path = picture(tmp_path)
    for _ in range(MOST + 1):
        paste(editor, str(path))
    assert len(editor.attachments) == MOST
    assert desk.told[0][0] == "warning"


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_the_row_of_attachments_fits(editor, tmp_path, width):
    """Hostile and wide names, and more of them than there is room for: counted, one row."""
    path = picture(tmp_path)
    names = ["a\x1b]0;x\x07b.png", "日本語の長い名前の絵です本当に長い.png", "c" * 300 + ".png", "d.png"]
    editor.attach([Attachment(path, name, 1_234_567, "image/png") for name in names])
    rows = editor.component.render(width)
    assert len(rows) == 4
    assert measure(rows[1].replace(CURSOR, "")) <= width
    assert "\x1b]" not in rows[1].replace(CURSOR, "")
    assert "[4 d.png 1.2 MB]" in rows[1]
    assert width == 200 or "+" in rows[1]


def program(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def clipboard(tmp_path, monkeypatch):
    """A folder for programs that alone is on PATH, and a picture for them to write out."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (tmp_path / "clip.png").write_bytes(png(3, 3))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr("sys.platform", "linux")
    for variable in ("WAYLAND_DISPLAY", "DISPLAY"):
        monkeypatch.delenv(variable, raising=False)
    return folder


WL_PASTE = """case "$*" in
--list-types) echo text/html; echo image/png;;
*image/png*) /bin/cat "{picture}";;
*) exit 1;; esac"""
XCLIP = """case "$*" in
*TARGETS*) echo TARGETS; echo image/png;;
*image/png*) /bin/cat "{picture}";;
*) exit 1;; esac"""


@pytest.mark.parametrize(
    ("variable", "name", "script"), [("WAYLAND_DISPLAY", "wl-paste", WL_PASTE), ("DISPLAY", "xclip", XCLIP)]
)
async def test_the_image_on_the_clipboard_is_attached(editor, desk, clipboard, monkeypatch, variable, name, script):
    """ctrl+v, on Wayland and on X11; the file it is kept in is for its owner alone."""
    monkeypatch.setenv(variable, ":0")
    program(clipboard, name, script.format(picture=clipboard.parent / "clip.png"))
    press(editor, "ctrl+v")
    await desk.settled()
    [attachment] = editor.attachments
    assert (attachment.name, attachment.path.read_bytes()) == ("clipboard.png", png(3, 3))
    assert stat.S_IMODE(attachment.path.stat().st_mode) == 0o600


async def test_on_macos_pngpaste_is_asked(editor, desk, clipboard, monkeypatch):
    """It writes PNG to its output when told `-`."""
    monkeypatch.setattr("sys.platform", "darwin")
    program(clipboard, "pngpaste", f'test "$1" = - && /bin/cat "{clipboard.parent}/clip.png"')
    press(editor, "alt+v")
    await desk.settled()
    assert len(editor.attachments) == 1


@pytest.mark.parametrize(
    ("variable", "missing"),
    [("WAYLAND_DISPLAY", "wl-paste is needed"), ("DISPLAY", "xclip is needed"), ("", "no clipboard can be reached")],
)
async def test_what_is_missing_is_said(editor, desk, clipboard, monkeypatch, variable, missing):
    """The program by its name and what to install, or that there is no clipboard here at all."""
    if variable:
        monkeypatch.setenv(variable, ":0")
    press(editor, "ctrl+v")
    await desk.settled()
    [(level, text, hint)] = desk.told
    assert (level, text.startswith(missing), bool(hint)) == ("warning", True, True)


@pytest.mark.parametrize("script", ["echo text/plain", "exit 1", "echo image/png"])
async def test_a_clipboard_without_an_image_is_said(editor, desk, clipboard, monkeypatch, script):
    """Text, nothing, or something that only calls itself an image."""
    monkeypatch.setenv("WAYLAND_DISPLAY", ":0")
    program(clipboard, "wl-paste", script)
    press(editor, "ctrl+v")
    await desk.settled()
    assert (editor.attachments, desk.told[0][1]) == ((), "there is no image on the clipboard")


async def test_a_clipboard_program_that_hangs_is_ended(editor, desk, clipboard, monkeypatch):
    """Nobody waits longer than a moment for it."""
    monkeypatch.setenv("WAYLAND_DISPLAY", ":0")
    monkeypatch.setattr("sightline.views.console.input._clipboard._PATIENCE", 0.1)
    program(clipboard, "wl-paste", "exec /bin/sleep 60")
    press(editor, "ctrl+v")
    await desk.settled()
    assert desk.told[0][1] == "there is no image on the clipboard"
