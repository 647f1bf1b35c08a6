"""A program that stands for `gemini`, written into a folder of its own: what it says is what the test gives it.

With `--acp` it answers as Gemini does, and says the test's lines for each prompt; else it works on one prompt. Among
those lines `DONE {…}` answers the prompt at once, `ANSWER {…}` when something was answered to it, and `CRASH` is the
end of it all. A prompt that has none of them stays open until it is cancelled.
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

def out(message):
    sys.stdout.write((message if isinstance(message, str) else json.dumps(message)) + "\\n")
    sys.stdout.flush()

with open(os.path.join(HERE, "started"), "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
if "--acp" not in sys.argv:
    sys.stdin.read()
    out({{"type": "init", "session_id": "S1", "model": "m-1"}})
    out({{"type": "message", "role": "assistant", "content": "By the stream.", "delta": True}})
    out({{"type": "result", "status": "success"}})
    sys.exit(0)
if has("old"):
    sys.stderr.write("Unknown argument: acp\\n")
    sys.exit(1)

turns = int(open(os.path.join(HERE, "turns")).read()) if has("turns") else 0
prompt = None
answered = None
left = 0
for line in sys.stdin:
    asked = json.loads(line)
    with open(os.path.join(HERE, "asked.jsonl"), "a") as log:
        log.write(line)
    method, id = asked.get("method"), asked.get("id")
    if method is None:
        if prompt is not None and answered is not None:
            out({{"jsonrpc": "2.0", "id": prompt, "result": answered}})
            prompt = answered = None
    elif method == "session/prompt":
        turns += 1
        with open(os.path.join(HERE, "turns"), "w") as log:
            log.write(str(turns))
        prompt = id
        while left:
            out(was)
            left -= 1
        for said in open(os.path.join(HERE, f"turn-{{turns}}.jsonl")):
            said = said.strip()
            if said == "CRASH":
                sys.stdout.flush()
                os.kill(os.getpid(), signal.SIGKILL)
            elif said.startswith("ANSWER "):
                answered = json.loads(said.removeprefix("ANSWER "))
            elif said.startswith("DONE "):
                out({{"jsonrpc": "2.0", "id": prompt, **json.loads(said.removeprefix("DONE "))}})
                prompt = None
            else:
                sys.stdout.write(said.replace("SESSION", asked["params"]["sessionId"]) + "\\n")
        sys.stdout.flush()
    elif method == "session/cancel":
        if prompt is not None and not has("deaf"):
            out({{"jsonrpc": "2.0", "id": prompt, "result": {{"stopReason": "cancelled"}}}})
            prompt = answered = None
    elif method == "session/new":
        out({{"jsonrpc": "2.0", "id": id, "result": {{"sessionId": "S1", "models": {{"currentModelId": "m-1"}}}}}})
    elif method == "session/load" and has("lost"):
        out({{"jsonrpc": "2.0", "id": id, "error": {{"code": -32603, "message": "Internal error",
            "data": {{"details": "No previous sessions found."}}}}}})
    elif method == "session/load":
        out({{"jsonrpc": "2.0", "id": id, "result": {{"models": {{"currentModelId": "m-1"}}}}}})
        text = {{"sessionUpdate": "agent_message_chunk", "content": {{"type": "text", "text": "What was."}}}}
        was = {{"method": "session/update", "params": {{"sessionId": asked["params"]["sessionId"], "update": text}}}}
        out(was)
        left = 5 if has("slow") else 0
    elif method == "initialize":
        out({{"jsonrpc": "2.0", "id": id, "result": {{"protocolVersion": 1}}}})
    elif id is not None:
        answer = json.dumps({{"jsonrpc": "2.0", "id": id, "error": {{"code": -32601, "message": "Method not found"}}}})
        if left % 2:  # read at once, or one after the other: where it stands in the stream is the same
            out(answer + "\\n" + json.dumps(was))
        else:
            out(answer)
            if left:
                time.sleep(0.05)
                out(was)
        left = max(left - 1, 0)
"""


def install(folder: Path, *turns: list[Any]) -> Path:
    """The program, with what it says for each prompt: messages, or words of its own."""
    folder.mkdir(exist_ok=True)
    for number, said in enumerate(turns, 1):
        text = "".join([f"{one if isinstance(one, str) else msgspec.json.encode(one).decode()}\n" for one in said])
        (folder / f"turn-{number}.jsonl").write_text(text)
    program = folder / "gemini"
    program.write_text(_SCRIPT.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program
