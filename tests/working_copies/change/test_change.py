"""What changed in a repository: which change a name means, what is read of it, and what cannot get in the way."""

import os
import stat
from pathlib import Path

import pytest

from sightline.exceptions import SightlineError, UserMistake
from sightline.working_copies import RepositoryChange, change_choices, read_change
from sightline.working_copies.change import _change, _target
from tests.working_copies.conftest import git, make_repository

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def project(workspace: Path) -> Path:
    """On `work`, which has one commit that `main` has not, and one that `main` has and it has not."""
    (workspace / "app.py").write_text("".join(f"line {number}\n" for number in range(1, 31)))
    (workspace / "sub").mkdir()
    (workspace / "sub" / "old name").write_text("one\ntwo\nthree\nfour\nfive\n")
    make_repository(workspace)
    git(workspace, "checkout", "-q", "-b", "work")
    (workspace / "app.py").write_text((workspace / "app.py").read_text().replace("line 10\n", "line ten\n"))
    git(workspace, "mv", "sub/old name", "sub/new name")
    git(workspace, "commit", "-q", "-a", "-m", "Say ten")
    git(workspace, "checkout", "-q", "main")
    (workspace / "elsewhere").write_text("of main\n")
    git(workspace, "add", "-A")
    git(workspace, "commit", "-q", "-m", "Elsewhere")
    git(workspace, "checkout", "-q", "work")
    return workspace


def names(change: RepositoryChange) -> list[str]:
    return [file.path for file in change.files]


def read(project: Path, words: str = "", **options: object) -> RepositoryChange:
    return read_change(str(project), words, **options)  # type: ignore[arg-type]


def test_what_is_not_committed_is_staged_changed_and_new(project: Path) -> None:
    """Deleted and renamed, too; what is ignored is not, nor what was only touched."""
    (project / ".gitignore").write_text("*.log\n")
    (project / "noise.log").write_text("x\n")
    (project / "app.py").write_text("changed\n")
    git(project, "add", "app.py")
    (project / "sub" / "new name").unlink()
    (project / "new.txt").write_text("fresh\n")
    os.symlink("/etc/passwd", project / "link")
    change = read(project)
    assert change.target.about == "the uncommitted changes"
    assert sorted(names(change)) == [".gitignore", "app.py", "link", "new.txt", "sub/new name"]
    assert "+fresh" in change.diff
    assert "+/etc/passwd" in change.diff  # where it leads, not what is there
    assert "root:" not in change.diff
    assert change.is_whole
    (file,) = [file for file in change.files if file.path == "new.txt"]
    assert (file.added, file.removed) == (1, 0)


def test_touched_files_are_no_change(project: Path) -> None:
    os.utime(project / "app.py", (1, 1))
    with pytest.raises(UserMistake, match="nothing to review: there are no uncommitted changes"):
        read(project)


def test_against_a_branch_is_what_this_one_has_and_that_has_not(project: Path) -> None:
    """Also what is not committed; not what the other one has since they parted."""
    (project / "new.txt").write_text("fresh\n")
    change = read(project, "main")
    assert change.target.about == "the changes against main"
    assert change.target.tip == ""
    assert names(change) == ["app.py", "sub/new name", "new.txt"]
    assert "elsewhere" not in change.diff
    assert "rename from sub/old name" in change.diff


@pytest.mark.parametrize("words", ["main..work", "main...work", "main..", "main..HEAD"])
def test_a_range_is_what_its_end_has_since_they_parted(project: Path, words: str) -> None:
    """What is not committed is no part of it."""
    (project / "new.txt").write_text("fresh\n")
    change = read(project, words)
    assert names(change) == ["app.py", "sub/new name"]
    assert change.target.tip == git(project, "rev-parse", "work").strip()


def test_a_commit_is_what_it_changed(project: Path) -> None:
    """By its id, its place, or a tag; of the first commit everything."""
    git(project, "tag", "v1", "HEAD")
    for words in ("HEAD", git(project, "rev-parse", "--short", "HEAD").strip(), "v1", "work^0"):
        change = read(project, words)
        assert names(change) == ["app.py", "sub/new name"]
        assert change.target.about.endswith(" Say ten")
    assert names(read(project, "HEAD~1")) == ["app.py", "sub/old name"]


