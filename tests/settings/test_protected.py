"""The protected set: what is in it, for a sandbox and for the policy, and what no sandbox can hold."""

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.settings import Policy, Protected, open_entries, protected
from sightline.settings.protection import _noted, _protected

from .test_policy import verdict


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty workspace; home and its git configuration are elsewhere."""
    for name in ("work", "home"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(_noted, "_last_look", _noted._Look())
    return tmp_path / "work"


def repository(folder: Path, config: str = "") -> Path:
    """A git folder with what `git init` makes."""
    git = folder if folder.name == ".git" or folder.suffix == ".git" or "modules" in folder.parts else folder / ".git"
    for name in ("hooks", "objects", "refs", "info"):
        (git / name).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(f"[core]\n\tbare = false\n{config}")
    return git


def names(found: Protected, work: Path) -> set[str]:
    return {os.path.relpath(path, work) for path in found.read_only}


def absent(found: Protected, work: Path) -> set[str]:
    return {os.path.relpath(path, work) + ("/" if path.endswith("/") else "") for path in found.absent}


def exposed(found: Protected, work: Path) -> set[str]:
    return {os.path.relpath(path, work) for path in found.exposed}


def test_nothing_is_protected_in_an_empty_folder(work):
    """So nothing stands in the way of a first `git init`."""
    assert protected(work) == Protected()


def test_what_makes_git_run_code_is_protected(work):
    """Where it exists it is read-only; where it would count as soon as it exists it must not be made."""
    git = repository(work)
    (git / "info" / "attributes").write_text("* filter=x\n")
    found = protected(work)
    assert names(found, work) == {".git/config", ".git/hooks", ".git/info/attributes"}
    assert absent(found, work) == {".git/commondir"}
    (git / "hooks").rmdir()
    (git / "config").write_text("[extensions]\n\tworktreeConfig = true\n")
    assert absent(protected(work), work) == {".git/commondir", ".git/hooks/", ".git/config.worktree"}


@pytest.mark.needs("git")
def test_the_content_of_a_missing_commondir_changes_nothing(work):
    """Git works with it as without."""
    run = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(work)]
    subprocess.run([*run, "init", "-q"], check=True)
    found = protected(work)
    (work / ".git" / "commondir").write_text(found.absent[str(work / ".git" / "commondir")])
    (work / "f").write_text("x")
    for words in (["add", "f"], ["commit", "-qm", "x"], ["status"], ["gc", "-q"], ["worktree", "list"]):
        subprocess.run([*run, *words], check=True, capture_output=True)


def test_submodules_and_worktrees_are_protected_too(work):
    """Also submodules whose name has a slash, with the `.git` file of their folder however deep."""
    git = repository(work)
    inner = repository(git / "modules" / "lib" / "deep")
    (inner / "config").write_text("[core]\n\tworktree = ../../../../a/b/c/d/e/deep\n")
    (work / "a/b/c/d/e/deep").mkdir(parents=True)
    (work / "a/b/c/d/e/deep/.git").write_text("gitdir: ../../../../../../.git/modules/lib/deep\n")
    tree = git / "worktrees" / "side"
    tree.mkdir(parents=True)
    for name in ("gitdir", "commondir", "config.worktree"):
        (tree / name).write_text("x\n")
    assert names(protected(work), work) >= {
        ".git/modules/lib/deep/config",
        ".git/modules/lib/deep/hooks",
        "a/b/c/d/e/deep/.git",
        ".git/worktrees/side/gitdir",
        ".git/worktrees/side/commondir",
        ".git/worktrees/side/config.worktree",
    }


def test_nested_and_bare_repositories_are_found_within_bounds(work):
    """Three folders deep; what is deeper is not looked for."""
    for place in ("a", "a/b/c", "a/b/c/d"):
        repository(work / place)
    repository(work / "mirror.git")
    assert names(protected(work), work) == {
        f"{place}/{name}" for place in ("a/.git", "a/b/c/.git", "mirror.git") for name in ("config", "hooks")
    }


def test_a_git_file_is_protected_with_the_folder_it_names(work, tmp_path):
    """In the workspace; elsewhere no command can write anyway."""
    repository(work / "store.git")
    (work / "store.git").rename(work / ".store")
    (work / ".git").write_text("gitdir: .store\n")
    assert names(protected(work), work) == {".git", ".store/config", ".store/hooks"}
    (work / ".git").write_text(f"gitdir: {tmp_path}/elsewhere\n")
    assert names(protected(work), work) == {".git"}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("[core]\n\thooksPath = .githooks\n", {".githooks"}),
        ('[core]\n\thooksPath = "./.githooks"\n', {".githooks"}),
        ("[CORE]\n\tHOOKSPATH=.githooks ; words\n", {".githooks"}),
        ("[core] hooksPath = .githooks\n", {".githooks"}),
        ("[core]\n\thooksPath = .git\\\nhooks\n", {".githooks"}),
        ("[core]\n\tfsmonitor = tools/run.sh\n", {"tools/run.sh"}),
        ("[core]\n\tsshCommand = ssh -F tools/run.sh\n", {"tools/run.sh"}),
        ('[filter "x"]\n\tclean = "python3 tools/run.sh %f"\n', {"tools/run.sh"}),
        ('[filter "x y"]\n\tprocess = tools/run.sh\n', {"tools/run.sh"}),
        ('[diff "x"]\n\ttextconv = tools/run.sh\n', {"tools/run.sh"}),
        ('[merge "x"]\n\tdriver = tools/run.sh %O %A %B\n', {"tools/run.sh"}),
        ("[alias]\n\tx = !tools/run.sh\n", {"tools/run.sh"}),
        ("[alias]\n\tx = show tools/run.sh\n", set()),
        ("[gpg]\n\tprogram = {work}/tools/run.sh\n", {"tools/run.sh"}),
        ('[credential "https://x"]\n\thelper = !tools/run.sh\n', {"tools/run.sh"}),
        ("[include]\n\tpath = ../tools/included\n", {"tools/included", "tools/run.sh"}),
        ('[includeIf "gitdir:nowhere"]\n\tpath = ../tools/included\n', {"tools/included", "tools/run.sh"}),
        ('[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n', set()),
        ("[commit]\n\ttemplate = tools/run.sh\n", set()),
        ("[core]\n\tfsmonitor = sh tools/run.sh\n", {"tools/run.sh"}),
        ("[core]\n\tfsmonitor = sh -c 'tools/run.sh x'\n", {"tools/run.sh"}),
        ("[core]\n\tsshCommand = ssh -oProxyCommand=tools/run.sh\n", {"tools/run.sh"}),
        ("[alias]\n\tx = \"!f() { tools/run.sh; }; f\"\n", {"tools/run.sh"}),
        ("[imap]\n\ttunnel = tools/run.sh\n", {"tools/run.sh"}),
        ("[sendemail]\n\tsmtpServer = {work}/tools/run.sh\n", {"tools/run.sh"}),
        ('[lfs "customtransfer.x"]\n\tpath = tools/run.sh\n', {"tools/run.sh"}),
        ('[lfs "customtransfer.x"]\n\tpath = sh\n\targs = tools/run.sh\n', {"tools/run.sh"}),
        ("[svn]\n\tauthorsProg = tools/run.sh\n", {"tools/run.sh"}),
        ("[gc]\n\trecentObjectsHook = tools/run.sh\n", {"tools/run.sh"}),
        ('[hook "x"]\n\tcommand = tools/run.sh\n', {"tools/run.sh"}),
        ('[trailer "x"]\n\tcmd = tools/run.sh\n', {"tools/run.sh"}),
        ('[tar "x"]\n\tcommand = tools/run.sh\n', {"tools/run.sh"}),
        ("[core]\n\tattributesFile = tools/run.sh\n", {"tools/run.sh"}),
        ('[remote "x"]\n\turl = "ext::tools/run.sh %S"\n', {"tools/run.sh"}),
        ('[remote "x"]\n\turl = tools/run.sh\n', set()),
    ],
)  # fmt: skip
def test_what_git_is_configured_to_run_is_protected(work, tmp_path, config, expected):
    """In the repository's configuration and in the person's."""
    (work / ".githooks").mkdir()
    (work / "tools").mkdir()
    (work / "tools/run.sh").touch()
    (work / "tools/included").write_text("[core]\n\tpager = tools/run.sh\n")
    config = config.format(work=work) if "{work}" in config else config
    git = repository(work, config)
    usual = {".git/config", ".git/hooks"}
    assert names(protected(work), work) == usual | expected
    if "include" not in config:
        (git / "config").write_text("")
        (tmp_path / "home" / ".gitconfig").write_text(config)
        assert names(protected(work), work) == usual | expected


def test_a_hook_folder_that_is_missing_must_not_be_made(work):
    """Nor a program that is named and missing."""
    repository(work, "[core]\n\thooksPath = .husky/_\n\tfsmonitor = ./watch\n")
    assert absent(protected(work), work) == {".git/commondir", ".husky/_/", "watch"}


def test_what_a_hook_links_to_is_protected(work):
    """The link cannot be exchanged, but what it leads to could be written."""
    git = repository(work)
    (work / "scripts").mkdir()
    (work / "scripts/check").touch()
    (git / "hooks/pre-commit").symlink_to("../../scripts/check")
    assert "scripts/check" in names(protected(work), work)


def test_ours_is_protected_wherever_it_is(work, monkeypatch):
    """The package, its interpreter, data, settings and extensions."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(work / "data"))
    (work / "data").mkdir()
    (work / "env" / "bin").mkdir(parents=True)
    (work / "lib").mkdir()
    monkeypatch.setattr(sys, "prefix", str(work / "env"))
    monkeypatch.setattr(sys, "executable", str(work / "env" / "bin" / "python"))
    monkeypatch.setattr(sys, "path", [*sys.path, str(work / "lib"), str(work)])
    _protected._look_up_places.cache_clear()
    assert names(protected(work), work) == {"data", "env", "lib"}
    monkeypatch.delenv("SIGHTLINE_HOME")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(work / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(work / "share"))
    assert absent(protected(work), work) == {"config/sightline/", "share/sightline/"}
    _protected._look_up_places.cache_clear()


