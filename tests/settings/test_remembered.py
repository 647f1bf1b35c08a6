"""Rules that are remembered for a workspace: kept safely, and never a reason to fail."""

import multiprocessing
import stat

import pytest

from sightline.paths import data_folder
from sightline.settings import Policy, RuleMistake, forget_rule, remember_rule, remembered_rules
from sightline.settings.rules._remembered import MOST_RULES


class Need:
    access, what, sandboxed, exposed, where = "exec", "git push", False, (), ""


def the_file():
    (found,) = (data_folder() / "rules").glob("*.json")
    return found


def test_a_rule_is_remembered_for_its_workspace_alone(tmp_path):
    """And loaded into a policy it decides."""
    assert remember_rule(tmp_path, "exec(git push)") == ""
    assert remember_rule(tmp_path, "exec(git push)") == ""
    assert remember_rule(tmp_path, "exec(rm *)", "deny") == ""
    kept = remembered_rules(tmp_path)
    assert (kept.allow, kept.deny, kept.notices) == (("exec(git push)",), ("exec(rm *)",), ())
    assert Policy("auto", kept.allow, kept.deny, tmp_path).decide(Need()).verdict == "allow"
    assert remembered_rules(tmp_path / "other").allow == ()


def test_a_workspace_is_known_by_its_real_path(tmp_path):
    """Through a link it is the same one."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    remember_rule(tmp_path / "link", "exec(make)")
    assert remembered_rules(tmp_path / "real").allow == ("exec(make)",)


def test_the_file_is_for_its_owner_alone(tmp_path):
    """Readable and writable by nobody else."""
    remember_rule(tmp_path, "exec(make)")
    assert stat.S_IMODE(the_file().stat().st_mode) == 0o600


def test_a_rule_is_forgotten(tmp_path):
    """And it is known whether it was there."""
    remember_rule(tmp_path, "exec(make)")
    assert forget_rule(tmp_path, "exec(make)")
    assert not forget_rule(tmp_path, "exec(make)")
    assert remembered_rules(tmp_path).allow == ()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"workspace": 3}', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_file_is_a_notice_and_is_set_aside(tmp_path, content):
    """Its rules are lost, the session is not; what it held is kept for a look."""
    remember_rule(tmp_path, "exec(make)")
    the_file().write_bytes(content)
    kept = remembered_rules(tmp_path)
    assert (kept.allow, len(kept.notices)) == ((), 1)
    assert remember_rule(tmp_path, "exec(ls)") == ""
    assert remembered_rules(tmp_path).allow == ("exec(ls)",)
    assert the_file().with_suffix(".damaged").read_bytes() == content


def test_a_rule_that_cannot_be_read_costs_only_itself(tmp_path):
    """The others hold."""
    remember_rule(tmp_path, "exec(make)")
    the_file().write_text(the_file().read_text().replace('"exec(make)"', '"exec(make)", "exec(", "exec(* x)"'))
    kept = remembered_rules(tmp_path)
    assert kept.allow == ("exec(make)",)
    assert len(kept.notices) == 2


def test_a_file_of_another_workspace_is_not_used(tmp_path):
    """Should two ever share a name."""
    remember_rule(tmp_path, "exec(make)")
    the_file().write_text(the_file().read_text().replace(str(tmp_path), "/elsewhere"))
    assert remembered_rules(tmp_path).allow == ()


def test_what_cannot_be_kept_holds_for_the_session(tmp_path, monkeypatch):
    """A notice, no failure: the folder cannot be written to, or there are too many rules."""
    blocked = tmp_path / "blocked"
    blocked.touch()
    monkeypatch.setenv("SIGHTLINE_HOME", str(blocked))
    assert "for this session only" in remember_rule(tmp_path, "exec(make)")
    assert remembered_rules(tmp_path).allow == ()
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "home"))
    remember_rule(tmp_path, "exec(make)")
    many = ", ".join(f'"exec(a{number})"' for number in range(MOST_RULES))
    the_file().write_text(the_file().read_text().replace('"exec(make)"', many))
    assert "rules are remembered here already" in remember_rule(tmp_path, "exec(make)")


def test_no_rule_is_no_rule_to_remember(tmp_path):
    """A mistake of the person's is said at once."""
    with pytest.raises(RuleMistake):
        remember_rule(tmp_path, "exec(")


def _remember(folder, number):
    for count in range(5):
        remember_rule(folder, f"exec(a{number} b{count})")


def test_sessions_at_the_same_time_lose_no_rule(tmp_path):
    """Four processes, one file."""
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_remember, args=(tmp_path, number)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert len(remembered_rules(tmp_path).allow) == 20
