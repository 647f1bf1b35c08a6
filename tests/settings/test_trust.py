"""Which folders are trusted: by real path, for what they held then, and never too much."""

import hashlib
import json
import os
import stat
from pathlib import Path

import pytest

from sightline.exceptions import SightlineError, UserMistake
from sightline.handles import Grants, granted
from sightline.paths import data_folder
from sightline.settings import is_trusted, load, trust_of, trusted_agents, trusted_commands, trusted_files
from sightline.settings._trust import trust, trusted_folders, untrust
from sightline.settings.editing import change_setting, remove_setting


def test_nothing_is_trusted_unless_said(tmp_path):
    """Not even an empty folder."""
    assert not is_trusted(tmp_path)


def test_a_folder_is_trusted_with_what_is_below_it(tmp_path):
    """As long as that has nothing of its own; not what is above or beside it; until it is taken back."""
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


SETTINGS, EXTENSION = ".sightline/settings.toml", ".sightline/extensions/theirs.py"
AGENTS = [".sightline/agents/a.md", ".claude/agents/deep/a.md", ".opencode/agent/a.md", ".opencode/agents/a.md"]


def write(file, text="x = 1\n"):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda work: write(work / SETTINGS, "y"), id="settings"),
        pytest.param(lambda work: write(work / EXTENSION, "y"), id="extension"),
        pytest.param(lambda work: write(work / ".sightline/extensions/deep/er.py"), id="new"),
        pytest.param(lambda work: (work / EXTENSION).unlink(), id="removed"),
        pytest.param(lambda work: (work / EXTENSION).rename(work / ".sightline/extensions/b.py"), id="renamed"),
        pytest.param(lambda work: write(work / "src/linked.py", "y"), id="behind a link"),
        pytest.param(lambda work: (work / ".sightline").rename(work / "away"), id="gone"),
    ],
)
def test_trust_ends_when_what_was_trusted_changes(tmp_path, change):
    """Whatever it is; and it comes back with the person's word, or with the old content."""
    write(tmp_path / SETTINGS)
    write(tmp_path / EXTENSION)
    write(tmp_path / "src/linked.py")
    (tmp_path / ".sightline/extensions/linked.py").symlink_to(tmp_path / "src/linked.py")
    trust(tmp_path)
    write(tmp_path / "src/other.py", "not of it")
    assert trust_of(tmp_path) == "trusted"
    change(tmp_path)
    assert trust_of(tmp_path) == "changed"
    trust(tmp_path)
    assert is_trusted(tmp_path)


@pytest.mark.parametrize("file", [SETTINGS, EXTENSION])
def test_a_folder_trusted_empty_is_not_trusted_for_what_is_put_there(tmp_path, file):
    """Nor is a folder below it: nobody has looked at that."""
    trust(tmp_path)
    write(tmp_path / "below" / file)
    assert is_trusted(tmp_path)
    assert trust_of(tmp_path / "below") == "untrusted"
    write(tmp_path / file)
    assert trust_of(tmp_path) == "changed"


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda file: write(file, "y"), id="content"),
        pytest.param(lambda file: file.unlink(), id="removed"),
        pytest.param(lambda file: file.rename(file.with_name("b.md")), id="renamed"),
        pytest.param(lambda file: write(file.with_name("new.md")), id="new"),
        pytest.param(lambda file: (file.unlink(), file.symlink_to("/etc/hostname")), id="a link"),
    ],
)
def test_trust_ends_when_an_agent_changes(tmp_path, agent, change):
    """In each of the folders where agents are looked for; other files there do not matter."""
    write(tmp_path / agent)
    trust(tmp_path)
    write((tmp_path / agent).with_name("notes.txt"))
    write((tmp_path / agent).with_name("README.md"))
    assert trust_of(tmp_path) == "trusted"
    change(tmp_path / agent)
    assert trust_of(tmp_path) == "changed"
    trust(tmp_path)
    assert is_trusted(tmp_path)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_folder_trusted_without_agents_is_not_trusted_for_new_ones(tmp_path, agent):
    """Nor is a folder below it that has its own."""
    trust(tmp_path)
    write(tmp_path / "below" / agent)
    assert is_trusted(tmp_path)
    assert trust_of(tmp_path / "below") == "untrusted"
    write(tmp_path / agent)
    assert trust_of(tmp_path) == "changed"


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("kind", ["changed", "unreadable", "too many"])
def test_a_changed_agent_leaves_settings_trusted(tmp_path, agent, kind):
    """Commands may write `.claude`. The rules of the project's settings, which did not change, still apply."""
    write(tmp_path / SETTINGS, 'permissions.deny = ["exec(rm *)"]\n')
    write(tmp_path / agent)
    trust(tmp_path)
    if kind == "changed":
        write(tmp_path / agent, "y")
    elif kind == "unreadable":
        (tmp_path / agent).unlink()
        (tmp_path / agent).parent.rmdir()
        (tmp_path / agent).parent.symlink_to((tmp_path / agent).parent)
    else:
        for number in range(501):
            write((tmp_path / agent).with_name(f"{number}.md"))
    assert not is_trusted(tmp_path)
    assert trusted_files(tmp_path)[0] == "trusted"
    assert load(tmp_path).settings.permissions.deny == ["exec(rm *)"]


