"""`sightline models`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.models.support import listing


@pytest.fixture
def run(tmp_path: Path):  # type: ignore[no-untyped-def]
    """The program in a folder of its own, with these variables and nobody's keys."""

    def sightline(*arguments: str, **environ: str) -> "subprocess.CompletedProcess[str]":
        clean = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_BASE_URL"))}
        clean.pop("OLLAMA_HOST", None)
        program = str(Path(sys.executable).with_name("sightline"))
        return subprocess.run(
            [program, "models", *arguments],
            cwd=tmp_path,
            env={**clean, "SIGHTLINE_HOME": str(tmp_path / "home"), **environ},
            capture_output=True,
            text=True,
        )

    return sightline


def without_local(tmp_path: Path, more: str = "") -> None:
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "settings.toml").write_text(f"[models]\ndiscover = false\n{more}")


def test_nothing_to_use(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """It says what to do, and its exit code tells a script."""
    without_local(tmp_path)
    done = run()
    assert done.returncode == 1
    assert "hint: set ANTHROPIC_API_KEY" in done.stdout
    assert "[models.servers.NAME]" in done.stdout


def test_a_table(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A row for each model: what it reads, writes, costs, can, where it was found, and which role it has."""
    servers = '[models.servers.lab]\nbase_url = "http://10.0.0.7/v1"\nmodels = ["coder"]\ncontext = 32000\n'
    without_local(tmp_path, f'small = "haiku 4.5"\n{servers}')
    done = run(ANTHROPIC_API_KEY="k")
    assert (done.returncode, done.stderr) == (0, "")
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines()}
    assert rows["anthropic/claude-haiku-4-5"] == (
        ["anthropic/claude-haiku-4-5", "200K", "64K", "1.00", "5.00", "yes", "yes", "ANTHROPIC_API_KEY", "●", "small"]
    )
    assert rows["anthropic/claude-opus-5-5"][-4:] == ["●", "default,", "slow,", "vision"]
    assert rows["lab/coder"] == ["lab/coder", "32K", "–", "–", "–", "–", "–", "models.servers.lab"]


def test_only_some(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Names with the words asked for; none is said, and is no success."""
    without_local(tmp_path)
    done = run("opus", "4", ANTHROPIC_API_KEY="k")
    names = [line.split()[0] for line in done.stdout.splitlines()[1:]]
    assert names
    assert all(name.startswith("anthropic/claude-opus-4") for name in names)
    done = run("llama", ANTHROPIC_API_KEY="k")
    assert (done.returncode, done.stdout) == (1, "no model has llama in its name\n")


def test_as_json(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """The same facts; what is not known is null."""
    (tmp_path / "home").mkdir()
    with listing({"id": "coder", "max_model_len": 32768}) as server:
        done = run("--json", "ollama", OLLAMA_HOST=server.url)
    (model,) = json.loads(done.stdout)
    assert model == {
        "name": "ollama/coder",
        "context": 32768,
        "max_output": None,
        "price_in": None,
        "price_out": None,
        "images": None,
        "thinking": None,
        "found": server.url,
        "roles": ["default", "small", "slow", "vision"],
    }


def test_a_role_that_means_nothing(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """It is a note beside the table."""
    without_local(tmp_path, 'slow = "opus 99"\n')
    done = run(ANTHROPIC_API_KEY="k")
    assert done.returncode == 0
    assert done.stderr == "note: models.slow: no model opus 99\n"
