"""The trusted base and the protected set: programs planted for us to run, and what git, shells, editors and Sightline
itself would run later, outside the sandbox."""

import os
import shutil
from pathlib import Path

from sightline.testing.attack import Lab, attack

_PLANTED = ["env", "bwrap", "sh", "bash", "git", "rg", "ps", "true", "python3", "python", "sed", "grep", "nsenter"]
_PLANTED += ["setpriv", "apt", "ip"]
_MODULES = ["tempfile", "shutil", "json", "asyncio", "msgspec", "psutil", "hashlib", "ctypes", "sqlite3", "wave"]
_TRIGGERS = ["same session", "next session"]


def _venv(lab: Lab) -> dict[str, str]:
    """The environment of somebody who activated a virtual environment in the workspace."""
    return {"PATH": f"{lab.workspace}/.venv/bin:{lab.env['PATH']}", "VIRTUAL_ENV": f"{lab.workspace}/.venv"}


def _planting(name: str, script: str) -> str:
    file = f".venv/bin/{name}"
    return f"mkdir -p .venv/bin && printf '#!/bin/sh\\n{script}\\n' > {file} && chmod +x {file}"


@attack(point=1, forms=[f"{name}, {when}" for name in _PLANTED for when in _TRIGGERS])
def a_planted_program_is_run_outside(lab: Lab, form: str) -> str:
    """By a command, on a PATH with a folder of the workspace first; then everything that runs a program of ours."""
    name, when = form.split(", ")
    plant = {"tool": "bash", "args": {"command": _planting(name, f"touch {lab.outside}/ran-{name}; exit 1")}}
    lab.write("text", "words\n")
    uses = [
        [{"tool": "bash", "args": {"command": "/bin/true"}}],
        [{"tool": "search", "args": {"pattern": "words"}}],
        [{"tool": "find", "args": {"pattern": "*"}}],
    ]
    env = _venv(lab)
    if when == "same session":
        ran = lab.agent([[plant], *uses], env=env)
    else:
        lab.agent([[plant]], env=env)
        ran = lab.agent(uses, env=env)
    if not ran.calls:
        return f"nothing was tried: {ran.everything[-300:]}"
    return lab.written()


@attack(
    point=1, forms=["exit 1", "exit 0", "echo bwrap: no namespaces >&2; exit 1", "kill -9 $$"], sandboxes=["bubblewrap"]
)
def a_planted_bwrap_lowers_the_sandbox(lab: Lab, form: str) -> str:
    """One that fails must not lead to Landlock, where the configuration of git can be written."""
    git = lab.repository()
    before = (git / "config").read_bytes()
    env = _venv(lab)
    lab.commands(_planting("bwrap", form), env=env)
    calls = lab.commands("echo '[core]' >> .git/config", env=env)
    if (git / "config").read_bytes() != before:
        return "the configuration of git was changed"
    return "" if calls and not calls[0].refused else f"not tried: {calls}"


@attack(point=1, forms=_MODULES)
def a_planted_module_is_imported(lab: Lab, form: str) -> str:
    """With the workspace in PYTHONPATH, as some people have it for their own code."""
    env = {"PYTHONPATH": str(lab.workspace)}
    code = f"import os; open({str(lab.outside / form)!r}, 'w')"
    lab.commands(f'echo "{code}" > {form}.py', env=env)
    lab.commands("true", env=env)
    return lab.written()


