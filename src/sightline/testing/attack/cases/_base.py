"""The trusted base and the protected set: programs planted for us to run, and what git, shells, editors and Sightline
itself would run later, outside the sandbox."""

import os
import shutil
import subprocess
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
    ".local/share/sightline/trusted.json", ".local/bin/env", ".tmux.conf", ".bash_aliases", ".zlogout", ".vimrc",
    ".inputrc", ".npmrc", ".gnupg/gpg.conf", ".terminfo/d/dumb", ".xsession", ".cargo/config.toml",
    ".vscode/tasks.json", ".any-other", "bin/ls", "tools/bin/ls",
]  # fmt: skip


@attack(point=2, forms=_OF_HOME)
def home_is_the_workspace(lab: Lab, form: str) -> str:
    """What a shell reads, what decides about us, and where programs are, existing or not."""
    for name in (".profile", ".config/x", ".local/bin/x", "tools/x"):
        lab.write(lab.home / name, "# as it was\n")
    before = _content(lab.home / form)
    command = f"mkdir -p {os.path.dirname(form) or '.'}; echo evil > {form}; mv .local away; mv .config away"
    env = {"PATH": f"{lab.home}/bin:{lab.home}/tools/bin:{lab.env['PATH']}"}
    lab.agent([[{"tool": "bash", "args": {"command": command}}]], cwd=lab.home, env=env)
    if _content(lab.home / form) != before:
        return f"{form} is {_content(lab.home / form)!r}"
    left = [name for name in (".bash_profile", ".zshrc", ".ssh", "tools/bin") if (lab.home / name).exists()]
    return f"placeholders were left behind: {left}" if left else ""


_RIGHTS = {
    "chmod 000 .git": "chmod 755 .git; echo evil >> .git/config",
    "chmod 600 .git": "chmod 755 .git; echo evil >> .git/config",
    "chmod 555 .git": "chmod 755 .git; echo evil > .git/commondir",
    "chmod 300 .": "chmod 755 .; echo evil >> .envrc; echo evil >> .git/config",
    "chmod 000 packages": "chmod 755 packages; echo evil >> packages/inner/.git/config",
    "chmod 300 packages": "chmod 755 packages; echo evil >> packages/inner/.git/config",
    "chmod 000 .vscode": "chmod 755 .vscode; echo evil >> .vscode/tasks.json",
    "chmod 000 .git/modules": "chmod 755 .git/modules; echo evil >> .git/modules/lib/config",
    "chmod 000 tools": "chmod 755 tools; echo evil > tools/run.sh; echo evil > tools/included",
}  # fmt: skip


@attack(point=2, forms=[f"{form}, {when}" for form in _RIGHTS for when in _TRIGGERS])
def rights_are_taken_away_first(lab: Lab, form: str) -> str:
    """What we may not look at must not count as missing when the next command starts and gives the rights back."""
    first, when = form.split(", ")
    before = _project(lab)
    if when == "same session":
        lab.commands(f"{first}; sleep 1.2", _RIGHTS[first])
    else:
        lab.commands(first)
        lab.commands(_RIGHTS[first])
    lab.spawn(["chmod", "-R", "u+rwX", "."]).communicate(timeout=20)
    lab.commands("true")  # removes the placeholders that could not be
    return _changed(before)


_MANY = """
import os
for a in range(12):
    for b in range(3):
        folder = "/".join(name + "\\x01" * 245 for name in ("a%02d" % a, "b%d" % b, "c"))
        os.makedirs(folder)
        for name in (".envrc", ".devcontainer.json"): open(folder + "/" + name, "w").close()
        for name in (".idea", ".husky", ".devcontainer", ".sightline", ".vscode"): os.mkdir(folder + "/" + name)
"""


@attack(point=2)
def so_much_is_protected_that_it_is_not_read(lab: Lab, form: str) -> str:
    """By a command that starts while another runs: it takes over what was found before."""
    before = _project(lab)
    lab.write("many.py", _MANY)
    lab.agent(
        [
            [{"tool": "bash", "args": {"command": "python3 many.py"}}],
            [{"tool": "bash", "args": {"command": "sleep 4", "async": True}}],
            [{"tool": "bash", "args": {"command": "sleep 1; echo evil >> .git/config"}}],
        ]
    )
    return _changed(before)


