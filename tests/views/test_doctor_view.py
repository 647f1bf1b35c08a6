"""`sightline doctor`: our own agent, and what it works with."""

from pathlib import Path

import pytest

from sightline.exec import SandboxStatus, gateway
from sightline.providers import ProviderStatus
from sightline.views.plain._palette import PLAIN
from sightline.views.plain.commands import doctor


@pytest.fixture
def alone(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No provider, and nobody else's model server."""

    async def no_providers() -> list[object]:
        return []

    monkeypatch.setenv("SIGHTLINE_MODELS_DISCOVER", "false")
    monkeypatch.setattr(doctor, "survey", no_providers)
    monkeypatch.setattr(doctor, "ripgrep", lambda: "/bin/rg")


@pytest.mark.parametrize(
    ("status", "shown"),
    [
        (SandboxStatus(kind="bubblewrap"), "✓ sandbox            bubblewrap                   network by host\n"),
        (
            SandboxStatus(kind="landlock", why="bubblewrap is not installed", hint="install bubblewrap"),
            "✓ sandbox            landlock                     bubblewrap is not installed\n"
            "    hint: install bubblewrap\n",
        ),
        (
            SandboxStatus(kind="none", why="it is supported only on Linux"),
            "✕ sandbox            none                         it is supported only on Linux\n",
        ),
    ],
)
def test_doctor_says_which_sandbox_is_active_and_why_no_better_one(monkeypatch, tmp_path, alone, status, shown):
    """One line after the providers, a hint where something can be done; nothing that can be used is exit code 1."""
    monkeypatch.setattr(doctor, "sandbox_status", lambda: status)
    monkeypatch.setattr(gateway, "gateway_problem", lambda: "")
    text, code = doctor.show_doctor(tmp_path, {}, PLAIN)
    assert text.startswith("✕ Sightline          there is no model to work with\n    hint: set ANTHROPIC_API_KEY")
    assert text.split("\n", 2)[2] == f"{shown}✓ ripgrep            /bin/rg\n"
    assert code == 1


def test_doctor_says_which_model_our_own_agent_would_use(monkeypatch, tmp_path, alone):
    """In the first line, with what it was found by; then something can be used, without any provider."""
    monkeypatch.setattr(doctor, "ripgrep", lambda: None)
    text, code = doctor.show_doctor(tmp_path, {"OPENAI_API_KEY": "k"}, PLAIN)
    first, *_, missing, hint, end = text.split("\n")
    assert first.startswith("✓ Sightline          openai/")
    assert first.endswith("found by OPENAI_API_KEY")
    assert (missing, hint) == (
        "✕ ripgrep            not found",
        "    hint: install ripgrep: searching is slower without it",
    )
    assert (end, code) == ("", 0)


def test_doctor_tells_a_mistake_in_the_settings_as_what_is_missing(monkeypatch, tmp_path, alone):
    """It says what is wrong instead of failing itself."""
    monkeypatch.setenv("SIGHTLINE_MODELS_DISCOVER", "perhaps")
    text, code = doctor.show_doctor(tmp_path, {}, PLAIN)
    assert text.startswith("✕ Sightline          ")
    assert "SIGHTLINE_MODELS_DISCOVER" in text
    assert code == 1


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_doctor_breaks_lines_between_words(monkeypatch, tmp_path, alone, columns):
    """At any width: no word is cut, none is lost, and what follows stands below what it belongs to."""
    why = "bubblewrap is installed but this kernel does not let an ordinary user make a namespace of their own"
    hint = "let users make namespaces: sysctl -w kernel.unprivileged_userns_clone=1 as root, again after a reboot"
    monkeypatch.setattr(doctor, "sandbox_status", lambda: SandboxStatus(kind="landlock", why=why, hint=hint))
    wide, _ = doctor.show_doctor(tmp_path, {}, PLAIN)
    narrow, _ = doctor.show_doctor(tmp_path, {}, PLAIN, columns)
    assert narrow.split() == wide.split()
    rows = narrow.splitlines()
    assert max(map(len, rows)) <= columns
    below = rows[rows.index(next(row for row in rows if "sandbox" in row)) + 1 :]
    assert below[0].startswith(" " * 21)
    assert any(row.startswith("    hint: let users") for row in below)


def test_an_agent_that_is_not_installed_is_no_failure(monkeypatch, tmp_path, alone):
    """It is not there, and how to install it is said; one that does not work is marked."""

    async def some() -> list[ProviderStatus]:
        gone = ProviderStatus(name="claude", title="Claude Code", problem="not installed", hint="install", missing=True)
        return [gone, ProviderStatus(name="codex", title="Codex", problem="`codex --version` does not work")]

    monkeypatch.setattr(doctor, "survey", some)
    _, _, first, _, second, *_ = doctor.show_doctor(tmp_path, {}, PLAIN)[0].split("\n")
    assert first == "– claude             not installed"
    assert second.startswith("✕ codex ")


def test_doctor_names_and_removes_what_killed_sessions_left(monkeypatch, tmp_path, alone):
    """Each with its changes stored; what cannot be removed says why, is exit code 1, and stays listed."""
    from sightline.working_copies import _records, open_copy

    work = tmp_path / "work"
    work.mkdir()
    assert "working copies" not in doctor.show_doctor(tmp_path, {}, PLAIN)[0]
    assert doctor.show_removed_leftovers(PLAIN) == ("✓ working copies     none left by killed sessions\n", 0)
    copies = [open_copy(work, tmp_path / "agents" / name, name, "copy") for name in ("one", "two")]
    (copies[0].cwd / "new").write_text("x\n")
    monkeypatch.setattr(_records, "process", lambda pid: None)
    assert "✕ working copies     2 left by killed sessions: copy of " in doctor.show_doctor(tmp_path, {}, PLAIN)[0]
    text, code = doctor.show_removed_leftovers(PLAIN)
    patch = copies[0].record.patch
    assert sorted(text.splitlines()) == [
        f"✓ working copies     copy of {work} removed: changes stored in {patch}",
        f"✓ working copies     copy of {work} removed: it had no changes",
    ]
    assert (code, "+x" in patch.read_text()) == (0, True)
    broken = open_copy(work, tmp_path / "agents" / "three", "three", "copy")
    (broken.record.parts / "manifest").write_bytes(b"torn")
    text, code = doctor.show_removed_leftovers(PLAIN)
    assert text.startswith(f"✕ working copies     copy of {work} is still there: ")
    assert code == 1
    shown, _ = doctor.show_doctor(tmp_path, {}, PLAIN)
    assert f"✕ working copies     1 left by a killed session: copy of {work}\n    hint: run `sightline doctor" in shown