def test_when_home_is_the_workspace_its_hidden_files_are_protected(work, monkeypatch):
    """And nothing new is made in it: no list of what programs read there is complete. The cache stays writable."""
    monkeypatch.setenv("HOME", str(work))
    monkeypatch.setenv("PATH", f"{work}/bin:{work}/tools/bin:{work}/.local/bin:/usr/bin")
    for name in (".ssh", ".config", ".cache", ".local", ".git", "project", "tools"):
        (work / name).mkdir()
    for name in (".profile", "notes"):
        (work / name).touch()
    (work / "linked").symlink_to("/etc")
    found = protected(work)
    assert names(found, work) == {".ssh", ".config", ".local", ".profile"}
    assert found.closed == (str(work),)
    assert absent(found, work) == {"tools/bin/", ".git/config", ".git/hooks/", ".git/commondir"}
    opened = {os.path.relpath(path, work) for path in open_entries(str(work))}
    assert opened == {".cache", ".git", "project", "tools", "notes"}


def test_a_hidden_link_of_home_is_held_with_what_it_leads_to(work, monkeypatch):
    """Nobody can replace it where nothing can be made; those who manage their dotfiles with links are not asked."""
    monkeypatch.setenv("HOME", str(work))
    (work / "dotfiles").mkdir()
    (work / "dotfiles" / "bashrc").touch()
    (work / ".bashrc").symlink_to("dotfiles/bashrc")
    found = protected(work)
    assert (names(found, work), exposed(found, work)) == ({"dotfiles/bashrc"}, set())


