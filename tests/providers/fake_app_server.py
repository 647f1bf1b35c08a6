"""A program that stands for `codex`, written into a folder of its own: what it says is what the test gives it.

`app-server` answers as Codex's does, and then says the test's lines; `exec` works on one prompt as Codex's does.
"""

import os
import stat
import sys
from pathlib import Path

_SCRIPT = """#!{python}
import json, os, signal, sys

HERE = os.path.dirname(os.path.abspath(__file__))

def out(message):
    sys.stdout.write((message if isinstance(message, str) else json.dumps(message)) + "\\n")
    sys.stdout.flush()

if sys.argv[1] == "exec":
    sys.stdin.read()
    out({{"type": "thread.started", "thread_id": "T1"}})
    out({{"type": "item.completed", "item": {{"id": "i", "type": "agent_message", "text": "By exec."}}}})
    out({{"type": "turn.completed"}})
    sys.exit(0)
if os.path.exists(os.path.join(HERE, "old")):
    sys.stderr.write("error: unrecognized subcommand 'app-server'\\n")
    sys.exit(2)

turns = 0
for line in sys.stdin:
    asked = json.loads(line)
    with open(os.path.join(HERE, "asked.jsonl"), "a") as log:
        log.write(line)
    method = asked.get("method")
    if method is None:
        out({{"method": "serverRequest/resolved", "params": {{"threadId": "T1", "requestId": asked["id"]}}}})
        turn = {{"id": "U1", "status": "completed"}}
        out({{"method": "turn/completed", "params": {{"threadId": "T1", "turn": turn}}}})
    elif method == "turn/start":
        turns += 1
        out({{"id": asked["id"], "result": {{"turn": {{"id": "U1"}}}}}})
        for said in open(os.path.join(HERE, f"turn-{{turns}}.jsonl")):
            if said.strip() == "CRASH":
                sys.stdout.flush()
                os.kill(os.getpid(), signal.SIGKILL)
            sys.stdout.write(said)
        sys.stdout.flush()
    elif method == "turn/interrupt":
        out({{"id": asked["id"], "result": {{}}}})
        if not os.path.exists(os.path.join(HERE, "deaf")):
            turn = {{"id": "U1", "status": "interrupted"}}
            out({{"method": "turn/completed", "params": {{"threadId": "T1", "turn": turn}}}})
    elif "id" in asked:
        out({{"id": asked["id"], "result": {{"thread": {{"id": "T1"}}, "model": "m-1"}}}})
"""


def install(folder: Path, *turns: bytes) -> Path:
    """The program, with what it says in each turn."""
    folder.mkdir(exist_ok=True)
    for number, said in enumerate(turns, 1):
        (folder / f"turn-{number}.jsonl").write_bytes(said)
    program = folder / "codex"
    program.write_text(_SCRIPT.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def path_with(folder: Path) -> str:
    return f"{folder}{os.pathsep}{os.environ['PATH']}"
