"""Which paths deny rules keep from every write, so that a sandbox can hold them."""

from pathlib import Path

import pytest

from sightline.settings import Policy, denied_paths


@pytest.mark.parametrize(
    ("rule", "denied"),
    [
        ("write(migrations/**)", ["migrations"]),
        ("write(migrations/)", ["migrations"]),
        ("write(a/b.txt)", ["a/b.txt"]),
        ("write(./a/**/**)", ["a"]),
        (r"write(a/\*.txt)", ["a/*.txt"]),
        ("write(later/**)", ["later"]),
        ("write(link/**)", ["migrations"]),
        ("write", [""]),
        ("write(**)", [""]),
        ("write(/**)", [""]),
        ("write(migrations)", []),
        ("write(migrations/*)", []),
        ("write(*/b.txt)", []),
        ("write(**/.env)", []),
        ("write(/elsewhere/**)", []),
        ("write(away/**)", []),
        ("read(migrations/**)", []),
        ("exec(rm)", []),
    ],
)
def test_what_a_rule_denies_whole(tmp_path: Path, rule: str, denied: list[str]) -> None:
    """A file, or a folder with all below; links followed; only what is in the workspace."""
    work = tmp_path / "work"
    (work / "migrations").mkdir(parents=True)
    (work / "link").symlink_to("migrations")
    (tmp_path / "beside").mkdir()
    (work / "away").symlink_to(tmp_path / "beside")
    policy = Policy("auto", ["write(migrations/**)"], [rule], work)
    assert denied_paths(policy, work) == [str(work / path) for path in denied]
