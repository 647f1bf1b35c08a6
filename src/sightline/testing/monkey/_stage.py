"""Where the monkey plays: a project, a model that does much at once, and an extension that delegates."""

import itertools
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

SIGHTLINE = str(Path(sys.executable).with_name("sightline"))

_EXTENSION = '''\
"""Work in steps that are heard of twenty times a second, and words around the editor."""

import asyncio

from sightline.extension import Extension, Outcome, ToolContext


def setup(extension: Extension) -> None:
    @extension.tool
    async def crew(context: ToolContext, tasks: list[dict[str, str]]) -> Outcome:
        """Have agents do their tasks."""
        items = [{"id": str(n), "status": "pending", **task} for n, task in enumerate(tasks)]
        extension.ui.set_widget("crew", ["working", "on it"], placement="above")
        for item in items:
            for tick in range(6):
                item.update(status="running", preview=f"tick {tick}")
                context.update(details(items))
                await asyncio.sleep(0.05)
            item["status"] = "ok"
        extension.ui.set_widget("crew", None)
        return Outcome(text="all done", details=details(items))

    @extension.command("choose")
    async def choose(args: str) -> str:
        return str(await extension.ui.select("Which?", ["one", "two", "three"]))


def details(items):
    return {"ui": {"kind": "agent_delegation", "mode": "parallel", "items": [dict(item) for item in items]}}
'''
_PROSE = (
    "# A heading\n\nSome *words* with `code`, a [link](https://example.com/) and a list:\n\n- one\n- two\n\n"
    "| a | b |\n|---|---|\n| 漢字 | 👍🏽 |\n\n```python\ndef f():\n    return 1\n```\n\n"
)
_HOSTILE = "\x1b]0;stolen\x07\x1b[2J\x1b[31m\x9b5m\u202ebackwards\u0000 \x1b]52;c;aGFja2Vk\x07 and e" + "\u0301" * 300


class Stage:
    """Made in an empty folder; `environment` and `model` are for the program."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.project = folder / "project"
        self.home = folder / "home"
        (self.home / "extensions").mkdir(parents=True)
        self.project.mkdir()
        for name in ("a.py", "ab c.txt", "bad\udcffname.txt", "漢字.md"):
            (self.project / name).write_text("one\ntwo\nthree\n")
        (self.home / "extensions" / "crew.py").write_text(_EXTENSION)
        script = folder / "script.json"
        script.write_text(json.dumps(_turns(folder, chance)))
        self.model = f"scripted:{script}"
        inherited = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
        for name in ("TMUX", "TMUX_PANE", "VISUAL", "DISPLAY", "WAYLAND_DISPLAY"):
            inherited.pop(name, None)
        self.environment = {
            **inherited,
            "SIGHTLINE_HOME": str(self.home),
            "HOME": str(folder),
            "EDITOR": "true",
            "SIGHTLINE_MODELS_DISCOVER": "false",
        }

    def hosts(self) -> list[int]:
        """Processes of sessions that still run."""
        listed = subprocess.run([SIGHTLINE, "ps", "--json"], env=self.environment, capture_output=True, check=True)
        return [session["pid"] for session in json.loads(listed.stdout)]

    def logged(self) -> str:
        """What hosts had to complain about."""
        logs = [log.read_text(errors="replace") for log in self.home.rglob("host.log")]
        return "\n".join(log for log in logs if "Traceback" in log)


def _turns(folder: Path, chance: random.Random) -> list[Any]:
    kinds = [
        [_text(_PROSE * 3, chunk=9, delay_ms=3)],
        [_reasoning(), _bash("seq 1 3000")],
        [_bash("for i in $(seq 1 20); do echo line $i; sleep 0.05; done; exit 3")],
        [_tool("write", path=str(folder / "outside.txt"), content="outside\n")],
        [_tool("write", path="new.py", content="def f():\n    return 1\n" * 20, chunk=30, delay_ms=2)],
        [_tool("ask", question="Which way?", choices=["left", "right", _HOSTILE])],
        [_todo()],
        [_tool("crew", tasks=[{"agent": "Explore", "task": f"task {n} {_HOSTILE}"} for n in range(9)])],
        [_tool("read", path="a.py"), _tool("read", path="ab c.txt"), _tool("read", path="nowhere")],
        [_bash("for i in $(seq 1 40); do echo job $i; sleep 0.1; done", **{"async": True})],
        [{"error": {"kind": "overloaded", "message": _HOSTILE, "retry_after": 0.1}}],
        [_text(_HOSTILE)],
        [_bash("printf '\\033[31mred\\033[0m\\r\\033[2Kover \\033[3A\\033]0;x\\007\\n'; head -c 300 /dev/urandom")],
        [_text("Over.")],
    ]
    return [chance.choice(kinds) for _ in itertools.repeat(None, 3000)]


def _text(words: str, **more: Any) -> dict[str, Any]:
    return {"text": words, **more}


def _reasoning() -> dict[str, Any]:
    return {"reasoning": "Let me think about it. " * 10, "chunk": 6, "delay_ms": 2}


def _tool(tool: str, *, chunk: int = 12, delay_ms: float = 0, **args: Any) -> dict[str, Any]:
    return {"tool": tool, "args": args, "chunk": chunk, "delay_ms": delay_ms}


def _bash(command: str, **more: Any) -> dict[str, Any]:
    return _tool("bash", command=command, **more)


def _todo() -> dict[str, Any]:
    phases = [{"phase": "First", "items": ["one", "two " * 40]}, {"phase": "Then", "items": [_HOSTILE, "漢字"]}]
    return _tool("todo", ops=[{"op": "init", "list": phases}])
