"""What may be done: levels, path and host rules, places that are guarded, and whose word counts more."""

import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.settings import Policy, allows_alone
from sightline.settings.rules._rules import matches_path, parse_rule, suggest


class Need(msgspec.Struct, frozen=True):
    access: str
    what: str
    sandboxed: bool = False
    exposed: tuple[str, ...] = ()
    where: str = ""


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def verdict(policy, access, what, *, sandboxed=False):
    return policy.decide(Need(access, str(what), sandboxed)).verdict


LEVELS = {
    # what: plan, edit, auto, full
    "read inside": ("read", "{work}/a", False, ["allow", "allow", "allow", "allow"]),
    "read outside": ("read", "/etc/passwd", False, ["ask", "ask", "ask", "allow"]),
    "write inside": ("write", "{work}/a", False, ["deny", "allow", "allow", "allow"]),
    "write outside": ("write", "/etc/passwd", False, ["deny", "ask", "ask", "allow"]),
    "write to a sibling with a like name": ("write", "{work}er/a", False, ["deny", "ask", "ask", "allow"]),
    "write by dots": ("write", "{work}/../a", False, ["deny", "ask", "ask", "allow"]),
    "command in the sandbox": ("exec", "make", True, ["deny", "ask", "allow", "allow"]),
    "command outside the sandbox": ("exec", "make", False, ["deny", "ask", "ask", "allow"]),
    "network": ("network", "example.org", False, ["ask", "ask", "ask", "allow"]),
    "git hook": ("write", "{work}/.git/hooks/pre-commit", False, ["deny", "ask", "ask", "allow"]),
    "git config of a submodule": ("write", "{work}/sub/.git/config", False, ["deny", "ask", "ask", "allow"]),
    "git file of a worktree": ("write", "{work}/.git", False, ["deny", "ask", "ask", "allow"]),
    "git folder in other letters": ("write", "{work}/.GIT/config", False, ["deny", "ask", "ask", "allow"]),
    "project settings": ("write", "{work}/.sightline/settings.toml", False, ["deny", "ask", "ask", "allow"]),
    "a name that begins like git's": ("write", "{work}/.gitignore", False, ["deny", "allow", "allow", "allow"]),
}


@pytest.mark.parametrize(("access", "what", "sandboxed", "expected"), LEVELS.values(), ids=LEVELS)
def test_levels(workspace, access, what, sandboxed, expected):
    """What each approval level allows by itself, asks about, or forbids."""
    what = what.format(work=workspace)
    got = [
        verdict(Policy(level, [], [], workspace), access, what, sandboxed=sandboxed)
        for level in ("plan", "edit", "auto", "full")
    ]
    assert got == expected


