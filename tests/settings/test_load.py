"""Sources of settings: each one's place in the order, and what each can say."""

import subprocess
import sys
from pathlib import Path

import pytest

from sightline.settings import Settings
from sightline.settings._sources import variable_name
from sightline.settings._trust import trust

KEY = "read.default_limit"


def test_nothing_said_is_the_defaults(place):
    """No file, no variable, no option."""
    loaded = place.load()
    assert loaded.settings == Settings()
    assert loaded.notices == []
    assert loaded.source_of(KEY).kind == "default"


def test_loading_nothing_costs_next_to_nothing(tmp_path):
    """Without files no parser is imported, and it takes far less than the 3 ms it may."""
    script = (
        "import sys, time; from pathlib import Path; from sightline.settings import load; a = time.perf_counter();"
        "load(Path.cwd(), environ={'HOME': '/nonexistent'}); print(time.perf_counter() - a);"
        "print([name for name in ('tomllib', 'difflib', 'json', 'sightline.settings._sources') if name in sys.modules])"
    )
    took, imported = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path
    ).stdout.splitlines()
    assert imported == "[]"
    assert float(took) < 0.05  # a loaded machine; alone it is 0.2 ms


def test_each_source_wins_over_the_one_before(place):
    """Defaults < the person's file < the project's < the environment < options; the source is known each time."""
    assert (place.load().settings.read.default_limit, place.load().source_of(KEY).kind) == (300, "default")
    place.say(place.user, "[read]\ndefault_limit = 1\n")
    assert place.load().settings.read.default_limit == 1
    assert (place.load().source_of(KEY).kind, place.load().source_of(KEY).where) == ("user", f"{place.user}:2")
    place.say(place.project, "\n\nread.default_limit = 2\n")
    trust(place.work)
    assert place.load().settings.read.default_limit == 2
    assert (place.load().source_of(KEY).kind, place.load().source_of(KEY).where) == ("project", f"{place.project}:3")
    place.environ["SIGHTLINE_READ_DEFAULT_LIMIT"] = "3"
    assert place.load().settings.read.default_limit == 3
    assert place.load().source_of(KEY).where == "SIGHTLINE_READ_DEFAULT_LIMIT"
    loaded = place.load(flags={KEY: "4"})
    assert loaded.settings.read.default_limit == 4
    assert (loaded.source_of(KEY).kind, loaded.source_of(KEY).where) == ("flag", f"--set {KEY}")


def test_a_source_replaces_only_what_it_says(place):
    """Its other settings stay those of the sources before it."""
    place.say(place.user, "[read]\ndefault_limit = 1\nsummarize = false\n")
    place.environ["SIGHTLINE_READ_DEFAULT_LIMIT"] = "3"
    read = place.load().settings.read
    assert (read.default_limit, read.summarize, read.hash_lines) == (3, False, True)


def test_rules_add_up_and_other_lists_replace(place):
    """No source can lose a rule another one gave; `context_files` is what the last one says."""
    place.say(place.user, 'context_files = ["A"]\n[permissions]\nallow = ["exec(a)"]\ndeny = ["exec(b)"]\n')
    place.say(place.project, 'context_files = ["B", "C"]\n[permissions]\nallow = ["exec(c)", "exec(a)"]\n')
    trust(place.work)
    place.environ["SIGHTLINE_PERMISSIONS_ALLOW"] = "exec(d a,b), network(x.org)"
    loaded = place.load(flags={"permissions.deny": "read(~/.ssh/**)"})
    assert loaded.settings.permissions.allow == ["exec(a)", "exec(c)", "exec(d a,b)", "network(x.org)"]
    assert loaded.settings.permissions.deny == ["exec(b)", "read(~/.ssh/**)"]
    assert loaded.settings.context_files == ["B", "C"]
    assert [source.kind for source in loaded.sources_of("permissions.allow")] == ["user", "project", "environment"]


def test_a_project_that_is_not_trusted_is_not_read(place):
    """It is reported once, with how to trust it; even a broken file does no harm."""
    place.say(place.project, "not toml at all = = \x1b")
    loaded = place.load()
    assert loaded.settings == Settings()
    assert len(loaded.notices) == 1
    assert "is not trusted" in loaded.notices[0]
    assert f"sightline config trust {place.work}" in loaded.notices[0]


def test_a_project_that_changed_is_not_read(place):
    """It is reported, with what to do; the person looks and says so again."""
    place.say(place.project, "read.default_limit = 2\n")
    trust(place.work)
    assert (place.load().settings.read.default_limit, place.load().notices) == (2, [])
    place.say(place.project, "read.default_limit = 3\n")
    loaded = place.load()
    assert loaded.settings == Settings()
    (told,) = loaded.notices
    assert "changed since you trusted it" in told
    assert f"check it, then run `sightline config trust {place.work}` again" in told
    trust(place.work)
    assert place.load().settings.read.default_limit == 3