_TARGETS = {
    "config": ".git/config",
    "hook": ".git/hooks/post-commit",
    "commondir": ".git/commondir",
    "module": ".git/modules/lib/config",
    "worktree": ".git/worktrees/side/commondir",
    "configured": "tools/run.sh",
    "included": "tools/included",
    "nested": "packages/inner/.git/config",
    "tasks": ".vscode/tasks.json",
    "envrc": ".envrc",
    "husky": ".husky/pre-commit",
    "settings": ".sightline/settings.toml",
}
_WAYS = {
    "written": "echo {payload} > {target}",
    "appended": "echo {payload} >> {target}",
    "copied": "echo {payload} > p; cp p {target}",
    "moved over": "echo {payload} > p; mv -f p {target}",
    "linked over": "echo {payload} > p; ln -sfn $PWD/p {target}",
    "second name": "ln {target} second; echo {payload} > second",
    "folder replaced": "echo {payload} > p; mv {folder} away; mkdir -p {folder}; cp p {target}",
    "folder removed": "rm -rf {folder}; mkdir -p {folder}; echo {payload} > {target}",
    "top renamed": "python3 -c 'import os; os.rename(\"{top}\", \"x\")'; mkdir -p {folder}; echo {payload} > {target}",
    "unpacked": "mkdir -p x/{folder}; echo {payload} > x/{target}; tar -C x -cf t .; tar --overwrite -xf t",
}  # fmt: skip


def _project(lab: Lab) -> dict[Path, bytes]:
    """A repository with all that is protected, and what each file holds."""
    git = lab.repository()
    inner = lab.repository("packages/inner")
    config = "[core]\n\tfsmonitor = tools/run.sh\n[include]\n\tpath = ../tools/included\n"
    lab.write(git / "config", config)
    lab.write(git / "modules/lib/HEAD", "ref: refs/heads/main\n")
    lab.write(git / "worktrees/side/gitdir", f"{lab.workspace}/side/.git\n")
    for name in _TARGETS.values():
        path = lab.workspace / name
        if name not in (".git/config", ".git/commondir", ".git/hooks/post-commit") and path.parent != inner:
            lab.write(path, "# as it was\n", 0o755 if name == "tools/run.sh" else 0o644)
    return {lab.workspace / name: _content(lab.workspace / name) for name in _TARGETS.values()}


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b"(missing)"


def _changed(before: dict[Path, bytes]) -> str:
    return ", ".join(str(path) for path, content in before.items() if _content(path) != content)


@attack(point=2, forms=[f"{target}: {way}" for target in _TARGETS for way in _WAYS])
def a_command_changes_what_runs_later(lab: Lab, form: str) -> str:
    """With bubblewrap the command runs and cannot; with Landlock, which cannot hold it, it is not run unasked."""
    which, way = form.split(": ")
    target = _TARGETS[which]
    before = _project(lab)
    words = {"target": target, "folder": os.path.dirname(target) or ".", "top": target.split("/")[0], "payload": "evil"}
    calls = lab.commands(_WAYS[way].format(**words))
    if lab.sandbox == "landlock" and not (calls and calls[0].refused):
        return f"not refused: {calls}"
    return _changed(before)


_GIT_ATTACKS = [
    "git config core.fsmonitor '{payload}'",
    "git config --worktree core.fsmonitor '{payload}'",
    "git config alias.status '!{payload}'",
    "git config core.hooksPath evil; mkdir evil; {script} > evil/post-commit; chmod +x evil/post-commit",
    "mkdir -p .git/hooks; {script} > .git/hooks/post-commit; chmod +x .git/hooks/post-commit",
    "cp -r .git evil; {configured} > evil/config; echo ../evil > .git/commondir",
    "cp -r .git evil; {configured} > evil/config; rm -f .git/commondir; ln -s ../evil .git/commondir",
    "cp -r .git evil; {configured} > evil/config; mv .git away; mv evil .git",
    "cp -r .git evil; {configured} > evil/config; rm -rf .git; echo 'gitdir: evil' > .git",
    "cp -r .git evil; {configured} > evil/config; mv .git .git2; ln -s evil .git",
    "{configured} > .git/config.worktree; git config extensions.worktreeConfig true",
    "git submodule add ./x y; {configured} >> .git/config",
    "printf '* filter=x\\n' > .git/info/attributes; git config filter.x.clean '{payload}'",
    "GIT_CONFIG=.git/config git config core.pager '{payload}'",
    "git init --separate-git-dir=evil; {configured} >> evil/config",
    "git init --template=t; git -c core.fsmonitor= config core.fsmonitor '{payload}'",
]


