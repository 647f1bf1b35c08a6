"""The programs we run ourselves: found once, never where a sandboxed command could have put them."""

import os
import sys
from pathlib import Path

import pytest

from sightline.exceptions import OutsideFailure
from sightline.exec import UntrustedProgram, find_program, planted_programs, program, start_words, work_in
from sightline.exec.sandbox import _known_workspaces, _programs


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A workspace and a folder outside it, both on PATH, the workspace's first. Nothing else is known."""
    monkeypatch.setattr(_programs, "_workspaces", set())
    monkeypatch.setattr(_programs, "_found", {})
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "data"))
    inside, outside = tmp_path / "work" / ".venv" / "bin", tmp_path / "programs"
    inside.mkdir(parents=True)
    outside.mkdir()
    monkeypatch.setenv("PATH", f"{inside}:{outside}")
    work_in(tmp_path / "work")
    return inside, outside


def put(folder: Path, name: str, first_line: str = "#!/bin/sh") -> Path:
    file = folder / name
    file.write_text(f"{first_line}\n")
    file.chmod(0o755)
    return file


def test_a_program_in_the_workspace_is_passed_over(folders):
    """The next on PATH is taken, by its absolute path."""
    inside, outside = folders
    put(inside, "tool")
    assert find_program("other") is None
    expected = put(outside, "tool")
    assert find_program("tool") == str(expected)


def test_one_that_is_in_the_workspace_only_is_refused(folders):
    """It says where it was found, and what to do."""
    inside, _ = folders
    put(inside, "tool")
    with pytest.raises(UntrustedProgram) as caught:
        program("tool")
    assert str(inside / "tool") in caught.value.message
    assert "outside the folder you work in" in caught.value.hint


def test_one_that_is_nowhere_is_said_to_be_missing(folders):
    """With what to do about it."""
    with pytest.raises(OutsideFailure, match="tool is not installed") as caught:
        program("tool")
    assert caught.value.hint


@pytest.mark.parametrize("link", ["file", "folder"])
def test_a_link_into_the_workspace_does_not_help(folders, tmp_path, monkeypatch, link):
    """A file outside that is really inside; a folder of PATH that is."""
    inside, outside = folders
    put(inside, "tool")
    if link == "file":
        (outside / "tool").symlink_to(inside / "tool")
    else:
        (tmp_path / "way").symlink_to(inside)
        monkeypatch.setenv("PATH", str(tmp_path / "way"))
    with pytest.raises(UntrustedProgram):
        find_program("tool")


def test_a_link_in_the_workspace_to_a_program_outside_is_passed_over(folders):
    """It can be exchanged."""
    inside, outside = folders
    put(outside, "real")
    (inside / "tool").symlink_to(outside / "real")
    with pytest.raises(UntrustedProgram):
        find_program("tool")


@pytest.mark.parametrize("entry", ["", ".", "bin", "~/bin"])
def test_a_folder_of_path_that_is_not_absolute_is_passed_over(folders, tmp_path, monkeypatch, entry):
    """It means another folder for each program."""
    put(folders[0], "tool")
    monkeypatch.chdir(folders[0])
    monkeypatch.setenv("PATH", entry)
    assert find_program("tool") is None


def test_the_answer_stays(folders):
    """What appears earlier on PATH later is not asked about again; a new workspace is."""
    inside, outside = folders
    found = put(outside, "tool")
    assert find_program("tool") == str(found)
    put(inside, "tool")
    found.chmod(0o644)
    assert find_program("tool") == str(found)
    work_in(outside)
    with pytest.raises(UntrustedProgram):
        find_program("tool")


def test_a_program_in_the_workspace_of_another_session_is_refused(folders, tmp_path, monkeypatch):
    """Whichever process that was, and whenever: also after the program was found there."""
    _, outside = folders
    put(outside, "tool")
    assert find_program("tool") == str(outside / "tool")
    _known_workspaces.remember(str(outside))
    with pytest.raises(UntrustedProgram):
        find_program("tool")
    assert _programs.trusted_path() == os.defpath
    assert (tmp_path / "data" / "used-workspaces").stat().st_mode & 0o777 == 0o600


