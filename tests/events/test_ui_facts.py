"""What results show: written as one shape, read from what is stored, and nothing else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.events import (
    ChangedFile,
    CodeFact,
    CommandFact,
    DiffFact,
    DisplayedText,
    FileCollision,
    FilesFact,
    FindingFact,
    GivenAnswer,
    ImageFact,
    JobCancelled,
    JobsFact,
    JsonFact,
    ListedFile,
    ListingFact,
    MarkdownFact,
    PhaseTask,
    QuestionFact,
    ReadFact,
    ResourceFact,
    ReviewFact,
    ReviewFinding,
    SearchFact,
    SecretsInFile,
    ShownJob,
    TableFact,
    TodoFact,
    TodoPhase,
    UiFact,
    file_collision,
    ui_fact,
)

from .test_state_facts import JSON

# Details as journals hold them, and what they are.
STORED: list[tuple[dict[str, Any], UiFact]] = [
    (
        {"ui": {"kind": "read", "path": "a.py", "first": 3, "last": 9, "total": 20}},
        ReadFact(path="a.py", first=3, last=9, total=20),
    ),
    (
        {"ui": {"kind": "read", "path": "a.py"}, "display_content": {"text": "x", "start_line": 3}},
        ReadFact(path="a.py", display_content=DisplayedText("x", 3)),
    ),
    ({"ui": {"kind": "listing", "path": "src", "entries": 4}}, ListingFact(path="src", entries=4)),
    ({"ui": {"kind": "resource"}}, ResourceFact()),
    ({"ui": {"kind": "code"}, "code": "x = 1"}, CodeFact(code="x = 1")),
    (
        {"ui": {"kind": "markdown", "path": "a.md"}, "display_content": "# a"},
        MarkdownFact(path="a.md", display_content="# a"),
    ),
    ({"ui": {"kind": "table", "shape": "rows", "rows": 3, "total": 9}}, TableFact(shape="rows", rows=3, total=9)),
    ({"ui": {"kind": "json"}, "data": None}, JsonFact(data=None)),
    (
        {"ui": {"kind": "image", "path": "a.png", "media_type": "image/png", "bytes": 9}},
        ImageFact(path="a.png", media_type="image/png", bytes=9),
    ),
    (
        {"ui": {"kind": "search"}, "match_count": 2, "file_count": 1, "files": ["a"], "display_content": "# a"},
        SearchFact(match_count=2, file_count=1, files=["a"], display_content="# a"),
    ),
    ({"ui": {"kind": "files"}, "file_count": 0, "files": []}, FilesFact(file_count=0, files=[])),
    (
        {"ui": {"kind": "finding"}, "title": "it rounds", "file": "a.py", "first_line": 3, "priority": 0},
        FindingFact(title="it rounds", file="a.py", first_line=3, priority=0),
    ),
    (
        {
            "ui": {"kind": "review"},
            "target": "main..HEAD",
            "agent": "Review",
            "verdict": "approve",
            "findings": [{"title": "a nit", "diff": "@@ -1,1 +1,1 @@\n-a\n+b"}],
        },
        ReviewFact(
            target="main..HEAD",
            agent="Review",
            verdict="approve",
            findings=[ReviewFinding(title="a nit", diff="@@ -1,1 +1,1 @@\n-a\n+b")],
        ),
    ),
    (
        {"ui": {"kind": "files"}, "files": ["a", {"path": "b", "problem": "locked"}]},
        FilesFact(files=["a", ListedFile("b", "locked")]),
    ),
    (
        {
            "ui": {"kind": "diff"},
            "diff": "+x",
            "path": "a",
            "op": "create",
            "added": 1,
            "removed": 0,
            "warnings": [],
            "secrets": {"restored": ["KEY"], "left": []},
            "per_file_results": [{"diff": "+x", "path": "a"}],
        },
        DiffFact(
            diff="+x",
            path="a",
            op="create",
            added=1,
            removed=0,
            warnings=[],
            secrets=SecretsInFile(["KEY"]),
            per_file_results=[ChangedFile(diff="+x", path="a")],
        ),
    ),
    (
        {"ui": {"kind": "todo"}, "phases": [{"name": "One", "tasks": [{"content": "a"}]}]},
        TodoFact(phases=[TodoPhase("One", [PhaseTask("a")])]),
    ),
    (
        {
            "ui": {"kind": "jobs"},
            "jobs": [{"id": "s-1", "status": "failed", "label": "make", "duration_ms": 5, "error_text": "no"}],
            "cancelled": [{"id": "s-2", "status": "not_found"}],
        },
        JobsFact(
            jobs=[ShownJob("s-1", "failed", "make", "", 5, None, "no")], cancelled=[JobCancelled("s-2", "not_found")]
        ),
    ),
    (
        {"ui": {"kind": "question"}, "question": "Which?", "chosen": ["a"], "text": "b", "answered": True},
        QuestionFact(question="Which?", chosen=["a"], text="b", answered=True),
    ),
    (
        {
            "ui": {"kind": "question"},
            "question": "Which?",
            "answers": [{"question": "Which?", "chosen": ["a"], "text": "", "answered": True}],
        },
        QuestionFact(question="Which?", answers=[GivenAnswer("Which?", ["a"], "", True)]),
    ),
    ({"ui": {"kind": "command"}}, CommandFact()),
]


@pytest.mark.parametrize(("details", "fact"), STORED)
def test_what_journals_hold_is_read_and_written_the_same(details: dict[str, Any], fact: UiFact) -> None:
    """What no view shows may stand beside it."""
    assert ui_fact({**details, "meta": {"source": 1}}) == fact
    assert type(fact).of(details) == fact
    assert fact.as_details(meta=1) == {**details, "meta": 1}


@pytest.mark.parametrize(
    ("details", "fact"),
    [
        ({"ui": {"kind": "diff"}, "diff": "+x", "added": "one", "path": None}, DiffFact(diff="+x")),
        ({"ui": {"kind": "files"}, "files": ["a", 5, {"problem": "x"}]}, FilesFact(files=["a"])),
        ({"ui": {"kind": "read", "path": "a", "first": "3"}}, ReadFact(path="a")),
        (
            {"ui": {"kind": "review"}, "target": "x", "verdict": "maybe", "findings": [{"title": 3}, {"title": "a"}]},
            ReviewFact(target="x", findings=[ReviewFinding(title="a")]),
        ),
        ({"ui": {"kind": "finding"}, "body": "without a title"}, None),
        ({"ui": {"kind": "diff"}, "diff": 5}, None),
        ({"ui": {"kind": "jobs"}, "jobs": [{"id": "s-1"}]}, None),
        ({"ui": {"kind": "todo"}, "phases": [{"name": "x", "tasks": [{"content": "a", "status": "odd"}]}]}, None),
        ({"ui": {"kind": "hologram"}, "diff": "+x"}, None),
        ({"ui": {"kind": ["diff"]}, "diff": "+x"}, None),
        ({"ui": "diff"}, None),
        ("diff", None),
        (None, None),
    ],
)
def test_what_does_not_fit_is_missing(details: Any, fact: UiFact | None) -> None:
    """One field at most; without what its kind needs there is nothing, and the result is plain text."""
    assert ui_fact(details) == fact


COLLISIONS: list[tuple[Any, FileCollision | None]] = [
    (
        {"collision": {"path": "a.py", "session": "k3m9qz", "agent": "R-2", "call": "k3m9qz-7", "seconds": 40}},
        FileCollision(path="a.py", session="k3m9qz", agent="R-2", call="k3m9qz-7", seconds=40),
    ),
    (
        {"collision": {"path": "a.py", "session": "k3m9qz", "agent": 3, "seconds": "soon", "new": 1}},
        FileCollision(path="a.py", session="k3m9qz"),
    ),
    ({"collision": {"path": "a.py"}}, None),
    ({"collision": ["a.py"]}, None),
    ({}, None),
    (None, None),
]


@pytest.mark.parametrize(("details", "fact"), COLLISIONS)
def test_a_collision_is_read_as_far_as_it_fits(details: Any, fact: FileCollision | None) -> None:
    """The file and the session have to be there."""
    assert file_collision(details) == fact
    if fact is not None:
        assert file_collision(fact.as_details()) == fact


def test_another_kind_is_none() -> None:
    """A guard of one kind does not take another for its own."""
    assert DiffFact.of({"ui": {"kind": "read"}, "diff": "+x"}) is None


@given(JSON, st.sampled_from(sorted({details["ui"]["kind"] for details, _ in STORED})), st.text(max_size=8))
def test_no_details_can_break_it(value: Any, kind: str, name: str) -> None:
    """It is the struct or nothing."""
    fields = {name: value, "jobs": value, "phases": value, "files": value, "diff": value, "answers": value}
    assert isinstance(ui_fact({"ui": {"kind": kind, name: value}, **fields}), UiFact | None)