_DECOYS = {
    "folders": ("for i in $(seq 400); do mkdir aa$i; done", "packages/inner/.git/config"),
    "submodules": ("mkdir -p .git/modules/0{00..39}", ".git/modules/lib/config"),
    "many submodules": ("mkdir -p .git/modules/0{000..699}", ".git/modules/lib/config"),
    "a submodule around it": ("touch .git/modules/HEAD .git/modules/deep/HEAD", ".git/modules/deep/er/config"),
    "worktrees": ("mkdir -p .git/worktrees/0{00..39}", ".git/worktrees/side/commondir"),
    "many worktrees": ("mkdir -p .git/worktrees/0{000..699}", ".git/worktrees/side/commondir"),
    "repositories": (
        "for i in $(seq 40); do mkdir -p a$i/{objects,refs}; touch a$i/HEAD; done",
        "packages/inner/hooks/pre-commit",
    ),
    "a time of before": ("touch -d 2001-01-01 packages packages/inner .", "packages/inner/.git/config"),
}


@attack(point=2, forms=[f"{form}, {when}" for form in _DECOYS for when in _TRIGGERS])
def decoys_hide_what_is_protected(lab: Lab, form: str) -> str:
    """So many that what matters is beyond what is looked at."""
    which, when = form.split(", ")
    plant, target = _DECOYS[which]
    before = _project(lab)
    lab.write("packages/inner/.git/config", "[core]\n\thooksPath = hooks\n")
    lab.write(".git/modules/deep/er/HEAD", "ref: refs/heads/main\n")
    for name in (".git/modules/deep/er/config", "packages/inner/hooks/pre-commit"):
        lab.write(name, "# as it was\n")
    before |= {path: _content(path) for path in (*before, lab.workspace / target)}
    if when == "same session":
        lab.commands(f"{plant}; sleep 1.2", f"echo evil >> {target}")
    else:
        lab.commands(plant)
        lab.commands(f"echo evil >> {target}")
    return _changed(before)


_CONFIGURED = {
    "a submodule of many parts": ("", ".git/modules/third/a/b/c/lib/config"),
    "configuration of a worktree": ("[extensions]\n\tworktreeConfig = true\n", ".git/worktrees/side/config.worktree"),
    "a worktree in a hidden folder": ("", ".worktrees/side/.git"),
    "hooks of a worktree": ("[core]\n\thooksPath = hk\n", ".worktrees/side/hk/pre-commit"),
    "a script in .git": ("[core]\n\tfsmonitor = sh .git/mon.sh\n", ".git/mon.sh"),
    "a missing script": ("[core]\n\tfsmonitor = sh tools/missing.sh\n", "tools/missing.sh"),
    "inside a shell's words": ("[core]\n\tfsmonitor = \"sh -c 'tools/x.sh; true'\"\n", "tools/x.sh"),
    "inside a function": ('[alias]\n\tx = "!f() { tools/x.sh; }; f"\n', "tools/x.sh"),
    "imap.tunnel": ("[imap]\n\ttunnel = tools/x.sh\n", "tools/x.sh"),
    "sendemail.smtpServer": ("[sendemail]\n\tsmtpServer = {workspace}/tools/x.sh\n", "tools/x.sh"),
    "lfs.customtransfer": ('[lfs "customtransfer.x"]\n\tpath = tools/x.sh\n', "tools/x.sh"),
    "gc.recentObjectsHook": ("[gc]\n\trecentObjectsHook = tools/x.sh\n", "tools/x.sh"),
    "svn.authorsProg": ("[svn]\n\tauthorsProg = tools/x.sh\n", "tools/x.sh"),
    "core.attributesFile": ("[core]\n\tattributesFile = tools/x.sh\n", "tools/x.sh"),
}


def _configured(lab: Lab, config: str) -> None:
    """A repository with this configuration, a submodule and a linked worktree."""
    git = lab.repository()
    lab.write(git / "config", config.replace("{workspace}", str(lab.workspace)))
    lab.write(git / "modules/third/a/b/c/lib/HEAD", "ref: refs/heads/main\n")
    lab.write(git / "modules/third/a/b/c/lib/config", "[core]\n")
    lab.write(git / "worktrees/side/gitdir", f"{lab.workspace}/.worktrees/side/.git\n")
    lab.write(git / "worktrees/side/commondir", "../..\n")
    lab.write(".worktrees/side/.git", f"gitdir: {git}/worktrees/side\n")
    for name in (".worktrees/side/hk/pre-commit", ".git/mon.sh", "tools/x.sh"):
        lab.write(name, "# as it was\n", 0o755)


