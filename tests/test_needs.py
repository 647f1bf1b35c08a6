"""The one line about what a machine could not test."""

import pytest

from tests import needs


def test_what_is_missing_is_named_with_what_it_would_have_tested() -> None:
    said = needs.summary({"tmux": 34, "chromium": 210}, {"only root may give a file away": 1})
    assert said == (
        "not tested: chromium (the page, 210 tests); tmux (terminal fidelity in tmux, 34 tests);"
        " only root may give a file away (1 test) — apt install chromium-headless-shell tmux"
    )


def test_without_a_program_to_install_there_is_nothing_to_install() -> None:
    assert needs.summary({}, {"the kernel has no Landlock": 2}) == "not tested: the kernel has no Landlock (2 tests)"


def test_a_program_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "is_there", lambda program: program == "git")
    needs.require(["git"])
    with pytest.raises(needs.Missing) as missing:
        needs.require(["git", "tmux"])
    assert missing.value.program == "tmux"
