"""`sightline -p "/review …"` as one uses it in a pipe or in CI: the report, the exit code, and the events."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.support import sightline
from tests.working_copies.conftest import git, make_repository

pytestmark = [pytest.mark.usefixtures("hosts"), pytest.mark.needs("git")]

EXAMPLE = Path(__file__).parents[2] / "examples" / "reviewer.json"
MODEL = ("--model", f"scripted:{EXAMPLE}")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    make_repository(folder)
    (folder / "app.py").write_text("x = 1\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Add x")
    monkeypatch.chdir(folder)
    return folder


def test_the_example_reviews_a_commit(repository: Path) -> None:
    """The report is on stdout, nothing else; the exit code is 0, with findings."""
    done = sightline("-p", "/review HEAD", *MODEL)
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.decode().split("\n")
    assert first.startswith("Review of commit ")
    assert first.endswith(" Add x: approved, 2 findings")
    assert "1. [P1] this finding is an example" in rest
    assert "2. [P3] so is this one, which is a nit" in rest
    assert not done.stderr


def test_with_v_each_finding_is_seen_when_it_is_reported(repository: Path) -> None:
    """And the report once, at the end."""
    out = sightline("-p", "/review HEAD~1..HEAD", "-v", *MODEL).stdout.decode()
    assert out.startswith("● Review HEAD~1..HEAD\n◆ Review\nI read the change")
    assert out.index("● report_finding this finding") < out.index("◆ Main\nReview of HEAD~1..HEAD: approved")
    assert out.count("This review is an example") == 1


def test_the_verdict_is_in_the_events(repository: Path) -> None:
    """As the guide has it for CI: one result whose details are a review."""
    lines = sightline("-p", "/review HEAD", "--output-format", "events", *MODEL).stdout.splitlines()
    details = [json.loads(line).get("details") for line in lines]
    reviews = [each for each in details if isinstance(each, dict) and each.get("ui", {}).get("kind") == "review"]
    assert [each["verdict"] for each in reviews] == ["approve"]
    assert [each["title"] for each in reviews[0]["findings"]] == [
        "this finding is an example",
        "so is this one, which is a nit",
    ]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("/review", "error: nothing to review: there are no uncommitted changes\nhint: "),
        ("/review nope", "error: no branch, commit or range nope\nhint: "),
        ("/review --output=made", "error: no branch, commit or range --output=made\nhint: "),
        ("/review HEAD..HEAD", "error: nothing to review: there is no change in HEAD..HEAD\nhint: "),
    ],
)
def test_a_mistake_is_exit_code_2(repository: Path, words: str, problem: str) -> None:
    done = sightline("-p", words, *MODEL)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(problem)
    assert sorted(os.listdir(repository)) == [".git", "app.py"]


def test_outside_a_repository_it_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = sightline("-p", "/review", *MODEL)
    assert done.returncode == 2
    assert done.stderr.decode().startswith("error: not in a git repository that can be used: ")
