"""A session made from another: all of it, or the way to one of its entries.

Rules:

- The lines are the same lines, but for the header and for the URLs of artifacts, which name the new session. Ids and
  numbers stay, so a fork of a path has gaps in its numbers where other branches were.
- Artifacts are shared by hard links, or copied where that cannot be: deleting either session leaves the other whole.
  The agent's own notes (`local`) are copied, since they change.
- The approval level and the rules given on a command line are those of the whole session, whichever branch they were
  chosen on: what may be done is no matter of branches.
- A half-made fork is not left behind.
"""

import os
import re
import shutil
from bisect import bisect_right
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sightline.journal._record import is_entry, seq_of
from sightline.journal._scan import end_of_lines
from sightline.journal._writer import JournalWriter
from sightline.journal.tree._entry import Entry
from sightline.journal.tree._node import meta_of_line
from sightline.journal.tree._tree import SessionTree
from sightline.paths import private_folder

if TYPE_CHECKING:
    from sightline.journal._store import Store

_PART = 1024 * 1024

_mentioned = re.compile(rb'"id":"([^"\\]+)"|artifact://[a-z0-9]+/([^"\\\s#?]+)').finditer


def fork(store: "Store", session: str, leaf: str = "") -> str:
    """The id of a new session that has everything of this one, or only the path to an entry of it."""
    header = store.read(session).header
    tree = SessionTree.load(store.folder(session)) if leaf else None
    selects = _path_to(tree, leaf) if tree is not None else None
    writer = store.create(
        cwd=header.cwd, title=store.title_of(session), parent_session=session, provider=header.provider
    )
    new = writer.folder.name
    try:
        mentioned = _copy_lines(store.folder(session), session, writer, selects)
        if tree is not None:
            writer.append(_permissions_left(tree, leaf))
        _share_artifacts(store.folder(session), writer.folder, mentioned if leaf else None)
        if (store.folder(session) / "local").is_dir():
            shutil.copytree(store.folder(session) / "local", writer.folder / "local", symlinks=True)
    except OSError as error:
        shutil.rmtree(writer.folder, ignore_errors=True)
        raise store.no_room(error) from error
    except BaseException:
        shutil.rmtree(writer.folder, ignore_errors=True)
        raise
    finally:
        writer.close()
    return new


def _permissions_left(tree: SessionTree, leaf: str) -> list[Entry]:
    """The level that was chosen last and every rule that was given, as entries after the leaf, where the way to it does
    not have them. An entry of rules that cannot be read becomes an empty one: the fork reports it, too."""
    given = [node for node in tree.nodes.values() if node.type == "rules_given"]
    chosen = [node for node in tree.nodes.values() if node.type == "approval_change"]
    on_path = {node.id for node in tree.path(leaf)}
    entries: list[Entry] = []
    missing = [node for node in (*given, *chosen[-1:]) if node.id not in on_path]
    found = list(tree.read(missing))
    if tree.lost_rules or len(found) < len(missing):
        found.append(Entry(id="", type="rules_given", time=tree.node(leaf).time))
    for entry in found:
        parent = entries[-1].id if entries else leaf
        copied = msgspec.structs.replace(entry, id=tree.next_id(len(entries)), parent=parent, seq=tree.node(leaf).seq)
        entries.append(copied)
    return entries


def _path_to(tree: SessionTree, leaf: str) -> Callable[[bytes], bool]:
    """Whether a line belongs to the way to an entry: its steps, their labels and the events shown there."""
    on_path = {node.id for node in tree.path(leaf)}
    ranges = tree.ranges(leaf)
    firsts = [first for first, _ in ranges]

    def selects(line: bytes) -> bool:
        if is_entry(line):
            meta = meta_of_line(line)
            if meta is None:
                return False
            return meta.id in on_path or (meta.type == "label" and meta.about.target in on_path)
        seq = seq_of(line)
        at = bisect_right(firsts, seq) - 1
        return at >= 0 and seq <= ranges[at][1]

    return selects


def _copy_lines(
    folder: Path, session: str, writer: JournalWriter, selects: Callable[[bytes], bool] | None
) -> set[bytes]:
    """Copy the selected lines; returns the artifacts they may refer to."""
    old, new = f"artifact://{session}/".encode(), f"artifact://{writer.folder.name}/".encode()
    mentioned: set[bytes] = set()
    part: list[bytes] = []
    size = 0
    for line in _whole_lines(folder / "journal.jsonl"):
        if selects is not None:
            if not selects(line):
                continue
            mentioned.update(match[1] or match[2] for match in _mentioned(line))
        part.append(line.replace(old, new))
        size += len(line)
        if size > _PART:
            writer.write_lines(b"".join(part))
            part, size = [], 0
    writer.write_lines(b"".join(part))
    return mentioned


def _whole_lines(journal: Path) -> Iterator[bytes]:
    """All but the header, up to the last that is whole now: the session may be running."""
    with journal.open("rb") as file:
        left = end_of_lines(file.fileno()) - len(file.readline())
        while left > 0:
            line = file.readline()
            left -= len(line)
            yield line


def _share_artifacts(old: Path, new: Path, mentioned: set[bytes] | None) -> None:
    try:
        names = os.listdir(old / "artifacts")
    except OSError:
        return
    private_folder(new / "artifacts")
    for name in names:
        stem = os.path.splitext(name)[0]
        if mentioned is None or os.fsencode(name) in mentioned or os.fsencode(stem) in mentioned:
            _share(old / "artifacts" / name, new / "artifacts" / name)


def _share(old: Path, new: Path) -> None:
    try:
        os.link(old, new)
    except FileNotFoundError:  # pruned by hand
        pass
    except OSError:
        shutil.copy2(old, new)
