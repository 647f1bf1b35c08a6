"""docs/contributing/first-change.md, followed word by word in a copy of the project."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "contributing" / "first-change.md").read_text()
STEP = re.compile(r"(?:^`([^`\n]+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COPIED = ("src", "tests", "tools", "docs/reference")
LEFT_OUT = shutil.ignore_patterns("captures", "recordings", "pictures", "*.svg", "*.png")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The project, with the compiled modules that are there; its environment is this one."""
    folder = tmp_path / "project"
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=LEFT_OUT)
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


@pytest.mark.slow
def test_every_step_of_the_page_works(copy: Path) -> None:
    """Files are written, changes applied, commands run; what a command is said to print, it prints."""
    commands = 0
    for path, language, text in STEP.findall(PAGE):
        if language == "console":
            commands += run_all(text, copy)
        elif language == "diff":
            change(copy / path, text)
        else:
            assert path, text
            file = copy / path
            assert not file.exists(), f"{path} is there already"
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
    assert commands == PAGE.count("\n$ ") > 0


def run_all(text: str, folder: Path) -> int:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    environment["PYTHONPATH"] = str(folder / "src")
    steps = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE)
    for command, expected in steps:
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        assert not expected or done.stdout == expected, command
    return len(steps)


def change(file: Path, text: str) -> None:
    """A part of a unified diff: what it shows stands in the file once."""
    lines = [(line[:1], line[1:]) for line in text.splitlines(keepends=True)]
    before = "".join(rest for mark, rest in lines if mark != "+")
    after = "".join(rest for mark, rest in lines if mark != "-")
    whole = file.read_text()
    assert whole.count(before) == 1, (file, before)
    file.write_text(whole.replace(before, after))
