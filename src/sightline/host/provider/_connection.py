"""How the prompts of a session reach its provider: through its channel where it offers one, else in a run per prompt.

Rules:

- A channel that cannot be opened is given up for good, and that is reported once.
- It may be opened before there is a prompt, so that the first does not wait for that. What fails then is left for the
  prompt to find out, and what was opened for no prompt can be closed again.
- Opening may take long, and can be cut short at any moment: what was begun of it is ended, with all its processes, and
  the prompt is never worked on. One that is open already has a moment to take the prompt, so that the run can be ended
  in its own way and what else runs in it continues.
"""

import asyncio
from collections.abc import Callable

from sightline.actors import Actor
from sightline.events import Notice
from sightline.providers import (
    Channel,
    NotInstalled,
    OwnRuns,
    Provider,
    ProviderPrompt,
    Run,
    StopsAgents,
    Unreachable,
    start_run,
)

_SECONDS_TO_TAKE = 2.0


class ProviderConnection:
    """`own_run`: called with each run that the provider begins by itself; false when it will not be read."""

    def __init__(self, actor: Actor, provider: Provider, ask: ProviderPrompt, own_run: Callable[[Run], bool]) -> None:
        """`ask`: what all prompts have in common."""
        self._actor = actor
        self._provider = provider
        self._own_run = own_run
        self._channel = self._new_channel(ask)
        self._beginning: asyncio.Task[Run] | None = None
        self._cutting: asyncio.Task[None] | None = None
        self._stale = self._lowered = self._cut = False
        self._replacing = asyncio.Lock()
        self._open = self._used = False
        self._warming: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether nothing has to be started for the next prompt."""
        return self._open and self._channel is not None

    def warm_up(self, ask: ProviderPrompt) -> None:
        """Open it for a prompt that is still being written."""
        if self._channel is not None and not self._open and (self._warming is None or self._warming.done()):
            self._warming = asyncio.get_running_loop().create_task(self._warm(self._channel, ask))

    async def cool_down(self, ask: ProviderPrompt) -> None:
        """Close what was opened for no prompt."""
        if self._warming is not None and not self._used:
            async with self._replacing:
                await self._replace_channel(ask)

    async def _warm(self, channel: Channel, ask: ProviderPrompt) -> None:
        try:
            await channel.open(ask)
        except Unreachable:
            return
        self._open = self._open or channel is self._channel

    def renew(self, *, at_once: bool) -> None:
        """An open conversation keeps the level it was opened with: the next prompt gets another. `at_once`: it may do
        less now, so that nothing may continue in the old one when its run is over."""
        self._stale = True
        self._lowered |= at_once

    async def drop_lowered(self, ask: ProviderPrompt) -> None:
        """There is no run: end what is open under a level that allows more."""
        async with self._replacing:
            if self._lowered:
                await self._replace_channel(ask)

    async def begin(self, ask: ProviderPrompt) -> Run | None:
        """Have a prompt worked on. None: it was cut off, and nothing of it is left."""
        self._cut, self._used = False, True
        self._beginning = asyncio.get_running_loop().create_task(self._begun(ask))
        await asyncio.wait([self._beginning])
        if not self._beginning.cancelled():
            run = self._beginning.result()
            self._open = True
            return run
        await self._replace_channel(ask)
        return None

    def cut(self) -> None:
        """End what `begin` has not brought about yet."""
        if self._beginning is not None and not self._beginning.done() and not self._cut:
            self._cut = True
            self._cutting = asyncio.get_running_loop().create_task(self._cut_off(self._beginning))

    async def steer(self, text: str) -> bool:
        return self._channel is not None and await self._channel.steer(text)

    @property
    def stops_agents(self) -> bool:
        """Whether one subagent can be stopped while the rest continues."""
        return isinstance(self._channel, StopsAgents)

    async def stop_agent(self, path: str) -> bool:
        return isinstance(self._channel, StopsAgents) and await self._channel.stop_agent(path)

    def answer(self, request: str, answer: object) -> bool:
        return self._channel is not None and self._channel.answer(request, answer)

    async def close(self) -> None:
        if self._channel is not None:
            await self._channel.close()
        if self._warming is not None:
            await asyncio.wait([self._warming])

    async def _begun(self, ask: ProviderPrompt) -> Run:
        async with self._replacing:
            if self._stale:
                await self._replace_channel(ask)
        if self._warming is not None:
            await asyncio.wait([self._warming])
        if self._channel is not None:
            try:
                return await self._channel.run(ask)
            except Unreachable as problem:
                if self._cut:
                    raise asyncio.CancelledError from problem
                if isinstance(problem, NotInstalled):
                    return start_run(self._provider, ask)
                await self._give_up_channel(problem)
        return start_run(self._provider, ask)

    async def _cut_off(self, beginning: asyncio.Task[Run]) -> None:
        if self.is_open:
            await asyncio.wait([beginning], timeout=_SECONDS_TO_TAKE)
        beginning.cancel()

    async def _replace_channel(self, ask: ProviderPrompt) -> None:
        if self._channel is not None:
            await self._channel.close()
            self._channel = self._new_channel(ask)
        self._stale = self._lowered = self._open = False

    def _new_channel(self, ask: ProviderPrompt) -> Channel | None:
        channel = self._provider.channel(ask) if self._provider.channel is not None else None
        if isinstance(channel, OwnRuns):
            channel.on_own_run(self._own_run)
        return channel

    async def _give_up_channel(self, problem: Unreachable) -> None:
        assert self._channel is not None
        channel, self._channel = self._channel, None
        text = f"{self._provider.title} is run once per prompt, without live output: {problem.message}"
        self._actor.publish(Notice(text, "warning", problem.hint))
        await channel.close()
