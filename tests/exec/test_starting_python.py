"""What Python imports before our first line, and the processes of ours that it starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sightline import _working_folder
from sightline.exec import SandboxSpec
from sightline.settings import protected

from .running import run_boxed

needs_bubblewrap = pytest.mark.needs("bubblewrap")
PLANTS = ["sitecustomize.py", "usercustomize.pyc", "encodings.py", "encodings/__init__.py", "sightline.py"]
PLANTS += ["sightline/__init__.py", "sitecustomize.so", "sitecustomize.abi3.so"]


@pytest.fixture
def work(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(folder)
    return folder


def in_sandbox(work: Path, script: str) -> subprocess.CompletedProcess[bytes]:
    return run_boxed(["sh", "-c", script], SandboxSpec(workspace=str(work)), cwd=work, kind="bubblewrap")


@needs_bubblewrap
@pytest.mark.parametrize("entry", ["{0}", "{0}/lib", "/opt/x:"])
def test_a_command_plants_nothing_that_python_imports_first(work, monkeypatch, entry):
    """In the workspace, in a folder of it that does not exist, and in the empty entry, which is the current folder.
    Other modules can be made there, Python starts meanwhile as always, and nothing is left behind."""
    monkeypatch.setenv("PYTHONPATH", entry.format(work))
    target = work / "lib" if "lib" in entry else work
    tries = "; ".join(f"mkdir -p {target}/{os.path.dirname(name)}; echo x > {target}/{name}" for name in PLANTS)
    done = in_sandbox(
        work, f"{tries}; mv lib away; echo 1 > {target}/mine.py && {sys.executable} -c 'import json, mine'"
    )
    assert done.returncode == 0, done.stderr
    assert [path.name for path in target.iterdir() if path.name != "__pycache__"] == ["mine.py"]


@needs_bubblewrap
@pytest.mark.parametrize("exists", [False, True])
def test_a_command_writes_no_bytecode_of_ours(work, monkeypatch, exists):
    """PYTHONPYCACHEPREFIX in the workspace."""
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(work / ".pyc"))
    if exists:
        (work / ".pyc" / "x").mkdir(parents=True)
    in_sandbox(work, "mkdir -p .pyc/x; echo x > .pyc/x/y.pyc; mv .pyc away; mkdir .pyc; echo x > .pyc/z")
    assert not [path for path in work.rglob("*") if path.is_file()]


def test_an_archive_on_pythonpath_is_protected(work, monkeypatch):
    """A command would put a module into it."""
    (work / "lib.zip").write_bytes(b"PK")
    monkeypatch.setenv("PYTHONPATH", str(work / "lib.zip"))
    assert str(work / "lib.zip") in protected(work).read_only


def test_without_such_variables_nothing_is_looked_for(monkeypatch):
    for name in ("PYTHONPATH", "PYTHONPYCACHEPREFIX", "PYTHONUSERBASE"):
        monkeypatch.delenv(name, raising=False)
    assert _working_folder.places_imported_from() == []


@pytest.mark.parametrize("path", ["", "{0}", "{0}:{1}", "/opt/none"])
def test_a_process_of_ours_imports_from_where_we_do(work, tmp_path, monkeypatch, path):
    """Whatever PYTHONPATH says: what is planted in the workspace is not imported by it."""
    package = Path(_working_folder.__file__).parents[1]
    (work / "sitecustomize.py").write_text("print('planted')")
    (work / "encodings.py").write_text("print('planted')")
    monkeypatch.setenv("PYTHONPATH", path.format(work, package))
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(work))
    done = subprocess.run([*_working_folder.python_words("sightline"), "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()[0], "planted" in done.stdout) == (0, "sightline", False), done.stderr


def test_libraries_in_the_working_folder_are_for_commands_alone(work, monkeypatch):
    """A host starts without them and passes them on."""
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/opt/lib:{work}/build:")
    given = _working_folder.environment_for_python()
    assert given["LD_LIBRARY_PATH"] == "/opt/lib"
    code = "from sightline import _working_folder as w; import os; w.import_nothing_from_it(); print(os.environ['{}'])"
    argv = [sys.executable, "-c", code.format("LD_LIBRARY_PATH")]
    assert subprocess.run(argv, env=given, capture_output=True, text=True).stdout == f"/opt/lib:{work}/build:\n"
