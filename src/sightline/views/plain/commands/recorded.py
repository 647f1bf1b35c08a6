"""A provider's own stream, recorded or piped, shown as text or translated to events. No event loop."""

import os
from collections.abc import Callable, Iterator

from sightline.events import Event
from sightline.exceptions import UserMistake
from sightline.providers import EventStream, Provider, provider_names, recognise
from sightline.views.plain._ndjson import EventLines
from sightline.views.plain._output import share_a_channel, write_all
from sightline.views.plain._renderer import PlainRenderer

_READ_SIZE = 256 * 1024
# How much of a stream is looked at before giving up on recognising whose it is.
_HEAD_CAP = 256 * 1024


def show_recording(fd: int, provider: Provider | None, renderer: PlainRenderer, out: int, err: int) -> int:
    """Render a stream as it arrives. Exit code 1 when there was something and none of it could be read."""
    readable = 0
    interleaved = share_a_channel(out, err)

    def write(events: list[Event]) -> None:
        nonlocal readable
        readable += len(events)
        text = renderer.render(events)
        if text:
            write_all(out, text.encode())
        write_all(err, renderer.messages(interleaved=interleaved).encode())

    _drive(fd, provider, write, out)
    write_all(out, renderer.end().encode())
    renderer.report_unreadable()
    write_all(err, renderer.messages().encode())
    return 1 if renderer.unreadable and readable == renderer.unreadable else 0


def write_events(fd: int, provider: Provider | None, out: int) -> None:
    """Write a stream's events as NDJSON, numbered and timed as they are read."""
    lines = EventLines()
    _drive(fd, provider, lambda events: write_all(out, lines.encode(events)), out)


def _drive(fd: int, provider: Provider | None, write: Callable[[list[Event]], None], out: int) -> None:
    chunks = iter(lambda: os.read(fd, _READ_SIZE), b"")
    head = b""
    if provider is None:
        head, provider = _recognised(chunks)
        if provider is None:
            return
    if provider.source is None:
        write_all(out, head)
        for chunk in chunks:
            write_all(out, chunk)
        return
    stream = EventStream(provider.source())
    if head:
        write(stream.feed(head))
    for chunk in chunks:
        write(stream.feed(chunk))
    write(stream.end())


def _recognised(chunks: Iterator[bytes]) -> tuple[bytes, Provider | None]:
    """What had to be read to see whose stream this is; no provider only for an empty stream."""
    head = b""
    for chunk in chunks:
        head += chunk
        provider = recognise(head)
        if provider is not None:
            return head, provider
        if len(head) > _HEAD_CAP:
            break
    if not head.strip():
        return head, None
    names = ", ".join(provider_names())
    raise UserMistake("cannot tell which provider this stream comes from", f"name it with --provider: {names}")
