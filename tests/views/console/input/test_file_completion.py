"""`@file`: what is offered, in which order, and that nobody waits for it."""

import asyncio
import os
from pathlib import Path

import pytest

from sightline.views.console.input import _file_completion, _project_files
from sightline.views.console.input._project_files import ProjectFiles

from .support import FakeDesk, press, prompt_editor, shown, until

FILES = (
    "README.md",
    "src/app.py",
    "src/editor/_buffer.py",
    "src/editor/notes.txt",
    "tests/test_editor.py",
    "docs/my notes.txt",
    "docs/old plans/plan one.md",
    ".github/workflow.yml",
    "build/made.py",
    "日本/文書.md",
)


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    for name in FILES:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    (folder / ".gitignore").write_text("build/\n")
    (folder / ".git").mkdir()  # what makes it a repository to those who look for ignored files
    return folder


@pytest.fixture
def desk(project):
    return FakeDesk(project)


async def offered(editor, desk) -> list[str]:
    """The completions that are shown, once all have come in."""
    await desk.settled()
    return [row[2:].rstrip() for row in shown(editor) if row.startswith(("› ", "  "))]


async def test_names_of_the_whole_project_are_found(project, desk):
    """A few letters of a name anywhere below the folder are enough; what answers with its last part comes first."""
    editor = prompt_editor(desk)
    press(editor, "'look at @edit")
    names = await offered(editor, desk)
    assert names[:2] == ["src/editor/", "tests/test_editor.py"]
    assert set(names[2:]) == {"src/editor/_buffer.py", "src/editor/notes.txt"}
    press(editor, "down", "enter")
    assert editor.text == "look at @tests/test_editor.py "


async def test_what_git_ignores_is_not_offered(project, desk):
    """A built file is not what anybody means."""
    editor = prompt_editor(desk)
    press(editor, "'@made")
    assert await offered(editor, desk) == []


async def test_what_is_hidden_is_offered_when_asked_for(project, desk):
    """A dot at the beginning of a name asks for hidden ones."""
    editor = prompt_editor(desk)
    press(editor, "'@workflow")
    assert await offered(editor, desk) == []
    editor.set_text("")
    press(editor, "'@.git")
    assert ".github/workflow.yml" in await offered(editor, desk)


async def test_names_with_blanks_are_quoted(project, desk):
    """`@"my notes.txt"` is one name; a folder with a blank stays open for what is in it."""
    editor = prompt_editor(desk)
    press(editor, "'@mynotes")
    assert await offered(editor, desk) == ["docs/my notes.txt"]
    press(editor, "enter")
    assert editor.text == '@"docs/my notes.txt" '
    editor.set_text("")
    press(editor, "'@old")
    await desk.settled()
    press(editor, "tab")
    assert editor.text == '@"docs/old plans/'
    assert await offered(editor, desk) == ["docs/old plans/plan one.md"]
    press(editor, "tab")
    assert editor.text == '@"docs/old plans/plan one.md" '


async def test_a_folder_that_is_typed_out_shows_what_is_in_it(project, desk):
    """After a slash the things directly in a folder come first, and the folder itself is there already."""
    editor = prompt_editor(desk)
    press(editor, "'@src/")
    names = await offered(editor, desk)
    assert names[:2] == ["src/app.py", "src/editor/"]
    assert "src/" not in names


async def test_enter_on_what_is_written_already_sends_the_text(project, desk):
    """Taking a name that changes nothing would go round in circles."""
    editor = prompt_editor(desk)
    sent = []
    desk.enter = lambda submission: sent.append(submission.text)
    press(editor, "'look at @src/app.py")
    assert await offered(editor, desk) == ["src/app.py"]
    press(editor, "enter")
    assert sent == ["look at @src/app.py"]
    press(editor, "'look at @src")
    await desk.settled()
    press(editor, "'/", "enter")  # before the answer to the slash is there
    assert sent[1:] == ["look at @src/"]


async def test_tab_goes_from_folder_to_folder_and_not_in_circles(project, desk):
    """Each one shows what is in it."""
    editor = prompt_editor(desk)
    press(editor, "'@src")
    await desk.settled()
    press(editor, "tab")
    assert editor.text == "@src/"
    await desk.settled()
    press(editor, "tab")
    assert editor.text == "@src/app.py "


