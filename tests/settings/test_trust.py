"""Which folders are trusted: by real path, with what is below, and never too much."""

import json
import os
import stat
from pathlib import Path

import pytest

from sightline.exceptions import UserMistake
from sightline.paths import data_folder
from sightline.settings import is_trusted
from sightline.settings._trust import trust, trusted_folders, untrust


def test_nothing_is_trusted_unless_said(tmp_path):
    """Not even an empty folder."""
    assert not is_trusted(tmp_path)


def test_a_folder_is_trusted_with_what_is_below_it(tmp_path):
    """Not what is above or beside it; until it is taken back."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "ab").mkdir()
    trust(tmp_path / "a")
    assert [is_trusted(tmp_path / name) for name in ("a", "a/b", "ab", ".")] == [True, True, False, False]
    untrust(tmp_path / "a")
    assert not is_trusted(tmp_path / "a")


def test_a_link_is_trusted_as_what_it_leads_to(tmp_path):
    """Trust follows the folder, not a name somebody can point elsewhere."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert trust(tmp_path / "link") == Path(os.path.realpath(tmp_path / "real"))
    (tmp_path / "other").mkdir()
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(tmp_path / "other")
    assert is_trusted(tmp_path / "real")
    assert not is_trusted(tmp_path / "link")


def test_the_root_the_home_folder_and_above_are_too_much(tmp_path, monkeypatch):
    """Not even when the list says so."""
    home = tmp_path / "homes" / "me"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    for folder in ("/", home, home.parent):
        with pytest.raises(UserMistake, match="cannot be trusted as a whole"):
            trust(Path(folder))
    data_folder().mkdir(parents=True)
    (data_folder() / "trusted.json").write_text(json.dumps({"folders": ["/", str(home)]}))
    assert not is_trusted(home / "project")


def test_what_is_no_folder_is_not_trusted(tmp_path):
    """A file, or nothing."""
    (tmp_path / "file").touch()
    for name in ("file", "nothing"):
        with pytest.raises(UserMistake, match="not a folder"):
            trust(tmp_path / name)


def test_the_list_is_for_its_owner_alone(tmp_path):
    """And holds names that are no text."""
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    odd.mkdir()
    trust(odd)
    assert is_trusted(odd)
    assert stat.S_IMODE((data_folder() / "trusted.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("content", ["", "[]", "{", '{"folders": 3}', '{"folders": [3]}', "\x00", "[" * 100_000])
def test_a_damaged_list_trusts_nothing(tmp_path, content):
    """And says what to do when it is asked for."""
    data_folder().mkdir(parents=True)
    (data_folder() / "trusted.json").write_text(content)
    assert not is_trusted(tmp_path)
    with pytest.raises(UserMistake, match="damaged"):
        trusted_folders()


def test_taking_back_what_was_not_given_says_so(tmp_path):
    """With the folder above that is trusted."""
    (tmp_path / "a").mkdir()
    trust(tmp_path)
    with pytest.raises(UserMistake) as caught:
        untrust(tmp_path / "a")
    assert str(tmp_path) in caught.value.hint