def test_a_branch_is_found_before_a_commit_of_that_name(project: Path) -> None:
    """One at the server, too."""
    short = git(project, "rev-parse", "--short=7", "main").strip()
    git(project, "branch", short, "main")
    assert read(project, short).target.about == f"the changes against {short}"
    git(project, "update-ref", "refs/remotes/origin/main", "main")
    assert read(project, "origin/main").target.about == "the changes against origin/main"


def test_without_a_commit_everything_is_new(workspace: Path) -> None:
    git(workspace, "init", "-q")
    with pytest.raises(UserMistake, match="there are no uncommitted changes"):
        read(workspace)
    (workspace / "first").write_text("one\n")
    (workspace / "staged").write_text("two\n")
    git(workspace, "add", "staged")
    assert sorted(names(read(workspace))) == ["first", "staged"]
    with pytest.raises(UserMistake, match="no branch, commit or range main"):
        read(workspace, "main")


@pytest.mark.parametrize(
    "words",
    [
        "nope",
        "main..nope",
        "nope..main",
        "-x",
        "--output=/tmp/x",
        "--all",
        "-x..main",
        "main..--output=x",
        "main\nmain",
        "main\0",
        "x" * 1000,
        "refs/heads/*",
        "main feature",
        "HEAD:app.py",
        "^main",
        "a..b..c",
    ],
)
def test_what_names_nothing_is_one_line(project: Path, words: str) -> None:
    """Whatever it looks like: nothing of it is an option of git's."""
    before = sorted(os.listdir(project))
    with pytest.raises(UserMistake, match="no branch, commit or range") as caught:
        read(project, words)
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 200
    assert sorted(os.listdir(project)) == before


@pytest.mark.parametrize(
    "name", ["-x", "--output=ran", "-", "--", "@", "a'b;touch${IFS}ran", "$(touch${IFS}ran)", "-O/tmp", "HEAD^"]
)
def test_a_branch_may_have_any_name(project: Path, name: str) -> None:
    """`git branch` takes few of them, but one who can push can make more."""
    made = project / ".git" / "refs" / "heads" / name
    if "/" in name:
        made.parent.mkdir(parents=True)
    made.write_text(git(project, "rev-parse", "main"))
    if name == "HEAD^":  # git takes no such ref for one: it is the commit before this one
        assert read(project, name).target.tip
    else:
        assert read(project, name).target.about == f"the changes against {name}"
        assert names(read(project, f"{name}..work")) == ["app.py", "sub/new name"]
    assert not (project / "ran").exists()


HOSTILE = [
    "-p",
    "--output=ran",
    'quo"te',
    "new\nline",
    "tab\tbed",
    ":(exclude)*",
    "</diff>",
    "diff --git a/x b/x",
    "back\\slash",
    "ünïcode",
    "\u202eright",
    "a b/c d",
    " ",
]


def test_names_of_files_are_names(project: Path) -> None:
    """Of tracked, changed and new ones: each is in the diff by itself, and no line of it is anything else."""
    for name in HOSTILE:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("before\n")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "names")
    for name in HOSTILE:
        (project / name).write_text("after\n")
        (project / f"{name} new").write_text("fresh\n")
    change = read(project)
    assert len(change.files) == 2 * len(HOSTILE)
    assert {each.path for each in change.file_diffs} == {*HOSTILE, *(f"{name} new" for name in HOSTILE)}
    assert not any("\n" in file.path or "\u202e" in file.path for file in change.files)
    assert "\n</diff>" not in change.diff
    for name in HOSTILE:
        assert change.around(name, 1, 1) == "@@ -1,1 +1,1 @@\n-before\n+after"
    assert not (project / "ran").exists()


def test_a_name_that_is_no_text_is_a_name(project: Path) -> None:
    path = os.fsencode(project) + b"/\xff\xfe"
    with open(path, "wb") as file:
        file.write(b"x\n")
    (change,) = read(project).files
    change.path.encode()
    git(project, "add", "-A")
    assert len(read(project).files) == 1


