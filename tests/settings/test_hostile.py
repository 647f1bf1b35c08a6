"""Rules and settings files in the hands of somebody who wants them to mean something else."""

import os
import subprocess
import sys
import time

import msgspec
import pytest

from sightline.exceptions import SightlineError
from sightline.settings import Policy
from sightline.settings._edit import set_in_file, unset_in_file
from sightline.settings._trust import is_trusted, trust
from sightline.settings.rules._rules import matches_host, parse_rule


class Need(msgspec.Struct, frozen=True):
    access: str
    what: str
    sandboxed: bool = False
    exposed: tuple[str, ...] = ()
    where: str = ""


def verdict(access, what, *, allow=(), deny=(), workspace, approval="edit"):
    return Policy(approval, allow, deny, workspace).decide(Need(access, str(what))).verdict


NOT_GIT_STATUS = [
    "git status\rid", "git status\x0bid", "git status\x0cid", "git status\x85id", "git status\u2028id",
    "git status\u2029id", "git status\x00", "git\u00a0status", "gіt status", "git status id", "git status ''",
    "git status <<<x", "git status <(id)", "git status >(id)", "git status |& id", "git status &", "git status;",
    "git status !!", "git status # x", "git status $IFS", "git status {a,b}", "git statu?", "git [s]tatus",
    "git -c core.pager=id status", "git -c alias.status=!id status", "env git status", "sudo git status",
    "xargs git status", "command git status", "exec git status", "FOO=1 git status", "PATH=. git status",
    "./git status", "/tmp/git status", "~/git status", "'git' status", '"git" status', "g'i't status", "\\git status",
    "git \\\nstatus", "git status \\\nid", "( git status )", "{ git status; }", "! git status", "time git status",
    "git status 2>&3", "git status >x", "git status <x", "alias git=id; git status", "git status\n", "\ngit status",
]  # fmt: skip


@pytest.mark.parametrize("command", NOT_GIT_STATUS, ids=ascii)
def test_what_is_not_the_allowed_command(tmp_path, command):
    """A rule for one command allows that command, however another looks like it."""
    assert verdict("exec", command, allow=["exec(git status)"], workspace=tmp_path) == "ask"


NOT_ARGUMENTS = [
    "git log $(id)", "git log `id`", 'git log "$(id)"', 'git log "`id`"', "git log; id", "git log & id", "git log | id",
    "git log\nid", "git log > x", "git log {a,b}", "git log <(id)", "git log \\;id", "git log 'a'b", "git log 'a\\'",
    "git log $HOME", "git log !x", "git logx", "git log && id",
]  # fmt: skip


@pytest.mark.parametrize("command", NOT_ARGUMENTS, ids=ascii)
def test_a_star_is_words_and_nothing_else(tmp_path, command):
    """`*` stands for arguments: nothing that runs, redirects or changes by itself."""
    assert verdict("exec", command, allow=["exec(git log *)"], workspace=tmp_path) == "ask"


DISGUISES = [
    "git$IFS$9push", "git${IFS}push", "git$IFS$()push", "git${IFS%x}push", "git pu$()sh", "git pu``sh", "git pu$@sh",
    "git pu${x}sh", "git pu${x:-}sh", "git ${x:-push}", "git $x push", "$'\\x67it' push", "$'\\147it' push",
    "git >x push", "git 2>/dev/null push", "git <<<x push", "git < x push", "git >>x 2>&1 push", "git>x push",
    "gi\\\nt push", "git \\\n push", "{git,push}", "g''it pu\"s\"h", "GIT PUSH", "a\rgit push", "a|git push",
    "sh -c 'git push'", "env -i git push", "sudo -u root git push", "xargs -n1 git push", "git -C x --no-pager push",
    "/usr/bin/git push", "git\u00a0push", "git\x0bpush", "nohup git push &", "eval 'git push'", "<(git push)",
]  # fmt: skip


@pytest.mark.parametrize("command", DISGUISES, ids=ascii)
def test_a_denied_command_in_disguise(tmp_path, command):
    """What a shell would read as the command is the command."""
    assert verdict("exec", command, deny=["exec(git push)"], workspace=tmp_path, approval="full") == "deny"


