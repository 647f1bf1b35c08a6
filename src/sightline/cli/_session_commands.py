"""One function per command about stored conversations: arguments to calls. Imports happen inside."""

import argparse
import os
from functools import partial
from typing import TYPE_CHECKING

from sightline.cli._environment import current_folder, open_store, palette_of
from sightline.exceptions import UserMistake

if TYPE_CHECKING:
    from sightline.journal import Entry, Store


def sessions(arguments: argparse.Namespace) -> int:
    if arguments.query and arguments.query[0] in _ACTIONS:
        return _ACTIONS[arguments.query[0]](open_store(), arguments.query[1:], arguments)
    return _listed(arguments)


def _rename(store: "Store", words: list[str], arguments: argparse.Namespace) -> int:
    if len(words) < 2:
        raise UserMistake("which session, and its new title?", "sightline sessions rename ID TITLE")
    session = _found(store, words[0])
    store.rename(session, " ".join(words[1:]))
    return _done(f"renamed {session}")


def _archive(store: "Store", words: list[str], arguments: argparse.Namespace) -> int:
    action = arguments.query[0]  # archive or unarchive
    for session in _each(store, words, action):
        store.archive(session, action == "archive")
        _done(f"{action}d {session}")
    return 0


def _delete(store: "Store", words: list[str], arguments: argparse.Namespace) -> int:
    found = _each(store, words, "delete")
    for session in found:
        if store.is_running(session):
            raise UserMistake(f"session {session} is running", f"stop it first: sightline stop {session}")
    if not arguments.yes and not _confirmed(store, found):
        return 1
    for session in found:
        store.delete(session)
        _done(f"deleted {session}")
    return 0


def _confirmed(store: "Store", found: list[str]) -> bool:
    if not (os.isatty(0) and os.isatty(2)):
        raise UserMistake(
            "delete asks first, but standard input is not a terminal", "add --yes to delete without asking"
        )
    from sightline.views.plain import columns_of
    from sightline.views.plain.commands.stored import names_of

    names = names_of(store, found, columns_of(2))
    if len(names) == 1:
        question = f"Delete session {names[0]} for good? [y/N] "
    else:
        rows = "".join(f"  {name}\n" for name in names)
        question = f"{rows}Delete these {len(names)} sessions for good? [y/N] "
    os.write(2, question.encode("utf-8", "replace"))
    return os.read(0, 100).strip().lower() in (b"y", b"yes")


def _each(store: "Store", words: list[str], action: str) -> list[str]:
    if not words:
        raise UserMistake(
            f"which session to {action}?", f"sightline sessions {action} ID; `sightline sessions` lists them"
        )
    return list(dict.fromkeys(_found(store, word) for word in words))


def _done(words: str) -> int:
    from sightline.views.plain import write_text

    write_text(1, f"{words}\n")
    return 0


_ACTIONS = {"rename": _rename, "archive": _archive, "unarchive": _archive, "delete": _delete}


def _listed(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import columns_of, write_all, write_text
    from sightline.views.plain.commands.stored import NEWEST, conversations_json, conversations_table, unread_note

    store = open_store()
    query = " ".join(arguments.query)
    cwd = str(current_folder()) if arguments.here else None
    limit, archived = None if arguments.all else arguments.limit or NEWEST, arguments.archived
    if arguments.json:
        write_all(1, conversations_json(store, query, cwd=cwd, limit=limit, archived=archived))
    else:
        table = conversations_table(
            store, query, palette_of(arguments), cwd=cwd, limit=limit, archived=archived, columns=columns_of(1)
        )
        write_text(1, table)
    write_text(2, unread_note(store))
    return 0


def resume(arguments: argparse.Namespace) -> int:
    from sightline.cli._agent_commands import can_open, no_session_named, open_session, pick_session
    from sightline.views.plain.commands.stored import show_conversation

    if arguments.id is None:
        if not can_open():
            raise no_session_named("sightline resume ID")
        return pick_session()
    store = open_store()
    session = _found(store, arguments.id)
    if can_open():
        return open_session(session)
    return show_conversation(store, session, palette_of(arguments))


def tree(arguments: argparse.Namespace) -> int:
    if (arguments.summary or arguments.summarize) and arguments.to is None:
        raise UserMistake("--summary and --summarize need --to", "add --to ENTRY")
    from sightline.views.plain import write_all, write_text
    from sightline.views.plain.commands import tree as views

    store = open_store()
    session = _found(store, arguments.id)
    if arguments.label is not None:
        target, named, label = arguments.label.partition("=")
        if not named:
            raise UserMistake(f"no label given for {target}", f"write {target}=TEXT, or {target}= to remove it")
        from sightline.host import label_in_tree

        write_text(1, views.labelled_text(target, label_in_tree(store, session, target, label)))
    elif arguments.to is not None:
        from sightline.host import move_in_tree

        summarise = partial(_sum_up, store, session) if arguments.summarize else None
        moved = move_in_tree(store, session, arguments.to, summary=arguments.summary, summarise=summarise)
        write_text(1, views.moved_text(moved))
    elif arguments.json:
        write_all(1, views.tree_json(store, session, filter=arguments.filter, search=arguments.search))
    else:
        palette = palette_of(arguments)
        write_text(1, views.tree_text(store, session, palette, filter=arguments.filter, search=arguments.search))
    return 0


def fork(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import write_text

    store = open_store()
    write_text(1, f"{store.fork(_found(store, arguments.id), arguments.at)}\n")
    return 0


def _sum_up(store: "Store", session: str, entries: "list[Entry]") -> str:
    """The summary of a branch that is left, written by the model for small work, else by the session's model."""
    import asyncio

    from sightline.agent import model_of, summarise_branch
    from sightline.journal import SessionTree
    from sightline.models import open_model
    from sightline.settings import load

    settings = load(current_folder()).settings
    try:
        names = (settings.models.small, model_of(SessionTree.load(store.folder(session))), settings.models.default)
        model = open_model(next(filter(None, names), ""), settings, os.environ)
    except UserMistake as mistake:
        hint = f"write the summary yourself with --summary TEXT, or {mistake.hint}"
        raise UserMistake(mistake.message, hint) from None
    return asyncio.run(summarise_branch(model, entries))


def _found(store: "Store", text: str) -> str:
    return store.find_conversation(text, str(current_folder()) if text == "-" else "")
