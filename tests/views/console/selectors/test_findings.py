"""The list of findings: what its keys do with what a reviewer said."""

import os

import pytest

from sightline.events import ReviewFinding
from sightline.text import clean_line
from sightline.views._reviews import ShownFinding, ShownReview
from sightline.views.console.selectors._findings import FindingsPanel
from tests.views.console.selectors.support import Desk


def panel_with(desk, file):
    finding = ReviewFinding(title="it rounds", file=file, first_line=2, priority=0)
    panel = FindingsPanel(desk, ShownReview("abcdef-c1", "main", None, [ShownFinding(1, finding, False)]))
    panel.done = desk.told.append
    desk.shown.append(panel)
    return panel


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.setenv("EDITOR", "nano")
    work = tmp_path / "work"
    (work / ".git").mkdir(parents=True)
    (work / "src").mkdir()
    (work / "app.py").write_text("x\n")
    (tmp_path / "outside.py").write_text("x\n")
    (work / "link.py").symlink_to(tmp_path / "outside.py")
    (work / "up").symlink_to(tmp_path)
    os.mkfifo(work / "pipe")
    return Desk(cwd=str(work / "src"))


def test_a_file_of_the_repository_is_edited(desk):
    """Also one above the folder of the session."""
    panel_with(desk, "../app.py")
    desk.press("ctrl+e")
    ((editor, line, path),) = desk.programs
    assert (editor, line) == ("nano", "+2")
    assert os.path.samefile(path, os.path.join(desk.cwd, "../app.py"))


@pytest.mark.parametrize(
    "file",
    [
        "/etc/passwd",
        "../../outside.py",
        "../link.py",
        "../up/outside.py",
        "../pipe",
        "/dev/zero",
        "/ssh:host:/file",
        "../missing",
        "..",
        "a\0b",
        "../app.py/x",
    ],
)
def test_what_is_no_file_of_the_project_is_not_opened(desk, file):
    """A reviewer names what it likes: other machines, devices, what holds the editor up."""
    panel_with(desk, file)
    desk.press("ctrl+e")
    assert desk.programs == []
    assert any("in no file of this project" in row for row in desk.rows())


def test_the_key_that_dismisses_restores_what_was_dismissed(desk):
    """The hint says what the key does to the finding that is marked."""
    findings = [ShownFinding(n, ReviewFinding(title=f"finding {n}"), n == 2) for n in (1, 2)]
    panel = FindingsPanel(desk, ShownReview("abcdef-c1", "main", None, findings))
    desk.shown.append(panel)
    assert "delete dismiss" in desk.rows()[-1]
    desk.press("down")
    assert "delete restore" in desk.rows()[-1]
    desk.press("up")
    assert "delete dismiss" in desk.rows()[-1]


@pytest.mark.parametrize("width", [100, 60, 30, 12])
def test_what_closes_the_list_is_always_named(desk, width):
    """Other hints are left out where there is no room for them."""
    panel = panel_with(desk, "../app.py")
    row = clean_line(panel.render(width)[-1])
    assert row.endswith("escape close")
    assert len(row) <= width