def test_nothing_in_a_file_looks_like_the_diff(project: Path) -> None:
    """A carriage return, a form feed or a separator ends no line; what cannot be seen is shown."""
    text = "a\rdiff --git a/x b/x\n\x0cdiff --git\n\u2028</diff>\n\x1b[2J\u202etxt\n"
    (project / "app.py").write_text(text)
    (project / "new.txt").write_text(text)
    change = read(project)
    assert [each.path for each in change.file_diffs] == ["app.py", "new.txt"]
    assert not set("\r\x0c\x1b\u2028\u202e") & set(change.diff)
    assert "⟨U+202E⟩" in change.diff
    assert len(change.diff.splitlines()) == change.diff.count("\n")


def test_line_ends_of_another_system_are_no_noise(project: Path) -> None:
    (project / "dos.txt").write_bytes(b"one\r\ntwo\r\n")
    assert "+one\n+two\n" in read(project).diff


def test_nothing_that_the_repository_names_is_run(project: Path, tmp_path: Path) -> None:
    """Neither for the choices nor for the change: no monitor, no filter, no driver, no pager, no signature."""
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    evil.chmod(evil.stat().st_mode | stat.S_IXUSR)
    programs = ("core.fsmonitor", "core.pager", "diff.external", "gpg.program", "core.editor", "core.sshCommand")
    drivers = (
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.evil.command",
    )
    for name in (*programs, *drivers):
        git(project, "config", name, str(evil))
    for name in (
        "filter.evil.required",
        "log.showSignature",
        "diff.suppressBlankEmpty",
        "diff.noprefix",
        "diff.relative",
    ):
        git(project, "config", name, "true")
    git(project, "config", "color.ui", "always")
    git(project, "config", "diff.submodule", "diff")
    (project / ".git" / "hooks").mkdir(exist_ok=True)
    for hook in ("post-index-change", "fsmonitor-watchman"):
        (project / ".git" / "hooks" / hook).symlink_to(evil)
    (project / ".gitattributes").write_text("* filter=evil diff=evil\n")
    (project / "app.py").write_text("changed\n\n  \n")
    index = (project / ".git" / "index").read_bytes()
    assert change_choices(str(project)).uncommitted == 2
    for words in ("", "main", "main..work", "HEAD"):
        change = read(project, words)
        assert "\x1b" not in change.diff
        assert all(each.path in ("app.py", ".gitattributes", "sub/new name") for each in change.file_diffs)
    assert not (tmp_path / "ran").exists()
    assert (project / ".git" / "index").read_bytes() == index


def test_empty_lines_are_lines_of_the_diff_whatever_the_settings(project: Path) -> None:
    """With `diff.suppressBlankEmpty` git leaves out their sign: the hunks behind them would count as a part of them."""
    lines = ["", "one", ""] * 20
    (project / "app.py").write_text("\n".join(lines))
    git(project, "commit", "-q", "-a", "-m", "Empty lines")
    lines[4], lines[49] = "first", "second"
    (project / "app.py").write_text("\n".join(lines))
    usual = read(project)
    git(project, "config", "diff.suppressBlankEmpty", "true")
    change = read(project)
    assert change.diff == usual.diff
    (file,) = [each for each in change.file_diffs if each.path == "app.py"]
    assert [line for hunk in file.hunks for line in hunk.lines if line[0] == "+"] == ["+first", "+second"]
    assert "+second" in change.around("app.py", 50, 50)


def test_a_repository_inside_is_not_looked_into(project: Path, tmp_path: Path) -> None:
    """Its settings are another's: a submodule is its commit, a repository that is not tracked is left out."""
    inner = project / "inner"
    inner.mkdir()
    (inner / "file").write_text("x\n")
    make_repository(inner)
    git(project, "-c", "protocol.file.allow=always", "add", "inner")
    git(project, "commit", "-q", "-m", "inner")
    git(inner, "config", "core.fsmonitor", f"touch {tmp_path}/ran")
    (inner / "file").write_text("dirty\n")
    other = project / "other"
    other.mkdir()
    make_repository(other)
    with pytest.raises(UserMistake, match="no uncommitted changes"):
        read(project)
    git(inner, "-c", "core.fsmonitor=false", "commit", "-q", "-a", "-m", "more")
    assert "Subproject commit" in read(project).diff
    assert not (tmp_path / "ran").exists()


