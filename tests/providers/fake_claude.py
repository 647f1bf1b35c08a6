"""A program that stands for `claude`, written into a folder of its own: what it says is what the test gives it.

It answers control requests as Claude Code does, and says the test's lines to each prompt. In the lines `CRASH` ends it,
`WAIT` has it read what it is sent until an answer or an interrupt came, and `LATER` has it wait until there is a file
`now`. What it was sent is in `sent.jsonl`. A text that came while it waits can be withdrawn. The answer to an interrupt
and the end that follows are one write.
"""

import stat
import sys
from pathlib import Path
from typing import Any

import msgspec

_SCRIPT = """#!{python}
import json, os, signal, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))

def has(name):
    return os.path.exists(os.path.join(HERE, name))

def out(message, flush=True):
    sys.stdout.write(json.dumps(message) + "\\n")
    if flush:
        sys.stdout.flush()

with open(os.path.join(HERE, "arguments.txt"), "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
if has("old"):
    sys.stderr.write("error: unknown option '--permission-prompt-tool'\\n")
    sys.exit(1)

def state(now):
    if not has("stateless"):
        out({{"type": "system", "subtype": "session_state_changed", "state": now}})

def interrupted():
    if has("deaf"):
        return False
    text = "[Request interrupted by user]"
    out({{"type": "user", "message": {{"content": [{{"type": "text", "text": text}}]}}}}, flush=False)
    out({{"type": "result", "subtype": "error_during_execution", "is_error": True, "errors": ["aborted"]}}, flush=False)
    return True

waiting = set()

def heard():
    message = json.loads(sys.stdin.readline() or "null")
    if message is None:
        sys.exit(0)
    with open(os.path.join(HERE, "sent.jsonl"), "a") as log:
        log.write(json.dumps(message) + "\\n")
    if message["type"] == "control_request":
        id, kind = message["request_id"], message["request"]["subtype"]
        cancelled = message["request"].get("message_uuid") in waiting
        response = {{"subtype": "success", "request_id": id, "response": {{"cancelled": cancelled}}}}
        out({{"type": "control_response", "response": response}}, flush=kind != "interrupt")
        return kind
    waiting.add(message.get("uuid"))
    return message["type"]

prompts = 0
while True:
    if heard() != "user":
        continue
    prompts += 1
    waiting.clear()
    heard()  # what is asked to know that the words were read
    state("running")
    for said in open(os.path.join(HERE, f"prompt-{{prompts}}.jsonl")):
        word = said.strip()
        if word == "CRASH":
            sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        elif word == "LATER":
            while not has("now"):
                time.sleep(0.01)
        elif word == "WAIT":
            while (kind := heard()) not in ("control_response", "interrupt"):
                pass
            if kind == "interrupt" and interrupted():
                break
        else:
            sys.stdout.write(said)
            sys.stdout.flush()
    state("idle")
"""


def install(folder: Path, *prompts: bytes) -> Path:
    """The program, with what it says to each prompt."""
    folder.mkdir(exist_ok=True)
    for number, said in enumerate(prompts, 1):
        (folder / f"prompt-{number}.jsonl").write_bytes(said)
    program = folder / "claude"
    program.write_text(_SCRIPT.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def sent(program: Path) -> list[Any]:
    return [msgspec.json.decode(line) for line in (program.parent / "sent.jsonl").read_bytes().splitlines()]


def starts(program: Path) -> list[str]:
    """The arguments of each process there was."""
    return (program.parent / "arguments.txt").read_text().splitlines()
