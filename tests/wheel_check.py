"""Builds wheel and sdist, installs each alone into an empty environment and uses it: `make wheel-check`.

Alone: with the locked dependencies and nothing else, away from the source. The ways people install a program (`uv tool
install`, `uvx`, `pipx`) are tried with both files.
"""

import email
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
UV = str(BIN / "uv")
LOCK = ROOT / "requirements" / "run.txt"

_METADATA = ("Summary", "Keywords", "Classifier", "License-Expression", "License-File", "Requires-Python")


def run(*argv: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """What a command writes to stdout; what it wrote to stderr is shown if it fails."""
    done = subprocess.run(
        [str(word) for word in argv], capture_output=True, text=True, cwd=cwd, env={**os.environ, **(env or {})}
    )
    if done.returncode != 0:
        sys.exit(f"`{' '.join(map(str, argv))}` ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def build(folder: Path) -> tuple[Path, Path]:
    """The wheel and the sdist."""
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", folder, cwd=ROOT)
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def assert_sdist_builds_the_same_wheel(wheel: Path, sdist: Path, folder: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    unpacked = next(path for path in folder.iterdir() if path.is_dir())
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=unpacked)
    expected, built = contents(wheel), contents(next(folder.glob("*.whl")))
    differing = [name for name in expected.keys() | built.keys() if expected.get(name) != built.get(name)]
    assert differing == [], differing


def assert_metadata(wheel: Path) -> None:
    """All that a package index shows is there."""
    files = contents(wheel)
    metadata = email.message_from_bytes(next(data for name, data in files.items() if name.endswith("/METADATA")))
    assert [field for field in _METADATA if not metadata[field]] == []
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload(), "the README"


def assert_nothing_is_left_out(wheel: Path) -> None:
    """Every file of the package that is under version control is in the wheel."""
    tracked = run("git", "ls-files", "src/sightline", cwd=ROOT).split("\n") if (ROOT / ".git").exists() else []
    missing = {name.removeprefix("src/") for name in tracked if name} - contents(wheel).keys()
    assert missing == set(), missing


def environment(folder: Path, name: str) -> tuple[Path, Path]:
    """An environment with what we depend on: its python, and where our program will be."""
    run(UV, "venv", "-q", "--python", sys.executable, folder / name)
    python = folder / name / "bin" / "python"
    run(UV, "pip", "install", "-q", "--python", python, "--require-hashes", "-r", LOCK)
    return python, python.with_name("sightline")


def assert_works(sightline: Path, home: Path) -> None:
    """Recordings, completions and the page are included."""
    place = {"SIGHTLINE_HOME": str(home)}
    assert run(sightline, "--version").startswith("sightline ")
    assert "All four tests pass" in run(sightline, "demo", "--fast")
    demo = run(sightline, "demo", "providers", "--fast")
    assert demo.count("── ") == 5, demo
    assert demo.count("● ") >= 15, demo
    for shell in ("bash", "zsh", "fish"):
        assert "sightline" in run(sightline, "completion", shell), shell
    assert run(sightline, "exec", "--", "echo", "hello", env=place) == "hello\n"
    assert "echo hello" in run(sightline, "jobs", env=place)
    assert_page(sightline, place)


def assert_page(sightline: Path, place: Mapping[str, str]) -> None:
    """The page and all it loads."""
    command = [str(sightline), "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **place}) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            page = opener.open(url).read().decode()
            parts = re.findall(r'(?:src|href)="(/?static/[^"]+)"', page)
            assert len(parts) >= 2, page
            for part in parts:
                assert opener.open(urllib.parse.urljoin(url, part)).read(), part
        finally:
            server.terminate()


def assert_installs_as_a_tool(package: Path, folder: Path) -> None:
    """With `uv tool install`, `uvx` and `pipx`, as a person would who has only this file."""
    versions = folder / "versions.txt"  # those of the lock: what else the index has today is not what is checked
    versions.write_text("\n".join(re.findall(r"^\S+==[^\\\n]*", LOCK.read_text(), re.M)) + "\n")
    tools = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    run(UV, "tool", "install", "-q", "--python", sys.executable, "-c", versions, package, env=tools)
    assert run(folder / "bin" / "sightline", "--version").startswith("sightline ")
    uvx = [UV, "tool", "run", "-q", "--python", sys.executable, "-c", versions, "--from", package]
    assert run(*uvx, "sightline", "--version", env=tools).startswith("sightline ")
    pipx = {"PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(folder / "pipx-bin")}
    constraint = f"--pip-args=--constraint {versions}"
    run(BIN / "pipx", "install", "--python", sys.executable, constraint, package, env=pipx)
    assert run(folder / "pipx-bin" / "sightline", "--version").startswith("sightline ")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, sdist = build(folder)
        assert_metadata(wheel)
        assert_nothing_is_left_out(wheel)
        assert_sdist_builds_the_same_wheel(wheel, sdist, folder / "unpacked")
        for package in (wheel, sdist):
            kind = "wheel" if package is wheel else "sdist"
            python, sightline = environment(folder, f"env-{kind}")
            run(UV, "pip", "install", "-q", "--python", python, "--no-deps", package)
            assert_works(sightline, folder / f"home-{kind}")
            print(f"{kind}: installed alone, works", flush=True)
            (folder / f"tools-{kind}").mkdir()
            assert_installs_as_a_tool(package, folder / f"tools-{kind}")
            print(f"{kind}: installed by uv tool, uvx and pipx", flush=True)
    print("2 passed, 0 failed")


if __name__ == "__main__":
    main()
