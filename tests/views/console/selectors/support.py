"""A desk for selectors: it shows them, presses keys, answers for the host, and remembers what was asked of it."""

import asyncio
from types import SimpleNamespace

from sightline.host import CommandReply, Label, MoveTo, Outline
from sightline.host.recovery._outline import outlined
from sightline.journal import Store
from sightline.settings import Settings
from sightline.text import clean_line
from sightline.transcript import Snapshot
from sightline.tty import PLAIN, ImageStore, Key, Paste, measure
from sightline.tty.input._keys import character_key, parse_key
from sightline.views.console._actions import bindings_from
from sightline.views.console._drawing import DrawingOptions

WIDTHS = (20, 40, 80, 200)
HOSTILE = "\x1b[31mred\x1b]0;title\x07 \x9b2J 日本語 👩‍👩‍👧‍👦 e\u0301 \u202eback\x00"


def key(name):
    """The key a person presses: a character types itself."""
    return character_key(name) if len(name) == 1 else parse_key(name)


class Desk:
    """The console, as a selector sees it."""

    def __init__(self, store=None, session="", *, settings=None, cwd="", height=24, linear=False, keys=None):
        self.bindings = bindings_from(keys or {})
        self.drawing = DrawingOptions(
            PLAIN, ImageStore("none"), self.bindings, cwd=cwd, clock=lambda: 1000.0, linear=linear
        )
        self.store, self.session, self.cwd = store, session, cwd
        self.settings = settings or Settings()
        self.state = Snapshot(session=session)
        self.height = height
        self.draft = ""
        self.submitted, self.told, self.copied, self.programs = [], [], [], []
        self.switched, self.themes, self.redrawn = [], [], 0
        self.answers = {}
        self.shown = []
        self.tasks = set()
        self.failed = []  # what would have ended the program
        self.application = SimpleNamespace(run_program=self.programs.append)
        self.sessions = SimpleNamespace(use_provider=self._use_provider, lasting=True)

    async def _use_provider(self, name):
        self.switched.append(name)

    def set_draft(self, text):
        self.draft = text

    async def submit(self, command):
        self.submitted.append(command)
        answer = self.answers.get(type(command))
        if answer is None:
            return CommandReply(False, error="nobody answers that")
        reply = answer(command)
        return await reply if asyncio.iscoroutine(reply) else reply

    async def ask(self, component, overlay=None):
        future = asyncio.get_running_loop().create_future()
        component.done = future.set_result
        component.focused = True
        self.shown.append(component)
        try:
            return await future
        finally:
            self.shown.remove(component)
            component.dispose()

    def report(self, text, level="info", hint=""):
        self.told.append((level, text, hint))

    def spawn(self, work):
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task):
        self.tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self.failed.append(task.exception())

    def redraw(self, component=None):
        self.redrawn += 1

    def replay(self):
        pass

    async def switch(self, session, *, draft=""):
        self.switched.append((session, draft))

    def copy(self, text):
        self.copied.append(text)

    def run_program(self, argv):
        self.programs.append(argv)
        return 0

    def set_theme(self, name):
        self.themes.append(name)

    def set_bindings(self, bindings):
        self.bindings = self.drawing.bindings = bindings

    @property
    def panel(self):
        return self.shown[-1]

    def rows(self, width=80):
        """What is on the screen, and that it fits and is clean."""
        rows = list(self.panel.render(width))
        for row in rows:
            assert measure(row) <= width, row
            assert clean_line(row) == row.replace("\x1b_sightline:cursor\x1b\\", ""), repr(row)
        return [clean_line(row).rstrip() for row in rows]

    def press(self, *names):
        """Keys, one after the other, whoever is shown."""
        for name in names:
            self.panel.handle_input(key(name))

    async def go(self, *names):
        """Press keys that lead to another panel, and wait for it."""
        before = self.panel
        self.press(*names)
        await self.until(lambda: self.shown and self.panel is not before, f"another panel after {names}")

    def type(self, text):
        self.press(*text)

    def paste(self, text):
        self.panel.handle_input(Paste(text))

    async def until(self, condition, what="it"):
        """Wait until it is so."""
        deadline = asyncio.get_running_loop().time() + 5
        while not condition():
            if self.failed:
                raise self.failed[0]
            assert asyncio.get_running_loop().time() < deadline, f"{what} did not happen"
            await asyncio.sleep(0.001)

    async def settled(self):
        """Everything that was begun is done."""
        await self.until(lambda: not self.tasks, "the end of what was begun")

    async def until_shown(self, kind=None):
        await self.until(lambda: self.shown and (kind is None or isinstance(self.panel, kind)), f"{kind}")

    async def until_rows(self, *texts, width=80):
        await self.until(lambda: self.shown and all(any(t in r for r in self.rows(width)) for t in texts), repr(texts))


class HostOf:
    """Answers for the host of a talk: its tree is real, and so is what is written into it."""

    def __init__(self, desk, talk):
        self.talk = talk
        self.summaries = []
        desk.answers |= {Outline: self.outline, MoveTo: self.move, Label: self.label}

    def outline(self, command):
        return CommandReply(True, data=outlined(self.talk.writer.folder, command.filter, command.search))

    def move(self, command):
        move = self.talk.tree.move(command.to)
        if move.already:
            return CommandReply(True, data={"moved": False, "leaf": self.talk.tree.leaf, "prefill": ""})
        self.talk.move(move.leaf)
        if command.summarize:
            self.summaries.append(command.instructions)
            self.talk.step(type="branch_summary", data={"summary": "what was left"})
        return CommandReply(True, data={"moved": True, "leaf": self.talk.tree.leaf, "prefill": move.prefill})

    def label(self, command):
        self.talk.label(command.target, command.label)
        return CommandReply(True)


def new_store(tmp_path):
    return Store(tmp_path / "data")


__all__ = ["HOSTILE", "WIDTHS", "Desk", "HostOf", "Key", "key", "new_store"]
