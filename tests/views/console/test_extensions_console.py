"""The console's half of extensions: which files count, components in place of the editor and over the screen,
renderers, widgets; and none of it able to harm the console."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.host import AnswerRequest, Command, Reply
from sightline.host._console_wanted import HostWanted
from sightline.journal import Store
from sightline.settings import Settings
from sightline.settings._trust import trust
from sightline.transcript import Call, Remark, Snapshot
from sightline.tty import PLAIN, Application, Capabilities, Component, Display, Key, measure
from sightline.tty._keys import character_key, is_release, is_repeat, parse_key
from sightline.tty.components import CancellableLoader, Text
from sightline.views.console._actions import bindings_from
from sightline.views.console._console import Console
from sightline.views.console._custom_dialog import CustomDialog
from sightline.views.console._extensions import Extensions, is_custom
from sightline.views.console._guarded import Guarded
from sightline.views.console._renderers import Renderers, RenderOptions, Result
from sightline.views.console._widgets import Widgets, editor_text, status_texts, title
from sightline.views.console.blocks import block_for
from tests.views.console.dialogs.support import HOSTILE, Bench, check_rows, coloured, drawing, released

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "extensions" / "profiles.py"

BOARD = """
from sightline.extension import Component

class Board(Component):
    def __init__(self, props, done):
        self.props, self.done, self.rows = props, done, None
    def render(self, width):
        self.rows = self.rows or [f"board {self.props}"]
        return self.rows
    def handle_input(self, event):
        if event.name == "enter":
            self.done({"moved": self.props})
            self.done("again")
        return event.name == "enter"

def console(ui):
    @ui.component("board")
    def board(props, theme, bindings, done):
        return Board(props, done)
"""


def custom(name: str = "board", extension: str = "games", props: Any = 3, *, overlay: bool = False) -> dict[str, Any]:
    details = {"ui": {"kind": "custom"}, "extension": extension, "name": name, "props": props, "overlay": overlay}
    return {"id": "request-1", "what": "dialog", "text": name, "choices": [], "agent": "", "details": details}


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Everything kept is this test's."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def extensions(said: list[str]) -> Extensions:
    return Extensions(drawing(), tell=said.append)


# ---- a component and what becomes of it


class Probe(Component):
    """Notes what happens to it."""

    wants_key_release = True

    def __init__(self, done: Callable[[Any], None]) -> None:
        self.done = done
        self.heard: list[Any] = []
        self.disposed = 0

    def render(self, width: int) -> list[str]:
        return ["probe"]

    def handle_input(self, event: Any) -> bool:
        self.heard.append(event)
        return False

    def dispose(self) -> None:
        self.disposed += 1


async def probe(extensions: Extensions, *, slow: bool = False, **options: Any) -> tuple[Probe, Bench]:
    """One that is mounted, from an async factory or an ordinary one."""
    made: list[Probe] = []

    def factory(props: Any, theme: Any, bindings: Any, done: Any) -> Component:
        made.append(Probe(done))
        return made[0]

    async def later(*args: Any) -> Component:
        await asyncio.sleep(0)
        return factory(*args)

    extensions.add("games", "board", later if slow else factory)
    return_ = await extensions.dialog_for(custom(**options))
    return made[0], Bench(return_)


@pytest.mark.parametrize("slow", [False, True])
async def test_done_answers_once_and_takes_the_component_down(extensions: Extensions, slow: bool) -> None:
    """tui.md/Extension UI: `done(result)` calls dispose and resolves; from a factory that is async or not."""
    component, shown = await probe(extensions, slow=slow)
    assert shown.text() == "probe"
    component.done({"a": 1})
    component.done("again")
    assert shown.answer == {"value": {"a": 1}}
    assert component.disposed == 1
    shown.dialog.dispose()
    assert component.disposed == 1


async def test_an_answer_before_it_is_shown_counts(extensions: Extensions) -> None:
    """tui.md/Lifecycle and cancellation: a component may be done before anybody saw it."""
    made: list[Probe] = []

    def factory(props: Any, theme: Any, bindings: Any, done: Any) -> Component:
        made.append(Probe(done))
        done("early")
        return made[0]

    extensions.add("games", "board", factory)
    assert Bench(await extensions.dialog_for(custom())).answer == {"value": "early"}
    assert made[0].disposed == 1


async def test_closed_from_outside_it_is_taken_down_too(extensions: Extensions) -> None:
    """tui.md/Lifecycle and cancellation: answered in another view, it lets go of its timers as well."""
    component, shown = await probe(extensions)
    shown.dialog.done(None)
    assert component.disposed == 1
    component.done("late")
    assert shown.answer is None


async def test_the_factory_gets_what_it_needs(extensions: Extensions) -> None:
    """tui.md/Extension UI, signature: properties, the theme, the person's keys, and `done`."""
    got: list[Any] = []

    def factory(props: Any, theme: Any, bindings: Any, done: Any) -> Component:
        got.extend([props, theme, bindings])
        return Probe(done)

    extensions.add("games", "board", factory)
    await extensions.dialog_for(custom(props={"size": 3}))
    assert got[0] == {"size": 3}
    assert got[1] is PLAIN
    assert got[2].matches(Key("escape"), "interrupt")


