"""A box without anything of this machine in it, made with bubblewrap.

In it the project is `/project`, the home `/home/dev`, the host and the user are called `dev`, and only the machine's
programs (`/usr`) are visible. The stand-in listens on one fixed port, since addresses turn up in error messages.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from sightline.testing.clis import cache_folder
from sightline.testing.place import Place, write_home, write_project

HOME = Path("/home/dev")
PROJECT = Path("/project")
PORT = 8080
URL = f"http://127.0.0.1:{PORT}"

_CLIS = HOME / ".clis"
_NODE = Path("/opt/node")

_ETC = {
    "passwd": "root:x:0:0:root:/:/bin/bash\ndev:x:1000:1000:dev:/home/dev:/bin/bash\n",
    "group": "root:x:0:\ndev:x:1000:\n",
    "hosts": "127.0.0.1 localhost dev\n",
}


class BoxError(Exception):
    """No box can be made here; the message says why."""


class Box(msgspec.Struct, frozen=True):
    """A folder outside that holds the home and the project inside."""

    folder: Path

    def command(self, argv: list[str], environment: dict[str, str]) -> list[str]:
        """The command that runs `argv` in the box, with this environment and no other."""
        variables = {**environment, "PATH": f"{_CLIS}/node_modules/.bin:{_NODE}/bin:/usr/local/bin:/usr/bin:/bin"}
        settings = [word for name, value in variables.items() for word in ("--setenv", name, value)]
        return ["bwrap", *_ISOLATION, *_programs(), *self._folders(), "--clearenv", *settings, "--", *argv]

    def environment(self, provider: str) -> dict[str, str]:
        return Place(HOME, PROJECT, URL).environment(provider)

    def _folders(self) -> list[str]:
        etc = [word for name in _ETC for word in ("--ro-bind", str(self.folder / name), f"/etc/{name}")]
        home = ["--bind", str(self.folder / "home"), str(HOME), "--ro-bind", str(cache_folder()), str(_CLIS)]
        return [*etc, *home, "--bind", str(self.folder / "project"), str(PROJECT), "--chdir", str(PROJECT)]


_ISOLATION = [
    *("--unshare-all", "--share-net", "--die-with-parent", "--hostname", "dev", "--uid", "1000", "--gid", "1000"),
    *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
]


@contextmanager
def open_box() -> Iterator[Box]:
    """A box with a fresh project and home."""
    if shutil.which("bwrap") is None:
        raise BoxError("bubblewrap is not installed; recordings are only made in a box without this machine's paths")
    with tempfile.TemporaryDirectory(prefix="box-") as name:
        folder = Path(name)
        for etc, text in _ETC.items():
            (folder / etc).write_text(text)
        write_project(folder / "project")
        write_home(folder / "home", PROJECT, URL)
        (folder / "home" / _CLIS.name).mkdir()
        yield Box(folder)


def _programs() -> list[str]:
    """The machine's programs, and node where it lives outside of them."""
    words = ["--ro-bind", "/usr", "/usr", "--ro-bind-try", "/etc/alternatives", "/etc/alternatives"]
    for name in ("bin", "sbin", "lib", "lib64"):
        words += ["--symlink", f"usr/{name}", f"/{name}"]
    node = shutil.which("node")
    if node is not None and not Path(node).resolve().is_relative_to("/usr"):
        words += ["--ro-bind", str(Path(node).resolve().parents[1]), str(_NODE)]
    return words
