"""Where one attack happens: folders of its own, and the installed program run there by one user in one sandbox.

    workspace/   where the agent works; everything in it belongs to the attacker
    home/        the user's home, with the program's own data below it
    outside/     what no sandboxed command may write
    run/         XDG_RUNTIME_DIR

All of it belongs to the user who runs the program: what is not written was held by the program, not by file modes.
"""

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sightline.testing.attack._corpus import Sandbox, User

SECONDS = 60.0


class Account(msgspec.Struct, frozen=True):
    """Who runs the program."""

    name: User
    uid: int
    gid: int


class Call(msgspec.Struct, frozen=True):
    """One call of the scripted model, as it ended. `refused`: it was not made for want of permission."""

    name: str
    text: str
    output: str
    exit_code: int | None
    is_error: bool
    refused: bool


class Ran(msgspec.Struct, frozen=True):
    """One run of the program: its exit code, what it printed, and its events as dictionaries."""

    code: int
    stdout: str
    stderr: str
    events: list[dict[str, Any]]
    calls: list[Call]

    @property
    def everything(self) -> str:
        """All words that came out, for leaks."""
        return self.stdout + self.stderr


class Lab:
    """What an attack is given. `sandbox` is what holds commands here, `account` who runs the program."""

    def __init__(self, folder: Path, sightline: Path, account: Account, sandbox: Sandbox, search_path: str) -> None:
        self.folder = folder
        self.sightline = sightline
        self.account = account
        self.sandbox = sandbox
        self.workspace = self._made("workspace")
        self.home = self._made("home")
        self.outside = self._made("outside")
        self.runtime = self._made("run")
        self.env = {
            "PATH": search_path,
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "USER": account.name,
        }
        self._processes: list[subprocess.Popen[bytes]] = []
        self._scripts = 0

    @property
    def data(self) -> Path:
        """Where the program stores its files."""
        return self.home / ".local" / "share" / "sightline"

    @property
    def python(self) -> Path:
        """The interpreter the program is installed for."""
        return self.sightline.with_name("python")

    def write(self, path: Path | str, content: str | bytes = "", mode: int = 0o644) -> Path:
        """A file of the user's; a relative path is in the workspace. Folders are made."""
        target = self.workspace / path
        self._make_folders(target.parent)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        target.chmod(mode)
        self._give(target)
        return target

    def link(self, path: Path | str, to: Path | str) -> Path:
        """A symbolic link in the workspace."""
        target = self.workspace / path
        self._make_folders(target.parent)
        target.symlink_to(to)
        return target

    def make(self, path: Path | str) -> Path:
        """A folder of the user's."""
        target = self.workspace / path
        self._make_folders(target)
        return target

    def repository(self, path: Path | str = ".") -> Path:
        """The skeleton of a git repository, made without git."""
        git = self.make(Path(path) / ".git")
        for folder in ("hooks", "objects", "refs/heads", "info"):
            self.make(git / folder)
        self.write(git / "HEAD", "ref: refs/heads/main\n")
        self.write(git / "config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
        return git

    def agent(
        self,
        turns: Sequence[Sequence[Mapping[str, Any]]],
        *options: str,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        seconds: float = SECONDS,
    ) -> Ran:
        """The program without a person, with a model that plays these turns."""
        self._scripts += 1
        script = self.write(self.folder / f"script-{self._scripts}.json", json.dumps([*turns, [{"text": "done"}]]))
        words = ["-p", "go", "--model", f"scripted:{script}", "--output-format", "events", *options]
        process = self.start(*words, env=env, cwd=cwd)
        try:
            stdout, stderr = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self._end(process)
            stdout, stderr = process.communicate()
        out = stdout.decode(errors="replace")
        events = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        return Ran(process.returncode, out, stderr.decode(errors="replace"), events, _calls(events))

    def commands(
        self,
        *lines: str,
        options: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        args: Mapping[str, Any] | None = None,
    ) -> list[Call]:
        """These command lines as calls of bash, one after another; `args` are further arguments of each call."""
        turns = [[{"tool": "bash", "args": {"command": line, **(args or {})}}] for line in lines]
        return self.agent(turns, *options, env=env).calls

    def start(self, *words: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Any:
        """The program with these arguments, running. It is ended with the lab."""
        return self.spawn([str(self.sightline), *words], env=env, cwd=cwd)

    def spawn(
        self, argv: Sequence[str], env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> "subprocess.Popen[bytes]":
        """Any program, run by the same user in a session of its own."""
        process = subprocess.Popen(
            list(argv),
            cwd=cwd or self.workspace,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            **self._as_user(),
        )
        self._processes.append(process)
        return process

    def written(self) -> str:
        """What was written outside; empty when nothing was."""
        found = sorted(str(path.relative_to(self.outside)) for path in self.outside.rglob("*"))
        return f"written outside: {', '.join(found)}" if found else ""

    def close(self) -> None:
        for process in self._processes:
            self._end(process)
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()

    def _as_user(self) -> dict[str, Any]:
        if os.geteuid() == self.account.uid:
            return {}
        return {"user": self.account.uid, "group": self.account.gid, "extra_groups": []}

    def _made(self, name: str) -> Path:
        path = self.folder / name
        path.mkdir(mode=0o700)
        self._give(path)
        return path

    def _make_folders(self, folder: Path) -> None:
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        for each in reversed(missing):
            each.mkdir()
            self._give(each)

    def _give(self, path: Path) -> None:
        if os.geteuid() != self.account.uid:
            os.chown(path, self.account.uid, self.account.gid)


def _calls(events: Sequence[Mapping[str, Any]]) -> list[Call]:
    names = {event["id"]: event["name"] for event in events if event.get("kind") == "tool_use"}
    outputs: dict[str, str] = {}
    for event in events:
        if event.get("kind") == "tool_output":
            outputs[event["id"]] = outputs.get(event["id"], "") + str(event.get("content", ""))
    ends = [event for event in events if event.get("kind") == "tool_result"]
    return [_call(end, names.get(end["id"], ""), outputs.get(end["id"], "")) for end in ends]


def _call(end: Mapping[str, Any], name: str, output: str) -> Call:
    details = end.get("details")
    ended = details.get("ended") if isinstance(details, dict) else None
    return Call(
        name,
        str(end.get("content", "")),
        output,
        end.get("exit_code"),
        bool(end.get("is_error")),
        ended == "refused",
    )
