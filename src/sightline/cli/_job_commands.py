"""One function per command about commands and jobs: arguments to calls. Imports happen inside."""

import argparse
import os
from typing import TYPE_CHECKING

from sightline.cli._environment import current_folder, open_store, palette_of
from sightline.exceptions import UserMistake

if TYPE_CHECKING:
    from sightline.exec import CommandSpec
    from sightline.journal import Store


def exec_command(arguments: argparse.Namespace) -> int:
    words = arguments.words[1:] if arguments.words[:1] == ["--"] else arguments.words
    if not words:
        raise UserMistake("no command given", "write it after `--`: sightline exec -- make test")
    if arguments.network and not arguments.sandbox:
        raise UserMistake("--network works only with --sandbox", "add --sandbox, or leave out --network")
    from sightline.views.plain._terminal import is_terminal
    from sightline.views.plain.commands import exec as views

    spec, store, session = _spec(arguments, words), open_store(), arguments.session
    if arguments.detach:
        return views.detach_exec(store, spec, palette_of(arguments, 2), session=session)
    if arguments.output_format == "events":
        return views.events_exec(store, spec, session=session)
    if not is_terminal(1):
        return views.pass_exec(store, spec, session=session)
    return views.show_exec(store, spec, palette_of(arguments), session=session, labelled=arguments.verbose)


def _spec(arguments: argparse.Namespace, words: list[str]) -> "CommandSpec":
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

    store = open_store()
    id = find(store, arguments.id) if arguments.id else _running_here(store)
    if not id and arguments.agent:
        raise UserMistake("which session has the agent?", "name it: sightline attach ID --agent PATH")
    if not id:
        from sightline.cli._agent_commands import choose_session

        return choose_session()
    if _is_conversation(store, id) or _has_agent(store, id):
        from sightline.cli._agent_commands import can_open, open_session

        if arguments.agent:
            from sightline.views.plain.commands.conversation import check_agent

            check_agent(store, id, arguments.agent)
        if can_open():
            return open_session(id, arguments.agent)
        from sightline.views.plain.commands.conversation import show_conversation

        return show_conversation(store, id, palette_of(arguments), arguments.agent)
    if arguments.agent:
        raise UserMistake(f"{id} has no agents", "name a session: see `sightline sessions`")
    if is_terminal(1):
        from sightline.views.plain.commands.attach import show_attached

        return show_attached(store, id, palette_of(arguments), labelled=arguments.verbose)
    from sightline.views.plain.commands.logs import show_logs

    return show_logs(store, _one_job(store, id), palette_of(arguments), follow=True, labelled=False)


def _running_here(store: "Store") -> str:
    """The session that works in this folder; empty when there are several and the user can choose in the console."""
    import asyncio

    from sightline.cli._agent_commands import can_open
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

    store = open_store()
    job = _one_job(store, find(store, arguments.id))
    return show_logs(store, job, palette_of(arguments), follow=arguments.follow, labelled=arguments.verbose)


def cancel(arguments: argparse.Namespace) -> int:
    from sightline.host import find
    from sightline.views.plain.commands.sessions import cancel_jobs

    store = open_store()
    return cancel_jobs(store, find(store, arguments.id), palette_of(arguments), force=arguments.force)


def jobs(arguments: argparse.Namespace) -> int:
    from sightline.host import find
    from sightline.journal import session_of
    from sightline.views.plain import write_all, write_text
    from sightline.views.plain.commands.jobs import NEWEST, jobs_json, jobs_table

    store = open_store()
    found = find(store, arguments.session) if arguments.session else ""
    session = session_of(found) or found
    limit = None if arguments.all else arguments.limit or NEWEST
    if arguments.json:
        write_all(1, jobs_json(store, session, arguments.limit))
    else:
        write_text(1, jobs_table(store, session, palette_of(arguments), limit=limit))
    return 0


def jobs_prune(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import write_text
    from sightline.views.plain.commands.jobs import prune_jobs

    write_text(1, prune_jobs(open_store(), arguments.older_than, arguments.larger_than))
    return 0


def ps(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import columns_of, write_all, write_text
    from sightline.views.plain.commands.sessions import sessions_json, sessions_table

    if arguments.json:
        write_all(1, sessions_json(open_store()))
    else:
        write_text(1, sessions_table(open_store(), palette_of(arguments), columns_of(1)))
    return 0


def stop(arguments: argparse.Namespace) -> int:
    if bool(arguments.ids) == arguments.all:
        raise UserMistake("which sessions?", "name them (see `sightline ps`), or give --all")
    from sightline.views.plain.commands.sessions import stop_sessions

    return stop_sessions(open_store(), arguments.ids)


def serve(arguments: argparse.Namespace) -> int:
    from sightline.views.web import serve

    return serve(arguments.port, arguments.files)


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
    """Whether a running session has an agent, although it has no message yet."""
    import asyncio

    from sightline.host import connect

    if not store.is_running(id):
        return False

    async def queried() -> bool:
        client = await connect(id)
        client.close()
        return client.hello.agent

    try:
        return asyncio.run(queried())
    except OSError:
        return False


def _is_conversation(store: "Store", id: str) -> bool:
    try:
        return store.find_conversation(id, "") == id
    except UserMistake:
        return False
