"""Each kind of mistake in settings: told with its place and what was meant."""

import os
import time

import pytest

from sightline.settings import Settings

MISTAKES = {
    "misspelt setting": (
        "[read]\n# c\ndefualt_limit = 3\n",
        3,
        "no such setting: read.defualt_limit",
        "did you mean read.default_limit?",
    ),
    "misspelt section": ("\n[raed]\ndefault_limit = 3\n", 2, "no such section: raed", "did you mean read?"),
    "wrong section": (
        "[search]\ndefault_limit = 3\n",
        2,
        "no such setting: search.default_limit",
        "it belongs in [read]: read.default_limit",
    ),
    "no section": (
        "default_limit = 3\n",
        1,
        "no such setting: default_limit",
        "it belongs in [read]: read.default_limit",
    ),
    "setting of the top in a section": (
        "[read]\ninstructions = 'x'\n",
        2,
        "no such setting: read.instructions",
        "it belongs before the first section: instructions",
    ),
    "nothing near": (
        "[read]\nzzzz = 3\n",
        2,
        "no such setting: read.zzzz",
        "list all settings with `sightline config`",
    ),
    "misspelt in a server": (
        "[models.servers.x]\nbase_url = 'u'\napi_key = 'secret'\n",
        3,
        "no such setting: models.servers.x.api_key",
        "did you mean models.servers.x.api_key_env?",
    ),
    "text for a number": (
        "[read]\ndefault_limit = '3'\n",
        2,
        'read.default_limit must be a whole number of at least 1, not "3"',
        "write 3",
    ),
    "number for a text": ("[models]\ndefault = 3\n", 2, "models.default must be text, not 3", 'put it in quotes: "3"'),
    "fraction for a whole number": (
        "[read]\ndefault_limit = 3.5\n",
        2,
        "must be a whole number of at least 1, not 3.5",
        "",
    ),
    "text for true or false": ("[read]\nsummarize = 'false'\n", 2, "must be true or false", "write false"),
    "number for true or false": ("[read]\nsummarize = 1\n", 2, "must be true or false, not 1", ""),
    "text for a list": ("context_files = 'A'\n", 1, "must be a list of strings", 'write ["A"]'),
    "list with a number": ("context_files = ['A', 1]\n", 1, "must be a list of strings", ""),
    "date": ("[models]\ndefault = 2020-01-01\n", 2, "must be text, not 2020-01-01", ""),
    "below the limit": ("[read]\ndefault_limit = 0\n", 2, "must be a whole number of at least 1, not 0", ""),
    "above the limit": ("[jobs]\nmax_jobs = 101\n", 2, "of at least 1 and at most 100, not 101", ""),
    "endless": ("[bash]\ntimeout = inf\n", 2, "must be a number above 0, not inf", ""),
    "not a number": ("[bash]\ntimeout = nan\n", 2, "must be a number above 0, not nan", ""),
    "enormous": (f"[read]\ndefault_limit = {10**30}\n", 2, "must be a whole number of at least 1", ""),
    "none of the choices": (
        "[models]\nthinking = 'hihg'\n",
        2,
        "must be one of off, minimal, low",
        "did you mean high?",
    ),
    "section as a value": ("read = 3\n", 1, "read must be a table, not 3", "write [read], and its settings below it"),
    "setting as a section": (
        "[read.default_limit]\na = 1\n",
        1,
        "must be a whole number of at least 1, not a table",
        "",
    ),
    "server without address": (
        "[models.servers.x]\napi = 'chat'\n",
        2,
        "models.servers.x has no base_url",
        "base_url =",
    ),
    "empty server": ("\n[models.servers.x]\n", 2, "models.servers.x has no base_url", "base_url ="),
    "bad rule": (
        "[permissions]\nallow = [\n 'exec(git',\n]\n",
        2,
        "permissions.allow: not a rule: exec(git",
        "class(pattern)",
    ),
    "rule without program": ("[permissions]\nallow = ['exec(* x)']\n", 2, "no program named", "exec alone"),
    "inside an inline table": ("a = 1\nread = { default_limit = 'x' }\n", 2, "read.default_limit must be", ""),
    "behind a long text": (
        "instructions = '''\n[read]\ndefault_limit = 0\n'''\n[read]\ndefault_limit = 0\n",
        6,
        "not 0",
        "",
    ),
}


