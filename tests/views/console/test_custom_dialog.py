"""A component of an extension's own: who has the keys, how it ends, and that nothing it does harms the console."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from sightline.tty import PLAIN, Capabilities, Component, Display, Key
from sightline.tty.components import CancellableLoader
from sightline.tty.input._keys import is_release, is_repeat
from sightline.views.console.extensions._extensions import ConsoleExtensions, CustomDialog, is_custom
from tests.views.console.dialogs.support import Bench, drawing, released
from tests.views.console.extending import Surface, custom


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def extensions(said: list[str]) -> ConsoleExtensions:
    return ConsoleExtensions(drawing(), report=said.append)


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


async def probe(extensions: ConsoleExtensions, *, slow: bool = False, **options: Any) -> tuple[Probe, Bench]:
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
async def test_done_answers_once_and_takes_the_component_down(extensions: ConsoleExtensions, slow: bool) -> None:
    """tui.md/Extension UI: `done(result)` calls dispose and resolves; from a factory that is async or not."""
    component, shown = await probe(extensions, slow=slow)
    assert shown.text() == "probe"
    component.done({"a": 1})
    component.done("again")
    assert shown.answer == {"value": {"a": 1}}
    assert component.disposed == 1
    shown.dialog.dispose()
    assert component.disposed == 1


async def test_an_answer_before_it_is_shown_counts(extensions: ConsoleExtensions) -> None:
    """tui.md/Lifecycle and cancellation: a component may be done before anybody saw it."""
    made: list[Probe] = []

    def factory(props: Any, theme: Any, bindings: Any, done: Any) -> Component:
        made.append(Probe(done))
        done("early")
        return made[0]

    extensions.add("games", "board", factory)
    assert Bench(await extensions.dialog_for(custom())).answer == {"value": "early"}
    assert made[0].disposed == 1


async def test_closed_from_outside_it_is_taken_down_too(extensions: ConsoleExtensions) -> None:
    """tui.md/Lifecycle and cancellation: answered in another view, it lets go of its timers as well."""
    component, shown = await probe(extensions)
    shown.dialog.done(None)
    assert component.disposed == 1
    component.done("late")
    assert shown.answer is None


async def test_the_factory_gets_what_it_needs(extensions: ConsoleExtensions) -> None:
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
    extensions: ConsoleExtensions, overlay: bool, anchor: str | None
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


async def test_keys_are_the_components_first(extensions: ConsoleExtensions) -> None:
    """tui.md/Input handling and keybindings: what it does not take may close it, by the keys the person has."""
    component, shown = await probe(extensions)
    shown.press("x")
    assert not shown.answers
    shown.press("escape")
    assert shown.answer == {"value": None}
    assert [event.name for event in component.heard] == ["x", "escape"]


async def test_ctrl_c_closes_what_takes_every_key(extensions: ConsoleExtensions) -> None:
    """Nobody is locked in."""
    component, shown = await probe(extensions)
    component.handle_input = lambda event: True  # type: ignore[method-assign]
    shown.press("escape", "x", "enter")
    assert not shown.answers
    assert shown.press("ctrl+c").answer == {"value": None}


async def test_releases_come_to_who_wants_them(extensions: ConsoleExtensions) -> None:
    """tui.md/Key release/repeat events: filtered unless `wants_key_release`; both can be told from a press."""
    component, shown = await probe(extensions)
    display = Display(Surface(), Capabilities())
    display.add(shown.dialog)
    display.set_focus(shown.dialog)
    display.handle_input(released("a"))
    display.handle_input(Key("a", text="a", kind="repeat"))
    assert [(is_release(event), is_repeat(event)) for event in component.heard] == [(True, False), (False, True)]
    component.wants_key_release = False
    display.handle_input(released("b"))
    assert len(component.heard) == 2


async def test_a_loader_ends_with_the_key_that_interrupts(extensions: ConsoleExtensions) -> None:
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
async def test_what_fails_is_said_and_answers_none(extensions: ConsoleExtensions, said: list[str], broken: str) -> None:
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


async def test_a_component_nobody_registered_answers_none(extensions: ConsoleExtensions, said: list[str]) -> None:
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
