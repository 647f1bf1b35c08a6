"""A first look: our own agent at work on a small broken project, or the same task recorded from every provider.

The agent plays a script, so there is no model and no network; its tools, the project and the session are real, in a
folder that is gone afterwards.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from sightline.events import Event, Text, ToolUse
from sightline.exceptions import SightlineError
from sightline.exec import program
from sightline.providers import EventStream, get_provider, provider_names
from sightline.settings.editing import put_setting
from sightline.views.plain._output import columns_of, write_all, write_text
from sightline.views.plain._palette import Palette
from sightline.views.plain._renderer import EVERYTHING, VERBOSE, PlainRenderer

if TYPE_CHECKING:
    from sightline.host import NativeRun

# Where there is no sandbox.
ALLOWED = ["exec(python3 -m unittest *)", "exec(python3 build.py)"]
RECORDING = "second-opinion.jsonl"
NO_GIT = "git cannot be used here: the agent that works apart gets a copy of the folder, not a git worktree"
# Seconds, close to how the recorded runs felt: a piece of text, a call, and its result.
_PACE_TEXT, _PACE_CALL = 0.03, 0.25


def run_demo(palette: Palette, *, paced: bool) -> int:
    """The agent at work; the exit code is that of its run."""
    from sightline.views.plain.commands.run import show_run

    script = demo_script()
    with demo_place(script["files"]) as (folder, note):
        model = f"scripted:{write_script(folder, script, paced=paced)}"
        write_text(1, f"{palette.bold}── Our own agent, with a scripted model and real tools ──{palette.reset}\n")
        if note:
            write_text(2, f"note: {note}\n")
        write_text(1, f"{palette.dim}> {script['prompt']}{palette.reset}\n")
        run = _native_run(folder, model, script["prompt"])
        code = show_run(run, PlainRenderer(EVERYTHING, palette, columns_of(1)), "text")
    if code == 0:
        write_text(1, f"{palette.dim}Other agents, in the same form: sightline demo providers{palette.reset}\n")
    return code


class DemoPlace(NamedTuple):
    """`note`: what of the demo is done in another way here; empty: nothing."""

    folder: Path
    note: str


@contextmanager
def demo_place(project: dict[str, list[str]]) -> Iterator[DemoPlace]:
    """A folder with the project and a home of its own; nothing of it, nor of the environment's change, stays."""
    import tempfile

    before = {name: os.environ.get(name) for name in ("SIGHTLINE_HOME", "PATH")}
    with tempfile.TemporaryDirectory(prefix="sightline-demo-") as name:
        folder = Path(name).resolve()
        has_git = make_project(folder / "shop", project)
        os.environ["SIGHTLINE_HOME"] = str(folder / "home")
        # The tests of the project are run by the Python that runs us: another may not be there.
        os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), before["PATH"] or os.defpath])
        try:
            _write_home(folder / "home", has_git=has_git)
            yield DemoPlace(folder, "" if has_git else NO_GIT)
        finally:
            for variable, value in before.items():
                if value is None:
                    del os.environ[variable]
                else:
                    os.environ[variable] = value


def make_project(folder: Path, project: dict[str, list[str]]) -> bool:
    """Write its files, and make it a git repository; False where there is no git for that."""
    folder.mkdir()
    for file, lines in project.items():
        (folder / file).write_text("".join(f"{line}\n" for line in lines))
    try:
        for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "The shop"]):
            _git(folder, words)
    except (OSError, SightlineError, subprocess.SubprocessError):
        return False
    return True


