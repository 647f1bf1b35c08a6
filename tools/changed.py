"""Runs the tests of what changed since the branch left main: `make check`.

Tests mirror the source. A changed test is its own test. A changed module has the tests of its room that are named after
it or use its names, else all of its room, and those of other rooms that import it. A page of the documentation has
those of the documentation. Tests that only reach a change through other modules are left to `make test`; how many those
are is printed.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = Path("src/sightline")
TESTS = Path("tests")
DOCUMENTATION = TESTS / "test_documentation.py"
WHOLE_SUITE = ("pyproject.toml", "requirements/", "tests/conftest.py")

_DEFINED = re.compile(r"^(?:async def|def|class) ([A-Za-z]\w*)", re.MULTILINE)


def changed_files() -> list[Path]:
    """What differs from where this branch left main: committed, in the work tree, and new."""
    main = _git("rev-parse", "--verify", "--quiet", "main") or _git("rev-parse", "--verify", "--quiet", "origin/main")
    base = _git("merge-base", "HEAD", *main) if main else ["HEAD"]
    names = _git("diff", "--name-only", *(base or ["HEAD"])) + _git("ls-files", "--others", "--exclude-standard")
    return [Path(name) for name in dict.fromkeys(names)]


def _git(*arguments: str) -> list[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()


def select_tests(changed: Path, root: Path = ROOT) -> list[Path]:
    """The test files to run for a changed file, relative to the root; none if it has none, or is gone."""
    if changed.parts[0] == TESTS.name:
        return _of_test_file(changed, root)
    if changed.is_relative_to(SOURCE):
        return _of_module(changed, root)
    return [DOCUMENTATION] if changed.suffix == ".md" else []


def _of_test_file(changed: Path, root: Path) -> list[Path]:
    if changed.name.startswith("test_") and changed.suffix == ".py":
        return [changed] if (root / changed).exists() else []
    if changed.parts[1] == "captures":
        return _tests_in(root / TESTS / "providers", root)
    return [test for test in _tests_in(root / changed.parent, root) if changed.parent != TESTS]


def _of_module(changed: Path, root: Path) -> list[Path]:
    inside = changed.relative_to(SOURCE)
    room = root / TESTS / inside.parent
    if inside.parent == Path():
        return [test for test in _tests_in(root / TESTS, root) if test.stem == f"test_{inside.stem.strip('_')}"]
    while not room.is_dir():
        room = room.parent
    tests = _tests_in(room, root, deep=True) if room != root / TESTS else []
    near = _using(changed, tests, root) or [test for test in tests if test.parent == room.relative_to(root)]
    return list(dict.fromkeys([*near, *_importing(changed, root)]))


def _importing(changed: Path, root: Path) -> list[Path]:
    """The tests anywhere that name this very module when they import; a package is imported by too many."""
    if changed.suffix != ".py" or changed.stem == "__init__":
        return []
    package, name = ".".join(changed.parent.relative_to("src").parts), changed.stem
    named = re.compile(
        rf"\bfrom {re.escape(package)}\.{name} import\b|\bimport {re.escape(package)}\.{name}\b|"
        rf"\bfrom {re.escape(package)} import (?:[^(\n]*|\([^)]*)\b{name}\b"
    )
    return [test for test in _tests_in(root / TESTS, root, deep=True) if named.search(_imports(root / test))]


def _using(changed: Path, tests: list[Path], root: Path) -> list[Path]:
    module = root / changed
    source = module.read_text() if module.suffix == ".py" and module.exists() else ""
    stem = module.parent.name if module.stem == "__init__" else module.stem
    words = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in (stem, *_DEFINED.findall(source))))
    named = stem.strip("_")
    return [test for test in tests if named in test.stem or words.search(_imports(root / test))]


def _imports(test: Path) -> str:
    """The lines before the first definition: a test imports what it is about."""
    return re.split(r"^(?:@|async def|def|class)", test.read_text(), maxsplit=1, flags=re.MULTILINE)[0]


def _tests_in(folder: Path, root: Path, *, deep: bool = False) -> list[Path]:
    found = folder.rglob("test_*.py") if deep else folder.glob("test_*.py")
    return sorted(test.relative_to(root) for test in found)


def main() -> int:
    changed = changed_files()
    tests = list(dict.fromkeys(test for file in changed for test in select_tests(file)))
    for file in changed:
        if str(file).startswith(WHOLE_SUITE):
            print(f"note: {file} changed, which concerns every test: run `make test`, too")
    if not tests:
        print("tests: none belong to what changed")
        return 0
    rest = len(_tests_in(ROOT / TESTS, ROOT, deep=True)) - len(tests)
    print(f"tests: {len(tests)} files belong to what changed; {rest} others are left to `make test`", flush=True)
    parallel = ["-n", "auto", "--maxprocesses", "4", "--dist", "worksteal"] if len(tests) > 1 else []
    # 5: all that was selected is live
    code = subprocess.run([sys.executable, "-m", "pytest", "-m", "not live", *parallel, *map(str, tests)], cwd=ROOT)
    return 0 if code.returncode == 5 else code.returncode


if __name__ == "__main__":
    sys.exit(main())
