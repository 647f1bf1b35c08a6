"""Starting commands: in a session that runs, or in a new one, whose host is made by the command line."""

import asyncio
import os
import re
import shutil

from sightline._working_folder import environment_for_python, python_words
from sightline.exceptions import OutsideFailure
from sightline.exec import CommandSpec
from sightline.host import Command, CommandReply, Start, StoredSession, attach
from sightline.journal import Store, session_of
from sightline.views.web.api._bodies import StartBody, Started
from sightline.views.web.api._reading import RequestRefused

_SECONDS_TO_START = 20.0
_LONGEST_TIMEOUT = 30 * 24 * 3600.0

# Words that mean the same with and without a shell.
_plain = re.compile(r"[A-Za-z0-9_./-][A-Za-z0-9_@%+=:,./ -]*").fullmatch
_job_id = re.compile(r"\b[a-z][a-z2-9]{5}-[1-9][0-9]*\b").search


def spec_of(body: StartBody) -> CommandSpec:
    """The command to run; refuses an invalid one."""
    argv = _argv(body)
    if any("\0" in word for word in (*argv, body.cwd)):
        raise RequestRefused(400, "a command cannot contain a zero byte")
    if body.cwd and not os.path.isdir(body.cwd):
        raise RequestRefused(400, f"no folder {body.cwd}", "name one that exists, or leave it out")
    if body.timeout is not None and not 0 < body.timeout <= _LONGEST_TIMEOUT:
        raise RequestRefused(400, "invalid timeout", "give timeout in seconds, more than 0")
    return CommandSpec(argv=tuple(argv), cwd=body.cwd or os.getcwd(), pty=body.pty, timeout=body.timeout)


async def start_session(spec: CommandSpec) -> Started:
    """In a session of its own. A server has threads and must not fork a host; the command line may."""
    options = ["-d", *(["--pty"] if spec.pty else []), *(["--timeout", str(spec.timeout)] if spec.timeout else [])]
    try:
        process = await asyncio.create_subprocess_exec(
            *(*python_words("sightline"), "exec", *options, "--", *spec.argv),
            cwd=spec.cwd,
            env=environment_for_python(spec.cwd),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except (OSError, ValueError) as error:  # too long for a command line, or a folder that is gone or closed to us
        raise RequestRefused(409, f"the command could not be started: {error}") from error
    try:
        async with asyncio.timeout(_SECONDS_TO_START):
            out, err = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise RequestRefused(
            503, "the command could not be started in time", "try again when less is running"
        ) from None
    found = _job_id(out.decode("utf-8", "replace"))
    if process.returncode or found is None:
        errors = err.decode("utf-8", "replace").strip().splitlines()
        raise RequestRefused(409, errors[0] if errors else "the command could not be started", "see `sightline doctor`")
    return Started(session_of(found[0]), found[0])


async def start_in(store: Store, session: str, spec: CommandSpec) -> Started:
    reply = await submit(store, session, Start(spec))
    return Started(session, reply.id)


async def submit(
    store: Store, session: str, command: Command, hint: str = "start the command in a new session"
) -> CommandReply:
    """Have a running host do something; refuses when it is not running, does not answer, or will not."""
    try:
        client = await attach(store, session)
    except OutsideFailure as error:
        raise RequestRefused(503, error.message, error.hint) from None
    if isinstance(client, StoredSession):
        raise RequestRefused(409, f"session {session} has ended", hint)
    try:
        reply = await client.submit(command)
    finally:
        client.close()
    if not reply.ok:
        raise RequestRefused(409, reply.error, reply.hint)
    return reply


def _argv(body: StartBody) -> list[str]:
    if (body.argv is None) == (body.command is None):
        raise RequestRefused(400, "give either argv or command")
    if body.argv is not None:
        if not body.argv or not body.argv[0]:
            raise RequestRefused(400, "argv has no program", "the first item of argv is the program")
        return body.argv
    command = (body.command or "").strip()
    if not command:
        raise RequestRefused(400, "there is no command", "give a command")
    words = command.split() if _plain(command) else []
    if words and "=" not in words[0] and shutil.which(words[0]):
        return words
    return ["/bin/sh", "-c", command]