def test_the_nearest_project_file_up_to_the_repository_counts(place, tmp_path):
    """The workspace's own, else one above it, never one above the repository."""
    place.say(tmp_path / ".sightline" / "settings.toml", "read.default_limit = 9\n")
    place.say(place.project, "read.default_limit = 2\n")
    trust(tmp_path)
    trust(place.work)
    inner = place.work / "a" / "b"
    inner.mkdir(parents=True)
    assert place.load(cwd=inner).settings.read.default_limit == 2
    place.say(place.work / "a" / ".sightline" / "settings.toml", "read.default_limit = 3\n")
    trust(place.work / "a")
    assert place.load(cwd=inner).settings.read.default_limit == 3
    place.project.unlink()
    assert place.load().settings.read.default_limit == 300


def test_outside_a_repository_only_the_workspace_itself_is_looked_at(place, tmp_path):
    """Folders above belong to nobody in particular."""
    (tmp_path / "plain" / "sub").mkdir(parents=True)
    place.say(tmp_path / "plain" / ".sightline" / "settings.toml", "read.default_limit = 5\n")
    trust(tmp_path / "plain")
    assert place.load(cwd=tmp_path / "plain" / "sub").settings.read.default_limit == 300
    assert place.load(cwd=tmp_path / "plain").settings.read.default_limit == 5


def test_the_persons_own_file_is_no_project(place):
    """With `SIGHTLINE_HOME` inside the workspace one file is not two sources."""
    place.environ["SIGHTLINE_HOME"] = str(place.work / ".sightline")
    place.say(place.project, "read.default_limit = 5\n")
    loaded = place.load()
    assert (loaded.settings.read.default_limit, loaded.source_of(KEY).kind, loaded.notices) == (5, "user", [])


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({"SIGHTLINE_HOME": "{}/a", "XDG_CONFIG_HOME": "{}/b", "HOME": "{}/c"}, "a/settings.toml"),
        ({"XDG_CONFIG_HOME": "{}/b", "HOME": "{}/c"}, "b/sightline/settings.toml"),
        ({"HOME": "{}/c"}, "c/.config/sightline/settings.toml"),
    ],
)
def test_where_the_persons_file_is(place, tmp_path, environ, path):
    """`SIGHTLINE_HOME`, else the folder for configuration, else the usual one."""
    place.environ = {name: value.format(tmp_path) for name, value in environ.items()}
    place.say(tmp_path / path, "read.default_limit = 5\n")
    assert place.load().settings.read.default_limit == 5


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("models.default", "anthropic/x", "anthropic/x"),
        ("models.default", "", ""),
        ("read.default_limit", " 12 ", 12),
        ("read.summarize", "false", False),
        ("read.summarize", "1", True),
        ("read.summarize", "FALSE", False),
        ("bash.timeout", "2.5", 2.5),
        ("bash.timeout", "2", 2.0),
        ("models.thinking", "high", "high"),
        ("context_files", "A.md, B.md", ["A.md", "B.md"]),
        ("models.servers.mine.base_url", "http://x/v1", "http://x/v1"),
        ('models.servers."a.b".base_url', "http://x/v1", "http://x/v1"),
        ("extensions.options.mine.depth", "3", 3),
        ("extensions.options.mine.name", "x", "x"),
        ("extensions.options.mine.on", "true", True),
    ],
)
def test_values_on_the_command_line(place, key, text, value):
    """Read by the type of the setting they are for."""
    found = place.load(flags={key: text}).settings
    names = key.replace('"a.b"', "a%b").split(".")
    for name in names:
        name = name.replace("%", ".")
        found = found[name] if isinstance(found, dict) else getattr(found, name)
    assert found == value


def test_servers_of_ones_own_are_merged_by_name(place):
    """One source adds to another's server; a name with a dot is written in quotes."""
    place.say(place.user, '[models.servers."my.box"]\nbase_url = "http://a/v1"\nheaders = { X-A = "1" }\n')
    place.say(
        place.project, '[models.servers."my.box"]\ncontext = 8192\n[models.servers."my.box".headers]\nX-B = "2"\n'
    )
    trust(place.work)
    server = place.load().settings.models.servers["my.box"]
    assert (server.base_url, server.context, server.headers) == ("http://a/v1", 8192, {"X-A": "1", "X-B": "2"})


def test_variables_of_other_rooms_are_left_alone(place):
    """Every variable the program's other parts know passes for no setting; an empty one is not set."""
    import re

    source = Path(__file__).parent.parent.parent / "src"
    known = {name for file in source.rglob("*.py") for name in re.findall(r"SIGHTLINE_[A-Z_]+[A-Z]", file.read_text())}
    place.environ |= dict.fromkeys(known - {"SIGHTLINE_HOME", "SIGHTLINE_SECTION_NAME"}, "1")
    place.environ |= {"SIGHTLINE_READ_DEFAULT_LIMIT": ""}
    assert place.load().settings == Settings()


def test_every_setting_has_a_variable_of_its_own():
    """No two settings share one."""
    from sightline.settings._fields import all_keys

    assert len({variable_name(key) for key in all_keys()}) == len(all_keys())