async def test_a_path_from_its_beginning_looks_into_that_folder(project, desk, tmp_path, monkeypatch):
    """`./`, `../`, `~/` and `/` go anywhere, ignored files too."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "far away.txt").write_text("x")
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
    editor = prompt_editor(desk)
    press(editor, "'@./build/")
    assert await offered(editor, desk) == ["made.py"]
    press(editor, "enter")
    assert editor.text == "@./build/made.py "
    editor.set_text("")
    press(editor, "'@../else")
    assert await offered(editor, desk) == ["elsewhere/"]
    editor.set_text("")
    press(editor, "'@~/")
    assert await offered(editor, desk) == ["far away.txt"]
    press(editor, "enter")
    assert editor.text == '@"~/far away.txt" '


async def test_no_files_are_offered_to_a_shell_or_to_python(project, desk):
    """There an at sign means something else."""
    editor = prompt_editor(desk)
    for text in ("!git log @app", "$@app"):
        editor.set_text("")
        press(editor, f"'{text}")
        assert await offered(editor, desk) == []


async def test_a_mention_begins_a_word(project, desk):
    """An address is no mention."""
    editor = prompt_editor(desk)
    press(editor, "'me@app")
    assert await offered(editor, desk) == []


async def test_wide_names_and_hostile_ones(project, desk):
    """A name in any script is offered; one that would drive the terminal is not."""
    try:
        (project / "app\x1b[31m.py").write_text("x")
        (project / os.fsdecode(b"app\xff.py")).write_text("x")
    except OSError:
        pytest.skip("this file system does not take such names")
    editor = prompt_editor(desk)
    press(editor, "'@文書")
    assert await offered(editor, desk) == ["日本/文書.md"]
    editor.set_text("")
    press(editor, "'@app")
    assert await offered(editor, desk) == ["src/app.py"]


async def test_a_file_made_meanwhile_is_found(project, desk, monkeypatch):
    """The list is made anew while the old one is used."""
    monkeypatch.setattr(_file_completion, "_NEWER_AFTER", -1.0)
    editor = prompt_editor(desk)
    press(editor, "'@app")
    await desk.settled()
    (project / "appendix.md").write_text("x")
    press(editor, "'e")
    await until(lambda: any("appendix.md" in row for row in shown(editor)))
    await desk.settled()


async def test_answers_come_while_names_are_still_read(project, desk, monkeypatch):
    """In a huge project the first names are offered before the last are known."""
    more = asyncio.Event()

    async def slowly(folder):
        yield ["first_app.py"]
        yield ["second_app.py"]
        await more.wait()
        yield ["third_app.py"]

    monkeypatch.setattr(_project_files, "_listing", lambda: slowly)
    monkeypatch.setattr(_project_files, "_SHOWN_EVERY", -1.0)
    editor = prompt_editor(desk)
    press(editor, "'@app")
    await until(lambda: any("second_app.py" in row for row in shown(editor)))
    assert not any("third_app.py" in row for row in shown(editor))
    more.set()
    await until(lambda: any("third_app.py" in row for row in shown(editor)))
    await desk.settled()


async def test_more_names_than_are_held_is_said(project, desk, monkeypatch):
    """The bound is visible, and said once."""
    monkeypatch.setattr(_project_files, "MOST", 3)
    monkeypatch.setattr(_file_completion, "MOST", 3)
    editor = prompt_editor(desk)
    press(editor, "'@app")
    await desk.settled()
    assert [text for _, text, _ in desk.told] == [
        "only 3 of the files here are offered after @; begin with ./ to look into folders"
    ]


async def test_a_folder_that_is_gone_offers_nothing(tmp_path):
    """No list, no crash."""
    desk = FakeDesk(tmp_path / "gone")
    editor = prompt_editor(desk)
    press(editor, "'@app")
    assert await offered(editor, desk) == []


async def test_without_ripgrep_files_are_found_too(project, desk, monkeypatch):
    """The tools' own walk stands in."""
    from sightline.tools.files import _ripgrep

    monkeypatch.setattr(_ripgrep, "program", lambda: None)
    editor = prompt_editor(desk)
    press(editor, "'@test_ed")
    assert await offered(editor, desk) == ["tests/test_editor.py"]


def test_a_name_is_found_among_a_hundred_thousand():
    """The best one is offered although thousands of folders answer too."""
    files = ProjectFiles()
    files._hold([f"editor/part{number}/file{number}.py" for number in range(20_000)] + ["zz/deep/down/editor.py"])
    assert "zz/deep/down/editor.py" in files.best("editor")[:3]
    assert len(files.best("e")) <= 200


async def test_names_are_forgotten_after_a_while(project, desk, monkeypatch):
    """A list nobody asks for is not held."""
    monkeypatch.setattr(_file_completion, "_DROPPED_AFTER", 0.0)
    completion = _file_completion.ProjectFileCompletion(lambda: str(project), desk.spawn, lambda text: None)
    answers = []
    from sightline.tty.components.editor import CompletionRequest

    completion.complete(CompletionRequest("@app"), answers.append)
    await desk.settled()
    await until(lambda: completion._files.complete is False)
    assert answers[-1] is not None


def test_the_example_project_is_what_the_tests_say(project):
    """Guards the fixture: the names above are really there."""
    assert all(Path(project, name).is_file() for name in FILES)
