"""The details of an approval request, on their way into a session and to the views.

Rules:

- What cannot be seen is made visible: where a command or path has such characters, `shown` has it as it is to be shown.
  `what` and `rule` stay what a program decides on.
- All of it can be reached. Details too long for an event are stored whole beside the journal as long as the request is
  open; the event has their beginning, and `stored`. Not among the artifacts: a model can read those, and what a change
  removes may be nothing it may read.
- What could not be stored is reported (`unseen`), and so is what cannot be read back.
"""

import os
from pathlib import Path
from typing import Any

import msgspec

from sightline.actors._bounds import bounded_value
from sightline.text import visible, visible_value

INLINE_AT_MOST = 64 * 1024  # bytes of details in an event, as JSON
_STORED_AT_MOST = 64 * 1024 * 1024
_DECIDED_ON = ("what", "rule")  # by rules, as they are


def made_visible(details: dict[str, Any]) -> dict[str, Any]:
    """Details as the user can read them."""
    made = {name: value if name in _DECIDED_ON else visible_value(value) for name, value in details.items()}
    what = details.get("what")
    if isinstance(what, str) and (shown := visible(what)) != what:
        made["shown"] = shown
    return made


def carried(details: dict[str, Any], folder: Path, request: str) -> dict[str, Any]:
    """Details as an event may have them; all of them are stored where that is less."""
    data = msgspec.json.encode(details)
    if len(data) <= INLINE_AT_MOST:
        return details
    begun = _beginning(details)
    try:
        if len(data) > _STORED_AT_MOST:
            raise OSError(0, "it is too long")
        _store(_file(folder, request), data)
    except OSError as problem:
        return {**begun, "unseen": f"only the beginning can be shown: {problem.strerror}", "leaves": True}
    return {**begun, "stored": True}


def _beginning(details: dict[str, Any]) -> dict[str, Any]:
    begun: dict[str, Any] = bounded_value(details, INLINE_AT_MOST)
    if "left_out" not in begun:
        return begun
    return {**bounded_value({name: value for name, value in details.items() if name != "args"}, INLINE_AT_MOST)}


def all_details(folder: Path, request: dict[str, Any]) -> dict[str, Any]:
    """The details of an open request, all of them. Blocking."""
    details = request.get("details")
    details = details if isinstance(details, dict) else {}
    if not details.get("stored"):
        return details
    try:
        found: dict[str, Any] = msgspec.json.decode(_file(folder, str(request.get("id"))).read_bytes(), type=dict)
    except (OSError, ValueError):
        return {**details, "unseen": "only the beginning can be shown: the rest cannot be read", "leaves": True}
    return found


def forget(folder: Path, request: str) -> None:
    """Delete the stored details of a request that was answered."""
    try:
        _file(folder, request).unlink(missing_ok=True)
    except OSError:
        pass


def _file(folder: Path, request: str) -> Path:
    return folder / "asked" / f"{request.replace('/', '-')}.json"


def _store(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