@pytest.mark.parametrize("linked", [".git", ".sightline", ".husky", ".envrc"])
def test_a_link_cannot_be_held_and_is_exposed(work, linked):
    """It can be replaced; what it leads to is protected."""
    repository(work / "store.git")
    (work / "elsewhere").mkdir()
    (work / linked).symlink_to("store.git" if linked == ".git" else "elsewhere")
    found = protected(work)
    assert exposed(found, work) == {linked}
    assert ("store.git/config" if linked == ".git" else "elsewhere") in names(found, work)


def test_a_file_with_a_second_name_is_exposed(work):
    """It can be written by that."""
    git = repository(work)
    os.link(git / "config", work / "second")
    assert exposed(protected(work), work) == {".git/config"}


def test_autorun_files_that_exist_are_read_only(work):
    """Further in, too. An editor's folder is so as a whole: a file of it alone loses its mount when it is replaced."""
    for place in (".", "sub"):
        for name in (".husky/pre-commit", ".vscode/tasks.json", ".vscode/other.json", ".envrc", ".idea/x.xml"):
            (work / place / name).parent.mkdir(parents=True, exist_ok=True)
            (work / place / name).touch()
    expected = {".husky", ".vscode", ".envrc", ".idea"}
    assert names(protected(work), work) == {*expected, *(f"sub/{name}" for name in expected)}


