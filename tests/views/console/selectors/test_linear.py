"""Selectors for who listens to the terminal: choices have numbers, and what is typed is entered as lines."""

import asyncio

import pytest

from sightline.host import CommandReply, MoveTo, Reload
from sightline.settings import load
from sightline.tty import Overlay
from sightline.tty._linear import LinearDisplay
from sightline.tty.terminal._capabilities import Capabilities
from sightline.views.console.selectors import _resume, _settings, _theme, _tree
from tests.journal.conversations import Talk, assistant, user
from tests.tty.test_linear import Paper
from tests.views.console.selectors.support import Desk, HostOf, new_store


class Spoken(Desk):
    """A desk on a display that only adds lines."""

    def __init__(self, *args, **options):
        super().__init__(*args, linear=True, **options)
        self.paper = Paper(100)
        self.display = LinearDisplay(self.paper, Capabilities())

    async def ask(self, component, overlay=None):
        handle = self.display.show_overlay(component, overlay or Overlay())
        self.display.render_now()
        try:
            return await super().ask(component, overlay)
        finally:
            handle.hide()

    def redraw(self, component=None):
        super().redraw(component)
        self.display.request_render()

    def heard(self):
        """What was said since last asked."""
        said, self.paper.text = self.paper.text, ""
        return said

    async def enter(self, line):
        before = self.panel
        self.display.enter(line)
        await self.until(lambda: not self.shown or self.panel is not before or not self.tasks)
        self.display.render_now()


@pytest.fixture
def talk(tmp_path):
    made = Talk(new_store(tmp_path), cwd="/here")
    made.step(user("first"))
    made.step(assistant("one"))
    made.step(user("second"))
    made.step(assistant("two"))
    yield made
    made.close()


async def test_the_tree_is_read_out_searched_and_chosen_from(talk):
    """A line searches and the result is read out; a number goes there."""
    desk = Spoken(talk.store, talk.id)
    HostOf(desk, talk)
    task = asyncio.ensure_future(_tree.open(desk, ""))
    await desk.until_shown()
    said = desk.heard()
    assert "Session tree" in said
    assert '1. user: "first"' in said
    assert '4. here: assistant: "two"' in said
    await desk.enter("assistant")
    await desk.until(lambda: '2. here: assistant: "two"' in desk.paper.text)
    assert "user:" not in desk.heard()
    await desk.enter("1")
    await asyncio.wait_for(task, 60)
    assert isinstance(desk.submitted[-1], MoveTo)


async def test_zero_leaves(talk):
    """As a list says."""
    desk = Spoken(talk.store, talk.id)
    HostOf(desk, talk)
    task = asyncio.ensure_future(_tree.open(desk, ""))
    await desk.until_shown()
    await desk.enter("0")
    await asyncio.wait_for(task, 60)


async def test_a_conversation_is_found_by_a_line_and_chosen_by_number(talk):
    """The list comes again with what was found."""
    desk = Spoken(talk.store, "", cwd="/here")
    task = asyncio.ensure_future(_resume.open(desk, ""))
    await desk.until_shown()
    assert "1. first: ◌ running" in desk.heard()
    await desk.enter("second")
    await desk.until(lambda: "… " in desk.paper.text)
    await desk.enter("1")
    await asyncio.wait_for(task, 60)
    assert desk.switched == [(talk.id, "")]


async def test_a_setting_is_entered_in_place_of_the_old_value(tmp_path):
    """The old value is not part of the line."""
    desk = Spoken(cwd=str(tmp_path))
    desk.settings = load(tmp_path).settings
    desk.answers[Reload] = lambda command: CommandReply(True)
    task = asyncio.ensure_future(_settings.open(desk, "bash.timeout"))
    await desk.until_shown()
    number = next(line.split(".")[0] for line in desk.heard().splitlines() if " bash.timeout: " in line)
    await desk.enter(number)
    await desk.until(lambda: "default: 300" in desk.paper.text)
    await desk.enter("17")
    await desk.until(lambda: desk.settings.bash.timeout == 17)
    await desk.until(lambda: bool(desk.shown))
    await desk.enter("0")
    await asyncio.wait_for(task, 60)


async def test_a_theme_is_chosen_by_number(tmp_path):
    """Nothing else is needed."""
    desk = Spoken(cwd=str(tmp_path))
    desk.answers[Reload] = lambda command: CommandReply(True)
    task = asyncio.ensure_future(_theme.open(desk, ""))
    await desk.until_shown()
    await desk.enter("3")
    await asyncio.wait_for(task, 60)
    assert desk.settings.console.theme == "light"
