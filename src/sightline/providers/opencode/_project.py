"""Whether OpenCode can load a project without asking a package registry for anything.

Loading one takes it seconds, so it is better done before the first prompt. But OpenCode then installs a package of its
own into each folder that it reads settings from, unless the lock file there lists it. Nothing is to leave the machine
before the user has sent something: so a project is loaded early only where nothing is missing.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from sightline.handles import read_at_most

_PACKAGE = "@opencode-ai/plugin"
_READ_AT_MOST = 16 * 1024 * 1024
_KINDS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")


def loads_offline(cwd: str, environ: Mapping[str, str]) -> bool:
    home = environ.get("HOME") or os.path.expanduser("~")
    settings = os.path.join(environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "opencode")
    # Its own folder is made when it is missing, the others are left out.
    return _is_complete(settings) and all(map(_is_complete, _others(cwd or os.getcwd(), home, environ)))


def _others(cwd: str, home: str, environ: Mapping[str, str]) -> Iterator[str]:
    above = [Path(cwd), *Path(cwd).parents, Path(home)]
    named = [Path(environ["OPENCODE_CONFIG_DIR"])] if environ.get("OPENCODE_CONFIG_DIR") else []
    for folder in [*(one / ".opencode" for one in above), *named]:
        if folder.is_dir():
            yield str(folder)


def _is_complete(folder: str) -> bool:
    if not os.path.isdir(os.path.join(folder, "node_modules")):
        return False
    needed = {_PACKAGE, *_names(_json(folder, "package.json"))}
    packages = _json(folder, "package-lock.json").get("packages")
    root = packages.get("") if isinstance(packages, dict) else None
    return needed <= set(_names(root if isinstance(root, dict) else {}))


def _names(package: Mapping[str, object]) -> Iterator[str]:
    for kind in _KINDS:
        listed = package.get(kind)
        yield from listed if isinstance(listed, dict) else ()


def _json(folder: str, name: str) -> dict[str, object]:
    try:
        return msgspec.json.decode(read_at_most(os.path.join(folder, name), _READ_AT_MOST), type=dict[str, object])
    except (OSError, ValueError, RecursionError):
        return {}
