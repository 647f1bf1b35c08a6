"""The demo in the console: a script begins by itself, and the user takes over whenever they like."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import msgspec

from sightline.exceptions import SightlineError
from sightline.host import SetModel, Stop, connect, running
from sightline.journal import Store
from sightline.paths import data_folder
from sightline.settings import Settings, load, with_stored_keys
from sightline.settings._fields import kind_at, leaves
from sightline.settings._toml import join_key
from sightline.settings.editing import put_setting
from sightline.transcript import TranscriptText
from sightline.views.console.status import Facts
from sightline.views.plain.commands.demo import ALLOWED, demo_place, demo_script, write_script

if TYPE_CHECKING:
    from sightline.settings._tree import Models
    from sightline.views.console._console import Console

_ENDING = (signal.SIGTERM, signal.SIGHUP)
_SECONDS_TO_BOOT = 5.0
_SECONDS_TO_END = 10.0
_GLANCE = 0.02

_TRIES = (
    ("explain this project", "when the script is over"),
    ("@cart.py what does this do?", "@ names a file"),
    ("!ls", "! runs a shell command"),
)
_OVER = "the demo's script is over"
_NO_MODEL = "there is no model to continue with"
_SETUP = "to set one up, leave with ctrl+d and run sightline"
_SETUP_CLEARED = "to set one up, clear the prompt with ctrl+c, leave with ctrl+d and run sightline"
_DELETED = "this folder is deleted when you leave"


def run_demo() -> int:
    """Run the demo on a small broken project, which is deleted afterwards with everything that ran in it."""
    from sightline.views.console._run import run

    script = demo_script()
    os.environ.update(with_stored_keys(os.environ))  # the demo has a home of its own, without the stored keys
    models = _models_of_the_user()
    with _signals_leave() as came, demo_place(script["files"]) as (folder, note):
        _write_models(models, folder / "home")
        model = f"scripted:../{write_script(folder, script, paced=True).name}"
        options = {"cwd": str(folder / "shop"), "model": model, "allow": ALLOWED}
        hosts: set[int] = set()
        try:
            begun = partial(take_over, note=note)
            return run(options=options, prompt=script["prompt"], resumable=False, greeted=hosts.add, begun=begun)
        finally:
            asyncio.run(_stop_all(hosts, may_boot=bool(came)))
            _wait_for(hosts)


def _models_of_the_user() -> "Models":
    """The model settings of this folder. Where they have mistakes, the script plays all the same."""
    try:
        return load(Path.cwd()).settings.models
    except SightlineError:
        return Settings().models


def _write_models(models: "Models", home: Path) -> None:
    """Copy them into the demo's own settings, which its host reads: another model can continue then."""
    section = ("models",)
    for key, value in leaves(section, kind_at(section), msgspec.to_builtins(models)):
        if value != {}:
            put_setting(home / "settings.toml", join_key(key), value, project=False)


def take_over(console: "Console", note: str = "") -> None:
    """After the script, what the user enters goes to a real model, where there is one. `note`: reported first."""
    announced: list[str] = []

    def script_is_over() -> bool:
        state = console.state
        answered = any(isinstance(entry, TranscriptText) for entry in state.entries)
        return answered and not state.running and Facts(state).model.startswith("scripted")

    async def announce() -> None:
        model = await asyncio.to_thread(_real_model)
        if model:
            hint = f"ctrl+d leaves; {_DELETED}"
            console.report(f"{_OVER}; what you enter next goes to {model}", hint=hint)
        else:
            console.report(f"{_OVER}, and {_NO_MODEL}", hint=f"{_SETUP}; {_DELETED}")

    def run_ended() -> None:
        if script_is_over() and _OVER not in announced:
            announced.append(_OVER)
            console.spawn(announce())

    async def before_prompt() -> bool:
        if not script_is_over():
            return True
        model = await asyncio.to_thread(_real_model)
        if not model:
            if _NO_MODEL in announced:
                console.hint(_NO_MODEL)
            else:
                announced.append(_NO_MODEL)
                console.report(_NO_MODEL, "warning", f"{_SETUP_CLEARED}; {_DELETED}")
            return False
        reply = await console.submit(SetModel(model=model))
        if not reply.ok:
            console.report(reply.error, "error", reply.hint)
            return False
        console.report(f"{model} continues")
        return True

    if note:
        console.report(note)
    console.tries = _TRIES
    console.when_run_ended(run_ended)
    console.entering.check_prompts(before_prompt)


def _real_model() -> str:
    """Empty: there is none."""
    from sightline.models import default_model

    try:
        return default_model(load(Path.cwd()).settings, os.environ)[0]
    except SightlineError:
        return ""


@contextmanager
def _signals_leave() -> Iterator[list[int]]:
    """Make signals that would kill the program end it as leaving does, with all its cleaning up. Yields the signals
    that came; after the first, others are ignored."""
    came: list[int] = []

    def leave(number: int, frame: FrameType | None) -> None:
        came.append(number)
        for each in before:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    heard = [number for number in _ENDING if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, leave) for number in heard}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def _stop_all(hosts: set[int], *, may_boot: bool) -> None:
    """Stop every session of the demo, detached ones too: their folder is deleted. `may_boot`: a host may still be
    starting."""
    deadline = time.monotonic() + _SECONDS_TO_BOOT
    while True:
        for hello in await running(Store(data_folder())):
            hosts.add(hello.pid)
            await _stop(hello.session)
        if hosts or not may_boot or time.monotonic() > deadline:
            return
        await asyncio.sleep(_GLANCE)


async def _stop(session: str) -> None:
    with suppress(SightlineError, OSError):  # it may be ending already
        client = await connect(session)
        try:
            await client.submit(Stop())
        finally:
            client.close()


def _wait_for(hosts: set[int]) -> None:
    """A host that is ending still writes to its folder."""
    deadline = time.monotonic() + _SECONDS_TO_END
    while any(_lives(pid) for pid in hosts) and time.monotonic() < deadline:
        time.sleep(_GLANCE)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
