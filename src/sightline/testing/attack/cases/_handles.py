"""Links, pipes and files of others, put where the program opens something after it was decided, or by itself."""

import io
import json
import os
import sqlite3
import subprocess
import tarfile
import threading
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from sightline.testing.attack import Lab, attack
from sightline.testing.databases import interrupted

_SECRET = "what-is-outside-4711"
_CALLS = 40
_SECONDS = 55.0  # a search has 30

_SWAPPER = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
one, two = (name.encode() for name in sys.argv[1:3])
while True:
    libc.renameat2(-100, one, -100, two, 2)
"""


def _swap(lab: Lab, one: str, two: str) -> None:
    """Two names of the workspace change places, as fast as a process can, until the lab is closed."""
    lab.spawn([str(lab.python), "-c", _SWAPPER, str(lab.workspace / one), str(lab.workspace / two)])


def _repeated(tool: str, args: Mapping[str, str]) -> list[list[dict[str, Any]]]:
    """The same call again and again; `{n}` in an argument is its number."""
    numbered = [{key: value.replace("{n}", str(number)) for key, value in args.items()} for number in range(_CALLS)]
    return [[{"tool": tool, "args": each}] for each in numbered]


_WRITES = {
    "write": ("write", {"path": "place/{n}.txt", "content": "x"}),
    "write over": ("write", {"path": "place/same.txt", "content": "{n}"}),
    "write deep": ("write", {"path": "place/{n}/a/b/c.txt", "content": "x"}),
    "write program": ("write", {"path": "place/{n}.sh", "content": "#!/bin/sh\n"}),
    "edit": ("edit", {"input": "¶place/{n}.txt\ninsert head:\n+x"}),
    "edit deep": ("edit", {"input": "¶place/{n}/new.txt\ninsert head:\n+x"}),
    "zip": ("write", {"path": "place/{n}.zip:a.txt", "content": "x"}),
    "zip over": ("write", {"path": "place/same.zip:a{n}.txt", "content": "x"}),
    "tar": ("write", {"path": "place/{n}.tar.gz:a.txt", "content": "x"}),
    "plain tar": ("write", {"path": "place/{n}.tar:a.txt", "content": "x"}),
}


@attack(point=3, forms=[f"{kind}: {swapped}" for kind in _WRITES for swapped in ("folder", "link")])
def a_link_is_swapped_under_a_write(lab: Lab, form: str) -> str:
    kind, _, swapped = form.partition(": ")
    if swapped == "folder":
        lab.make("place")
    else:
        lab.make("inside")
        lab.link("place", "inside")
    lab.link("other", lab.outside)
    _swap(lab, "place", "other")
    tool, args = _WRITES[kind]
    ran = lab.agent(_repeated(tool, args))
    if unknown := [call.text for call in ran.calls if "the tool failed" in call.text]:
        return f"a tool failed in a way it does not know: {unknown[0]}"
    return lab.written() or ("" if len(ran.calls) == _CALLS else f"{len(ran.calls)} calls were made")


_READS = {
    "read": ("read", {"path": "place/a.txt"}),
    "read raw": ("read", {"path": "place/a.txt:raw"}),
    "read lines": ("read", {"path": "place/a.txt:1-5"}),
    "zip": ("read", {"path": "place/a.zip:a.txt"}),
    "tar": ("read", {"path": "place/a.tar:a.txt"}),
    "database": ("read", {"path": "place/a.db:notes"}),
    "notebook": ("read", {"path": "place/a.ipynb"}),
    "folder": ("read", {"path": "place"}),
    "search": ("search", {"pattern": "what-is", "paths": "place"}),
    "search file": ("search", {"pattern": "what-is", "paths": "place/a.txt"}),
    "search above": ("search", {"pattern": "what-is", "paths": "."}),
    "find": ("find", {"paths": "place"}),
}


@attack(point=3, forms=list(_READS))
def a_link_is_swapped_under_a_read(lab: Lab, form: str) -> str:
    """With a rule that forbids reading what the link leads to."""
    lab.make("place")
    _fill(lab, lab.workspace / "place", "nothing")
    _fill(lab, lab.outside, _SECRET)
    lab.write(lab.outside / f"{_SECRET}.txt")
    lab.link("other", lab.outside)
    _swap(lab, "place", "other")
    tool, args = _READS[form]
    calls: Any = {key: [value] for key, value in args.items()} if tool == "find" else args
    turns = [[{"tool": tool, "args": calls}] for _ in range(_CALLS)]
    ran = lab.agent(turns, "--deny", f"read({lab.outside}/**)", "--deny", f"read({lab.outside})")
    return "the secret was read" if _SECRET in ran.everything else ""


def _fill(lab: Lab, folder: Path, text: str) -> None:
    lab.write(folder / "a.txt", f"{text}\n")
    lab.write(folder / "a.zip", _zipped(text))
    lab.write(folder / "a.tar", _tarred(text))
    lab.write(folder / "a.db", _database(lab.folder, text))
    cell = f'{{"cell_type": "code", "metadata": {{}}, "outputs": [], "source": ["{text}"]}}'
    lab.write(folder / "a.ipynb", f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}')


def _zipped(text: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        made.writestr("a.txt", text)
    return data.getvalue()


def _tarred(text: str) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as made:
        member = tarfile.TarInfo("a.txt")
        member.size = len(text)
        made.addfile(member, io.BytesIO(text.encode()))
    return data.getvalue()


def _database(folder: Path, text: str) -> bytes:
    path = folder / "made.db"
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
    connection.execute("INSERT INTO notes (text) VALUES (?)", (text,))
    connection.commit()
    connection.close()
    return path.read_bytes()


@attack(point=3, forms=["-journal", "-wal", "-shm"])
def a_database_writes_through_a_link_beside_it(lab: Lab, form: str) -> str:
    """Judged is the database; the library would open its journal wherever that leads."""
    lab.write("a.db", _database(lab.folder, "x"))
    lab.link(f"a.db{form}", lab.outside / "planted")
    lab.agent([[_ROW]])
    return lab.written()


_ROW = {"tool": "write", "args": {"path": "a.db:notes", "content": "{text: 'y'}"}}
_DATABASE_CALLS = {"write": _ROW, "read": {"tool": "read", "args": {"path": "a.db:notes"}}}


@attack(point=3, forms=[f"{call}: {named}" for call in _DATABASE_CALLS for named in ("file", "pipe")])
def the_journal_of_a_database_names_a_file(lab: Lab, form: str) -> str:
    """Of a change that was interrupted: the library undoes it, and opens and deletes the file the journal names."""
    call, _, named = form.partition(": ")
    victim = lab.write(lab.outside / "victim", _SECRET)
    if named == "pipe":
        victim.unlink()
        os.mkfifo(victim, 0o666)
        os.chown(victim, lab.account.uid, lab.account.gid)
    data, journal = interrupted(lab.folder, victim)
    lab.write("a.db", data)
    lab.write("a.db-journal", journal)
    ran = lab.agent([[_DATABASE_CALLS[call]]], seconds=_SECONDS)
    if ran.code < 0:
        return "it had to be killed"
    return "" if victim.exists() else "a file outside was deleted"


@attack(point=3, forms=["-journal", "-wal", "-shm"])
def a_folder_is_swapped_under_a_database(lab: Lab, form: str) -> str:
    """The library would open what is beside the database by its name, in whatever folder that is by then."""
    lab.make("place")
    lab.link("other", lab.outside)
    lab.write("place/a.db", _database(lab.folder, "x"))
    database = lab.write(lab.outside / "a.db", _database(lab.folder, "theirs"))
    beside = lab.write(lab.outside / f"a.db{form}", _SECRET * 100)
    before = database.read_bytes(), beside.read_bytes()
    _swap(lab, "place", "other")
    ran = lab.agent(_repeated("write", {"path": "place/a.db:notes", "content": "{text: 'y'}"}))
    if not beside.exists() or (database.read_bytes(), beside.read_bytes()) != before:
        return "files outside were changed"
    if unknown := [call.text for call in ran.calls if "the tool failed" in call.text]:
        return f"a tool failed in a way it does not know: {unknown[0]}"
    return "" if len(ran.calls) == _CALLS else f"{len(ran.calls)} calls were made"


_LOCKER = """
import fcntl, os, struct, sys, time
how, *paths = sys.argv[1:]
held = []
for path in paths:
    try:
        held.append(os.open(path, os.O_RDONLY))
        if how == "flock":
            fcntl.flock(held[-1], fcntl.LOCK_EX)
        else:
            fcntl.fcntl(held[-1], fcntl.F_OFD_SETLK, struct.pack("hhqqixxxx", fcntl.F_RDLCK, 0, 0, 0, 0))
    except OSError:
        pass