def look_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the next session would."""
    monkeypatch.setattr(_noted, "_last_look", _noted._Look())
    _noted._scanned.clear()


@pytest.fixture
def no_rights(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """What is in a folder can be neither seen nor listed, as after `chmod 000`; also for root, who could."""
    closed: set[str] = set()

    def guarded(function: Callable[..., Any], *, itself: bool) -> Callable[..., Any]:
        def wrapper(path: Any, *args: Any, **kwargs: Any) -> Any:
            text = str(path)
            if any(text.startswith(folder + "/") or (itself and text == folder) for folder in closed):
                raise PermissionError(errno.EACCES, "Permission denied", text)
            return function(path, *args, **kwargs)

        return wrapper

    for name, itself in (("lstat", False), ("stat", False), ("open", True), ("scandir", True), ("listdir", True)):
        monkeypatch.setattr(os, name, guarded(getattr(os, name), itself=itself))
    return lambda folder: closed.add(str(folder))


def test_what_cannot_be_looked_at_is_not_missing(work, no_rights):
    """A command can take away the right to: the nearest folder that can be seen is read-only."""
    repository(work / "packages" / "inner")
    (work / ".vscode").mkdir()
    for folder in (work / "packages", work / ".vscode"):
        no_rights(folder)
    found = protected(work)
    assert (names(found, work), exposed(found, work)) == ({"packages", ".vscode"}, set())


def test_a_repository_that_cannot_be_read_is_exposed(work, no_rights):
    """It is read-only as a whole; which files it makes git run is unknown."""
    git = repository(work)
    no_rights(git)
    found = protected(work)
    assert names(found, work) == {".git"}
    assert ".git/config" in exposed(found, work)


def test_a_workspace_that_cannot_be_listed_is_exposed(work, monkeypatch):
    """There is no folder around it that could be read-only. What has a known name is held all the same."""
    (work / ".envrc").touch()

    def refused(path):
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refused)
    found = protected(work)
    assert (exposed(found, work), names(found, work)) == ({"."}, {".envrc"})


def test_what_was_found_once_stays_known(work, monkeypatch):
    """However many folders come before it now; in the next session, too. What is gone is forgotten."""
    repository(work / "packages" / "inner")
    assert "packages/inner/.git/config" in names(protected(work), work)
    for number in range(400):
        (work / f"a{number}").mkdir()
    look_again(monkeypatch)
    monkeypatch.setattr(_noted, "_FOLDERS_AT_MOST", 1)
    assert "packages/inner/.git/config" in names(protected(work), work)
    shutil.rmtree(work / "packages")
    look_again(monkeypatch)
    assert protected(work) == Protected()
    repository(work / "packages" / "inner")
    look_again(monkeypatch)
    assert protected(work) == Protected(), "beyond what is looked at"


def test_a_folder_is_read_again_whatever_its_time_says(work, monkeypatch):
    """A command can set the time of a change, but not when it was set."""
    (work / "sub").mkdir()
    monkeypatch.setattr(_noted, "_MAY_CHANGE_UNSEEN", -(10**12))
    protected(work)
    before = os.stat(work / "sub").st_mtime_ns
    (work / "sub" / ".envrc").touch()
    os.utime(work / "sub", ns=(before, before))
    monkeypatch.setattr(_noted, "_last_look", _noted._Look())
    assert names(protected(work), work) == {"sub/.envrc"}


@pytest.mark.parametrize("decoys", [40, 600])
@pytest.mark.parametrize(("place", "sign"), [("modules", "config"), ("worktrees", "commondir")])
def test_decoys_do_not_hide_submodules_or_worktrees(work, place, sign, decoys):
    """Beyond what is looked at one by one, the whole folder is read-only."""
    git = repository(work)
    (git / place / "real").mkdir(parents=True)
    for name in ("HEAD", "gitdir", sign):
        (git / place / "real" / name).touch()
    for number in range(decoys):
        (git / place / f"{number:03}").mkdir()
    assert {f".git/{place}", f".git/{place}/real/{sign}"} & names(protected(work), work)


def test_a_submodule_may_have_any_depth_and_be_inside_another(work):
    """A command can make the folder around it look like one."""
    git = repository(work)
    repository(git / "modules" / "a" / "b" / "c" / "d" / "e")
    (git / "modules" / "a" / "b" / "HEAD").touch()
    assert {".git/modules/a/b/c/d/e/config", ".git/modules/a/b/c/d/e/hooks"} <= names(protected(work), work)
    deep = git / "modules"
    for _ in range(30):
        deep = deep / "/".join("x" * 30)
    subprocess.run(["mkdir", "-p", str(deep)], check=True)
    assert ".git/config" in names(protected(work), work)


def test_linked_worktrees_are_protected_wherever_they_are(work):
    """Their `.git` file, the configuration each would have, and what the repository runs in each."""
    git = repository(work, "[extensions]\n\tworktreeConfig = true\n[core]\n\thooksPath = hooks\n")
    (git / "worktrees" / "side").mkdir(parents=True)
    (git / "worktrees" / "side" / "gitdir").write_text(f"{work}/.trees/side/.git\n")
    (git / "worktrees" / "side" / "commondir").write_text("../..\n")
    (work / ".trees" / "side" / "hooks").mkdir(parents=True)
    (work / ".trees" / "side" / ".git").write_text(f"gitdir: {git}/worktrees/side\n")
    found = protected(work)
    assert {".trees/side/.git", ".trees/side/hooks", ".git/worktrees/side/gitdir"} <= names(found, work)
    assert ".git/worktrees/side/config.worktree" in absent(found, work)


def test_a_repository_above_may_name_files_of_the_workspace(work):
    """Its own files are out of reach; what it runs is not."""
    repository(work, "[core]\n\thooksPath = tools/hooks\n")
    (work / "tools" / "hooks").mkdir(parents=True)
    assert names(protected(work / "tools"), work / "tools") == {"hooks"}


def test_the_person_may_name_files_of_a_workspace_without_a_repository(work, tmp_path):
    """Absolute ones; a relative path means nothing there."""
    config = f"[include]\n\tpath = {work}/included\n[core]\n\thooksPath = hooks\n\tpager = {work}/page\n"
    (tmp_path / "home" / ".gitconfig").write_text(config)
    (work / "included").touch()
    found = protected(work)
    assert (names(found, work), absent(found, work)) == ({"included"}, {"page"})


def test_many_repositories_do_not_hide_what_the_last_runs(work):
    """They are read-only as a whole, and read all the same."""
    for number in range(40):
        repository(work / f"a{number:02}")
    repository(work / "z", "[core]\n\tfsmonitor = sh ../tools/run.sh\n")
    (work / "tools").mkdir()
    (work / "tools" / "run.sh").touch()
    assert "tools/run.sh" in names(protected(work), work)


def test_a_script_in_the_git_folder_is_protected_but_not_what_git_writes(work):
    """Whatever word of the command it is."""
    git = repository(work, "[core]\n\tfsmonitor = sh .git/mon.sh\n\tpager = cat .git/index\n")
    for name in ("mon.sh", "index"):
        (git / name).touch()
    assert names(protected(work), work) == {".git/config", ".git/hooks", ".git/mon.sh"}
    (git / "mon.sh").unlink()
    assert ".git/mon.sh" in absent(protected(work), work)


def test_every_link_behind_a_hook_counts(work):
    """The last can be written, one on the way replaced, and one that leads nowhere be given something to lead to."""
    git = repository(work)
    (work / "v1").mkdir()
    (work / "v1" / "check").touch()
    (work / "current").symlink_to("v1")
    (git / "hooks" / "pre-commit").symlink_to("../../current/check")
    (git / "hooks" / "pre-push").symlink_to("../../v1/missing")
    found = protected(work)
    assert (exposed(found, work), "v1/check" in names(found, work)) == ({"current"}, True)
    assert "v1/missing" in absent(found, work)


def test_an_included_file_that_is_too_large_is_exposed(work):
    """Git reads it, we do not know what it says."""
    repository(work, "[include]\n\tpath = ../large\n")
    (work / "large").write_bytes(b"#" * (2 * 1024 * 1024))
    assert exposed(protected(work), work) == {"large"}


ASKED = [
    ".git/hooks/pre-commit", ".GIT/config", "sub/.git/commondir", ".sightline/settings.toml", ".vscode/tasks.json",
    ".vscode/settings.json", ".VSCode/Tasks.json", ".envrc", "sub/.envrc", ".husky/pre-commit", ".idea/workspace.xml",
    ".devcontainer/devcontainer.json", ".devcontainer.json", ".pre-commit-config.yaml", "lefthook.yml", ".npmrc",
    ".yarnrc.yml", "x.code-workspace", "tools/run.sh",
]  # fmt: skip
NOT_ASKED = ["Makefile", "package.json", ".gitignore", ".vscode/extensions.json", "src/tasks.json", "tools/other.sh"]


@pytest.mark.parametrize(("path", "expected"), [*((p, "ask") for p in ASKED), *((p, "allow") for p in NOT_ASKED)])
def test_a_tool_asks_before_it_writes_what_is_protected(work, path, expected):
    """Whether it exists or not, in any case of letters; the same set as the sandbox's."""
    (work / "tools").mkdir()
    (work / "tools/run.sh").touch()
    repository(work, "[core]\n\tfsmonitor = tools/run.sh\n")
    for level in ("edit", "auto"):
        assert verdict(Policy(level, [], [], work), "write", work / path) == expected


def test_a_hostile_repository_costs_little(work):
    """Modules in modules without end, thousands of hooks and worktrees, a configuration that includes itself."""
    import time

    git = repository(work, "[include]\n\tpath = config\n" * 3)
    at = git
    for _ in range(40):
        at = at / "modules" / "m"
        at.mkdir(parents=True)
        (at / "HEAD").touch()
    for number in range(500):
        (git / "worktrees" / str(number)).mkdir(parents=True)
        (git / "worktrees" / str(number) / "gitdir").touch()
        (git / "hooks" / str(number)).symlink_to("/etc/hosts")
    os.mkfifo(work / "pipe")
    (work / "inner").mkdir()
    os.mkfifo(work / "inner" / ".git")
    began = time.perf_counter()
    found = protected(work)
    assert time.perf_counter() - began < 1
    assert ".git/worktrees" in names(found, work)
    assert len(found.read_only) < 200