@pytest.mark.parametrize(("overlay", "anchor"), [(False, None), (True, "bottom-center")])
async def test_it_takes_the_editors_place_or_lies_over_the_screen(
    extensions: Extensions, overlay: bool, anchor: str | None
) -> None:
    """tui.md/Focus, overlays, and cursor: an overlay is at the bottom, as wide and as high as there is room."""
    _, shown = await probe(extensions, overlay=overlay)
    dialog = shown.dialog
    assert isinstance(dialog, CustomDialog)
    if anchor is None:
        assert dialog.overlay is None
    else:
        assert dialog.overlay is not None
        assert (dialog.overlay.anchor, dialog.overlay.width, dialog.overlay.max_height) == (anchor, "100%", "100%")


async def test_keys_are_the_components_first(extensions: Extensions) -> None:
    """tui.md/Input handling and keybindings: what it does not take may close it, by the keys the person has."""
    component, shown = await probe(extensions)
    shown.press("x")
    assert not shown.answers
    shown.press("escape")
    assert shown.answer == {"value": None}
    assert [event.name for event in component.heard] == ["x", "escape"]


async def test_ctrl_c_closes_what_takes_every_key(extensions: Extensions) -> None:
    """Nobody is locked in."""
    component, shown = await probe(extensions)
    component.handle_input = lambda event: True  # type: ignore[method-assign]
    shown.press("escape", "x", "enter")
    assert not shown.answers
    assert shown.press("ctrl+c").answer == {"value": None}


async def test_releases_come_to_who_wants_them(extensions: Extensions) -> None:
    """tui.md/Key release/repeat events: filtered unless `wants_key_release`; both can be told from a press."""
    component, shown = await probe(extensions)
    display = Display(_Surface(), Capabilities())
    display.add(shown.dialog)
    display.set_focus(shown.dialog)
    display.handle_input(released("a"))
    display.handle_input(Key("a", text="a", kind="repeat"))
    assert [(is_release(event), is_repeat(event)) for event in component.heard] == [(True, False), (False, True)]
    component.wants_key_release = False
    display.handle_input(released("b"))
    assert len(component.heard) == 2


async def test_a_loader_ends_with_the_key_that_interrupts(extensions: Extensions) -> None:
    """tui.md/Lifecycle and cancellation, example: the work is told, and `done` is called from `on_abort`."""
    loaders: list[CancellableLoader] = []

    def factory(props: Any, theme: Any, bindings: Any, done: Any) -> Component:
        loader = CancellableLoader(
            "Working", call_later=asyncio.get_running_loop().call_later, request_render=lambda component: None,
            on_abort=lambda: done(None), bindings=bindings, theme=theme,
        )  # fmt: skip
        loaders.append(loader)
        loader.start()
        return loader

    extensions.add("games", "board", factory)
    shown = Bench(await extensions.dialog_for(custom()))
    assert "Working" in shown.text()
    assert shown.press("escape").answer == {"value": None}
    assert loaders[0].signal.cancelled


@pytest.mark.parametrize("broken", ["factory", "async factory", "render", "key", "answer", "nothing"])
async def test_what_fails_is_said_and_answers_none(extensions: Extensions, said: list[str], broken: str) -> None:
    """Whoever waits goes on, and the console is none the worse."""

    class Broken(Probe):
        def render(self, width: int) -> list[str]:
            return [] if broken != "render" else 1 // 0  # type: ignore[return-value]

        def handle_input(self, event: Any) -> bool:
            if broken == "answer":
                self.done(object())
                return True
            raise ValueError("no keys")

    def factory(props: Any, theme: Any, bindings: Any, done: Any) -> Any:
        if broken == "factory":
            raise RuntimeError("cannot")
        return None if broken == "nothing" else Broken(done)

    async def later(*args: Any) -> Any:
        raise RuntimeError("cannot")

    extensions.add("games", "board", later if broken == "async factory" else factory)
    shown = Bench(await extensions.dialog_for(custom()))
    shown.press("enter")
    shown.text()
    assert shown.answer == {"value": None}
    assert len(said) == 1
    assert said[0].startswith("board of the extension games failed: ")


