"""The protected set: what is in it, for a sandbox and for the policy, and what no sandbox can hold."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sightline.settings import Policy, Protected, _protected, protected

from .test_policy import verdict


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty workspace; home and its git configuration are elsewhere."""
    for name in ("work", "home"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(_protected, "_last_look", ("", (), 0.0, []))
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
    _protected._our_places.cache_clear()
    assert names(protected(work), work) == {"data", "env", "lib"}
    monkeypatch.delenv("SIGHTLINE_HOME")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(work / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(work / "share"))
    assert absent(protected(work), work) == {"config/sightline/", "share/sightline/"}
    _protected._our_places.cache_clear()


def test_when_home_is_the_workspace_its_hidden_files_are_protected(work, monkeypatch):
    """Those a shell reads must not be made either; the cache stays writable."""
    monkeypatch.setenv("HOME", str(work))
    for name in (".ssh", ".config", ".cache", ".local", "project"):
        (work / name).mkdir()
    (work / ".profile").touch()
    found = protected(work)
    assert names(found, work) == {".ssh", ".config", ".local", ".profile"}
    assert {".bashrc", ".bash_profile", ".zshenv", ".gitconfig"} <= absent(found, work)
    assert ".profile" in found.absent[str(work / ".bash_profile")], "as long as it stands, bash reads it in its place"


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
    """Further in, too. Of an editor's folder only what runs."""
    for place in (".", "sub"):
        for name in (".husky/pre-commit", ".vscode/tasks.json", ".vscode/other.json", ".envrc", ".idea/x.xml"):
            (work / place / name).parent.mkdir(parents=True, exist_ok=True)
            (work / place / name).touch()
    expected = {".husky", ".vscode/tasks.json", ".envrc", ".idea"}
    assert names(protected(work), work) == {*expected, *(f"sub/{name}" for name in expected)}


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
