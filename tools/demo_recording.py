"""Records what Codex does in the demo: `python -m tools.demo_recording`.

It is the real program, at the version the provider was tested with (`make captures` installs it), in a box, at work on
the project of the demo after its first two fixes. A stand-in answers for its model.
"""

import shutil
import subprocess
from pathlib import Path
from typing import Any

from sightline.providers import ProviderPrompt, get_provider
from sightline.testing.captures._box import PORT, open_box
from sightline.testing.standin import StandIn
from sightline.views.plain.commands.demo import RECORDING, demo_script, make_project

_OUT = Path("src/sightline/views/plain/scripts") / RECORDING
_FIXES = {
    "cart.py": ("sum(cents for", "sum(cents * count for"),
    "money.py": (":.1f}", ":.2f}"),
    "discounts.py": ("cents > LARGE", "cents >= LARGE"),
}
_TURNS: list[list[dict[str, Any]]] = [
    [
        {"text": "First what was changed."},
        {"tool": "Bash", "args": {"command": "git diff"}},
    ],
    [
        {"text": "Then whether a test would notice each change."},
        {"tool": "Bash", "args": {"command": "grep -n 'def test_' -A 3 test_cart.py"}},
    ],
    [
        {"tool": "Bash", "args": {"command": "python3 -c 'from money import euros; print(euros(5), euros(-5))'"}},
    ],
    [
        {
            "text": "The three changes are right, and each has a test. What no test covers: an order just below "
            "a hundred euros, and a negative amount; both give the right result today."
        }
    ],
]


def record() -> bytes:
    command = get_provider("codex").command
    assert command is not None
    ask = ProviderPrompt(prompt="Read the change in this folder. What does it miss?")
    with open_box() as box, StandIn.in_thread(_TURNS, port=PORT):
        _write_shop(box.folder / "project")
        argv = box.command([command.binary, *command.arguments(ask)], box.environment("codex"))
        done = subprocess.run(argv, input=ask.prompt.encode(), capture_output=True, timeout=180, check=False)
    if done.returncode:
        raise SystemExit(done.stderr.decode("utf-8", "replace"))
    return done.stdout


def _write_shop(project: Path) -> None:
    """As the demo's agent leaves it, not committed."""
    shutil.rmtree(project)
    if not make_project(project, demo_script()["files"]):
        raise SystemExit("git is needed")
    for name, (before, after) in _FIXES.items():
        (project / name).write_text((project / name).read_text().replace(before, after))


if __name__ == "__main__":
    _OUT.write_bytes(record())
