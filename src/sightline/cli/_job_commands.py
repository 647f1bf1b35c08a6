"""One function per command about commands and jobs: arguments to calls. Imports happen inside."""

import argparse
import os
from typing import TYPE_CHECKING, Any

from sightline.cli._folder import current_folder
from sightline.exceptions import UserMistake

if TYPE_CHECKING:
    from sightline.journal import Store


def exec_command(arguments: argparse.Namespace) -> int:
    words = arguments.words[1:] if arguments.words[:1] == ["--"] else arguments.words
    if not words:
        raise UserMistake("no command given", "write it after `--`: sightline exec -- make test")
    if arguments.network and not arguments.sandbox:
        raise UserMistake("--network works only with --sandbox", "add --sandbox, or leave out --network")
    from sightline.views.plain._terminal import is_terminal
    from sightline.views.plain.commands import exec as views

    spec, store, session = _spec(arguments, words), _store(), arguments.session
    if arguments.detach:
        return views.detach_exec(store, spec, _palette(arguments, 2), session=session)
    if arguments.output_format == "events":
        return views.events_exec(store, spec, session=session)
    if not is_terminal(1):
        return views.pass_exec(store, spec, session=session)
    return views.show_exec(store, spec, _palette(arguments), session=session, labelled=arguments.verbose)


def _spec(arguments: argparse.Namespace, words: list[str]) -> Any:
    from sightline.exec import CommandSpec, SandboxSpec

    cwd = str(current_folder())
    columns, rows = 80, 24
    if os.isatty(1):
        size = os.get_terminal_size(1)
        columns, rows = size.columns or columns, size.lines or rows
    sandbox = SandboxSpec(workspace=cwd, network=arguments.network) if arguments.sandbox else None
    return CommandSpec(
        argv=tuple(words),
        cwd=cwd,
        pty=arguments.pty,
        columns=columns,
        rows=rows,
        timeout=arguments.timeout,
        sandbox=sandbox,
    )


def attach(arguments: argparse.Namespace) -> int:
    from sightline.host import find
    from sightline.views.plain._terminal import is_terminal

    store = _store()
    id = find(store, arguments.id) if arguments.id else _running_here(store)
    if not id:
        from sightline.cli._console_command import choose_session

        return choose_session()
    if _is_conversation(store, id) or _has_agent(store, id):
        from sightline.cli._console_command import can_open, open_session

        if can_open():
            return open_session(id)
        from sightline.views.plain.commands.conversation import show_conversation

        return show_conversation(store, id, _palette(arguments))
    if is_terminal(1):
        from sightline.views.plain.commands.attach import show_attached

        return show_attached(store, id, _palette(arguments), labelled=arguments.verbose)
    from sightline.views.plain.commands.logs import show_logs

    return show_logs(store, _one_job(store, id), _palette(arguments), follow=True, labelled=False)


def _running_here(store: Any) -> str:
    """The session that works in this folder; empty when there are several, and a person who can be asked which."""
    import asyncio

    from sightline.cli._console_command import can_open
    from sightline.host import running
    from sightline.text import clean_line

    here = clean_line(str(current_folder()))
    found = [hello for hello in asyncio.run(running(store)) if hello.cwd == here]
    if not found:
        raise UserMistake("no session runs in this folder", "see `sightline ps` and `sightline sessions`")
    if len(found) == 1:
        return found[0].session
    if can_open() and all(hello.agent for hello in found):
        return ""
    from sightline.views.plain.commands.sessions import sessions_to_choose_from

    rows = sessions_to_choose_from(store, found)
    which = f"name one: sightline attach {found[0].session}"
    raise UserMistake(f"{len(found)} sessions run in this folder:\n{rows}", which)


def logs(arguments: argparse.Namespace) -> int:
    from sightline.host import find
    from sightline.views.plain.commands.logs import show_logs

    store = _store()
    job = _one_job(store, find(store, arguments.id))
    return show_logs(store, job, _palette(arguments), follow=arguments.follow, labelled=arguments.verbose)


def cancel(arguments: argparse.Namespace) -> int:
    from sightline.host import find
    from sightline.views.plain.commands.sessions import cancel_jobs

    store = _store()
    return cancel_jobs(store, find(store, arguments.id), _palette(arguments), force=arguments.force)


def jobs(arguments: argparse.Namespace) -> int:
    from sightline.host import find
    from sightline.journal import session_of
    from sightline.views.plain import write_all, write_text
    from sightline.views.plain.commands.jobs import jobs_json, jobs_table

    store = _store()
    found = find(store, arguments.session) if arguments.session else ""
    session = session_of(found) or found
    if arguments.json:
        write_all(1, jobs_json(store, session))
    else:
        write_text(1, jobs_table(store, session, _palette(arguments), everything=arguments.all))
    return 0


def jobs_prune(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import write_text
    from sightline.views.plain.commands.jobs import prune_jobs

    write_text(1, prune_jobs(_store(), arguments.older_than, arguments.larger_than))
    return 0


def ps(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import columns_of, write_all, write_text
    from sightline.views.plain.commands.sessions import sessions_json, sessions_table

    if arguments.json:
        write_all(1, sessions_json(_store()))
    else:
        write_text(1, sessions_table(_store(), _palette(arguments), columns_of(1)))
    return 0


def stop(arguments: argparse.Namespace) -> int:
    if bool(arguments.ids) == arguments.all:
        raise UserMistake("which sessions?", "name them (see `sightline ps`), or give --all")
    from sightline.views.plain.commands.sessions import stop_sessions

    return stop_sessions(_store(), arguments.ids)


def serve(arguments: argparse.Namespace) -> int:
    from sightline.views.web import serve

    code: int = serve(arguments.port, arguments.files)
    return code


def _one_job(store: "Store", id: str) -> str:
    """The job itself, or the only one of a session."""
    from sightline.journal import session_of

    if session_of(id):
        return id
    found = [job.id for job in store.jobs() if job.session == id]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UserMistake(f"session {id} has no jobs", "see `sightline jobs`")
    raise UserMistake(f"session {id} has {len(found)} jobs", f"name one: {', '.join(sorted(found)[:5])}")


def _has_agent(store: "Store", id: str) -> bool:
    """Whether somebody to talk to is in a session, although nothing was said there yet."""
    import asyncio

    from sightline.host import connect

    if not store.is_running(id):
        return False

    async def asked() -> bool:
        client = await connect(id)
        client.close()
        return client.hello.agent

    try:
        return asyncio.run(asked())
    except OSError:
        return False


def _is_conversation(store: "Store", id: str) -> bool:
    try:
        return store.find_conversation(id, "") == id
    except UserMistake:
        return False


def _store() -> "Store":
    from sightline.journal import Store
    from sightline.paths import data_folder

    return Store(data_folder())


def _palette(arguments: argparse.Namespace, fd: int = 1) -> Any:
    from sightline.views.plain import palette_for

    return palette_for(fd, arguments.color)