@pytest.mark.parametrize("command", ["git status > push", "git status && echo done", "cat <push", "echo ${x} $y"])
def test_what_only_looks_denied(tmp_path, command):
    """Looking through disguises does not find what is not there."""
    assert verdict("exec", command, deny=["exec(git push)"], workspace=tmp_path, approval="full") == "allow"


LONG = {
    "words": "a " * 100_000, "variables": "${" * 100_000, "quotes": "$'" * 100_000, "digits": "1" * 200_000,
    "redirects": "<" * 100_000, "options": "git -x " * 50_000, "braces": "{," * 100_000, "separators": ";" * 200_000,
    "IFS": "${IFS" * 50_000,
}  # fmt: skip


@pytest.mark.parametrize("command", LONG.values(), ids=LONG)
def test_a_long_command_is_decided_soon(tmp_path, command):
    """The time grows with the command, not with its square."""
    policy = Policy(
        "edit", ["exec(git * push * x)", "exec(a *b*c*d)"], ["exec(git push)", "exec(git * x * y)"], tmp_path
    )
    began = time.process_time()
    policy.decide(Need("exec", command))
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("pattern", "host"),
    [
        ("127.0.0.1", "127.1"),
        ("127.0.0.1", "2130706433"),
        ("127.0.0.1", "0x7f000001"),
        ("127.0.0.1", "0177.0.0.1"),
        ("127.0.0.1", "[::ffff:127.0.0.1]"),
        ("::1", "[0:0:0:0:0:0:0:1]"),
        ("[::1]", "::0001"),
        ("example.com", "EXAMPLE.com."),
        ("example.com", "example。com"),
        ("bücher.example".encode("idna").decode(), "BÜCHER.example"),
    ],
)
def test_one_host_in_many_spellings(pattern, host):
    """Another spelling is the same host, for who denies and for who allows."""
    rule = parse_rule(f"network({pattern})")
    assert matches_host(rule, host)
    assert matches_host(rule, host, denies=True)


@pytest.mark.parametrize(
    "host", ["exаmple.com", "example.com.evil.org", "badexample.com", "xn--example-.com", "1.2.3.4"]
)
def test_another_host(host):
    """Looking alike is not being the same."""
    assert not matches_host(parse_rule("network(example.com)"), host)


@pytest.mark.parametrize(
    "host", ["user@example.com", "example.com/x", "example.com#", " example.com", "a\n", "", "*", "é" * 80]
)
def test_what_is_no_host(host):
    """It is allowed by no pattern, and denied by each: nobody can say where it leads."""
    rule = parse_rule("network(example.com)")
    assert not matches_host(rule, host)
    assert matches_host(rule, host, denies=True)


def test_a_denied_folder_is_denied_by_every_way_to_it(tmp_path):
    """A rule may name a link, and so may a call: what counts is where they lead."""
    work, secret = tmp_path / "work", tmp_path / "data" / "se*ret"
    work.mkdir()
    secret.mkdir(parents=True)
    (tmp_path / "link").symlink_to(secret)
    (work / "inside").symlink_to(tmp_path / "link")
    for rule in (f"read({tmp_path}/link/**)", "read(inside/)", f"read({tmp_path}/link/*.key)"):
        for way in (secret, tmp_path / "link", work / "inside", work / ".." / "link"):
            assert verdict("read", way / "a.key", deny=[rule], workspace=work, approval="full") == "deny"
        assert verdict("read", tmp_path / "data" / "other.key", deny=[rule], workspace=work, approval="full") == "allow"


