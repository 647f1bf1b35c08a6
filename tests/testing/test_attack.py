"""The corpus of attacks: its harness notices what works, and some of each point are tried in every run."""

import os
import sys
from pathlib import Path

import pytest

from sightline.testing.attack import Attack, Lab, corpus
from sightline.testing.attack._lab import Account

SIGHTLINE = Path(sys.executable).with_name("sightline")
ME = Account("root" if os.geteuid() == 0 else "user", os.geteuid(), os.getegid())
needs_bubblewrap = pytest.mark.needs("bubblewrap")


@pytest.fixture
def lab(tmp_path):
    lab = Lab(tmp_path, SIGHTLINE, ME, "bubblewrap", os.environ["PATH"])
    yield lab
    lab.close()


def test_an_attack_that_works_is_noticed(lab):
    """With no sandbox at all the plainest command gets out."""
    options = ("--approval", "full", "--set", "permissions.sandbox=false")
    calls = lab.commands(f"touch {lab.outside}/got", options=options)
    assert calls[0].exit_code == 0
    assert lab.written() == "written outside: got"


def test_a_refused_call_is_told_apart_from_one_that_ran(lab):
    """Nobody is there to be asked, so leaving the sandbox is refused."""
    calls = lab.commands("true", args={"sandbox": False})
    assert calls[0].refused


def first_forms() -> list[Attack]:
    """The first form of every attack."""
    found: dict[str, Attack] = {}
    for each in corpus():
        found.setdefault(each.name, each)
    return [each for each in found.values() if ME.name in each.users and "bubblewrap" in each.sandboxes]


@needs_bubblewrap
@pytest.mark.parametrize("attack", first_forms(), ids=lambda attack: attack.name)
def test_an_attack_does_not_work(lab, attack):
    """`make attack` tries all forms, as root and as a user, with bubblewrap and with Landlock."""
    assert attack.attempt(lab, attack.form) == ""


def test_forms_are_told_apart():
    """A form that is there twice would be counted twice."""
    names = [(each.name, each.form) for each in corpus()]
    assert len(names) == len(set(names))
