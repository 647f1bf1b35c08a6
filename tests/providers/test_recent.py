"""What `--continue` goes on with."""

from sightline.paths import data_folder
from sightline.providers import last_session, remember_session


def test_the_last_conversation_of_a_folder_and_provider_is_kept():
    """Each folder and each provider has its own; the newest wins."""
    remember_session("claude", "/a", "one")
    remember_session("claude", "/a", "two")
    remember_session("codex", "/a", "three")
    assert (last_session("claude", "/a"), last_session("codex", "/a")) == ("two", "three")
    assert last_session("claude", "/b") == ""


def test_a_damaged_file_is_as_good_as_none():
    """Half a file, or somebody else's, never fails a run."""
    remember_session("claude", "/a", "one")
    file = data_folder() / "last_sessions.json"
    file.write_bytes(file.read_bytes()[:-3])
    assert last_session("claude", "/a") == ""
    remember_session("claude", "/a", "two")
    assert last_session("claude", "/a") == "two"


def test_a_folder_that_cannot_be_written_is_no_reason_to_fail(monkeypatch, tmp_path):
    """The run matters more than the memory of it."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "file" / "below"))
    remember_session("claude", "/a", "one")
    assert last_session("claude", "/a") == ""


def test_the_file_does_not_grow_for_ever():
    """A thousand folders, then the oldest go."""
    for number in range(1010):
        remember_session("claude", f"/{number}", "x")
    assert last_session("claude", "/0") == ""
    assert last_session("claude", "/1009") == "x"
