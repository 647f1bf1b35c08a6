"""Which tests `make check` runs."""

from pathlib import Path

import pytest
from tools.changed import DOCUMENTATION, select_tests


def names(changed: str) -> list[str]:
    return [str(test) for test in select_tests(Path(changed))]


def test_a_test_is_its_own() -> None:
    assert names("tests/test_paths.py") == ["tests/test_paths.py"]


def test_a_test_that_was_deleted_is_not_run() -> None:
    assert names("tests/test_no_such.py") == []


def test_what_select_tests_a_folder_share_concerns_them_all() -> None:
    found = names("tests/exec/conftest.py")
    assert "tests/exec/test_pty.py" in found
    assert "tests/exec/gateway/test_proxy.py" not in found


def test_a_module_has_the_tests_that_use_it() -> None:
    found = names("src/sightline/exec/sandbox/_landlock.py")
    assert {"tests/exec/test_landlock.py", "tests/exec/test_sandbox.py"} <= set(found)
    assert "tests/exec/test_batches.py" not in found


def test_a_module_has_the_tests_of_other_rooms_that_import_it() -> None:
    found = names("src/sightline/views/plain/_standing.py")
    assert "tests/cli/test_standing.py" in found
    assert names("src/sightline/providers/running/_doctor.py") == ["tests/providers/test_doctor.py"]


def test_a_module_beside_the_rooms_has_a_test_beside_them() -> None:
    assert names("src/sightline/paths.py") == ["tests/test_paths.py"]


def test_a_file_no_test_names_has_the_select_tests_its_room() -> None:
    assert "tests/views/web/test_api.py" in names("src/sightline/views/web/static/no-such.css")


@pytest.mark.parametrize("page", ["README.md", "docs/README.md"])
def test_a_page_has_the_select_tests_the_documentation(page: str) -> None:
    assert names(page) == [str(DOCUMENTATION)]


@pytest.mark.parametrize("file", ["Makefile", ".ci/run"])
def test_the_rest_has_none(file: str) -> None:
    assert names(file) == []