async def test_a_component_nobody_registered_answers_none(extensions: Extensions, said: list[str]) -> None:
    """Nor one of another extension's with the same name."""
    extensions.add("other", "board", lambda props, theme, bindings, done: Probe(done))
    assert Bench(await extensions.dialog_for(custom())).answer == {"value": None}
    assert "no such component" in said[0]


def test_only_custom_dialogs_are() -> None:
    """Whatever a request holds."""
    assert is_custom(custom())
    assert not is_custom({**custom(), "what": "question"})
    assert not is_custom({"what": "dialog", "details": None})
    assert not is_custom({"what": "dialog", "details": {"ui": 3}})


# ---- rows of others


class Fixed(Component):
    def __init__(self, *rows: str) -> None:
        self.rows = list(rows)

    def render(self, width: int) -> list[str]:
        return self.rows


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_rows_are_cut_and_cleaned_whatever_they_hold(width: int) -> None:
    """tui.md/Rendering constraints: too wide is cut by cells, tabs become spaces, nothing drives the terminal."""
    theme = coloured()
    component = Fixed(HOSTILE * 20, "日本語" * 80, theme.style("accent", "a\tb" * 80), "two\nlines", "\x1b[31")
    check_rows(Guarded(component, theme, lambda error: None), width)


def test_style_and_the_cursor_stay() -> None:
    """tui.md/Core component contract: rows may be styled, and a focused one says where the cursor is."""
    from sightline.tty import CURSOR

    theme = coloured()
    row = theme.style("accent", "hi") + CURSOR + theme.style("error", "ho")
    assert Guarded(Fixed(row), theme, lambda error: None).render(40) == (row,)


def test_the_same_rows_are_the_same_rows() -> None:
    """tui.md/Core component contract: the same object as long as nothing changed, another one when it did."""
    component = Fixed("a\tb")
    guarded = Guarded(component, PLAIN, lambda error: None)
    rows = guarded.render(40)
    assert guarded.render(40) is rows
    component.rows = ["c"]
    assert guarded.render(40) == ("c",)


# ---- renderers


def call(**fields: Any) -> Call:
    return Call("", "call-1", "paint", "paint", args={"colour": "red"}, **fields)


def painted(said: list[str], **renderers: Any) -> Renderers:
    found = Renderers(said.append)
    found.add("paint", extension="games", **renderers)
    return found


def shown_of(entry: Call, renderers: Renderers, *, unfolded: bool = False) -> str:
    look = drawing()
    look.renderers, look.unfolded = renderers, unfolded
    block = block_for(entry, look, {})
    return "\n".join(block.render(80))


def test_a_tool_draws_its_calls_and_results(said: list[str]) -> None:
    """tui.md/Custom tool call/result renderers: in the block of the call, with args, result and theme."""
    renderers = painted(
        said,
        render_call=lambda args, options, theme: Text(f"painting {args['colour']}", theme=theme),
        render_result=lambda result, options, theme, args: Text(f"{args['colour']}: {result.content}", theme=theme),
    )
    assert "painting red" in shown_of(call(), renderers)
    ended = shown_of(call(content="done"), renderers)
    assert "painting red" in ended
    assert "red: done" in ended


def test_options_say_how(said: list[str]) -> None:
    """tui.md/Custom tool call/result renderers, options: `expanded`, `is_partial`, `spinner_frame`."""
    got: list[RenderOptions] = []

    def render(args: Any, options: RenderOptions, theme: Any) -> Component:
        got.append(options)
        return Text("x")

    renderers = painted(said, render_call=render)
    shown_of(call(began=1.0), renderers)
    shown_of(call(content="done"), renderers, unfolded=True)
    assert (got[0].expanded, got[0].is_partial) == (False, True)
    assert isinstance(got[0].spinner_frame, int)
    assert (got[-1].expanded, got[-1].is_partial, got[-1].spinner_frame) == (True, False, None)


def test_none_is_drawn_as_usual(said: list[str]) -> None:
    """A renderer may leave it to us."""
    renderers = painted(said, render_result=lambda result, options, theme, args: None)
    assert shown_of(call(content="the output"), renderers) == shown_of(call(content="the output"), Renderers())
    assert not said