@pytest.mark.parametrize(("text", "line", "message", "hint"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_file_has_its_line_and_what_was_meant(place, text, line, message, hint):
    """File, line, what is wrong, and the nearest thing that is right."""
    place.say(place.user, text)
    error = place.mistakes()
    found = next(each for each in error.mistakes if message in each.message)
    assert found.where == f"{place.user}:{line}"
    assert hint in found.hint
    assert "secret" not in str(error)


@pytest.mark.parametrize(
    ("text", "place_in_it", "says"),
    [
        pytest.param("[read\ndefault_limit = 3\n", ":1:6", "not TOML", id="no end of a section"),
        pytest.param("[read]\ndefault_limit = yes\n", ":2:17", "not TOML", id="no value"),
        pytest.param("[read]\ndefault_limit = 3\ndefault_limit = 4\n", ":3:18", "not TOML", id="twice"),
        pytest.param("[read]\nx = [1,\n", ":2", "not TOML", id="end of the file"),
        pytest.param("x = " + "[" * 5000, ":1", "not TOML", id="too deep"),
        pytest.param(f"x = {'9' * 5000}", ":1", "not TOML", id="too long a number"),
        pytest.param(b"# \xc3\xa4\n# \xff\n", ":2", "not UTF-8", id="no UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_says_where(place, text, place_in_it, says):
    """Line and column, as far as there is one."""
    place.say(place.user, text)
    found = place.mistakes().mistakes[0]
    assert found.where == f"{place.user}{place_in_it}"
    assert says in found.message
    assert found.hint


def test_what_is_no_file_or_may_not_be_read_is_said(place, monkeypatch):
    """A folder, a named pipe, a file too large, a link to nowhere is nothing at all."""
    place.user.mkdir(parents=True)
    assert "cannot be read" in place.mistakes().message
    place.user.rmdir()
    os.mkfifo(place.user)
    assert "cannot be read: not a file" in place.mistakes().message
    place.user.unlink()
    place.say(place.user, b"#" * (1024 * 1024 + 1))
    assert "larger than 1024 KB" in place.mistakes().message
    place.user.unlink()
    place.user.symlink_to("nowhere")
    assert place.load().settings == Settings()

    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.open", refused)
    assert "cannot be read: Permission denied" in place.mistakes().message


def test_a_byte_order_mark_and_windows_lines_are_no_mistake(place):
    """As editors elsewhere write them."""
    place.say(place.user, b"\xef\xbb\xbf[read]\r\ndefault_limit = 7\r\n")
    assert place.load().settings.read.default_limit == 7
    place.say(place.user, b"\xef\xbb\xbf[read]\r\n\r\ndefault_limit = 0\r\n")
    assert place.mistakes().mistakes[0].where.endswith(":3")


def test_all_mistakes_are_told_at_once(place):
    """Of every source; with one of them alone its hint is the error's hint."""
    place.say(place.user, "[read]\ndefault_limit = 0\nsumarize = true\n")
    place.environ["SIGHTLINE_READ_HASH_LINES"] = "maybe"
    error = place.mistakes(flags={"read.x": "1"})
    assert len(error.mistakes) == 4
    assert error.message.startswith("4 mistakes in the settings\n")
    assert (error.exit_code, "did you mean read.summarize?" in error.message) == (2, True)


def test_a_file_full_of_mistakes_is_told_in_part(place):
    """Twenty are enough to begin with."""
    place.say(place.user, "[read]\n" + "".join(f"x{number} = 1\n" for number in range(20_000)))
    started = time.process_time()
    assert len(place.mistakes().mistakes) == 20
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("name", "value", "message", "hint"),
    [
        (
            "SIGHTLINE_READ_DEFUALT_LIMIT",
            "3",
            "no setting has this name",
            "did you mean SIGHTLINE_READ_DEFAULT_LIMIT?",
        ),
        ("SIGHTLINE_READ_ZZZ", "3", "no setting has this name", "unset it"),
        ("SIGHTLINE_INSTRUCTION", "3", "no setting has this name", "did you mean SIGHTLINE_INSTRUCTIONS?"),
        ("SIGHTLINE_READ_DEFAULT_LIMIT", "three", 'must be a whole number of at least 1, not "three"', ""),
        ("SIGHTLINE_READ_DEFAULT_LIMIT", "0", "must be a whole number of at least 1", ""),
        ("SIGHTLINE_READ_SUMMARIZE", "yes", "must be true or false", ""),
        ("SIGHTLINE_MODELS_THINKING", "hihg", "must be one of", "did you mean high?"),
        ("SIGHTLINE_MODELS_SERVERS", "x", "models.servers is a table", "write it in a settings file"),
        ("SIGHTLINE_PERMISSIONS_DENY", "exec(", "not a rule", "class(pattern)"),
    ],
)
def test_a_mistake_in_the_environment_names_the_variable(place, name, value, message, hint):
    """And what was meant."""
    place.environ[name] = value
    found = place.mistakes().mistakes[0]
    assert found.where == name
    assert message in found.message
    assert hint in found.hint


@pytest.mark.parametrize(
    ("flag", "value", "message", "hint"),
    [
        ("read.defualt_limit", "3", "no such setting: read.defualt_limit", "did you mean read.default_limit?"),
        ("default_limit", "3", "no such setting", "it belongs in [read]"),
        ("", "3", "no such setting", ""),
        ("read..x", "3", "no such setting", ""),
        ("read", "3", "read is a table", "settings file"),
        ("read.default_limit", "x", "must be a whole number", ""),
        ("read.default_limit.x", "1", "no such setting", ""),
        ('models.servers."x', "1", "no such setting", ""),
    ],
)
def test_a_mistake_in_an_option_names_it(place, flag, value, message, hint):
    """And what was meant."""
    found = place.mistakes(flags={flag: value}).mistakes[0]
    assert found.where == f"--set {flag}"
    assert message in found.message
    assert hint in found.hint