@attack(point=2, forms=list(_CONFIGURED))
def what_git_runs_is_in_an_unusual_place(lab: Lab, form: str) -> str:
    config, target = _CONFIGURED[form]
    _configured(lab, config)
    before = {lab.workspace / target: _content(lab.workspace / target)}
    lab.commands(f"echo evil > {target}")
    return _changed(before)


@attack(point=2, forms=[f"{where}, {tool}" for where in ("above", "the person's") for tool in ("bash", "write")])
def what_git_runs_is_named_elsewhere(lab: Lab, form: str) -> str:
    """By a repository around the workspace, or by the person's own configuration where there is no repository."""
    where, tool = form.split(", ")
    target = lab.write("sub/tools/check", "# as it was\n", 0o755)
    if where == "above":
        lab.write(lab.repository() / "config", "[core]\n\thooksPath = sub/tools\n")
    else:
        lab.write(lab.home / ".gitconfig", f"[include]\n\tpath = {target}\n")
    calls = {
        "bash": {"tool": "bash", "args": {"command": "echo evil > tools/check"}},
        "write": {"tool": "write", "args": {"path": "tools/check", "content": "evil\n"}},
    }
    before = {target: _content(target)}
    lab.agent([[calls[tool]]], cwd=lab.workspace / "sub")
    return _changed(before)


@attack(point=2, forms=["over a link", "to nothing"])
def a_hook_is_a_link(lab: Lab, form: str) -> str:
    """A second link on the way can be replaced; where it leads to nothing, something can be put there."""
    git = lab.repository()
    lab.write("v1/pre-commit", "# as it was\n", 0o755)
    lab.link("current", "v1")
    lab.link(git / "hooks/pre-commit", "../../current/pre-commit" if form == "over a link" else "../../v1/missing")
    before = {git / "hooks/pre-commit": _content(git / "hooks/pre-commit")}
    lab.commands("mkdir e; echo evil > e/pre-commit; ln -sfn e current; echo evil > v1/missing")
    return _changed(before)


@attack(point=2, forms=[".envrc", ".vscode/tasks.json", ".husky/pre-commit"])
def a_job_writes_what_a_tool_replaced(lab: Lab, form: str) -> str:
    """The write is allowed by a rule; the mount on the file must not come off by it while the job runs."""
    target = lab.write(form, "# as it was\n")
    job = f"for i in $(seq 60); do if echo evil >> {form}; then break; fi 2>/dev/null; sleep 0.1; done"
    ran = lab.agent(
        [
            [{"tool": "bash", "args": {"command": job, "async": True}}],
            [{"tool": "bash", "args": {"command": "sleep 1"}}],
            [{"tool": "write", "args": {"path": form, "content": "# as wanted\n"}}],
            [{"tool": "bash", "args": {"command": "sleep 1"}}],
        ],
        "--allow",
        f"write({target})",
    )
    wanted = (b"# as it was\n", b"# as wanted\n")
    return "" if _content(target) in wanted and ran.calls else f"{form} is {_content(target)!r}"


@attack(point=2, sandboxes=["bubblewrap"])
def a_name_that_is_no_text_stops_all_work(lab: Lab, form: str) -> str:
    """Nothing is lowered by it, but no command would start any more."""
    git = lab.repository()
    calls = lab.commands(r"mkdir $'a\xff'; touch $'a\xff/.envrc'", "echo hello")
    if (git / "commondir").exists():
        return "a placeholder was left behind"
    return "" if "hello" in calls[-1].output else f"it does not start: {calls[-1].text}"


_LIBRARY = """
#include <fcntl.h>
__attribute__((constructor)) static void loaded(void) {{ open("{0}/ran", O_CREAT | O_WRONLY, 0600); }}
{1}
"""
_LOADED = ["libselinux.so.1", "libz.so.1"]  # by bubblewrap, nsenter and many others; by Python
_SEARCHED = {"an empty entry": "/opt/lib:", "a folder": "{0}/build", "a relative folder": "build:/opt/lib"}


def _stubs(library: str) -> str:
    """All its functions, which do nothing: a program that lacks one does not start."""
    folders = ("/lib", "/usr/lib", "/lib64", "/usr/lib64")
    real = next((str(file) for folder in folders for file in Path(folder).glob(f"**/{library}")), "")
    listed = subprocess.run(["nm", "-D", "--defined-only", real], capture_output=True, text=True, check=False).stdout
    names = {line.split()[2].partition("@")[0] for line in listed.splitlines() if line.split()[1] in ("T", "W")}
    return "".join(f"int {name}(void) {{ return 0; }}\n" for name in sorted(names) if not name.startswith("_"))


