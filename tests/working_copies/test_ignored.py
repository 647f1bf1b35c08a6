"""What git ignores in the workspace is no change; what the agent says about ignoring counts for nothing."""

import pytest

from sightline.working_copies import open_copy
from tests.working_copies.conftest import git, make_repository, needs_of, shell

pytestmark = pytest.mark.needs("git")
KINDS = pytest.mark.parametrize("kind", ["overlay", "worktree", "copy"])


@KINDS
def test_ignored_files_and_folders_are_left_out(workspace, opened, kind):
    """Tracked ones are not ignored; a `.gitignore` of the agent's hides nothing."""
    (workspace / ".gitignore").write_text("*.log\nbuild/\n")
    (workspace / "kept.log").write_text("tracked\n")
    git(workspace, "init", "-q")
    git(workspace, "add", "-A", "-f")
    make_repository(workspace)
    copy = opened(kind)
    shell(
        copy, "mkdir -p build/deep; echo x > build/deep/x; echo x > new.log; echo x >> kept.log; echo '*' > .gitignore"
    )
    shell(copy, "echo hidden > hidden")
    assert [change.path for change in copy.changes().files] == [".gitignore", "hidden", "kept.log"]


def test_a_workspace_below_the_top_of_a_repository_has_its_rules(tmp_path):
    """Those of the folders above count too."""
    needs_of("overlay", tmp_path)
    top = tmp_path / "top"
    (top / "sub").mkdir(parents=True)
    (top / ".gitignore").write_text("/sub/only\n*.log\n")
    make_repository(top)
    copy = open_copy(top / "sub", tmp_path / "agent", "one")
    assert copy.kind == "overlay"
    shell(copy, "echo x > only; echo x > a.log; echo x > shown")
    assert [change.path for change in copy.changes().files] == ["shown"]


@KINDS
def test_a_link_or_a_submodule_on_the_way_does_not_end_ignoring(workspace, opened, kind):
    """Git refuses to answer for such paths, and would for all others with them."""
    (workspace / ".gitignore").write_text("*.log\n")
    (workspace / "tracked.log").write_text("x\n")
    (workspace / "link").symlink_to("/tmp")
    git(workspace, "init", "-q")
    git(workspace, "add", "-A", "-f")
    git(workspace, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module")
    git(workspace, "commit", "-q", "-m", "start")
    (workspace / "module").mkdir()
    copy = opened(kind)
    shell(copy, "rm link; mkdir -p link module; for f in link module .; do echo x > $f/a.log; echo x > $f/a; done")
    shell(copy, "echo y >> tracked.log")
    paths = {change.path for change in copy.changes().files}
    assert paths == {"a", "link", "link/a", "link/a.log", "module/a", "tracked.log"}
