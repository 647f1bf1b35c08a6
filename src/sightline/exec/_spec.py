"""What a command is told and given: what to run, where its bytes go, who wants them besides."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from sightline.exec.sandbox._sandbox import SandboxSpec


class CommandSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One command. `env` None means this program's environment; a `timeout` is in seconds."""

    argv: tuple[str, ...]
    cwd: str = ""
    exact_cwd: bool = False  # it was judged by this very path: no part of that may be a link when it starts
    env: dict[str, str] | None = None
    pty: bool = False
    columns: int = 80
    rows: int = 24
    timeout: float | None = None
    sandbox: SandboxSpec | None = None
    passed: tuple[str, ...] = ()  # variables it gets in the sandbox although they are withheld
    descriptors: tuple[int, ...] = ()  # what it has open besides its streams; closed by whoever opened them


class Sink(Protocol):
    """Where every byte goes first. What a disk does is never raised: `problem` says it, and `size` counts on."""

    @property
    def size(self) -> int:
        """Bytes offered so far, kept or not: the offset of the next."""

    @property
    def stored(self) -> int:
        """Bytes really written."""

    @property
    def problem(self) -> str:
        """Why bytes are no longer kept; empty while they are."""

    def write(self, stream: str, data: bytes) -> None: ...

    def close(self) -> None: ...


class PassOn(Protocol):
    """Somebody who wants every byte as it came, at his own pace."""

    def offer(self, stream: str, data: bytes, resume: Callable[[], None]) -> bool:
        """Takes the bytes in any case. False: offer no more of this stream until `resume` is called, in the loop."""
