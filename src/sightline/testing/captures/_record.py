"""One recording of a CLI: run it in a box, store its stdout as it is, describe it."""

import re
import shlex
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from sightline.providers import ProviderPrompt, get_provider
from sightline.testing.captures._box import PORT, PROJECT, URL, Box, BoxError, open_box
from sightline.testing.captures._expected import expected
from sightline.testing.captures._scenarios import Scenario
from sightline.testing.captures._witness import look
from sightline.testing.clis import cache_folder
from sightline.testing.place import own_environment
from sightline.testing.standin import StandIn

_TIMEOUT = 180.0
_STDERR_STORED = 2000


class _Way(msgspec.Struct, frozen=True, kw_only=True):
    """How a CLI is recorded. `ending` is added to the scenario's name."""

    ending: str = ""
    raw: bool = False  # its own lines as they are, not the finest it has
    model: str = ""  # where none is given in its settings, or another is needed


_WAYS: dict[str, list[_Way]] = {
    "claude": [_Way(raw=True), _Way(ending="_partial")],
    "codex": [_Way(), _Way(ending="_codemode", model="gpt-6.1-sol")],
}


def record(provider: str, name: str, scenario: Scenario, folder: Path) -> list[Path]:
    """Record a scenario in every way the provider is recorded; returns the files written."""
    written = []
    for way in _WAYS.get(provider, [_Way()]):
        stdout, meta = _recording(provider, name, scenario, way)
        written += write_recording(folder / provider, name + way.ending, {".jsonl": stdout}, meta)
    return written


def _recording(provider: str, name: str, scenario: Scenario, way: _Way) -> tuple[bytes, dict[str, Any]]:
    command = get_provider(provider).command
    assert command is not None
    model = way.model or (scenario.codex_model if provider == "codex" else "")
    argv = [command.binary, *command.arguments(ProviderPrompt(prompt=scenario.prompt, model=model, raw=way.raw))]
    with open_box() as box, StandIn.in_thread(scenario.turns, port=PORT) as server:
        version = _in_box(box, provider, [command.binary, "--version"]).stdout.decode().strip()
        done = _in_box(box, provider, argv, scenario.prompt.encode())
    meta = {
        "provider": provider,
        "scenario": name,
        "description": scenario.description,
        "prompt": scenario.prompt,
        "cli": command.binary,
        "cli_version": version,
        "command": shlex.join(argv),
        "env": own_environment(provider, URL),
        "cwd": str(PROJECT),
        "exit_code": done.returncode,
        "stdout_lines": done.stdout.count(b"\n"),
        "stdout_bytes": len(done.stdout),
        "stderr_tail": done.stderr.decode("utf-8", "replace")[-_STDERR_STORED:],
        "expected": expected(scenario, server.turns, provider, look(provider, done.stdout)),
    }
    return done.stdout, meta


def _in_box(box: Box, provider: str, argv: list[str], stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = box.command(argv, box.environment(provider))
    return subprocess.run(command, input=stdin, capture_output=True, timeout=_TIMEOUT, check=False)


def write_recording(folder: Path, name: str, bodies: dict[str, bytes], meta: dict[str, Any]) -> list[Path]:
    """Write the bodies and the meta, unless something of this machine got into them."""
    described = msgspec.json.format(msgspec.json.encode(meta), indent=1) + b"\n"
    files = {folder / (name + ending): body for ending, body in {**bodies, ".meta.json": described}.items()}
    for path, body in files.items():
        _check_neutral(path, body)
    folder.mkdir(parents=True, exist_ok=True)
    for path, body in files.items():
        path.write_bytes(body)
    return list(files)


def _check_neutral(path: Path, body: bytes) -> None:
    """Refuse what holds the repository's path, the user's home, the host's name or the box's folder outside."""
    traces = [str(cache_folder().parents[1]), str(Path.home()), socket.gethostname(), tempfile.gettempdir() + "/box-"]
    for trace in traces:
        if len(trace) > 1 and re.search(rb"(?<!\w)" + re.escape(trace.encode()) + rb"\b", body):
            raise BoxError(f"{path.name} would name this machine ({trace}); it was not written")
