"""The same without root's rights, and what an agent made unreadable for its own user."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.working_copies.conftest import make_repository, python, shell

ROOT = Path(__file__).parents[2]
PYTHON = "/usr/bin/python3"
NOBODY = 65534


@pytest.mark.parametrize("kind", ["overlay", "worktree", "copy"])
@pytest.mark.needs("git")
def test_a_folder_and_a_file_without_permissions_are_merged(workspace, opened, kind):
    """While the agent works the list says that it is not whole (root reads it anyway); a merge reads them, leaves the
    file's mode as the agent set it, and nothing is in the way of the removal."""
    (workspace / "folder").mkdir()
    (workspace / "folder" / "start").write_text("start\n")
    make_repository(workspace)
    copy = opened(kind)
    shell(copy, "mkdir closed; echo x > closed/x; echo y >> folder/start; echo z > secret")
    shell(copy, "chmod 0 secret closed folder")
    assert copy.changes().is_whole is (os.geteuid() == 0)
    merged = copy.merge()
    assert merged.applied == ("closed/x", "folder/start", "secret")
    assert (workspace / "closed" / "x").read_text() == "x\n"
    assert (workspace / "folder" / "start").read_text() == "start\ny\n"
    assert (workspace / "secret").stat().st_mode & 0o777 == 0
    copy.remove()
    assert not copy.record.parts.exists()


def test_a_file_the_user_may_not_write_is_refused(workspace, opened):
    """As by every tool of ours, although its folder would allow to replace it. Root may write every file."""
    (workspace / "file").write_text("x\n")
    (workspace / "file").chmod(0o444)
    copy = opened("copy")
    python(copy, "import os; os.chmod('file', 0o644); open('file', 'w').write('y'); os.chmod('file', 0o444)")
    merged = copy.merge()
    is_root = os.geteuid() == 0
    assert [each.path for each in merged.refused] == ([] if is_root else ["file"])
    assert (workspace / "file").read_text() == ("y" if is_root else "x\n")


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv") or not os.access(PYTHON, os.X_OK),
    reason="only root may become another user, with setpriv and the system's Python",
)
def test_all_of_it_holds_for_a_user_without_roots_rights():
    """The overlay in a user namespace, its attributes, and the modes of files: these tests again, as another user."""
    site = next(entry for entry in sys.path if entry.endswith("site-packages"))
    if not _can_import(site):
        pytest.skip("another user cannot read this installation, or the system's Python is another version")
    with tempfile.TemporaryDirectory(prefix="sightline-user-", dir="/tmp") as folder:
        os.chown(folder, NOBODY, NOBODY)
        names = ("test_overlay.py", "test_as_user.py", "test_model.py", "test_leftovers.py")
        options = ["-n0", "-q", "-p", "no:cacheprovider", f"--basetemp={folder}/tests"]
        tests = [f"tests/working_copies/{name}" for name in names]
        done = _as_user(site, folder, "-m", "pytest", *options, *tests)
    assert done.returncode == 0, done.stdout[-8000:]


def _can_import(site: str) -> bool:
    return _as_user(site, "/", "-c", "import pytest, hypothesis, msgspec._core, sightline").returncode == 0


def _as_user(site: str, home: str, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": home,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": f"{ROOT / 'src'}:{site}",
        "HYPOTHESIS_STORAGE_DIRECTORY": f"{home}/hypothesis",
    }
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", PYTHON]
    return subprocess.run([*user, *words], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