@pytest.mark.parametrize("where", ["make", "render"])
def test_a_renderer_that_fails_is_said_once_and_left_out(said: list[str], where: str) -> None:
    """The block is drawn as usual from then on."""

    class Bad(Component):
        def render(self, width: int) -> list[str]:
            raise KeyError("x")

    def render(result: Result, options: RenderOptions, theme: Any, args: Any) -> Component:
        if where == "make":
            raise KeyError("x")
        return Bad()

    renderers = painted(said, render_result=render)
    usual = shown_of(call(content="the output"), Renderers())
    assert shown_of(call(content="the output"), renderers) == usual
    assert shown_of(call(content="the output"), renderers) == usual
    assert len(said) == 1
    assert "the extension games cannot draw results of paint" in said[0]


def test_the_first_renderer_of_a_tool_counts(said: list[str]) -> None:
    """What is the person's own comes first."""
    renderers = painted(said, render_call=lambda args, options, theme: Text("first"))
    renderers.add("paint", extension="late", render_call=lambda args, options, theme: Text("second"))
    assert "first" in shown_of(call(), renderers)


# ---- which files count


def loaded(extensions: Extensions, cwd: Path) -> list[str]:
    from sightline.views.console._extensions import _load_here

    return _load_here(extensions, cwd, os.environ)


async def can_show(extensions: Extensions, extension: str = "games") -> bool:
    return "board" in Bench(await extensions.dialog_for(custom(extension=extension))).text()


async def test_the_persons_own_and_a_trusted_projects_are_loaded(
    extensions: Extensions, home: Path, tmp_path: Path
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
        ("def console(ui):\n    ui.component('')\n", "no name for a component"),
    ],
)
async def test_a_broken_file_is_told_and_left_out(
    extensions: Extensions, home: Path, tmp_path: Path, text: str, complaint: str
) -> None:
    """With its line; the others are loaded."""
    write(home / "extensions", "games.py", text)
    write(home / "extensions", "good.py", BOARD)
    (problem,) = loaded(extensions, tmp_path)
    assert complaint in problem
    assert await can_show(extensions, "good")


def test_a_file_without_a_console_half_is_none_of_ours(extensions: Extensions, home: Path, tmp_path: Path) -> None:
    """It is no mistake."""
    write(home / "extensions", "tools.py", "def setup(extension):\n    raise RuntimeError\n")
    assert not loaded(extensions, tmp_path)


def test_the_console_loads_no_agent_for_it(home: Path) -> None:
    """Names of the host's half cost nothing of the host."""
    write(home / "extensions", "profiles.py", EXAMPLE.read_text())
    code = (
        "import sys, os, pathlib\n"
        "from sightline.views.console._extensions import Extensions, _load_here\n"
        "from tests.views.console.dialogs.support import drawing\n"
        "problems = _load_here(Extensions(drawing(), tell=print), pathlib.Path('/'), os.environ)\n"
        "print(problems, [name for name in ('sightline.agent._agent', 'sightline.models', 'sightline.agent._run')"
        " if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] []"


# ---- what stays on the screen


def test_widgets_stand_where_they_belong() -> None:
    """Above or below, in the order they came; long ones are cut, and that is said."""
    state = {
        "ui.widgets": {
            "a.x": {"lines": ["one", "two"], "placement": "above"},
            "b.y": {"lines": ["under"], "placement": "below"},
            "c.z": {"lines": [str(number) for number in range(30)], "placement": "above"},
        }
    }
    above, below = Widgets(drawing(), "above"), Widgets(drawing(), "below")
    assert above.update(state)
    assert below.update(state)
    assert not above.update(state)
    assert list(above.render(40)) == ["one", "two", *map(str, range(9)), "… 21 more lines"]
    assert list(below.render(40)) == ["under"]
    assert above.update({"ui.widgets": {}})
    assert list(above.render(40)) == []


@pytest.mark.parametrize(
    "value", [None, 3, [], {"a": 3}, {"a": {"lines": 3}}, {"a": {"lines": [3, None], "placement": 4}}]
)
def test_state_that_is_none_shows_nothing_bad(value: Any) -> None:
    """It came over a wire."""
    widgets = Widgets(drawing(), "above")
    widgets.update({"ui.widgets": value})
    assert all(measure(row) <= 20 for row in widgets.render(20))
    status_texts({"ui.status": value})
    title({"ui.title": value})
    editor_text({"ui.editor_text": value})


def test_widgets_are_clean_and_fit() -> None:
    """Whatever an extension says."""
    widgets = Widgets(drawing(), "above")
    widgets.update({"ui.widgets": {"a.x": {"lines": [HOSTILE * 9, "日本語" * 30], "placement": "above"}}})
    check_rows(widgets, 20)  # type: ignore[arg-type]


# ---- on the console


class _Surface:
    """A terminal nobody looks at."""

    size = (80, 24)
    busy = False

    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, text: str) -> None:
        self.written.append(text)


