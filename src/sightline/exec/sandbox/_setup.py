"""Whether a sandbox was set up, as bubblewrap itself reports it.

What a sandbox is made of is looked up first and mounted later. When a part of it is gone by then, such as a socket that
was to be covered, bubblewrap gives up. It never starts the command with less: the remedy is to look again and start it
once more, and what was gone is not looked for then.

Rules:

- bubblewrap is started with a pipe that holds one byte. It reads that byte and closes its end when everything is
  mounted, before it starts the command (`--block-fd`): the command cannot reach the pipe.
- When the process has ended and the byte is still there, there was neither a sandbox nor a command.
- In a folder that the command may write, bubblewrap does not give up: it makes an empty file in place of a socket that
  is gone, and mounts over that. It is removed as soon as the sandbox is known to be set up or to have failed: it would
  block a service from listening there again.
"""

import fcntl
import os
import stat
import struct
import termios
from collections.abc import Iterable
from contextlib import suppress

from sightline.exec.sandbox._launching import out_of_the_way

SETUP_ATTEMPTS = 10  # to set up one sandbox: where sockets come and go all the time, several may fail

_MODE_OF_MADE = 0o444  # whatever the umask


class Setup:
    """Made before the command line that names its descriptor; closed when the command has ended."""

    def __init__(self) -> None:
        reader, writer = os.pipe()
        os.write(writer, b"\0")
        os.close(writer)
        self.descriptor = out_of_the_way(reader)
        self._covered: tuple[str, ...] = ()
        self._is_done = False

    def will_cover(self, sockets: Iterable[str]) -> None:
        """By their real paths: those in folders where bubblewrap may write."""
        self._covered = tuple(sockets)

    def is_done(self) -> bool:
        """Whether it is by now. When it is found to be, what bubblewrap made is removed."""
        if not self._is_done and self.descriptor >= 0 and _unread(self.descriptor) == 0:
            self._is_done = True
            self._remove_made()
        return self._is_done

    def close(self) -> None:
        """A second time, nothing. `is_done` works afterwards, too."""
        self.is_done()
        self._remove_made()
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _remove_made(self) -> None:
        """Once: later such a file is another's."""
        covered, self._covered = self._covered, ()
        for path in covered:
            with suppress(OSError):
                _remove_if_made(path)


def _unread(descriptor: int) -> int:
    """Bytes in a pipe."""
    size: int = struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, b"\0\0\0\0"))[0]
    return size


def _remove_if_made(path: str) -> None:
    from sightline.handles import folder_exactly

    folder, name = folder_exactly(os.path.dirname(path)), os.path.basename(path)
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISREG(found.st_mode) and stat.S_IMODE(found.st_mode) == _MODE_OF_MADE and not found.st_size:
            os.unlink(name, dir_fd=folder)
    finally:
        os.close(folder)
