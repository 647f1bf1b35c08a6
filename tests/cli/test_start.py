"""Cold paths stay cold: what `--version` and `view` import is pinned."""

import subprocess
import sys
from pathlib import Path

import pytest

from sightline import __version__

SIGHTLINE = str(Path(sys.executable).with_name("sightline"))

PROBE = (
    "import sys; sys.argv = {argv!r}; from sightline.cli import main; main(); print(*sorted(sys.modules), sep='\\n')"
)


def imported(*argv: str) -> set[str]:
    code = PROBE.format(argv=["sightline", *argv])
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    bare = subprocess.run(
        [sys.executable, "-I", "-c", "import sys; print(*sys.modules, sep='\\n')"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.splitlines()) - set(bare.stdout.splitlines())


def test_version_imports_nothing_but_itself():
    """The whole import set of `--version`; what keeps the working folder from being imported from comes first."""
    own = {"sightline", "sightline.cli", "sightline._working_folder"}
    assert imported("--version") == {*own, f"sightline {__version__}"}


def test_version_is_printed():
    """Both spellings."""
    for flag in ("--version", "-V"):
        done = subprocess.run([SIGHTLINE, flag], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, f"sightline {__version__}\n")


@pytest.mark.parametrize(
    "heavy", ["asyncio", "httpx2", "yaml", "psutil", "wcwidth", "logging", "subprocess", "dataclasses"]
)
def test_view_does_not_import_what_it_does_not_need(heavy, tmp_path):
    """Showing a recording starts no event loop and loads no client."""
    file = tmp_path / "empty.jsonl"
    file.write_text("")
    assert heavy not in imported("view", "--provider", "claude", str(file))
