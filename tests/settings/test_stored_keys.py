"""API keys that were pasted: where they are used from, and where not."""

import json
import os
from pathlib import Path

import pytest

from sightline.exceptions import UserMistake
from sightline.models import usable
from sightline.settings import Settings, keys_notice, store_key, stored_keys, with_stored_keys


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder they are in."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "keys"


def test_a_stored_key_is_used_where_the_environment_has_none(keys: Path) -> None:
    file = store_key("OPENAI_API_KEY", "sk-stored")
    assert (file, file.stat().st_mode & 0o777) == (keys / "keys.json", 0o600)
    assert with_stored_keys({"A": "1"}) == {"A": "1", "OPENAI_API_KEY": "sk-stored"}
    assert with_stored_keys({"OPENAI_API_KEY": "sk-mine"}) == {"OPENAI_API_KEY": "sk-mine"}


@pytest.mark.parametrize("target", ["there", "missing"])
def test_a_linked_file_is_neither_used_nor_written(keys: Path, tmp_path: Path, target: str) -> None:
    """A sandboxed command sees where it leads. The values are still recognised, wherever they are printed."""
    elsewhere = tmp_path / "dotfiles.json"
    if target == "there":
        elsewhere.write_text(json.dumps({"OPENAI_API_KEY": "sk-linked"}))
    keys.mkdir(parents=True)
    os.symlink(elsewhere, keys / "keys.json")
    with pytest.raises(UserMistake, match=r"keys\.json is a link") as refused:
        with_stored_keys({})
    assert refused.value.hint == "replace the link with the file itself"
    with pytest.raises(UserMistake, match="is a link"):
        usable(Settings(), {})
    with pytest.raises(UserMistake, match="is a link"):
        store_key("ANTHROPIC_API_KEY", "sk-new")
    assert stored_keys() == ({"OPENAI_API_KEY": "sk-linked"} if target == "there" else {})
    assert elsewhere.exists() == (target == "there")


@pytest.mark.parametrize(
    "content",
    [
        b'{"OPENAI_API_KEY": "sk-mine",}',
        b'{"OPENAI_API_KEY": "sk-mine", "n": 1}',
        b'{"OPENAI_API_KEY": "sk-\xff"}',
        b"",
        b'{"OPENAI_API_KEY": "' + b"x" * 1024 * 1024 + b'"}',
        None,
    ],
    ids=["a comma too many", "a number", "no UTF-8", "empty", "too long", "a folder"],
)
def test_a_file_that_cannot_be_read_is_not_replaced(keys: Path, content: bytes | None) -> None:
    """Its keys would be lost when another is pasted. None of them is used or masked, and a notice says so."""
    keys.mkdir(parents=True)
    file = keys / "keys.json"
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    with pytest.raises(UserMistake, match=r"keys\.json") as refused:
        store_key("ANTHROPIC_API_KEY", "sk-new")
    assert refused.value.hint == "fix or remove the file"
    assert content is None or file.read_bytes() == content
    assert stored_keys() == {}
    notice = keys_notice()
    assert notice is not None
    assert notice.text.startswith("stored keys are not used, and not masked where they appear: cannot read ")
    assert "sk-" not in notice.text


def test_no_file_is_no_problem(keys: Path) -> None:
    assert keys_notice() is None
    store_key("ANTHROPIC_API_KEY", "sk-new")
    store_key("OPENAI_API_KEY", "sk-other")
    assert keys_notice() is None
    assert stored_keys() == {"ANTHROPIC_API_KEY": "sk-new", "OPENAI_API_KEY": "sk-other"}
