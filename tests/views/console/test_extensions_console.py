"""The console's half of extensions (tui.md, What this subsystem is): which files count, and what they do there."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.host import AnswerRequest, Command, CommandReply
from sightline.journal import Store
from sightline.settings import Settings, StartOptions
from sightline.settings._trust import trust
from sightline.transcript import Remark, Snapshot, TranscriptCall
from sightline.tty import PLAIN, Application, Capabilities, Display
from sightline.tty.input._keys import character_key, parse_key
from sightline.views.console._actions import bindings_from
from sightline.views.console._console import Console
from sightline.views.console.blocks import block_for
from sightline.views.console.extensions._extensions import ConsoleExtensions
from tests.views.console.dialogs.support import Bench, drawing
from tests.views.console.extending import BOARD, Surface, custom, write

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "extensions" / "profiles.py"
GUIDE = ROOT / "docs" / "guide" / "extensions.md"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Everything kept is this test's."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def extensions(said: list[str]) -> ConsoleExtensions:
    return ConsoleExtensions(drawing(), report=said.append)


def loaded(extensions: ConsoleExtensions, cwd: Path) -> list[str]:
    from sightline.views.console.extensions._extensions import _load_here

    return _load_here(extensions, cwd, os.environ)


async def can_show(extensions: ConsoleExtensions, extension: str = "games") -> bool:
    return "board" in Bench(await extensions.dialog_for(custom(extension=extension))).text()


async def test_the_persons_own_and_a_trusted_projects_are_loaded(
    extensions: ConsoleExtensions, home: Path, tmp_path: Path
) -> None:
    """The same trust as for the host's half."""
    write(home / "extensions", "own.py", BOARD)
    project = tmp_path / "work"
    write(project / ".sightline" / "extensions", "theirs.py", BOARD)
    assert not loaded(extensions, project)
    assert await can_show(extensions, "own")
    assert not await can_show(extensions, "theirs")
    trust(project)
    assert not loaded(extensions, project)
    assert await can_show(extensions, "theirs")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("def console(ui):\n    nonsense\n", "games.py:2 is left out: NameError"),
        ("def console(ui:\n", "games.py:1 is left out: SyntaxError"),
        ("async def console(ui):\n    pass\n", "ordinary function"),
        ("def console(ui):\n    raise SystemExit(3)\n", "SystemExit"),
        ("def console(ui):\n    ui.component('')\n", "not a component name"),
    ],
)
async def test_a_broken_file_is_told_and_left_out(
    extensions: ConsoleExtensions, home: Path, tmp_path: Path, text: str, complaint: str
) -> None:
    """With its line; the others are loaded."""
    write(home / "extensions", "games.py", text)
    write(home / "extensions", "good.py", BOARD)
    (problem,) = loaded(extensions, tmp_path)
    assert complaint in problem
    assert await can_show(extensions, "good")


def test_a_file_without_a_console_half_is_none_of_ours(
    extensions: ConsoleExtensions, home: Path, tmp_path: Path
) -> None:
    """It is no mistake."""
    write(home / "extensions", "tools.py", "def setup(extension):\n    raise RuntimeError\n")
    assert not loaded(extensions, tmp_path)


