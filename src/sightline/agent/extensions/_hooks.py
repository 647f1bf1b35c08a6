"""Where an extension may step in.

Each hook is asked in the order it was added. One that raises, or has not answered after half a minute, is told and
counts as having said nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeAlias

import msgspec

from sightline.text import clean_line
from sightline.tools import Outcome

Moment = Literal["session_start", "prompt", "before_call", "after_call", "before_tree", "tree", "session_end"]

PATIENCE = 30.0  # seconds for one answer
_PATIENCE_AT_END = 5.0  # somebody waits for the program to end


class Call(msgspec.Struct, frozen=True):
    """A call as a hook sees it."""

    id: str
    tool: str
    args: dict[str, Any]
    agent: str = ""


class Block(msgspec.Struct, frozen=True):
    """Returned by `before_call`: the call is not made, and the model is told why."""

    reason: str


class NewArgs(msgspec.Struct, frozen=True):
    """Returned by `before_call`: the call is made with these arguments instead."""

    args: dict[str, Any]


class Cancelled(msgspec.Struct, frozen=True):
    """Returned by `before_tree`: the move is not made."""

    reason: str = ""


class Summary(msgspec.Struct, frozen=True):
    """Returned by `before_tree`: the summary of the branch that is left."""

    text: str


Hook: TypeAlias = Callable[..., Any]
Complain: TypeAlias = Callable[[str], None]


class Hooks:
    """The hooks of a session."""

    def __init__(self, complain: Complain = lambda text: None) -> None:
        self._hooks: dict[str, list[tuple[str, Hook]]] = {}
        self.complain = complain
        self.patience = PATIENCE

    def add(self, moment: Moment, hook: Hook, owner: str = "") -> None:
        self._hooks.setdefault(moment, []).append((owner, hook))

    def __bool__(self) -> bool:
        return bool(self._hooks)

    async def before_call(self, call: Call) -> Call | Block:
        """The call to be made, or why it is not."""
        for owner, hook in self._hooks.get("before_call", ()):
            said = await self._ask(owner, hook, call)
            if isinstance(said, Block):
                return said
            if isinstance(said, NewArgs):
                call = msgspec.structs.replace(call, args=said.args)
        return call

    async def after_call(self, call: Call, outcome: Outcome) -> Outcome:
        for owner, hook in self._hooks.get("after_call", ()):
            said = await self._ask(owner, hook, call, outcome)
            if isinstance(said, Outcome):
                outcome = said
        return outcome

    async def prompt(self, text: str) -> str:
        """The prompt as it is sent; a hook may return another text."""
        for owner, hook in self._hooks.get("prompt", ()):
            said = await self._ask(owner, hook, text)
            if isinstance(said, str):
                text = said
        return text

    async def before_tree(self, details: dict[str, Any]) -> Cancelled | Summary | None:
        for owner, hook in self._hooks.get("before_tree", ()):
            said = await self._ask(owner, hook, details)
            if isinstance(said, Cancelled | Summary):
                return said
        return None

    async def tell(self, moment: Moment, *args: Any) -> None:
        if moment == "session_end":
            self.patience = min(self.patience, _PATIENCE_AT_END)
        for owner, hook in self._hooks.get(moment, ()):
            await self._ask(owner, hook, *args)

    async def _ask(self, owner: str, hook: Hook, *args: Any) -> Any:
        try:
            said = hook(*args)
            return await self._answer(said) if isinstance(said, Awaitable) else said
        except Exception as error:
            self.complain(clean_line(f"extension {owner or 'hook'}: {type(error).__name__}: {error}"))
            return None

    async def _answer(self, said: Awaitable[Any]) -> Any:
        try:
            async with asyncio.timeout(self.patience) as waiting:
                return await said
        except TimeoutError:
            if not waiting.expired():
                raise
            raise TimeoutError(f"no answer in {self.patience:g} s") from None
