"""A command a tool started, as the tool sees it."""

from typing import Protocol

from sightline.events import ToolResult


class RunningCommand(Protocol):
    """Its output is kept and shown as that of the call that started it, until it becomes a job."""

    @property
    def artifact(self) -> str:
        """The URL of its whole output."""

    async def wait(self) -> ToolResult:
        """Its end. Giving up waiting does not end it."""

    def cancel(self) -> None:
        """End it and everything it started."""

    def tail(self, most: int) -> tuple[str, int]:
        """The last `most` bytes of what it wrote so far as text, and how many bytes there are in all."""

    def become_job(self) -> str:
        """Go on without the call: what it writes from now on is that of a job, whose id is returned."""