def test_the_console_loads_no_agent_for_it(home: Path) -> None:
    """Names of the host's half cost nothing of the host."""
    write(home / "extensions", "profiles.py", EXAMPLE.read_text())
    code = (
        "import sys, os, pathlib\n"
        "from sightline.views.console.extensions._extensions import ConsoleExtensions, _load_here\n"
        "from tests.views.console.dialogs.support import drawing\n"
        "problems = _load_here(ConsoleExtensions(drawing(), report=print), pathlib.Path('/'), os.environ)\n"
        "print(problems, [name for name in ('sightline.agent._agent', 'sightline.models', 'sightline.agent.loop._run')"
        " if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] []"


class Sat:
    """A console on no terminal, with a host that says yes."""

    def __init__(self, cwd: Path) -> None:
        display = Display(Surface(), Capabilities())
        bindings = bindings_from({})
        self.application = Application(display, PLAIN, asyncio.get_running_loop(), bindings)
        self.console = Console(self.application, Store(cwd / "home"), Settings(), StartOptions(cwd=str(cwd)))
        self.console.drawing.bindings = bindings
        self.submitted: list[Command] = []
        self.console.sessions.link.submit = self._submit  # type: ignore[method-assign]

    async def _submit(self, command: Command) -> CommandReply:
        self.submitted.append(command)
        return CommandReply(True)

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(30):
            while not condition():  # noqa: ASYNC110, not everything that is waited for is an event
                await asyncio.sleep(0.001)

    async def asks(self, request: dict[str, Any]) -> None:
        self.console.show(Snapshot(requests={request["id"]: request}))
        await self.until(lambda: self.console.screen.asking is not None)

    def press(self, *specs: str) -> None:
        for spec in specs:
            self.application.display.handle_input(character_key(spec) if len(spec) == 1 else parse_key(spec))

    @property
    def rows(self) -> str:
        return "\n".join(row for child in self.application.display.children for row in child.render(80))

    async def close(self) -> None:
        await self.application.cancel_tasks()


@pytest.fixture
async def sat(tmp_path: Path, home: Path) -> Any:
    write(home / "extensions", "games.py", BOARD)
    shutil.copy(EXAMPLE, home / "extensions")
    here = Sat(tmp_path)
    yield here
    await here.close()


async def test_a_component_takes_the_editors_place_and_gives_it_back(sat: Sat) -> None:
    """tui.md/Extension UI; Runtime behavior by mode, interactive: the draft is kept, the component has the keys, and
    after `done` the editor is back with its text and the answer is on its way."""
    sat.console.set_draft("half a thought")
    await sat.asks(custom(props=7))
    await sat.until(lambda: "board 7" in sat.rows)
    assert "half a thought" not in sat.rows
    sat.press("enter")
    await sat.until(lambda: sat.submitted)
    assert sat.submitted == [AnswerRequest("request-1", {"value": {"moved": 7}})]
    assert "board 7" not in sat.rows
    assert "half a thought" in sat.rows
    sat.press("!")
    assert sat.console.draft == "half a thought!"


async def test_an_overlay_leaves_the_editor_where_it_is(sat: Sat) -> None:
    """tui.md/Extension UI, options.overlay; Focus, overlays, and cursor: it lies over the screen, has the keys, and
    goes with its answer."""
    sat.console.set_draft("half a thought")
    await sat.asks(custom(props=7, overlay=True))
    await sat.until(lambda: sat.application.display.visible_overlays())
    assert "half a thought" in sat.rows
    assert "board 7" not in sat.rows
    assert any("board 7" in row for row in sat.application.display.visible_overlays()[0].component.render(80))
    sat.press("enter")
    await sat.until(lambda: sat.submitted)
    assert not sat.application.display.visible_overlays()
    sat.press("!")
    assert sat.console.draft == "half a thought!"


async def test_answered_elsewhere_it_closes_here(sat: Sat) -> None:
    """And nothing is submitted."""
    await sat.asks(custom(props=7))
    await sat.until(lambda: "board 7" in sat.rows)
    sat.console.show(Snapshot())
    await sat.until(lambda: "board 7" not in sat.rows)
    assert not sat.submitted


async def test_an_unknown_component_is_told_in_the_transcript(sat: Sat) -> None:
    """And answered, so that nobody waits for ever."""
    sat.console.show(Snapshot(requests={"request-1": custom("nothing")}))
    await sat.until(lambda: sat.submitted)
    assert sat.submitted == [AnswerRequest("request-1", {"value": None})]
    assert "no such component" in sat.rows


async def test_the_examples_picker_by_keys(sat: Sat) -> None:
    """tui.md/Realistic custom component example: arrows and enter pick; the key that interrupts gives none."""
    props = {"profiles": {"fast": "answers soon", "balanced": "for every day"}}
    await sat.asks(custom("picker", "profiles", props))
    await sat.until(lambda: "Balanced" in sat.rows)
    sat.press("down", "enter")
    await sat.until(lambda: sat.submitted)
    assert sat.submitted[-1] == AnswerRequest("request-1", {"value": "balanced"})
    await sat.asks({**custom("picker", "profiles", props), "id": "request-2"})
    await sat.until(lambda: "Balanced" in sat.rows)
    sat.press("escape")
    await sat.until(lambda: len(sat.submitted) == 2)
    assert sat.submitted[-1] == AnswerRequest("request-2", {"value": None})


async def test_the_examples_renderer_draws_its_calls(sat: Sat) -> None:
    """While it waits, and what was picked; what it leaves to us is drawn as usual."""
    await sat.console.extensions.load()
    look = sat.console.drawing
    args = {"why": "it depends"}
    waiting = TranscriptCall("", "c", "choose_profile", "choose_profile", args=args)
    assert "choosing a profile (waiting for you): it depends" in "\n".join(block_for(waiting, look, {}).render(80))
    picked = TranscriptCall(
        "", "c", "choose_profile", "choose_profile", args=args, content="ok", details={"picked": "fast"}
    )
    assert "◆ fast" in "\n".join(block_for(picked, look, {}).render(80))
    none = TranscriptCall(
        "", "c", "choose_profile", "choose_profile", args=args, content="not chosen", details={"picked": None}
    )
    assert "not chosen" in "\n".join(block_for(none, look, {}).render(80))


async def test_status_widgets_and_editor_text_reach_the_screen(sat: Sat) -> None:
    """A text for the editor that was there before we came is not ours."""
    state = {
        "ui.status": {"games.a": "on move 3"},
        "ui.widgets": {"games.w": {"lines": ["white to move"], "placement": "above"}},
        "ui.editor_text": {"text": "yesterday's", "number": 5},
    }
    sat.console.show(Snapshot(state=state))
    assert "on move 3" in sat.rows
    assert "white to move" in sat.rows
    assert sat.console.draft == ""
    sat.console.state.state["ui.editor_text"] = {"text": "new words", "number": 9}
    sat.console.frame([])
    assert sat.console.draft == "new words"


async def test_the_component_of_the_guide_works(sat: Sat, home: Path) -> None:
    """As it stands there."""
    snippets = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    (snippet,) = [snippet for snippet in snippets if "def console" in snippet]
    write(home / "extensions", "dials.py", snippet)
    await sat.asks(custom("dial", "dials", {"from": 5}))
    await sat.until(lambda: "##### 5" in sat.rows)
    sat.press("right", "right", "left", "enter")
    await sat.until(lambda: sat.submitted)
    assert sat.submitted == [AnswerRequest("request-1", {"value": 6})]


async def test_a_broken_file_is_told_in_the_transcript_once(tmp_path: Path, home: Path) -> None:
    """However often it is looked for."""
    write(home / "extensions", "bad.py", "def console(ui):\n    nonsense\n")
    here = Sat(tmp_path)
    await here.console.extensions.load()
    await here.console.extensions.load()
    assert here.rows.count("is left out") == 1
    await here.close()


async def test_what_the_host_said_already_is_not_said_again(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both halves fail of the same line; the person reads it once."""
    file = write(home / "extensions", "bad.py", "nonsense\n")
    text = f"the extension {file}:1 is left out: NameError: name 'nonsense' is not defined"
    here = Sat(tmp_path)
    here.console.show(Snapshot(entries=[Remark("", "warning", text)]))
    told: list[str] = []
    monkeypatch.setattr(here.console, "report", lambda text, *more: told.append(text))
    await here.console.extensions.load()
    assert told == []
    await here.close()