def _git(folder: Path, words: list[str]) -> None:
    """Without the settings of the user, who may sign commits, or have hooks."""
    nothing = dict.fromkeys(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"), os.devnull)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    me = ["-c", "user.name=Sightline", "-c", "user.email=sightline@localhost", "-c", "init.templateDir="]
    command = [program("git"), *me, *words]
    subprocess.run(command, cwd=folder, env={**environ, **nothing}, check=True, capture_output=True, timeout=60)


def _write_home(home: Path, *, has_git: bool) -> None:
    """The demo's own settings, and its definition of an agent that is another program."""
    (home / "agents").mkdir(parents=True)
    definition = files("sightline.views.plain") / "scripts" / "second-opinion.md"
    (home / "agents" / definition.name).write_text(definition.read_text("utf-8"))
    if has_git:
        put_setting(home / "settings.toml", "task.isolation", "worktree", project=False)


class DemoScript(TypedDict):
    """The prompt, the files of the project, and the turns of the scripted model."""

    prompt: str
    files: dict[str, list[str]]
    turns: list[Any]


def demo_script() -> DemoScript:
    import json

    script: DemoScript = json.loads((files("sightline.views.plain") / "scripts" / "demo.json").read_text("utf-8"))
    return script


def write_script(folder: Path, script: DemoScript, *, paced: bool) -> Path:
    """The turns as a file for the scripted model. `{tag:FILE}` is the tag read would show of a file as it is."""
    import json

    from sightline.tools.hashline import Snapshots

    for block in _blocks(script["turns"]):
        if not paced:
            block.pop("delay_ms", None)
        for name, path in [(name, folder / "shop" / name) for name in script["files"]]:
            if "input" in block.get("args", ()):
                tag = Snapshots().record(path, path.read_text())
                block["args"]["input"] = block["args"]["input"].replace(f"{{tag:{name}}}", tag)
    (folder / RECORDING).write_bytes((files("sightline.views.plain") / "scripts" / RECORDING).read_bytes())
    file = folder / "demo.json"
    file.write_text(json.dumps(script["turns"]))
    return file


def _blocks(turns: list[Any]) -> Iterator[dict[str, Any]]:
    """Every block, those of the agents too; a recording is one."""
    for turn in turns:
        for block in turn["blocks"] if isinstance(turn, dict) else turn:
            yield block
            for agent in block.get("agents", {}).values():
                yield from [agent] if isinstance(agent, dict) else _blocks(agent)


def _native_run(folder: Path, model: str, prompt: str) -> "NativeRun":
    from sightline.agent import AgentSpec
    from sightline.host import NativeRun
    from sightline.journal import Store
    from sightline.settings import Policy, StartOptions, load

    shop = folder / "shop"
    settings = load(shop, flags={}, environ={"SIGHTLINE_HOME": str(folder / "home")}).settings
    policy = Policy("auto", ALLOWED, [], shop)
    options = StartOptions(model=model, allow=ALLOWED)
    spec = AgentSpec(cwd=shop, settings=settings, policy=policy, options=options, environ=dict(os.environ))
    return NativeRun(Store(folder / "home"), spec, prompt)


def play_recordings(palette: Palette, out: int, *, paced: bool) -> None:
    """Every provider in turn, each through a source and a renderer of its own."""
    for name in provider_names():
        provider = get_provider(name)
        write_all(out, f"{palette.bold}── {provider.title} ──{palette.reset}\n".encode())
        renderer = PlainRenderer(VERBOSE, palette)
        for events in _recorded(name):
            write_all(out, renderer.render(events).encode())
            if paced:
                time.sleep(_pause(events))
        write_all(out, f"{renderer.end()}\n".encode())


def _recorded(name: str) -> list[list[Event]]:
    """The recording's events, line by line."""
    folder = files("sightline.views.plain") / "recordings"
    recording = next(item for item in folder.iterdir() if item.name.startswith(f"{name}."))
    source = get_provider(name).source
    assert source is not None
    stream = EventStream(source())
    return [*(stream.feed(line + b"\n") for line in recording.read_bytes().split(b"\n")), stream.end()]


def _pause(events: list[Event]) -> float:
    text = sum(len(event.text) for event in events if isinstance(event, Text))
    calls = sum(isinstance(event, ToolUse) for event in events)
    return min(text, 40) / 12 * _PACE_TEXT + calls * _PACE_CALL