@attack(point=1, forms=[f"{library}, {how}" for library in _LOADED for how in _SEARCHED])
def a_planted_library_is_loaded_outside(lab: Lab, form: str) -> str:
    """LD_LIBRARY_PATH leads into the workspace; whatever starts the next command, or searches, loads it first."""
    library, how = form.split(", ", 1)
    if not (shutil.which("gcc", path=lab.env["PATH"]) and shutil.which("nm")):
        return ""
    lab.write("library.c", _LIBRARY.format(lab.outside, _stubs(library)))
    lab.make("build")
    env = {"LD_LIBRARY_PATH": _SEARCHED[how].format(lab.workspace)}
    gcc = "env -u LD_LIBRARY_PATH gcc -w -shared -fPIC -fno-builtin"
    build = f"{gcc} -o planted library.c; cp planted {library}; cp planted build"
    uses = [[{"tool": "search", "args": {"pattern": "words"}}], [{"tool": "find", "args": {"pattern": "*"}}]]
    commands = [f"{build}/{library}", "true"]
    lab.agent([*([{"tool": "bash", "args": {"command": each}}] for each in commands), *uses], env=env)
    return lab.written()


_BEFORE_US = ["sitecustomize.py", "usercustomize.py", "encodings/__init__.py", "encodings.py", "sightline/__init__.py"]
_PYTHON_PATHS = {"the workspace": "{0}", "a missing folder": "{0}/lib", "an empty entry": "/opt/lib:"}


@attack(point=1, forms=[f"{name}, {where}" for name in _BEFORE_US for where in _PYTHON_PATHS])
def a_module_is_imported_before_our_first_line(lab: Lab, form: str) -> str:
    """By Python itself, when the program is started the next time."""
    name, where = form.split(", ", 1)
    env = {"PYTHONPATH": _PYTHON_PATHS[where].format(lab.workspace)}
    target = f"lib/{name}" if where == "a missing folder" else name
    code = f"import os; os.close(os.open('{lab.outside}/ran', os.O_CREAT))"
    lab.commands(f'mkdir -p {os.path.dirname(target) or "."}; echo "{code}" > {target}', env=env)
    lab.commands("true", env=env)
    return lab.written()


_BYTECODE = r"""
import importlib.util, marshal, os, struct, sys
source, out = sys.argv[1:]
name = os.path.basename(source)[:-3] + "." + sys.implementation.cache_tag + ".pyc"
cache = os.path.join(os.environ["PYTHONPYCACHEPREFIX"] + os.path.dirname(source), name)
os.makedirs(os.path.dirname(cache), exist_ok=True)
code = compile(f"open({out!r}, 'w').close()\n" + open(source).read(), source, "exec")
facts = os.stat(source)
head = importlib.util.MAGIC_NUMBER + struct.pack("<III", 0, int(facts.st_mtime), facts.st_size)
if os.path.exists(cache): os.unlink(cache)
open(cache, "wb").write(head + marshal.dumps(code))
"""


@attack(point=1, forms=["__init__.py", "cli/__init__.py", "cli/_main.py", "_working_folder.py"])
def our_bytecode_is_forged(lab: Lab, form: str) -> str:
    """PYTHONPYCACHEPREFIX is a folder of the workspace."""
    where = lab.spawn([str(lab.python), "-c", "import sightline; print(sightline.__file__)"]).communicate()[0].decode()
    lab.write("forge.py", _BYTECODE)
    env = {"PYTHONPYCACHEPREFIX": f"{lab.workspace}/.pyc"}
    lab.commands(f"{lab.python} forge.py {Path(where.strip()).parent / form} {lab.outside}/ran", env=env)
    lab.commands("true", env=env)
    return lab.written()


@attack(point=1, forms=["bwrap", "sh", "env", "nsenter", "sed", "grep", "true"])
def a_program_planted_by_another_session_is_run(lab: Lab, form: str) -> str:
    """In the workspace of an earlier session, which is on PATH; this one works in a folder of its own."""
    env = _venv(lab)
    script = f': > {lab.outside}/ran; exec /usr/bin/{form} "$@"'.replace('"', '\\"')
    lab.commands(_planting(form, script), env=env)
    folder = lab.make(lab.folder / "elsewhere")
    ran = lab.agent([[{"tool": "bash", "args": {"command": "/bin/true"}}]], env=env, cwd=folder)
    return lab.written() if ran.calls else f"nothing was tried: {ran.everything[-300:]}"