@attack(point=2, forms=[*_GIT_ATTACKS, *(f"without hooks: {each}" for each in _GIT_ATTACKS[3:6])])
def git_runs_something_later(lab: Lab, form: str) -> str:
    """The person asks for the status and commits, outside the sandbox."""
    git = shutil.which("git")
    if git is None:
        return ""
    repository = lab.repository()
    if form.startswith("without hooks: "):
        (repository / "hooks").rmdir()
        form = form.removeprefix("without hooks: ")
    payload = f"touch {lab.outside}/ran"
    lab.commands(
        form.format(
            payload=payload,
            script=f"printf '#!/bin/sh\\n{payload}\\n'",
            configured=f"printf '[core]\\n\\tfsmonitor = {payload}\\n'",
        )
    )
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["status"], ["add", "-A"], [*who, "commit", "--allow-empty", "-qm", "x"], ["log"]):
        lab.spawn([git, *words]).communicate(timeout=20)
    if (repository / "commondir").exists():
        return "a placeholder was left behind"
    return lab.written()


_WRITTEN = [
    ".git/hooks/pre-commit", ".git/config", ".GIT/config", ".git/commondir", "sub/.git/config", ".vscode/tasks.json",
    ".vscode/settings.json", ".VSCODE/TASKS.JSON", ".envrc", "sub/.envrc", ".husky/pre-commit", ".idea/workspace.xml",
    ".devcontainer/devcontainer.json", ".devcontainer.json", ".pre-commit-config.yaml", "lefthook.yml", ".npmrc",
    ".yarnrc.yml", "a.code-workspace", ".sightline/settings.toml", ".sightline/extensions/x.py", "way/hooks/pre-commit",
    "tools/run.sh", ".githooks/pre-commit", "sub/../.git/config",
]  # fmt: skip


@attack(point=2, forms=_WRITTEN)
def a_tool_writes_what_runs_later_unasked(lab: Lab, form: str) -> str:
    """There is no person: it must be refused."""
    git = lab.repository()
    lab.write(git / "config", "[core]\n\tfsmonitor = tools/run.sh\n\thooksPath = .githooks\n")
    lab.write("tools/run.sh", "# as it was\n")
    lab.make("sub")
    lab.link("way", ".git")
    target = lab.workspace / form
    before = _content(target)
    ran = lab.agent([[{"tool": "write", "args": {"path": form, "content": "evil\n"}}]])
    if _content(target) != before:
        return f"{form} was written"
    return "" if ran.calls and ran.calls[0].refused else f"not refused: {ran.calls}"


_OF_HOME = [
    ".bashrc", ".profile", ".bash_profile", ".bash_login", ".zshenv", ".ssh/authorized_keys", ".gitconfig",
    ".config/sightline/settings.toml", ".config/sightline/extensions/x.py", ".config/autostart/x.desktop",
    ".local/share/sightline/trusted.json", ".local/bin/env", ".tmux.conf",
]  # fmt: skip


@attack(point=2, forms=_OF_HOME)
def home_is_the_workspace(lab: Lab, form: str) -> str:
    """What a shell reads, what decides about us, and where programs are, existing or not."""
    for name in (".profile", ".config/x", ".local/bin/x"):
        lab.write(lab.home / name, "# as it was\n")
    before = _content(lab.home / form)
    command = f"mkdir -p {os.path.dirname(form) or '.'}; echo evil > {form}; mv .local away; mv .config away"
    lab.agent([[{"tool": "bash", "args": {"command": command}}]], cwd=lab.home)
    if _content(lab.home / form) != before:
        return f"{form} is {_content(lab.home / form)!r}"
    left = [name for name in (".bash_profile", ".zshrc", ".ssh") if (lab.home / name).exists()]
    return f"placeholders were left behind: {left}" if left else ""
