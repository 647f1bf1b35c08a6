"""`sightline config`: values with their sources, changes that keep comments, trust, rules, and mistakes told well."""

import json
import os

import pytest

from sightline.settings.editing import about
from tests.cli.support import sightline


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A repository to be in."""
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def user(tmp_path):
    """The person's file."""
    folder = tmp_path / "sightline-home"
    folder.mkdir()
    return folder / "settings.toml"


def config(*words, **environ):
    done = sightline("config", *words, env={**os.environ, **environ})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def values(*words, **environ):
    code, out, err = config(*words, "--json", **environ)
    assert code == 0, err
    return {setting["key"]: setting for setting in json.loads(out)}


def test_every_setting_is_shown_with_its_source(work, user):
    """What is not the default says where it comes from."""
    user.write_text("[read]\ndefault_limit = 7\n")
    code, out, _ = config(SIGHTLINE_BASH_SHELL="zsh")
    rows = {row.split()[0]: row for row in out.splitlines()}
    assert code == 0
    assert rows["read.default_limit"].split()[1:] == ["7", "your", "file", f"({user}:2)"]
    assert rows["bash.shell"].split()[1:] == ['"zsh"', "environment", "(SIGHTLINE_BASH_SHELL)"]
    assert rows["models.thinking"].split()[1:] == ['"medium"', "default"]
    assert "context_files" in rows


def test_one_setting_with_everything_said_about_it(work, user):
    """With and without `get`; the winner first."""
    user.write_text("read.default_limit = 7\n")
    for words in (["read.default_limit"], ["get", "read.default_limit"]):
        code, out, _ = config(*words, SIGHTLINE_READ_DEFAULT_LIMIT="8")
        assert code == 0
        assert [row.split()[:2] for row in out.splitlines()][3:] == [
            ["environment", "8"],
            ["your", "file"],
            ["default", "300"],
        ]
        assert "(replaced)" in out
        assert out.splitlines()[1] == f"  {about(('read', 'default_limit'))}"


def test_as_json(work, user):
    """Value, default and the sources that count; a section by its name."""
    user.write_text("[search]\ncontext_before = 2\n")
    found = values("search")
    assert list(found) == ["search.context_before", "search.context_after"]
    assert found["search.context_before"]["value"] == 2
    assert found["search.context_before"]["default"] == 1
    assert found["search.context_before"]["sources"] == [{"kind": "user", "where": f"{user}:2"}]
    assert found["search.context_after"]["sources"] == []


def test_set_and_unset_keep_comments(work, user):
    """Only the line in question changes."""
    user.write_text("# mine\n[read] # about reading\nsummarize = false # no\n")
    assert config("set", "read.default_limit", "9")[0] == 0
    assert user.read_text() == "# mine\n[read] # about reading\nsummarize = false # no\ndefault_limit = 9\n"
    assert values("read")["read.default_limit"]["value"] == 9
    assert config("unset", "read.summarize")[0] == 0
    assert user.read_text() == "# mine\n[read] # about reading\ndefault_limit = 9\n"
    code, _, err = config("unset", "read.summarize")
    assert (code, "read.summarize is not in" in err) == (2, True)


def test_a_list_is_not_replaced_unasked(work, user):
    """`set` would lose what is there: it says what that is. `add` and `remove` change one value, `--replace` all."""
    user.write_text('[permissions]\nallow = ["read(docs/**)", "exec(make *)"] # mine\n')
    code, _, err = config("set", "permissions.allow", "exec(npm test *)")
    assert code == 2
    assert "already has: read(docs/**), exec(make *)" in err
    assert "hint: add to it with `sightline config add permissions.allow VALUE`" in err
    assert config("add", "permissions.allow", "exec(npm test *),exec(make *)")[0] == 0
    assert user.read_text() == '[permissions]\nallow = ["read(docs/**)", "exec(make *)", "exec(npm test *)"] # mine\n'
    assert config("remove", "permissions.allow", "exec(make *)")[0] == 0
    code, _, err = config("remove", "permissions.allow", "exec(make *)")
    assert (code, "does not have exec(make *)" in err) == (2, True)
    code, out, _ = config("set", "permissions.allow", "read", "--replace")
    assert code == 0
    assert 'it was ["read(docs/**)", "exec(npm test *)"]' in out
    assert values("permissions.allow")["permissions.allow"]["value"] == ["read"]
    assert config("set", "permissions.allow", "read,write")[0] == 0  # nothing is lost


def test_add_makes_the_list_it_adds_to(work, user):
    """Without a file, too; only lists have values to add."""
    assert config("add", "permissions.deny", "exec(rm *)")[0] == 0
    assert values("permissions.deny")["permissions.deny"]["value"] == ["exec(rm *)"]
    code, _, err = config("add", "read.default_limit", "5")
    assert (code, "read.default_limit is not a list" in err) == (2, True)


def test_a_broken_setting_can_be_repaired_by_command(work, user):
    """The file is a mistake to every other command; `set` and `unset` still work."""
    user.write_text("[read]\ndefault_limit = 0\nnonsense = 1\n")
    assert config()[0] == 2
    assert config("set", "read.default_limit", "5")[0] == 0
    assert config("unset", "read.nonsense")[0] == 0
    assert config()[0] == 0