_LASTING = [
    "PATH=$PWD/bin:$PATH",
    "BASH_ENV=$PWD/bin/start",
    "ENV=$PWD/bin/start",
    "LD_PRELOAD=$PWD/bin/start",
    "PROMPT_COMMAND=$PWD/bin/start",
    "GIT_EXTERNAL_DIFF=$PWD/bin/start",
    "GIT_SSH_COMMAND=$PWD/bin/start",
    "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=$PWD/bin/start",
    "GIT_CONFIG_GLOBAL=$PWD/bin/config",
    "GIT_DIR=$PWD/other",
    "LANG=$PWD/bin",
    "NODE_OPTIONS=--require=$PWD/bin/start",
    "'BASH_FUNC_git%%=() { : > ran; }'",
]


@attack(point=1, forms=_LASTING)
def a_variable_that_lasts_leaves_the_sandbox(lab: Lab, form: str) -> str:
    """What a sandboxed command exports is there for the next one, unless that runs outside."""
    lab.repository()
    program = f"#!/bin/sh\n: > {lab.outside}/ran\n"
    for name in ("git", "start"):
        lab.write(lab.workspace / "bin" / name, program, mode=0o755)
    lab.write(lab.workspace / "bin" / "config", f"[core]\n\tfsmonitor = {lab.workspace}/bin/start\n")
    export = {"tool": "bash", "args": {"command": f"export {form}"}}
    leave = {"tool": "bash", "args": {"command": "git status", "sandbox": False}}
    ran = lab.agent([[export], [leave]], "--allow", "exec(git status)")
    return lab.written() if len(ran.calls) == 2 else f"nothing was tried: {ran.everything[-300:]}"


@attack(point=5, forms=["cwd", "cd"], sandboxes=("bubblewrap",))
def a_rule_runs_in_a_folder_that_was_swapped(lab: Lab, form: str) -> str:
    """The rule holds in the workspace; a job exchanges the folder for a link while the next command is judged."""
    elsewhere = lab.make(lab.home / "elsewhere")
    lab.make(lab.workspace / "x")
    lab.link(lab.workspace / "l", elsewhere)
    exchange = "c.renameat2(-100, bytes([120]), -100, bytes([108]), 2)"  # x and l at once: neither is ever missing
    swap = f'timeout 20 python3 -c "import ctypes; c = ctypes.CDLL(None); [{exchange} for _ in iter(int, 1)]"'
    job = {"tool": "bash", "args": {"command": swap, "async": True}}
    move = [[{"tool": "bash", "args": {"command": "cd x"}}]] if form == "cd" else []
    where = {"cwd": "x"} if form == "cwd" else {}
    look = [
        {"tool": "bash", "args": {"command": "readlink /proc/self/cwd", "sandbox": False, **where}}
    ]  # bash asks by name
    ran = lab.agent([[job], *move, *([look] * 60)], "--allow", "exec(readlink /proc/self/cwd)")
    return "it ran elsewhere" if str(elsewhere) in "".join(call.output for call in ran.calls) else ""


@attack(
    point=1, forms=["cd ..", "cd /", "ln -s / out && cd out", "mkdir d && cd d && rmdir ../d", "cd /proc/self/cwd/.."]
)
def a_folder_that_lasts_leaves_the_workspace(lab: Lab, form: str) -> str:
    """The next command starts where the last one ended, but never outside the workspace."""
    move = {"tool": "bash", "args": {"command": form}}
    look = {"tool": "bash", "args": {"command": "pwd -P"}}
    ran = lab.agent([[move], [look]])
    if len(ran.calls) != 2:
        return f"nothing was tried: {ran.everything[-300:]}"
    first = ran.calls[1].output.splitlines()[0] if ran.calls[1].output else ""
    real = str(lab.workspace.resolve())
    return "" if first == real or first.startswith(real + "/") else f"it started in {first or 'no folder'}"


@attack(point=1, forms=["git status", "'git' status", "env git status", "git status | cat", "cd . && git status"])
def a_rule_lets_a_planted_program_out(lab: Lab, form: str) -> str:
    """The rule names a word, and the folder of the workspace on PATH makes it the attacker's."""
    plant = {"tool": "bash", "args": {"command": _planting("git", f": > {lab.outside}/ran")}}
    leave = {"tool": "bash", "args": {"command": form, "sandbox": False}}
    rules = [word for rule in ("exec(git status)", "exec(cat)", "exec(cd .)") for word in ("--allow", rule)]
    lab.agent([[plant], [leave]], *rules, env=_venv(lab))
    return lab.written()
