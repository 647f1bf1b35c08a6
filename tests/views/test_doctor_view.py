"""`sightline doctor`: the line about the sandbox."""

import pytest

from sightline.exec import SandboxStatus
from sightline.views.plain import doctor
from sightline.views.plain._palette import PLAIN


@pytest.mark.parametrize(
    ("status", "shown"),
    [
        (SandboxStatus(kind="bubblewrap"), "✓ sandbox            bubblewrap\n"),
        (
            SandboxStatus(kind="landlock", why="bubblewrap is not installed", hint="install bubblewrap"),
            "✓ sandbox            landlock                     bubblewrap is not installed\n"
            "    hint: install bubblewrap\n",
        ),
        (
            SandboxStatus(kind="none", why="only Linux has one that is supported"),
            "✕ sandbox            none                         only Linux has one that is supported\n",
        ),
    ],
)
def test_doctor_says_which_sandbox_is_active_and_why_no_better_one(monkeypatch, status, shown):
    """One line after the providers, a hint where something can be done; no provider means exit code 1 as before."""

    async def no_providers() -> list[object]:
        return []

    monkeypatch.setattr(doctor, "survey", no_providers)
    monkeypatch.setattr(doctor, "sandbox_status", lambda: status)
    assert doctor.show_doctor(PLAIN) == (shown, 1)
