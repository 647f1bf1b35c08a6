"""Sessions with an agent, started and resumed from the page: a host process of its own, as the console starts one.

Rules:

- The host makes every check the console's has: settings and trust of the folder, the model, the provider's CLI.
- A folder is one that this process may enter and read; nothing is listed but folders that sessions worked in.
- A host without a connection for ten seconds ends by itself.
"""

import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from sightline.exceptions import UserMistake
from sightline.host import launch_agent
from sightline.journal import Store
from sightline.models import default_model, usable
from sightline.providers import get_provider, provider_names
from sightline.settings import Settings, StartOptions, load
from sightline.text import clean_line
from sightline.views._levels import levels_in, levels_on_page
from sightline.views.web.api._bodies import AgentBody, AgentChoices, AgentStartedBody, EmptyBody, OtherAgent
from sightline.views.web.api._reading import RequestRefused, body, json_answer
from sightline.views.web.page._catalog import Catalog

_MOST_FOLDERS = 20
_MOST_MODELS = 200


class AgentApi:
    """`known` returns the id of a stored session, or refuses it."""

    def __init__(self, store: Store, catalog: Catalog, known: Callable[[str], str]) -> None:
        self._store = store
        self._catalog = catalog
        self._known = known
        self._resuming = asyncio.Lock()  # two tabs may resume the same session at once

    async def choices(self, request: Request) -> Response:
        """What a session can be started with, in a folder: its settings name models and the level."""
        folder = folder_of(request.query_params.get("cwd", ""))
        await self._catalog.refresh()
        return json_answer(await asyncio.to_thread(self._choices, folder))

    async def start(self, request: Request) -> Response:
        given = await body(request, AgentBody)
        options = StartOptions(
            cwd=folder_of(given.cwd),
            provider=_provider(given.provider),
            model=given.model.strip(),
            approval=given.level,
        )
        return json_answer(AgentStartedBody(await self._launched(options)), 201)

    async def resume(self, request: Request) -> Response:
        """A session that runs is resumed already."""
        await body(request, EmptyBody)
        session = self._known(request.path_params["id"])
        async with self._resuming:
            if not self._store.is_running(session):
                await self._launched(StartOptions(resume=session))
        return json_answer(AgentStartedBody(session), 201)

    async def _launched(self, options: StartOptions) -> str:
        try:
            session = await launch_agent(options)
        except UserMistake as error:
            raise RequestRefused(409, error.message, error.hint) from error
        except (OSError, ValueError) as error:  # a name no process can be given
            raise RequestRefused(409, f"the session could not be started: {error}") from error
        self._catalog.invalidate()
        return session

    def _choices(self, folder: str) -> AgentChoices:
        settings = load(Path(folder)).settings
        models = [model.name for model in usable(settings, os.environ).models]
        return AgentChoices(
            cwd=folder,
            folders=self._folders(folder),
            agents=_installed(),
            models=[clean_line(name) for name in models[:_MOST_MODELS]],
            level=settings.permissions.approval,
            levels=levels_on_page(levels_in("")),
            no_model=_why_no_model(settings),
        )

    def _folders(self, first: str) -> list[str]:
        """Those that sessions worked in, the newest first, as far as they are still there."""
        used = [session.cwd for session in self._catalog.listed(_MOST_MODELS).sessions if session.kind == "session"]
        there = [folder for folder in dict.fromkeys((first, *used)) if os.path.isabs(folder) and os.path.isdir(folder)]
        return there[:_MOST_FOLDERS]


def folder_of(named: str) -> str:
    """An absolute path of a folder this process may work in; that of the server where none is named."""
    folder = os.path.expanduser(named.strip()) or os.getcwd()
    if "\0" in folder or not os.path.isabs(folder):
        raise RequestRefused(400, f"not an absolute path: {clean_line(named)}", "name the folder from / on, or from ~")
    if not os.path.isdir(folder):
        raise RequestRefused(400, f"no folder {clean_line(folder)}", "name one that exists")
    if not os.access(folder, os.R_OK | os.X_OK, effective_ids=True):
        raise RequestRefused(400, f"no permission to work in {clean_line(folder)}", "name another folder")
    return os.path.normpath(folder)


def _why_no_model(settings: Settings) -> str:
    """In the words of a page, on which no key can be pasted. Empty: there is one."""
    try:
        default_model(settings, os.environ)
    except UserMistake as mistake:
        return clean_line(mistake.message)
    return ""


def _provider(name: str) -> str:
    if name in ("", "native"):
        return ""
    if name not in _others():
        raise RequestRefused(
            400, f"no agent {clean_line(name)}", f"one of: {', '.join(_others())}; empty for sightline's own"
        )
    return name


def _others() -> list[str]:
    """Agents that a session can be held with; each has a command line of its own."""
    return [name for name in provider_names() if get_provider(name).command is not None]


def _installed() -> list[OtherAgent]:
    return [
        OtherAgent(name, provider.title, levels_on_page(levels_in(name)))
        for name, provider in ((name, get_provider(name)) for name in _others())
        if provider.command is not None and shutil.which(provider.command.binary)
    ]