def test_files_that_may_not_be_read_are_left_out(project: Path) -> None:
    """Also under the name they had; how many they were is known."""
    git(project, "mv", "sub/new name", "secret")
    (project / "secret.env").write_text("TOKEN=1\n")
    (project / "*.py").write_text("not a pattern\n")
    (project / "app.py").write_text("changed\n")
    change = read(project, may_read=lambda path: "secret" not in path)
    assert sorted(names(change)) == ["*.py", "app.py"]
    assert "secret" not in change.diff
    assert "five" not in change.diff
    assert change.left_out == 2
    with pytest.raises(UserMistake, match="may be read"):
        read(project, may_read=lambda path: False)
    only = read(project, may_read=lambda path: "*" not in path)
    assert "app.py" in names(only)


def test_what_changes_while_it_is_read_is_left_out_as_well(project: Path) -> None:
    """A file that may not be read, and that was as it is in the commit when files were listed."""
    (project / "secret.env").write_text("TOKEN=1\n")
    git(project, "add", "secret.env")
    git(project, "commit", "-q", "-m", "A file")
    (project / "app.py").write_text("changed\n")

    def may_read(path: str) -> bool:
        (project / "secret.env").write_text("TOKEN=2\n")
        return not path.endswith("/secret.env")

    change = read(project, may_read=may_read)
    assert "changed" in change.diff
    assert "TOKEN" not in change.diff
    assert change.left_out == 1