def test_a_link_in_an_allow_rule_opens_nothing(tmp_path):
    """A link can be turned elsewhere by whoever works there; it allows only what it is called."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "link").symlink_to(tmp_path)
    assert verdict("write", tmp_path / "a", allow=["write(link/**)"], workspace=work) == "ask"
    assert verdict("write", work / "link" / "a", allow=["write(link/**)"], workspace=work) == "ask"


def test_a_loop_of_links(tmp_path):
    """It leads nowhere and breaks nothing."""
    (tmp_path / "loop").symlink_to("loop")
    for rule in ("read(loop/**)", "write(**/x)"):
        assert verdict("read", tmp_path / "loop" / "x", deny=[rule], workspace=tmp_path) in ("allow", "deny")


BAD_FILES = {
    "too big": b"a" * (2 * 1024 * 1024),
    "binary": bytes(range(256)) * 100,
    "deep": b"instructions = " + b"[" * 5000 + b"]" * 5000,
    "deep tables": b"instructions = " + b"{a=" * 3000 + b"1" + b"}" * 3000,
    "dates": b"instructions = 2020-01-01\n",
    "moments": b"[models]\ndefault = 2020-01-01T00:00:00Z\n",
    "no number": b"[retry]\nattempts = nan\n",
    "endless": b"[retry]\nbase_ms = inf\n",
    "a number too large": b"[models]\nmax_output = 1" + b"0" * 400,
    "an escape in a key": b'"\\u001b[2J" = 1\n',
    "a raw escape": b'instructions = "\x1b[2J"\n',
    "many sections": b"".join(b"[x%d]\n" % number for number in range(20_000)),
}


@pytest.mark.parametrize("data", BAD_FILES.values(), ids=BAD_FILES)
def test_files_that_are_no_settings(place, data):
    """Each is a mistake with a place, soon, and nothing of it drives a terminal."""
    place.say(place.user, data)
    began = time.process_time()
    mistake = place.mistakes()
    assert str(place.user) in mistake.message
    assert "\x1b" not in mistake.message + mistake.hint
    assert time.process_time() - began < 5


def _loop(file):
    file.symlink_to(file.name)


NO_FILES = {"a folder": lambda file: file.mkdir(), "a pipe": os.mkfifo, "a loop": _loop,
            "a device": lambda file: file.symlink_to("/dev/zero")}  # fmt: skip


@pytest.mark.parametrize("make", NO_FILES.values(), ids=NO_FILES)
def test_what_is_no_file(place, make):
    """Nothing waits for it or reads it for ever."""
    place.user.parent.mkdir()
    make(place.user)
    assert "cannot be read" in place.mistakes().message


SETTING = """
import sys
from pathlib import Path
from sightline.settings._edit import set_in_file
for number in range(20):
    set_in_file(Path(sys.argv[1]), ("models", "servers", f"s{sys.argv[2]}-{number}", "base_url"), "http://x")
"""


def test_many_programs_change_settings_at_once(tmp_path):
    """Each finds the others' changes in the file: none is lost, and nothing is left beside it."""
    file = tmp_path / "config" / "settings.toml"
    programs = [subprocess.Popen([sys.executable, "-c", SETTING, str(file), str(number)]) for number in range(3)]
    assert [program.wait(60) for program in programs] == [0, 0, 0]
    assert file.read_text().count("base_url") == 60
    assert os.listdir(file.parent) == ["settings.toml"]


def test_a_folder_nobody_may_write_to(tmp_path):
    """Changing a setting there is an error that says so; taking away what is not there makes no folder."""
    (tmp_path / "file").write_text("")
    with pytest.raises(SightlineError, match="cannot write"):
        set_in_file(tmp_path / "file" / "below" / "settings.toml", ("instructions",), "x")
    assert not unset_in_file(tmp_path / "none" / "settings.toml", ("instructions",))
    assert not (tmp_path / "none").exists()


def test_trust_goes_to_the_folder_and_not_to_its_name(tmp_path, monkeypatch):
    """A link to a trusted folder is trusted, one that was turned elsewhere is not, and no link lends trust."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "home"))
    good, bad, link = tmp_path / "good", tmp_path / "bad", tmp_path / "link"
    good.mkdir()
    bad.mkdir()
    link.symlink_to(good)
    assert trust(link) == good
    assert is_trusted(link)
    link.unlink()
    link.symlink_to(bad)
    assert not is_trusted(link)
    (bad / ".sightline").symlink_to(good)
    assert not is_trusted(bad)
    assert not is_trusted(good / ".." / "bad")


def test_a_list_of_trusted_folders_that_lies(tmp_path, monkeypatch):
    """Nothing in it can trust everything."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path))
    (tmp_path / "x").mkdir()
    for text in (
        '{"folders": ["/"]}',
        '{"folders": "/"}',
        '{"folders": [""]}',
        '{"folders": ["."]}',
        "[" * 100_000,
        "\xff",
    ):
        (tmp_path / "trusted.json").write_text(text, "latin-1")
        assert not is_trusted(tmp_path / "x")
