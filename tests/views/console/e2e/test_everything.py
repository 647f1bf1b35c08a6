"""One session with everything in it, in three terminals: each row stands in the scrollback once, live and replayed."""

import pytest

from tests.cli.support import running_sessions, until
from tests.views.console.e2e.support import CTRL_O, ENTER, Person, Screen, bash, text

pytestmark = pytest.mark.slow

CREW = '''
import asyncio

from sightline.extension import Extension, Outcome, ToolContext


def setup(extension: Extension) -> None:
    @extension.tool
    async def crew(context: ToolContext, tasks: list[dict[str, str]]) -> Outcome:
        """Have agents do their tasks, heard of every 50 ms."""
        items = [{"id": str(n), "status": "pending", **task} for n, task in enumerate(tasks)]
        for item in items:
            for tick in range(4):
                item.update(status="running", preview=f"tick {tick}")
                context.update(details(items))
                await asyncio.sleep(0.05)
            item["status"] = "ok"
        return Outcome(text="crew done", details=details(items))


def details(items):
    return {"ui": {"kind": "agent_delegation", "mode": "parallel", "items": [dict(item) for item in items]}}
'''
WORDS = [f"said-{number:02d}." for number in range(1, 31)]
TASKS = [f"task-{number:02d}" for number in range(1, 7)]
SLOW = [f"slow-{number:02d}" for number in range(1, 9)]
FAILED = [f"failed-{number:02d}" for number in range(1, 16)]
OTHERS = ["› do everything", "one.txt", "two.txt", "waited-01", "waited-02", "All of it is done."]


def everything(person: Person) -> str:
    """The model; `go` lets it come to its end."""
    for name in ("one.txt", "two.txt", "three.txt"):
        (person.project / name).write_text("some\nlines\n")
    go = person.project / "go"
    todo = {"op": "init", "list": [{"phase": "Work", "items": ["todo-01", "todo-02"]}]}
    slow = "for i in 1 2 3 4 5 6 7 8; do printf 'slow-%02d\\n' $i; sleep 0.25; done"
    waits = f"printf 'waited-%02d\\n' 1; until [ -e {go} ]; do sleep 0.05; done; printf 'waited-%02d\\n' 2"
    return person.script(
        [
            {"reasoning": "Where to begin?", "chunk": 4, "delay_ms": 2},
            text("\n\n".join(f"This is {word}" for word in WORDS) + "\n", chunk=5, delay_ms=3),
            {"tool": "todo", "args": {"ops": [todo]}},
        ],
        [{"tool": "read", "args": {"path": name}} for name in ("one.txt", "two.txt", "three.txt")],
        [bash("for i in $(seq 1 15); do printf 'failed-%02d\\n' $i; done; exit 3")],
        [bash(slow)],
        [{"tool": "crew", "args": {"tasks": [{"agent": "Explore", "task": task} for task in TASKS]}}],
        [{"tool": "write", "args": {"path": str(person.folder / "outside.txt"), "content": "written-01\n"}}],
        [bash(waits), {"tool": "todo", "args": {"ops": [{"op": "done"}]}}],
        [text("All of it is done.", chunk=3, delay_ms=5)],
    )


def transcript(screen: Screen) -> list[str]:
    """What stands above the editor, from what was asked on."""
    rows = [row.rstrip() for row in screen.tape()]
    begins = [number for number, row in enumerate(rows) if row.startswith("› do everything")]
    ends = [number for number, row in enumerate(rows) if "All of it is done." in row]
    return rows[begins[0] : ends[-1] + 1] if begins and ends else []


@pytest.mark.parametrize("person", ["xterm", "ghostty", "tmux"], indirect=True)
def test_everything_stands_in_the_scrollback_once(person: Person, tmp_path) -> None:
    """Streaming, calls, steps, an approval, a resize, an overlay, detached and attached; then resumed."""
    extensions = tmp_path / "sightline-home" / "extensions"
    extensions.mkdir(parents=True)
    (extensions / "crew.py").write_text(CREW)
    screen = person.opens("--model", everything(person), columns=100, rows=30)
    screen.says("do everything")
    screen.sees("slow-01")
    screen.resize(84, 26)
    screen.sees("slow-03")
    screen.press(CTRL_O)
    screen.sees("q leave")
    screen.press("q")
    screen.sees("slow-08")
    screen.sees("Allow this?", "written-01")
    screen.answers("y", lambda rows: not any("Allow this?" in row for row in rows))
    screen.sees("waited-01", "escape stop")
    screen.once(*WORDS, *TASKS, *SLOW, *FAILED, *OTHERS[:3], "waited-01")
    (session,) = [row["id"] for row in until(running_sessions, "the session")]
    screen.press("/detach", ENTER)
    screen.ended()

    attached = person.opens("attach", session, columns=90, rows=30)
    attached.sees("waited-01", "escape stop")
    (person.project / "go").touch()
    attached.sees("All of it is done.")
    attached.sees_no("escape stop")
    attached.once(*WORDS, *TASKS, *SLOW, *FAILED, *OTHERS)
    live = transcript(attached)
    attached.leaves()

    resumed = person.opens("--resume", session, columns=90, rows=30)
    resumed.until(lambda _: len(transcript(resumed)) >= len(live), "all of it, up to its beginning")
    assert transcript(resumed) == live