def test_our_own_files_are_asked_about_even_inside_the_workspace(workspace, monkeypatch):
    """A workspace that contains our files does not open them."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(workspace / "kept"))
    policy = Policy("auto", [], [], workspace)
    assert verdict(policy, "write", workspace / "kept" / "trusted.json") == "ask"
    assert verdict(policy, "write", workspace / "other") == "allow"


def test_a_link_counts_as_where_it_leads(workspace, tmp_path):
    """Inside by name and outside in truth is outside; a deny rule sees both."""
    (workspace / "link").symlink_to(tmp_path / "outside")
    policy = Policy("auto", ["write(link/**)"], [], workspace)
    assert verdict(policy, "write", workspace / "link" / "x") == "ask"
    assert policy.decide(Need("write", str(workspace / "link/x"))).suggestion == f"write({tmp_path}/outside/x)"
    for rule in ("write(link/**)", f"write({tmp_path}/outside/**)"):
        assert verdict(Policy("full", [], [rule], workspace), "write", workspace / "link" / "x") == "deny"


def test_a_workspace_reached_through_a_link_is_the_same_workspace(workspace, tmp_path):
    """Relative patterns and being inside mean the real folder."""
    (tmp_path / "alias").symlink_to(workspace)
    policy = Policy("edit", ["exec(make)"], ["write(secret)"], tmp_path / "alias")
    assert verdict(policy, "write", workspace / "a") == "allow"
    assert verdict(policy, "write", tmp_path / "alias" / "secret") == "deny"


def test_deny_wins_over_allow_and_over_full(workspace):
    """Whatever else allows it."""
    policy = Policy("full", ["exec", "exec(git push)"], ["exec(git push *)"], workspace)
    decision = policy.decide(Need("exec", "cd x && git push origin"))
    assert (decision.verdict, decision.rule) == ("deny", "exec(git push *)")
    assert verdict(policy, "exec", "git pull") == "allow"


def test_plan_writes_nothing_whatever_the_rules_say(workspace):
    """Plan is a promise: only deny rules change it. What is only read may be allowed by rule."""
    policy = Policy("plan", ["write", "exec", "read", "network(example.org)"], [], workspace)
    assert policy.decide(Need("exec", "ls", True)).rule == "approval plan"
    assert verdict(policy, "write", workspace / "a") == "deny"
    assert verdict(policy, "read", "/etc/passwd") == "allow"
    assert verdict(policy, "network", "example.org") == "allow"


WHYS = {
    "read outside": ("read", "/etc/passwd", False, "outside this folder"),
    "write outside": ("write", "/etc/passwd", False, "outside this folder"),
    "git hook": ("write", "{work}/.git/hooks/pre-commit", False, "git, editors and shells run by themselves"),
    "command in the sandbox": ("exec", "make", True, "approval level edit asks before every command"),
    "command outside the sandbox": ("exec", "make", False, ""),
    "network": ("network", "example.org", False, ""),
}


@pytest.mark.parametrize(("access", "what", "sandboxed", "why"), WHYS.values(), ids=WHYS)
def test_what_is_asked_says_what_the_level_minds(workspace, access, what, sandboxed, why):
    """Where the question itself does not say it."""
    decision = Policy("edit", [], [], workspace).decide(Need(access, what.format(work=workspace), sandboxed))
    assert decision.verdict == "ask"
    assert why in decision.why
    assert bool(decision.why) == bool(why)


@pytest.mark.parametrize(
    ("rule", "access", "what", "enough"),
    [
        ("exec(touch *)", "exec", "touch a", True),
        ("exec(touch *)", "exec", "touch a && echo ok", False),
        ("exec(touch *)", "write", "/etc/x", False),
        ("write(docs/**)", "write", "{work}/docs/a", True),
        ("write(docs/**)", "write", "{work}/a", False),
        ("network(*.org)", "network", "example.org", True),
        ("network(example.com)", "network", "example.org", False),
    ],
)
def test_whether_one_rule_is_enough(workspace, rule, access, what, enough):
    """Without any other, and without what a level allows by itself."""
    assert allows_alone(rule, access, what.format(work=workspace), workspace) is enough


def test_the_suggestion_passes_it(workspace):
    """Allowing what is suggested is enough, and allows nothing beside it."""
    policy = Policy("auto", [], [], workspace)
    for access, what, other in [
        ("exec", "git push origin", "git push"),
        ("network", "example.org", "www.example.org"),
        ("write", "/etc/a*b", "/etc/axb"),
        ("read", "/etc/[x]?(1)", "/etc/[x]y(1)"),
    ]:
        decision = policy.decide(Need(access, what))
        assert decision.verdict == "ask"
        more = policy.with_allowed(decision.suggestion)
        assert more.decide(Need(access, what)) == more.decide(Need(access, what))
        assert verdict(more, access, what) == "allow"
        assert verdict(more, access, other) == "ask"
        assert verdict(policy, access, what) == "ask"


@given(st.text(alphabet="ab/*?\\()[]. é\n", min_size=1, max_size=12))
def test_a_suggested_path_rule_is_about_that_path_alone(name):
    """Stars and backslashes in a file's name mean themselves."""
    path = os.path.normpath(f"/x/{name}")
    rule = parse_rule(suggest("write", path))
    places = {"workspace": "/w", "home": "/h"}
    assert matches_path(rule, path, **places)
    if rule.pattern:
        assert not matches_path(rule, path + "z", **places)
        assert not matches_path(rule, path.replace("*", "q").replace("?", "q"), **places) or not {"*", "?"} & set(path)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("src/**", "/w/src", True),
        ("src/**", "/w/src/a/b", True),
        ("src/**", "/w/srcs/a", False),
        ("src/", "/w/src/a", True),
        ("src", "/w/src/a", False),
        ("src/*", "/w/src/a", True),
        ("src/*", "/w/src/a/b", False),
        ("./src/a", "/w/src/a", True),
        ("**", "/w/a/b", True),
        ("**", "/v/a", False),
        ("**/.env", "/w/.env", True),
        ("**/.env", "/w/a/b/.env", True),
        ("**/.env", "/w/a/x.env", False),
        ("/**/.env", "/other/.env", True),
        ("*.py", "/w/a.py", True),
        ("*.py", "/w/b/a.py", False),
        ("a?c", "/w/abc", True),
        ("a?c", "/w/a/c", False),
        ("~/notes/*", "/h/notes/x", True),
        ("~", "/h", True),
        ("~user/x", "/w/~user/x", True),
        ("/etc/**", "/etc/a", True),
        ("/", "/anything", True),
        ("/**", "/", True),
        (".", "/w", True),
        ("a.b", "/w/aXb", False),
        ("SRC/a", "/w/src/a", False),
    ],
)
def test_path_patterns(pattern, path, expected):
    """Relative to the workspace, below home, absolute; stars within a name and across folders."""
    assert matches_path(parse_rule(f"read({pattern})"), path, workspace="/w", home="/h") is expected


