"""A recording in the place of a provider's program: what that printed once is read again, by the same source.

Rules:

- Nothing is started, no model is used, and nothing on this machine changes: it shows what was done elsewhere.
- It is played once, for the first prompt of a conversation. It answers no other, and takes no text into its run.
- Every viewer sees that it is a recording: by its title, its model and its first words.
"""

import asyncio

from msgspec.structs import replace

from sightline.events import Error, Event, Notice, RunEnded, RunStarted
from sightline.providers._channel_run import ChannelRun
from sightline.providers._provider import Provider, ProviderPrompt
from sightline.providers._stream import EventStream

_LABEL = "(recorded)"


def recorded(provider: Provider, data: bytes, delay: float = 0.0) -> Provider:
    """The provider as it plays these bytes. `delay`: seconds before each line that shows something."""
    return Provider(
        name=provider.name,
        title=f"{provider.title} {_LABEL}",
        source=provider.source,
        channel=lambda ask: RecordedChannel(provider, data, delay),
        every_level=True,
    )


class RecordedChannel:
    """A conversation of one recorded run."""

    def __init__(self, provider: Provider, data: bytes, delay: float) -> None:
        self._provider = provider
        self._data = data
        self._delay = delay
        self._playing: asyncio.Task[None] | None = None

    async def open(self, ask: ProviderPrompt) -> None:
        pass

    async def run(self, ask: ProviderPrompt) -> ChannelRun:
        run = ChannelRun(self._provider.name, ask.resume, self._end, self._end)
        if ask.resume or self._playing is not None:
            await run.fail(Error(f"the recording of {self._provider.title} is over", "it answers no more prompts"))
        else:
            self._playing = asyncio.get_running_loop().create_task(self._play(run))
        return run

    def answer(self, request: str, answer: object) -> bool:
        return False

    async def steer(self, text: str) -> bool:
        return False

    async def close(self) -> None:
        await self._end()

    async def _play(self, run: ChannelRun) -> None:
        try:
            await run.put([Notice(f"a recording of {self._provider.title} is played; the program itself does not run")])
            assert self._provider.source is not None  # every provider's lines can be read
            stream = EventStream(self._provider.source())
            for line in self._data.splitlines(keepends=True):
                if events := stream.feed(line):
                    await asyncio.sleep(self._delay)
                    await run.put([self._labelled(event) for event in events])
            await run.put(stream.end())
            if not run.over:
                await run.fail(Error(f"the recording of {self._provider.title} has no end", "record it again"))
        finally:
            run.publish([RunEnded(stop_reason="cancelled")])  # where it is not over yet

    def _labelled(self, event: Event) -> Event:
        if isinstance(event, RunStarted):
            return replace(event, model=f"{event.model or self._provider.title} {_LABEL}")
        return event

    async def _end(self) -> None:
        if self._playing is not None:
            self._playing.cancel()
            await asyncio.wait([self._playing])
