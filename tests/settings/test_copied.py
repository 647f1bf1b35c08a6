"""Rules that deny in a folder, for a copy of it at another path."""

import os
from pathlib import Path

import pytest

from sightline.settings import Policy, RuleMistake, denied_in_copy, parse_rule

from .test_policy import Need


@pytest.mark.parametrize(
    ("rule", "moved"),
    [
        ("read(/a/b/secret)", ["read(/copy/secret)"]),
        ("write(/a/b/)", ["write(/copy/**)"]),
        ("read(/a/b)", ["read(/copy)"]),
        ("read(/a/)", ["read(/copy/**)"]),
        ("read(/A/B/secret)", ["read(/copy/secret)"]),
        ("read(/*/b/secret)", ["read(/copy/secret)"]),
        ("read(/?/?/**)", ["read(/copy/**)"]),
        (r"read(/a/\b/x\*)", [r"read(/copy/x\*)"]),
        ("read(/**/secret)", ["read(/copy/**/secret)"]),
        ("read(/**/b/**/secret)", ["read(/copy/**/b/**/secret)", "read(/copy/**/secret)"]),
        ("read(/a/bc/secret)", []),
        ("read(/a)", []),
        ("read(/c/**)", []),
        ("read(secret)", []),
        ("read", []),
        ("network(example.org)", []),
        ("exec(rm *)", []),
        ("exec(cat /a/b/x)", ["exec(cat /copy/x)"]),
        ("exec(make) in /a/b/c", ["exec(make) in /copy/c"]),
        ("exec(make) in /a", ["exec(make) in /copy"]),
        ("exec(make) in /c", []),
        ("exec(make) in c", []),
    ],
)
def test_what_is_said_of_the_inside_is_said_of_the_copys_inside(rule: str, moved: list[str]) -> None:
    found = denied_in_copy([rule], "/a/b", "/copy")
    assert sorted(found) == sorted(moved)
    for each in found:
        parse_rule(each, denies=True)


def test_a_name_in_the_copys_path_is_no_pattern() -> None:
    (moved,) = denied_in_copy(["read(/a/b/secret)"], "/a/b", "/c*")
    assert moved == r"read(/c\*/secret)"


def test_a_link_to_the_folder_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the home folder is the link: `~` then has another spelling than the folder."""
    (tmp_path / "real" / "project").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    monkeypatch.setenv("HOME", str(tmp_path / "link"))
    folder = os.path.realpath(tmp_path / "real" / "project")
    for rule in (f"read({tmp_path}/link/project/secret)", "read(~/project/secret)"):
        assert denied_in_copy([rule], folder, "/copy") == ["read(/copy/secret)"], rule
    assert denied_in_copy(["exec(make) in ~/project"], folder, "/copy") == ["exec(make) in /copy"]
    assert denied_in_copy(["exec(cat ~/project/x)"], folder, "/copy") == ["exec(cat /copy/x)"]


@pytest.mark.parametrize("pattern", ["/w/**/x", "/**/w/x", "/w/*/x", "/**", "/W/", "/?/a/**/**/x", "/**/a/**"])
@pytest.mark.parametrize("inside", ["x", "a/x", "a/b/x", "a", "b/c", "w/x", "w/w/x"])
def test_a_file_and_its_copy_are_denied_alike(tmp_path: Path, pattern: str, inside: str) -> None:
    rule = f"read({pattern})"
    before = Policy("full", [], [rule], Path("/w"), resolve=str)
    after = Policy("full", [], denied_in_copy([rule], "/w", "/t"), Path("/t"), resolve=str)
    assert before.decide(Need("read", f"/w/{inside}")).verdict == after.decide(Need("read", f"/t/{inside}")).verdict


def test_what_is_no_rule_is_an_error() -> None:
    with pytest.raises(RuleMistake):
        denied_in_copy(["no such"], "/a", "/b")