def test_where_commands_ran_is_remembered_once_and_within_bounds(folders, tmp_path, monkeypatch):
    """Those that are gone go first."""
    monkeypatch.setattr(_known_workspaces, "_AT_MOST", 10)
    lasting = [tmp_path / str(number) for number in range(3)]
    for each in (*lasting, *lasting, *(tmp_path / f"gone-{number}" for number in range(7))):
        if each in lasting:
            each.mkdir(exist_ok=True)
        _known_workspaces.remember(str(each))
    assert len(_known_workspaces.known()) == 10
    _known_workspaces.remember(str(tmp_path))
    assert _known_workspaces.known() == {*map(str, lasting), str(tmp_path)}


def test_a_session_in_home_does_not_cost_the_programs_there(folders, tmp_path, monkeypatch):
    """Those on PATH were read-only for its commands."""
    _, outside = folders
    put(outside, "tool")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(_programs, "_workspaces", set())
    _known_workspaces.remember(str(tmp_path))
    assert find_program("tool") == str(outside / "tool")


def test_what_sets_up_the_sandbox_comes_from_the_system(folders, monkeypatch):
    """Wherever its folders stand on PATH; other programs are found in the order of PATH."""
    _, outside = folders
    for name in ("sh", "env", "cat"):
        put(outside, name)
    monkeypatch.setenv("PATH", f"{outside}:/usr/bin:/bin")
    assert [program(name) for name in ("sh", "env", "cat")] == ["/usr/bin/sh", "/usr/bin/env", str(outside / "cat")]
    assert _programs.trusted_path() == f"/usr/bin:/bin:{outside}"


def test_a_script_is_started_with_an_interpreter_from_outside(folders):
    """`env` would take the first on PATH."""
    inside, outside = folders
    put(inside, "node")
    node, tool = put(outside, "node"), put(outside, "tool", "#!/usr/bin/env node")
    assert start_words("tool") == [str(node), str(tool)]
    put(outside, "more", "#!/usr/bin/env -S node --flag")
    assert start_words("more") == [str(node), "--flag", str(outside / "more")]
    node.unlink()
    _programs._found.clear()
    with pytest.raises(UntrustedProgram):
        start_words("tool")


def test_a_path_is_the_persons_own(folders):
    """Whoever names a file means it."""
    assert start_words("./tool") == ["./tool"]


def test_programs_in_hidden_folders_of_home_can_be_run_where_home_is_the_workspace(folders, tmp_path, monkeypatch):
    """The protected set keeps them read-only there; the cache and the rest of home are writable."""
    monkeypatch.setenv("HOME", str(tmp_path / "work"))
    for name, runs in ((".local", True), (".cache", False), ("bin", False)):
        folder = tmp_path / "work" / name
        folder.mkdir()
        put(folder, "tool")
        monkeypatch.setenv("PATH", str(folder))
        if runs:
            assert find_program("tool") == str(folder / "tool")
        else:
            with pytest.raises(UntrustedProgram):
                find_program("tool")


def test_a_script_of_ours_gets_a_path_without_the_workspace(folders):
    """The guard calls `sed` and `grep` by name, outside the sandbox."""
    assert _programs.trusted_path() == str(folders[1])


def test_nothing_is_imported_from_the_working_folder(tmp_path):
    """Neither through `-m` nor PYTHONPATH, from the folder or one in it."""
    import subprocess

    (tmp_path / "src").mkdir()
    for folder in (tmp_path, tmp_path / "src"):
        (folder / "wave.py").write_text("print('planted')")  # of the standard library, and not imported by anything
    code = (
        "import sys; from sightline._working_folder import import_nothing_from_it as leave; leave(); import wave; "
        "import sightline.cli; print(sys.path.count(''))"
    )
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}:{tmp_path}/src"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_what_can_be_no_name_is_not_looked_up(tmp_path):
    """A model writes anything as a command: a NUL, a megabyte of words."""
    words = ["a\0b", "", "x" * 100_000, *map(str, range(100_000))]
    assert planted_programs(words, f"{tmp_path}:/usr/bin", str(tmp_path)) == ()
