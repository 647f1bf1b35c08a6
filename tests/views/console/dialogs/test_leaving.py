"""Leaving while something goes on: what can be come back to, and what cannot."""

from sightline.views.console.dialogs import LeavingDialog
from tests.views.console.dialogs.support import Bench, drawing


def test_what_works_can_be_kept_running() -> None:
    """That is offered first."""
    shown = Bench(LeavingDialog("the agent is working", drawing()))
    assert "The agent is working." in shown.text()
    assert "Keep it running" in shown.text()
    assert shown.press("enter").answer == "keep"


def test_what_does_not_last_is_stopped_or_stayed_with() -> None:
    """A session that is gone afterwards is not offered to be come back to, nor is anything of it said to be kept."""
    shown = Bench(LeavingDialog("the agent is working", drawing(), lasting=False))
    assert "Keep it running" not in shown.text()
    assert "attach" not in shown.text()
    assert "the conversation is stored" not in shown.text()
    assert shown.press("enter").answer == "stop"
    assert Bench(LeavingDialog("", drawing(), lasting=False)).press("down", "enter").answer is None