open("locked", "w").close()
time.sleep(120)
"""
_LOCKED = {
    "exec": ("exec", "--", "true"),
    "config": ("config", "set", "models.default", "x/y"),
    "trust": ("trust", "."),
    "jobs": ("jobs",),
    "agent": ("-p", "go", "--timeout", "10"),
}


@attack(point=10, forms=[f"{how}: {words}" for how in ("flock", "read lock") for words in _LOCKED])
def a_command_locks_what_it_may_read(lab: Lab, form: str) -> str:
    """Files of the program, which then waits for them."""
    how, _, words = form.partition(": ")
    lab.write("locker.py", _LOCKER)
    for first in ("exec", "config"):  # so that there is something to lock
        lab.start(*_LOCKED[first]).communicate(timeout=_SECONDS)
    settings = lab.make(lab.home / ".config" / "sightline")
    files = [lab.data, settings, *(lab.data / name for name in ("jobs.jsonl", "prompts.jsonl", "settings.lock"))]
    locking = f"python3 locker.py '{how}' {' '.join(map(str, files))}"
    script = lab.write(lab.folder / "locking.json", json.dumps([[{"tool": "bash", "args": {"command": locking}}]]))
    lab.start("-p", "go", "--model", f"scripted:{script}")
    _wait_for(lab.workspace / "locked")
    job = [[{"tool": "bash", "args": {"command": "echo hi", "async": True}}], [{"text": "done"}]]
    model = lab.write(lab.folder / "job.json", json.dumps(job))
    process = lab.start(*_LOCKED[words], *(["--model", f"scripted:{model}"] if words == "agent" else []))
    try:
        process.communicate(timeout=25)
    except subprocess.TimeoutExpired:
        return "it waits without an end"
    return ""


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + _SECONDS
    while not path.exists():
        if time.monotonic() > deadline:
            raise AssertionError("the command did not begin")
        time.sleep(0.05)


_INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md")
_LINKS = ("straight", "relative", "chain", "linked folder", "denied file", "denied folder", "above")


@attack(point=3, forms=[f"{name}: {kind}" for name in _INSTRUCTIONS for kind in _LINKS])
def instructions_are_a_link_to_a_secret(lab: Lab, form: str) -> str:
    name, _, kind = form.partition(": ")
    secret = lab.write(lab.outside / "secret.txt", _SECRET)
    cwd, options = lab.workspace, []
    match kind:
        case "straight":
            lab.link(name, secret)
        case "relative":
            lab.link(name, os.path.relpath(secret, lab.workspace))
        case "chain":
            lab.link("one", "two")
            lab.link("two", secret)
            lab.link(name, "one")
        case "linked folder":
            lab.link("docs", lab.outside)
            lab.link(name, "docs/secret.txt")
        case "denied file":
            lab.write("private.txt", _SECRET)
            lab.link(name, "private.txt")
            options = ["--deny", f"read({lab.workspace}/private.txt)"]
        case "denied folder":
            lab.write(f"private/{name}", _SECRET)
            cwd = lab.workspace / "private"
            options = ["--deny", f"read({cwd}/**)"]
        case "above":
            cwd = lab.make("below")
            lab.link(name, secret)
    return "the secret was sent to the model" if _SECRET in _sent(lab, options, cwd) else ""


@attack(
    point=3, forms=[f"{name}: {kind}" for name in _INSTRUCTIONS for kind in ("another user's", "writable", "by group")]
)
def instructions_of_others_are_read_above_the_folder(lab: Lab, form: str) -> str:
    name, _, kind = form.partition(": ")
    file = lab.write(lab.folder / name, _SECRET, 0o644)
    if kind == "another user's":
        os.chown(file, 54321, 54321)
    else:
        os.chown(file, lab.account.uid, 54321)
        file.chmod(0o666 if kind == "writable" else 0o664)
    return "they were sent to the model" if _SECRET in _sent(lab, [], lab.workspace) else ""


_PIPES = (
    ".git/HEAD",
    ".git/config",
    ".git",
    "AGENTS.md",
    "CLAUDE.md",
    ".sightline/settings.toml",
    ".gitignore",
    ".ignore",
    ".rgignore",
    ".git/info/exclude",
)


@attack(point=3, forms=_PIPES)
def a_pipe_keeps_the_program(lab: Lab, form: str) -> str:
    lab.make((lab.workspace / form).parent)
    os.mkfifo(lab.workspace / form)
    lab.write("a.txt", "x\n")
    turns = [[{"tool": "search", "args": {"pattern": "x", "paths": "."}}], [{"tool": "find", "args": {"paths": ["*"]}}]]
    ran = lab.agent(turns, seconds=_SECONDS)
    if ran.code < 0 or len(ran.calls) != 2:
        return "it had to be killed"
    waited = [call.name for call in ran.calls if call.is_error or "timed out" in call.text]
    return f"it was waited for in {', '.join(waited)}" if waited else ""


_GLOBS = {
    "braces of one choice": "{a}" * 12_000,
    "classes that are none": "[z-" * 4000 + "]",
    "choices of much": "{a,b}" * 8 + "**/*x/" * 2000,
    "a long word": "a" * 1_000_000 + "*",
    "many words": "a*," * 300_000,
}


@attack(point=10, forms=[f"{tool}: {kind}" for tool in ("search", "find") for kind in _GLOBS])
def a_glob_keeps_the_program(lab: Lab, form: str) -> str:
    """It is read before anything is searched, where no deadline counts."""
    tool, _, kind = form.partition(": ")
    args = {"paths": [_GLOBS[kind]], **({"pattern": "x"} if tool == "search" else {})}
    ran = lab.agent([[{"tool": tool, "args": args}]], seconds=_SECONDS)
    return "" if ran.code >= 0 and ran.calls else "it had to be killed"


_OVERWRITTEN = {
    "erased up to the cursor": (r"\b\b\b", r"\033[1K"),
    "erased and filled": ("", r"\033[2Kx\by"),
    "erased behind the cursor": (r"\b\b\b", r"\033[K\b"),
}


@attack(point=10, forms=list(_OVERWRITTEN))
def output_that_is_written_over_keeps_the_program(lab: Lab, form: str) -> str:
    """One row of 65,000 columns, and half a megabyte of what changes it."""
    first, again = _OVERWRITTEN[form]
    row = "head -c 65000 /dev/zero | tr '\\0' x"
    ran = lab.agent(
        [
            [
                {
                    "tool": "bash",
                    "args": {"command": f"{row}; printf '{first}'; yes $'{again}' | head -95000 | tr -d '\\n'"},
                }
            ]
        ],
        seconds=_SECONDS,
    )
    return "" if ran.code >= 0 and ran.calls else "it had to be killed"


@attack(point=3, forms=["/etc/passwd", "../outside/secret.txt", "worktree", "loop"])
def the_head_of_a_repository_is_any_file(lab: Lab, form: str) -> str:
    """It is shown to the model as the name of a branch."""
    lab.write(lab.outside / "secret.txt", _SECRET)
    lab.write(lab.outside / "HEAD", _SECRET)
    match form:
        case "worktree":
            lab.write(".git", f"gitdir: {lab.outside}\n")
        case "loop":
            lab.write(".git", "gitdir: .git\n")
        case _:
            lab.link(".git/HEAD", form)
    sent = _sent(lab, [], lab.workspace)
    return "it was sent to the model" if _SECRET in sent or "root:x:0:0" in sent else ""


def _sent(lab: Lab, options: Sequence[str], cwd: Path) -> str:
    """Everything a model is sent with the first prompt."""
    with _model() as (address, bodies):
        settings = f'[models.servers.here]\nbase_url = "{address}"\n'
        lab.write(lab.home / ".config" / "sightline" / "settings.toml", settings, 0o600)
        process = lab.start("-p", "go", "--model", "here/any", *options, cwd=cwd)
        process.communicate(timeout=60)
        if not bodies:
            raise AssertionError("the model was not asked")
        return "".join(bodies)


@contextmanager
def _model() -> Iterator[tuple[str, list[str]]]:
    """A server that listens to what it is asked and answers nothing of use."""
    bodies: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers.get("content-length") or 0)).decode(errors="replace"))
            self.send_response(400)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", bodies
    finally:
        server.shutdown()
        server.server_close()