class Sat:
    """A console on no terminal, with a host that says yes."""

    def __init__(self, cwd: Path) -> None:
        display = Display(_Surface(), Capabilities())
        bindings = bindings_from({})
        self.application = Application(display, PLAIN, asyncio.get_running_loop(), bindings)
        self.console = Console(self.application, Store(cwd / "home"), Settings(), HostWanted(cwd=str(cwd)))
        self.console.drawing.bindings = bindings
        self.submitted: list[Command] = []
        self.console.sessions.link.submit = self._submit  # type: ignore[method-assign]

    async def _submit(self, command: Command) -> Reply:
        self.submitted.append(command)
        return Reply(True)

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(10):
            while not condition():
                await asyncio.sleep(0.001)  # noqa: ASYNC110

    async def asks(self, request: dict[str, Any]) -> None:
        self.console.show(Snapshot(requests={request["id"]: request}), "s")
        await self.until(lambda: self.console.screen.asking is not None)
        await self.until(lambda: self.console.slot_front() is not None)

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
    here.console.slot_front = lambda: here.console.screen.slot.front  # type: ignore[attr-defined]
    yield here
    await here.close()


Seat = Callable[[], Awaitable[None]]


async def test_a_component_takes_the_editors_place_and_gives_it_back(sat: Sat) -> None:
    """tui.md/Extension UI, behavior in interactive mode: the draft is kept, the component has the keys, and after
    `done` the editor is back with its text and the answer is on its way."""
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
    """tui.md/Extension UI, options.overlay: it lies over the screen, has the keys, and goes with its answer."""
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
    sat.console.show(Snapshot(), "s")
    await sat.until(lambda: "board 7" not in sat.rows)
    assert not sat.submitted


async def test_an_unknown_component_is_told_in_the_transcript(sat: Sat) -> None:
    """And answered, so that nobody waits for ever."""
    sat.console.show(Snapshot(requests={"request-1": custom("nothing")}), "s")
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
    waiting = Call("", "c", "choose_profile", "choose_profile", args=args)
    assert "choosing a profile (waiting for you): it depends" in "\n".join(block_for(waiting, look, {}).render(80))
    picked = Call("", "c", "choose_profile", "choose_profile", args=args, content="ok", details={"picked": "fast"})
    assert "◆ fast" in "\n".join(block_for(picked, look, {}).render(80))
    none = Call("", "c", "choose_profile", "choose_profile", args=args, content="not chosen", details={"picked": None})
    assert "not chosen" in "\n".join(block_for(none, look, {}).render(80))


async def test_status_widgets_and_editor_text_reach_the_screen(sat: Sat) -> None:
    """A text for the editor that was there before we came is not ours."""
    state = {
        "ui.status": {"games.a": "on move 3"},
        "ui.widgets": {"games.w": {"lines": ["white to move"], "placement": "above"}},
        "ui.editor_text": {"text": "yesterday's", "number": 5},
    }
    sat.console.show(Snapshot(state=state), "s")
    assert "on move 3" in sat.rows
    assert "white to move" in sat.rows
    assert sat.console.draft == ""
    sat.console.state.state["ui.editor_text"] = {"text": "new words", "number": 9}
    sat.console.frame([])
    assert sat.console.draft == "new words"


async def test_a_broken_file_is_told_in_the_transcript_once(tmp_path: Path, home: Path) -> None:
    """Not when the host has said the same."""
    write(home / "extensions", "bad.py", "def console(ui):\n    nonsense\n")
    here = Sat(tmp_path)
    await here.console.extensions.load()
    await here.console.extensions.load()
    assert here.rows.count("is left out") == 1
    await here.close()
    told = Remark(
        "",
        "warning",
        f"the extension {home}/extensions/bad.py:2 is left out: NameError: name 'nonsense' is not defined",
    )
    here = Sat(tmp_path)
    here.console.show(Snapshot(entries=[told]), "s")
    await here.console.extensions.load()
    assert here.console.drawing.renderers is not None
    assert here.rows.count("is left out") <= 1
    await here.close()
