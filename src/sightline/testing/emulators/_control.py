"""A tmux server of our own and its control-mode client: commands as lines, answers between %begin and %end."""

import os
import subprocess
from pathlib import Path

from sightline.testing.emulators._types import EmulatorError


class Control:
    """One server, on a socket in a folder of its own, so no other server is ever touched."""

    def __init__(self, folder: Path, settings: list[str], new_session: list[str]) -> None:
        self._folder = folder
        (folder / "tmux.conf").write_text("".join(f"{setting}\n" for setting in settings))
        self._process = subprocess.Popen(
            [*self.command(), "-f", str(folder / "tmux.conf"), "-C", "new-session", *new_session],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
            start_new_session=True,
        )
        self._read_answer()
        self.ask("refresh-client -f no-output")

    def command(self) -> list[str]:
        """How another client reaches the server."""
        return ["tmux", "-u", "-S", str(self._folder / "server")]

    def ask(self, *commands: str) -> list[list[str]]:
        """Run commands in one go; the lines each of them answered."""
        assert self._process.stdin is not None
        self._process.stdin.write("".join(f"{command}\n" for command in commands).encode())
        self._process.stdin.flush()
        return [self._read_answer() for _ in commands]

    def _read_answer(self) -> list[str]:
        begin = self._line()
        while not begin.startswith(b"%begin "):
            begin = self._line()
        ends = {begin.replace(b"%begin", word, 1): word for word in (b"%end", b"%error")}
        lines = []
        while (line := self._line()) not in ends:
            lines.append(line[:-1].decode(errors="replace"))
        if ends[line] == b"%error":
            raise EmulatorError(f"tmux: {' '.join(lines)}")
        return lines

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise EmulatorError("the tmux server ended")
        return line

    def close(self) -> None:
        """End the server with all its panes."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(b"kill-server\n")
            self._process.stdin.close()
            self._process.stdout.read()
        except OSError:
            pass  # it is gone already
        self._process.stdout.close()
        self._process.wait(timeout=10)


def environment() -> dict[str, str]:
    """Not inside another tmux, and with a locale in which characters have their widths."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("TMUX", "TMUX_PANE")}
    return {**inherited, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "SHELL": "/bin/sh"}
