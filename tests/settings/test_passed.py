"""Variables that a rule or a setting passes to commands: how they are named, and who may name them."""

from pathlib import Path

import msgspec
import pytest

from sightline.exceptions import UserMistake
from sightline.settings import Policy, load
from sightline.settings.editing import trust
from sightline.settings.rules._rules import parse_rule


class Need(msgspec.Struct, frozen=True):
    what: str
    access: str = "exec"
    sandboxed: bool = False
    exposed: tuple[str, ...] = ()
    where: str = ""


@pytest.mark.parametrize(
    ("text", "passed", "written"),
    [
        ("exec(gh pr create *) with GITHUB_TOKEN", ("GITHUB_TOKEN",), ""),
        ("exec(aws s3 *) with AWS_*,HTTPS_PROXY", ("AWS_*", "HTTPS_PROXY"), ""),
        ("exec(aws s3 *) with AWS_* , HTTPS_PROXY", ("AWS_*", "HTTPS_PROXY"), "exec(aws s3 *) with AWS_*,HTTPS_PROXY"),
        ("exec(make) sandboxed with TOKEN in sub/folder", ("TOKEN",), ""),
        ("exec(make with care)", (), ""),
        ("exec with TOKEN", ("TOKEN",), ""),
    ],
)
def test_a_rule_names_variables_behind_its_pattern(text: str, passed: tuple[str, ...], written: str) -> None:
    """Separated by commas; it is written back as it means."""
    rule = parse_rule(text)
    assert rule.passed == passed
    assert str(rule) == (written or text)
    assert parse_rule(str(rule)) == rule


@pytest.mark.parametrize(
    "text",
    [
        "exec(make) with",
        "exec(make) with *",
        "exec(make) with A-B",
        "exec(make) with $A",
        "exec(make) with github token",
        "read(a) with TOKEN",
    ],
)
def test_what_is_no_name_is_a_mistake(text: str) -> None:
    """A star alone would pass everything."""
    with pytest.raises(UserMistake):
        parse_rule(text)


def test_a_rule_that_denies_passes_nothing() -> None:
    """It would read like one that allows."""
    with pytest.raises(UserMistake):
        parse_rule("exec(make) with TOKEN", denies=True)


@pytest.mark.parametrize(
    ("command", "passed"),
    [
        ("gh pr create --fill", ("GITHUB_TOKEN",)),
        ("gh pr create --fill && gh pr view 1", ("GITHUB_TOKEN",)),
        ("gh pr create --fill && make", ()),
        ("make; gh pr create", ()),
        ("gh pr create $(make)", ()),
        ("gh pr create > out", ()),
        ("gh repo delete", ()),
    ],
)
def test_all_of_a_line_must_be_allowed_by_rules_that_pass_a_variable(
    tmp_path: Path, command: str, passed: tuple[str, ...]
) -> None:
    """Or a part of it gets what was meant for another."""
    rules = [
        "exec(gh pr create *) with GITHUB_TOKEN",
        "exec(gh pr view *) with GITHUB_TOKEN,OTHER",
        "exec(make)",
        "exec",
    ]
    policy = Policy("auto", rules, [], tmp_path, guarded=())
    assert policy.passed(Need(command)) == passed  # type: ignore[arg-type]


def test_a_rule_for_the_sandbox_passes_nothing_outside_it(tmp_path: Path) -> None:
    """It was not given for that."""
    policy = Policy("auto", ["exec(make) sandboxed with TOKEN"], [], tmp_path, guarded=())
    assert policy.passed(Need("make", sandboxed=True)) == ("TOKEN",)  # type: ignore[arg-type]
    assert policy.passed(Need("make")) == ()  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["*", "A B", "$TOKEN", "1A", "A=b"])
def test_a_setting_that_names_no_variable_is_a_mistake(tmp_path: Path, name: str) -> None:
    """With its place, as every other."""
    with pytest.raises(UserMistake, match="not the name of a variable"):
        load(tmp_path, flags={"permissions.pass_env": name}, environ={"SIGHTLINE_HOME": str(tmp_path)})


def test_a_project_names_variables_only_when_its_folder_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a folder would have what it brings read the person's tokens."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    project = tmp_path / "project"
    (project / ".sightline").mkdir(parents=True)
    (project / ".sightline" / "settings.toml").write_text('[permissions]\npass_env = ["GITHUB_TOKEN"]\n')
    assert load(project).settings.permissions.pass_env == []
    trust(project)
    assert load(project).settings.permissions.pass_env == ["GITHUB_TOKEN"]