def test_a_deny_rule_does_not_look_at_case():
    """On some disks `.ENV` is `.env`."""
    assert matches_path(parse_rule("read(**/.env)"), "/w/.ENV", workspace="/w", home="/h", denies=True)


@pytest.mark.parametrize(
    ("pattern", "host", "expected"),
    [
        ("docs.python.org", "docs.python.org", True),
        ("docs.python.org", "DOCS.python.org.", True),
        ("docs.python.org", "docs.python.org:443", True),
        ("docs.python.org:443", "docs.python.org:443", True),
        ("docs.python.org:443", "docs.python.org:80", False),
        ("docs.python.org:443", "docs.python.org", False),
        ("docs.python.org", "docs-python.org", False),
        ("docs.python.org", "docs.python.org.evil.example", False),
        ("docs.python.org", "docs.python.org@evil.example", False),
        ("docs.python.org", "evil.example/docs.python.org", False),
        ("*.python.org", "a.b.python.org", True),
        ("*.python.org", "python.org", False),
        ("*.python.org", "evilpython.org", False),
        ("127.0.0.1", "127.0.0.1:8080", True),
        ("::1", "[::1]:80", True),
        ("[::1]", "::1", True),
        ("xn--bcher-kva.example", "bücher.example", True),
        ("*", "a b", False),
        ("*", "", False),
    ],
)
def test_host_patterns(workspace, pattern, host, expected):
    """A star spans dots, case and a last dot do not matter, and nothing that is no host fits."""
    policy = Policy("auto", [f"network({pattern})"], [], workspace)
    assert verdict(policy, "network", host) == ("allow" if expected else "ask")


def test_a_class_alone_is_everything_of_it(workspace):
    """And of nothing else."""
    policy = Policy("edit", ["exec"], [], workspace)
    assert verdict(policy, "exec", "a > b; $(c)") == "allow"
    assert verdict(policy, "network", "example.org") == "ask"
    assert verdict(Policy("full", [], ["network"], Path("/")), "network", "x") == "deny"