def test_a_project_counts_once_it_is_trusted(work):
    """Written, ignored with a note, trusted, used, and ignored again."""
    code, out, _ = config("set", "read.default_limit", "9", "--project")
    assert (code, "is not trusted" in out) == (0, True)
    assert (work / ".sightline" / "settings.toml").read_text() == "[read]\ndefault_limit = 9\n"
    assert values("read")["read.default_limit"]["value"] == 300
    assert "sightline config trust" in config()[1]
    (work / "sub").mkdir()
    os.chdir(work / "sub")
    assert config("trust")[0] == 0
    assert config("trust", "--list")[1] == f"{os.path.realpath(work)}\n"
    assert values("read")["read.default_limit"]["value"] == 9
    assert config("untrust")[0] == 0
    assert values("read")["read.default_limit"]["value"] == 300
    assert "no folder is trusted" in config("trust", "--list")[1]


def test_where_the_files_are(work, user):
    """One line, for an editor."""
    assert config("path")[1] == f"{user}\n"
    assert config("path", "--project")[1] == f"{work}/.sightline/settings.toml\n"


def test_rules_that_hold_here(work, user):
    """From settings and remembered ones; a remembered one can be forgotten."""
    from sightline.settings import remember_rule

    user.write_text('[permissions]\nallow = ["exec(make)"]\ndeny = ["exec(rm *)"]\n')
    remember_rule(work, "exec(git push)")
    assert config("rules")[1].splitlines() == [
        f"deny   exec(rm *)  ({user}:3)",
        f"allow  exec(make)  ({user}:2)",
        "allow  exec(git push)  (remembered for this folder)",
    ]
    assert config("rules", "--forget", "exec(git push)")[0] == 0
    assert "git push" not in config("rules")[1]
    assert config("rules", "--forget", "exec(git push)")[0] == 2


def test_a_rule_of_several_lines_is_forgotten_as_it_is_listed(work, user):
    """Its breaks are seen; what is listed is what can be given back."""
    from sightline.settings import remember_rule, remembered_rules

    remember_rule(work, "exec(echo one $HOME\necho two > o9\n)")
    remember_rule(work, "exec(echo one $HOME echo two > o9)")
    shown, other = [row.removeprefix("allow  ").split("  (")[0] for row in config("rules")[1].splitlines()]
    assert shown == "exec(echo one $HOME⏎echo two > o9⏎)"
    assert config("rules", "--forget", shown)[:2] == (0, f"forgotten: {shown}\n")
    assert remembered_rules(work).allow == (other,)
    assert config("rules", "--forget", shown)[0] == 2


def test_rules_are_listed_for_programs_exactly_as_they_are(work, user):
    """With where each comes from; what a terminal would obey is escaped."""
    from sightline.settings import remember_rule

    user.write_text('[permissions]\ndeny = ["exec(rm *)"]\n')
    remember_rule(work, "exec(echo one\necho \x9b2J)")
    for words in (["rules", "--json"], ["--json", "rules"]):
        code, out, _ = config(*words)
        assert (code, "\x9b" in out) == (0, False)
        assert json.loads(out) == [
            {"verdict": "deny", "rule": "exec(rm *)", "source": "user", "where": f"{user}:2"},
            {"verdict": "allow", "rule": "exec(echo one\necho \x9b2J)", "source": "remembered", "where": ""},
        ]
        assert config("rules", "--forget", "exec(nothing)")[0] == 2


def test_headers_of_a_server_are_not_shown(work, user):
    """They are where keys end up."""
    user.write_text('[models.servers.x]\nbase_url = "http://x/v1"\nheaders = { Authorization = "Bearer abc123" }\n')
    for words in ([], ["--json"], ["models.servers.x.headers.Authorization"]):
        code, out, _ = config(*words)
        assert code == 0
        assert "abc123" not in out
        assert "Authorization" in out


def test_nothing_in_a_file_drives_the_terminal(work, user):
    """Escapes in values and names are shown, not obeyed."""
    user.write_text('instructions = "\\u001b]0;x\\u0007\\u202e"\n[extensions.options]\n"\\u001b[2J" = "\\u009b2J"\n')
    code, out, _ = config()
    assert code == 0
    assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(out)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["read.defualt_limit"], "hint: did you mean read.default_limit?"),
        (["default_limit"], "hint: it belongs in [read]: read.default_limit"),
        (["set", "read.defualt_limit", "3"], "hint: did you mean read.default_limit?"),
        (["set", "read", "3"], "error: read is a section"),
        (["set", "models.servers", "3"], "models.servers.NAME.base_url"),
        (["set", "read.default_limit", "x"], 'must be a whole number of at least 1, not "x"'),
        (["set", "permissions.allow", "exec("], "error: not a rule: exec("),
        (["add", "permissions.allow", "exec("], "error: not a rule: exec("),
        (["add", "permissions.allow", ""], "error: no value for permissions.allow"),
        (["trust", "/"], "error: / cannot be trusted as a whole"),
        (["trust", "nowhere"], "error: not a folder: nowhere"),
        (["untrust"], "error: not in the list of trusted folders"),
        (["set", "read.default_limit"], "the following arguments are required: VALUE"),
        (["read", "search"], "unrecognized arguments: search"),
    ],
)
def test_a_mistake_is_a_line_and_a_hint(work, words, says):
    """Exit code 2, no traceback."""
    code, _, err = config(*words)
    assert code == 2
    assert says in err
    assert "Traceback" not in err


def test_a_mistake_in_the_file_is_told_with_its_line(work, user):
    """As every command tells it that needs settings."""
    user.write_text("\n[read]\ndefualt_limit = 3\n")
    code, _, err = config()
    assert code == 2
    assert err == f"error: {user}:3: no such setting: read.defualt_limit\nhint: did you mean read.default_limit?\n"