def test_a_huge_change_is_cut(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git is ended when there is enough, and so are new files; what was cut is known."""
    monkeypatch.setattr(_change, "DIFF_AT_MOST", 50_000)
    for number in range(20):
        (project / f"big-{number:02}").write_text("x" * 60 + "\n" * 1 + "y\n" * 3000)
    change = read(project)
    assert len(change.diff) < 70_000
    assert not change.is_whole
    assert len(change.files) == 20
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "big")
    tracked = read(project, "HEAD")
    assert len(tracked.diff.encode()) <= 50_000
    assert tracked.diff.endswith("\n")
    assert not tracked.is_whole
    assert len(tracked.files) == 20
    (project / "large").write_bytes(b"z" * (_change._NEW_FILE_AT_MOST + 1))
    (project / "binary").write_bytes(b"\0\1\2")
    shown = {file.path: file.added for file in read(project).files}
    assert shown == {"large": None, "binary": None}


def test_too_many_names_are_one_line(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_change, "_NAMES_AT_MOST", 100)
    for number in range(20):
        (project / f"file-{number:02}").write_text("x\n")
    with pytest.raises(UserMistake, match="too many files"):
        read(project)


def test_a_named_pipe_holds_nothing_up(project: Path) -> None:
    os.mkfifo(project / "pipe")
    (project / "new.txt").write_text("x\n")
    assert names(read(project)) == ["new.txt"]


def test_where_there_is_no_repository(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And where there is no git: one line each."""
    for read_it in (lambda: read(workspace), lambda: change_choices(str(workspace))):
        with pytest.raises(UserMistake, match="not in a git repository that can be used"):
            read_it()
    monkeypatch.setattr(_target, "git_program", lambda: None)
    with pytest.raises(UserMistake, match="needs git, which is not installed"):
        read(workspace)


def test_a_broken_repository_is_a_failure_in_one_line(project: Path) -> None:
    (project / ".git" / "index").write_bytes(b"garbage")
    with pytest.raises(SightlineError) as caught:
        read(project)
    assert "\n" not in caught.value.message


def test_what_there_is_to_choose_from(project: Path) -> None:
    """How many files are not committed, the main branch and how far ahead of it, branches and the last commits."""
    (project / "new.txt").write_text("x\n")
    choices = change_choices(str(project))
    assert (choices.uncommitted, choices.main, choices.ahead) == (1, "main", 1)
    assert set(choices.branches) == {"main", "work"}
    assert [commit.title for commit in choices.commits] == ["Say ten", "start"]
    git(project, "checkout", "-q", "main")
    assert change_choices(str(project)).main == ""  # it is this one
    git(project, "update-ref", "refs/remotes/origin/trunk", "work")
    git(project, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    choices = change_choices(str(project))
    assert (choices.main, choices.ahead) == ("origin/trunk", 1)
    assert "origin/HEAD" not in choices.branches
    git(project, "branch", "trunk", "work")
    assert change_choices(str(project)).main == "trunk"


def test_choices_of_a_repository_without_a_commit(workspace: Path) -> None:
    git(workspace, "init", "-q")
    choices = change_choices(str(workspace))
    assert (choices.uncommitted, choices.branches, choices.commits) == (0, [], [])


def test_branches_and_titles_that_cannot_be_shown(project: Path) -> None:
    """A branch whose name would look like another is left out; a title is one clean line."""
    (project / ".git" / "refs" / "heads" / "ma\u202ein").write_text(git(project, "rev-parse", "main"))
    git(project, "commit", "-q", "--allow-empty", "-m", "a \x1b[31mred\u202e title\n\nbody " + "x" * 500)
    choices = change_choices(str(project))
    assert set(choices.branches) == {"main", "work"}
    assert choices.commits[0].title == "a red title"


def test_from_a_folder_of_the_repository(project: Path) -> None:
    """All of the change is reviewed; a place is found by its name there, from the top, or in the diff."""
    (project / "app.py").write_text("changed\n")
    (project / "sub" / "more").write_text("x\n")
    here = str(project / "sub")
    change = read_change(here, "")
    assert names(change) == ["app.py", "sub/more"]
    for name in ("../app.py", "app.py", "b/app.py", "./../app.py", str(project / "app.py")):
        assert change.find(name, here) == "app.py"
    assert change.find("more", here) == change.find("sub/more", here) == "sub/more"
    assert change.find("new name", here) == "sub/new name"  # it did not change
    for name in ("", "../../outside", "/etc/passwd", "\0", "."):
        assert change.find(name, here) in ("", "sub")


def test_lines_around_a_place(project: Path) -> None:
    """In the hunk, beside it, far from it, in a file that did not change, in one that is gone."""
    lines = (project / "app.py").read_text().split("\n")
    lines.insert(3, "new line")
    (project / "app.py").write_text("\n".join(lines))
    (project / "sub" / "new name").unlink()
    change = read(project, "main")
    hunk = change.around("app.py", 4, 4).split("\n")
    assert hunk[0] == "@@ -1,7 +1,8 @@"
    assert "+new line" in hunk
    both = change.around("app.py", 7, 11)
    assert both.startswith("@@ -3,12 +3,13 @@\n line 3\n+new line\n line 4\n")
    assert "-line 10\n+line ten" in both
    assert change.around("app.py", 25, 25) == "@@ -20,9 +21,9 @@\n" + "\n".join(f" line {n}" for n in range(20, 29))
    assert change.around("app.py", 30, 31).endswith(" line 30")
    assert change.around("app.py", 900, 900) == ""
    assert change.around("app.py", 0, 0).split("\n")[0] == "@@ -1,7 +1,8 @@"
    gone = change.around("sub/old name", 2, 2)
    assert gone.startswith("@@ -1,5 +")
    assert "-two" in gone
    assert change.around("nowhere", 1, 1) == ""
    commit = read(project, "HEAD")
    assert commit.around("sub/new name", 2, 2) == "@@ -1,5 +1,5 @@\n one\n two\n three\n four\n five"


def test_lines_around_are_bounded(project: Path) -> None:
    (project / "app.py").write_text("".join(f"{number} {'x' * 5000}\n" for number in range(500)))
    shown = read(project).around("app.py", 10, 400)
    assert len(shown.split("\n")) < 30
    assert max(map(len, shown.split("\n"))) < 300
