"""Edits of the tree of a conversation: by the host of a session that runs, in the journal of one that has ended."""

import asyncio
import time
from collections.abc import Callable

import msgspec

from sightline import journal
from sightline.exceptions import OutsideFailure, UserMistake
from sightline.host.session._commands import Command, CommandReply, Label, MoveTo
from sightline.host.socket._client import connect
from sightline.journal import Entry, JournalWriter, Moment, SessionTree, Store
from sightline.text import clean_line

# Makes the summary of a branch that is left, of its entries, the oldest first.
Summarise = Callable[[list[Entry]], str]


class MovedTree(msgspec.Struct, frozen=True):
    """Where a conversation continues after a move."""

    moved: bool = True  # False: it was there already
    leaf: str = ""
    prefill: str = ""  # the user's message that was chosen, to change and send again


def move_in_tree(
    store: Store, session: str, target: str, *, summary: str = "", summarise: Summarise | None = None
) -> MovedTree:
    """Continue the conversation from another entry, with a summary of what is left behind. Blocking."""
    try:
        writer, tree = store.reopen(session)
    except journal.Busy:
        return _moved_by_host(session, target, summary, summarise is not None)
    try:
        move = tree.move(target)
        if move.already:
            return MovedTree(False, tree.leaf)
        left = tree.abandoned(tree.leaf, move.leaf)
        if left and summarise is not None:
            summary = summarise(left)
        entries = journal.move_entries(tree, move, Moment(time.time(), tree.last_seq), summary=summary if left else "")
        _append(writer, tree, entries)
        journal.append_branch(writer, tree, time.time())
    finally:
        writer.close()
    return MovedTree(True, tree.leaf, move.prefill)


def label_in_tree(store: Store, session: str, target: str, label: str) -> str:
    """Name an entry, or take its name away. Returns the label as it is stored. Blocking."""
    label = clean_line(label).strip()
    try:
        writer, tree = store.reopen(session)
    except journal.Busy:
        _submit(session, Label(target, label))
        return label
    try:
        _append(writer, tree, [journal.label_entry(tree, target, label, Moment(time.time(), tree.last_seq))])
    finally:
        writer.close()
    return label


def _moved_by_host(session: str, target: str, summary: str, summarize: bool) -> MovedTree:
    """A running session has one writer: its host."""
    if summary:
        hint = f"use --summarize instead, or end it first: sightline stop {session}"
        raise UserMistake(f"session {session} is running, and writes the summary itself", hint)
    reply = _submit(session, MoveTo(target, summarize))
    return msgspec.convert(reply.data, MovedTree)


def _submit(session: str, command: Command) -> CommandReply:
    async def submit() -> CommandReply:
        client = await connect(session)
        try:
            return await client.submit(command)
        finally:
            client.close()

    try:
        reply = asyncio.run(submit())
    except OSError as error:
        hint = f"try again, or end it: sightline stop {session}"
        raise OutsideFailure(f"session {session} is running but does not answer", hint) from error
    if not reply.ok:
        raise UserMistake(reply.error, reply.hint)
    return reply


def _append(writer: JournalWriter, tree: SessionTree, entries: list[Entry]) -> None:
    if not entries:
        return
    if not writer.append(entries):
        raise OutsideFailure(f"it could not be stored: {writer.problem}", "free some disk space")
    for entry in entries:
        tree.add(entry, writer.place_of(entry.id))
