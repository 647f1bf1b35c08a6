"""A desk for the prompt editor: work is done on the test's loop, what is said and asked is kept."""

import asyncio
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

from sightline.tty import CURSOR, PLAIN, ImageStore, Paste
from sightline.tty.input._keys import character_key, parse_key
from sightline.views.console._actions import bindings_from
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.input import PromptEditor, Submission


class FakeDesk:
    """What a console is to its editor. `answer` is given to whatever is asked."""

    def __init__(self, cwd: Path) -> None:
        self.cwd = str(cwd)
        self.told: list[tuple[str, str, str]] = []
        self.asked: list[object] = []
        self.answer: object = None
        self.tasks: set[asyncio.Task[object]] = set()
        self.drawn = 0
        self.run: Callable[[list[str]], int] = lambda argv: 0
        self.enter: Callable[[Submission], object] = lambda submission: None
        self.escape: Callable[[], bool] = lambda: False
        self.commands: Callable[[], list[tuple[str, str]]] = list
        self.was_used: Callable[[str], bool] = lambda session: True

    def spawn(self, work) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def report(self, text: str, level: str = "info", hint: str = "") -> None:
        self.told.append((level, text, hint))

    def redraw(self, component: object = None) -> None:
        self.drawn += 1

    def run_program(self, argv: list[str]) -> int:
        return self.run(argv)

    async def ask(self, component, overlay=None):
        self.asked.append(component)
        return self.answer

    async def settled(self) -> None:
        """All work that was begun is done."""
        while self.tasks:
            await asyncio.gather(*self.tasks)


def drawing(*, linear: bool = False, clock: Callable[[], float] = lambda: 1_000_000.0) -> DrawingOptions:
    return DrawingOptions(PLAIN, ImageStore(None), bindings_from({}), linear=linear, clock=clock)


def prompt_editor(desk: FakeDesk, **options) -> PromptEditor:
    editor = PromptEditor(desk, drawing(), **options)
    editor.component.focused = True
    return editor


def press(editor: PromptEditor, *specs: str) -> None:
    """Each is one key (`ctrl+k`), or text to type when it begins with a quotation mark."""
    for spec in specs:
        if spec.startswith("'"):
            for character in spec[1:]:
                editor.component.handle_input(character_key(character))
        else:
            editor.component.handle_input(parse_key(spec))


def paste(editor: PromptEditor, text: str) -> None:
    editor.component.handle_input(Paste(text))


def shown(component, width: int = 60) -> list[str]:
    component = getattr(component, "component", component)
    return [row.replace(CURSOR, "|") for row in component.render(width)]


def png(width: int = 2, height: int = 2) -> bytes:
    """A picture, whole and small."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress(b"".join(b"\0" + b"\x40\x80\xc0" * width for _ in range(height)))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


async def until(condition: Callable[[], object], seconds: float = 90.0) -> None:
    """Let the loop work until something holds."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, "it did not come true"
        await asyncio.sleep(0.005)
