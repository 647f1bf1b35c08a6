"""The spec of a command, and where its bytes go."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from sightline.exec.sandbox._sandbox import SandboxSpec


class CommandSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One command. `env` None means this program's environment; a `timeout` is in seconds."""

    argv: tuple[str, ...]
    cwd: str = ""
    exact_cwd: bool = False  # it was judged by this very path: no part of it may be a link when it starts
    env: dict[str, str] | None = None
    pty: bool = False
    columns: int = 80
    rows: int = 24
    timeout: float | None = None
    sandbox: SandboxSpec | None = None
    passed: tuple[str, ...] = ()  # variables it gets in the sandbox although they are withheld
    descriptors: tuple[int, ...] = ()  # what it has open besides its streams; closed by the caller


class Sink(Protocol):
    """Where every byte goes first. Failures of the disk are not raised: `problem` has them, `size` still counts."""

    @property
    def size(self) -> int:
        """Bytes offered so far, stored or not: the offset of the next."""

    @property
    def stored(self) -> int:
        """Bytes really written."""

    @property
    def problem(self) -> str:
        """Why bytes are no longer stored; empty while they are."""

    def write(self, stream: str, data: bytes) -> None: ...

    def close(self) -> None: ...


class PassOn(Protocol):
    """A receiver of every byte as it came, at its own pace."""

    def offer(self, stream: str, data: bytes, resume: Callable[[], None]) -> bool:
        """Takes the bytes in any case. False: offer no more of this stream until `resume` is called, in the loop."""
