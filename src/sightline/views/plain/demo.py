"""A first look: the same task, recorded from all five providers, played through the verbose renderer."""

import time
from importlib.resources import files

from sightline.events import Event, Text, ToolUse
from sightline.providers import EventStream, get_provider, provider_names
from sightline.views.plain._output import write_all
from sightline.views.plain._palette import Palette
from sightline.views.plain._renderer import VERBOSE, PlainRenderer

# Seconds, close to how the recorded runs felt: a piece of text, a call, and its result.
_PACE_TEXT, _PACE_CALL = 0.03, 0.25


def play_demo(palette: Palette, out: int, *, paced: bool) -> None:
    """Every provider in turn, each through a source and a renderer of its own."""
    for name in provider_names():
        provider = get_provider(name)
        write_all(out, f"{palette.bold}── {provider.title} ──{palette.reset}\n".encode())
        renderer = PlainRenderer(VERBOSE, palette)
        for events in _recorded(name):
            write_all(out, renderer.render(events).encode())
            if paced:
                time.sleep(_pause(events))
        write_all(out, f"{renderer.end()}\n".encode())


def _recorded(name: str) -> list[list[Event]]:
    """The recording's events, line by line."""
    folder = files("sightline.views.plain") / "recordings"
    recording = next(item for item in folder.iterdir() if item.name.startswith(f"{name}."))
    source = get_provider(name).source
    assert source is not None
    stream = EventStream(source())
    return [*(stream.feed(line + b"\n") for line in recording.read_bytes().split(b"\n")), stream.end()]


def _pause(events: list[Event]) -> float:
    text = sum(len(event.text) for event in events if isinstance(event, Text))
    calls = sum(isinstance(event, ToolUse) for event in events)
    return min(text, 40) / 12 * _PACE_TEXT + calls * _PACE_CALL
