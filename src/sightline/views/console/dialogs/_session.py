"""Dialogs about the session itself: which one to open, leave it running, try again."""

from collections.abc import Sequence

import msgspec

from sightline.tty.components import Item
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.dialogs._dialog_frame import Dialog, Height, usual_height

_ATTACH, _NEW, _PICK = "attach:", "new", "pick"


class RunningSession(msgspec.Struct, frozen=True):
    """A session that can be attached to. `about`: what it is doing, `◌ working`, `◆ waits for you`."""

    id: str
    title: str = ""
    about: str = ""


class RunningDialog(Dialog):
    """Which session to open: one that works, or changed last, first. A user who types means a new one: it waits
    until the draft is empty."""

    yields_to_draft = True

    def __init__(
        self,
        sessions: Sequence[RunningSession],
        drawing: DrawingOptions,
        height: Height = usual_height,
        *,
        new_first: bool = False,
    ) -> None:
        super().__init__("Running here", drawing, height)
        items = [Item(f"{_ATTACH}{one.id}", f"Resume “{one.title or one.id}”", one.about) for one in sessions]
        items.insert(0 if new_first else len(items), Item(_NEW, "Start a new session"))
        items.append(Item(_PICK, "Another session…"))
        many = len(sessions) != 1
        text = f"{len(sessions)} sessions are open in this folder." if many else "A session is open in this folder."
        hints = [("select_confirm", "choose"), ("interrupt", "leave")]
        self.show(self.text(text), self.choices(items, self._chosen), hints=hints)

    def _chosen(self, value: str) -> None:
        attach = value.startswith(_ATTACH)
        self.finish(("attach", value.removeprefix(_ATTACH)) if attach else (value, ""))


class GoneDialog(Dialog):
    """Try again, or leave: the session did not start, or its host is gone."""

    def __init__(
        self, title: str, why: str, again: str, drawing: DrawingOptions, height: Height = usual_height
    ) -> None:
        super().__init__(title, drawing, height, role="warning")
        items = [Item("again", again, "the conversation and your draft are stored"), Item("leave", "Leave")]
        hints = [("select_confirm", "choose"), ("interrupt", "stay")]
        self.show(self.text(why) if why else None, self.choices(items, self.finish), hints=hints)


class LeavingDialog(Dialog):
    """`busy`: what is running, `the agent is working, 1 job is running`. `lasting`: it can be attached to later."""

    guarded = True

    def __init__(
        self, busy: str, drawing: DrawingOptions, height: Height = usual_height, *, lasting: bool = True
    ) -> None:
        super().__init__("Leave?", drawing, height, role="warning")
        items = [
            Item("keep", "Keep it running", "come back with: sightline attach"),
            Item("stop", "Stop it", "the conversation is stored"),
            Item("stay", "Stay"),
        ]
        if not lasting:
            items = [Item("stop", "Stop it", "it is not stored"), items[-1]]
        choices = self.choices(items, lambda value: self.finish(None if value == "stay" else value))
        about = self.text(f"{busy[:1].upper()}{busy[1:]}." if busy else "Something is still running.")
        self.show(about, choices, hints=[("select_confirm", "choose"), ("interrupt", "stay")])