@pytest.mark.parametrize("command", [".sightline/commands/fix.md", ".claude/commands/git/fix.md"])
def test_a_changed_command_leaves_settings_and_agents_trusted(tmp_path, command):
    """Each has a word of its own."""
    write(tmp_path / SETTINGS)
    write(tmp_path / command)
    trust(tmp_path)
    assert trusted_commands(tmp_path) == ("trusted", {tmp_path / command: (tmp_path / command).read_bytes()})
    write(tmp_path / command, "y")
    assert (trusted_commands(tmp_path)[0], trust_of(tmp_path)) == ("changed", "changed")
    assert (trusted_files(tmp_path)[0], trusted_agents(tmp_path)[0]) == ("trusted", "trusted")
    trust(tmp_path)
    write(tmp_path / ".claude/agents/a.md")
    assert (trusted_commands(tmp_path)[0], trusted_agents(tmp_path)[0]) == ("trusted", "changed")


def test_a_folder_without_agents_has_the_entry_of_before(tmp_path):
    """What was trusted by an older version stays trusted: the word is that of its settings and extensions alone."""
    write(tmp_path / SETTINGS)
    write(tmp_path / EXTENSION)
    before = hashlib.sha256()
    for part in (b"extensions/theirs.py", b"x = 1\n", b"settings.toml", b"x = 1\n"):
        before.update(b"%d:" % len(part) + part)
    data_folder().mkdir(parents=True)
    entry = {"folders": {os.path.realpath(tmp_path): before.hexdigest()}}
    (data_folder() / "trusted.json").write_text(json.dumps(entry))
    assert is_trusted(tmp_path)
    trust(tmp_path)
    assert json.loads((data_folder() / "trusted.json").read_text()) == entry


def test_trust_is_the_same_during_a_call(tmp_path):
    """What a call may open is limited to what it was granted; the list of trusted folders and its files are ours."""
    write(tmp_path / SETTINGS)
    write(tmp_path / AGENTS[1])
    trust(tmp_path)
    with granted(Grants()):
        assert is_trusted(tmp_path)


def test_an_entry_from_before_digests_asks_for_trust_again(tmp_path):
    """Its folder may hold anything by now."""
    data_folder().mkdir(parents=True)
    (data_folder() / "trusted.json").write_text(json.dumps({"folders": [str(tmp_path)]}))
    assert trust_of(tmp_path) == "changed"
    assert trusted_folders() == [tmp_path]
    trust(tmp_path)
    assert is_trusted(tmp_path)


def test_what_cannot_be_checked_cannot_be_trusted(tmp_path):
    """Links that lead in circles come to an end; a pipe is waited for by nobody."""
    extensions = tmp_path / ".sightline" / "extensions"
    extensions.mkdir(parents=True)
    os.mkfifo(extensions / "pipe.py")
    trust(tmp_path)
    assert is_trusted(tmp_path)
    for name in ("a", "b"):
        (extensions / name).symlink_to(extensions)
    assert not is_trusted(tmp_path)
    with pytest.raises(SightlineError, match=r"levels of symbolic links|too many settings"):
        trust(tmp_path)


def test_the_persons_own_change_keeps_the_trust(tmp_path):
    """`config set` and `config unset`; only where there was trust before."""
    file = tmp_path / SETTINGS
    change_setting(file, "read.default_limit", "5", project=True)
    assert not is_trusted(tmp_path)
    trust(tmp_path)
    change_setting(file, "read.default_limit", "6", project=True)
    assert is_trusted(tmp_path)
    remove_setting(file, "read.default_limit", project=True)
    assert is_trusted(tmp_path)
    write(tmp_path / EXTENSION)
    change_setting(file, "read.default_limit", "7", project=True)
    assert not is_trusted(tmp_path)


def test_what_is_used_is_what_was_found_to_be_trusted(tmp_path, monkeypatch):
    """Changed right after the look, neither the settings nor the extensions are the new ones."""
    from sightline._extension_files import extension_files, imported
    from sightline.settings import _digest, load

    project = tmp_path / "project"
    settings, extension = project / ".sightline" / "settings.toml", project / ".sightline" / "extensions" / "a.py"
    extension.parent.mkdir(parents=True)
    settings.write_text('instructions = "mine"\n')
    extension.write_text("WHOSE = 'mine'\n")
    trust(project)
    look = _digest.digest_of

    def changed_after(folder):
        found = look(folder)
        settings.write_text('instructions = "theirs"\n')
        extension.write_text("WHOSE = 'theirs'\n")
        (extension.parent / "b.py").write_text("WHOSE = 'theirs'\n")
        return found

    monkeypatch.setattr(_digest, "digest_of", changed_after)
    assert load(project).settings.instructions == "mine"
    settings.write_text('instructions = "mine"\n')
    extension.write_text("WHOSE = 'mine'\n")
    (extension.parent / "b.py").unlink()
    assert [imported(file).WHOSE for file in extension_files(project, os.environ).files] == ["mine"]
