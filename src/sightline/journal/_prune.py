"""Pruning: whole sessions that ended are deleted when they are old or take too much room, the oldest first.

A command's output is worth less with every day; a conversation is the user's work. So a conversation is never deleted
for its age, and for want of room only when nothing else is left to delete and it has not changed for a month.
"""

import os
import time
from pathlib import Path

import msgspec

from sightline.journal._scan import has_entries
from sightline.journal._store import Store

_MAX_AGE = 30 * 24 * 3600.0  # seconds
_MAX_BYTES = 10 * 1024**3


class Pruned(msgspec.Struct, frozen=True):
    sessions: int
    bytes: int


def prune(store: Store, *, older_than: float = _MAX_AGE, larger_than: int = _MAX_BYTES) -> Pruned:
    """Delete what has not changed for so many seconds, then the oldest until no more than so many bytes are left."""
    measured = sorted((_measure(store.folder(session)), session) for session in store.sessions())
    total = sum(size for (_, size), _ in measured)
    now = time.time()
    gone, freed = set[str](), 0
    conversations = []
    for (changed, size), session in measured:
        if changed >= now - older_than and total - freed <= larger_than:
            break
        if has_entries(store.folder(session)):
            conversations.append((changed, size, session))
        elif store.remove(session):
            gone.add(session)
            freed += size
    for changed, size, session in conversations:
        if total - freed > larger_than and changed < now - _MAX_AGE and store.remove(session):
            gone.add(session)
            freed += size
    if gone:
        store.index.rewrite(lambda jobs: [record for record in jobs.values() if record.session not in gone])
    return Pruned(len(gone), freed)


def _measure(folder: Path) -> tuple[float, int]:
    """When anything in it last changed, and how much room it takes."""
    changed, size = 0.0, 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                stat = os.stat(os.path.join(parent, name))
            except OSError:
                continue
            changed, size = max(changed, stat.st_mtime), size + stat.st_blocks * 512
    return changed or _made(folder), size


def _made(folder: Path) -> float:
    """When a folder with nothing in it was made: a session that is just beginning looks like that."""
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0
