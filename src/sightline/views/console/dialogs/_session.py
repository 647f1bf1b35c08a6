"""What the user is asked about the session itself: which one, leave it running, try again."""

from collections.abc import Sequence

import msgspec

from sightline.tty.components import Item, SelectList, TextComponent
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.dialogs._dialog_frame import Dialog, Height, usual_height

_ATTACH, _NEW, _PICK = "attach:", "new", "pick"


class RunningSession(msgspec.Struct, frozen=True):
    """One to go back to. `about`: what it does, `◌ working`, `◆ waits for you`."""

    id: str
    title: str = ""
    about: str = ""


class RunningDialog(Dialog):
    """One that works, or changed last, comes first. Who writes means a new session: it waits until that is undone."""

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
        items = [
            Item(f"{_ATTACH}{session.id}", f"Resume “{session.title or session.id}”", session.about)
            for session in sessions
        ]
        new = [Item(_NEW, "Start a new session")]
        items = [*new, *items] if new_first else [*items, *new]
        items.append(Item(_PICK, "Another session…"))
        choices = SelectList(items, numbered=True, bindings=self.bindings, theme=self.theme)
        choices.on_select = self._chosen
        choices.on_cancel = self.cancel
        many = len(sessions) != 1
        text = f"{len(sessions)} sessions are open in this folder." if many else "A session is open in this folder."
        self.show(
            TextComponent(text, theme=self.theme), choices, hints=[("select_confirm", "choose"), ("interrupt", "leave")]
        )

    def _chosen(self, item: Item) -> None:
        attach = item.value.startswith(_ATTACH)
        self.finish(("attach", item.value.removeprefix(_ATTACH)) if attach else (item.value, ""))


class GoneDialog(Dialog):
    """Enter tries again: the session goes on where it was kept."""

    def __init__(
        self, title: str, why: str, again: str, drawing: DrawingOptions, height: Height = usual_height
    ) -> None:
        super().__init__(title, drawing, height, role="warning")
        items = [Item("again", again, "the conversation and your draft are stored"), Item("leave", "Leave")]
        choices = SelectList(items, numbered=True, bindings=self.bindings, theme=self.theme)
        choices.on_select = lambda item: self.finish(item.value)
        choices.on_cancel = self.cancel
        hints = [("select_confirm", "choose"), ("interrupt", "stay")]
        parts = (TextComponent(why, theme=self.theme), choices) if why else (choices,)
        self.show(*parts, hints=hints)


class LeavingDialog(Dialog):
    """`busy` says what is going on: `the agent is working, 1 job is running`. `lasting`: one could come back to it."""

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
        choices = SelectList(items, numbered=True, bindings=self.bindings, theme=self.theme)
        choices.on_select = lambda item: self.finish(None if item.value == "stay" else item.value)
        choices.on_cancel = self.cancel
        about = TextComponent(
            f"{busy[:1].upper()}{busy[1:]}." if busy else "Something is still running.", theme=self.theme
        )
        self.show(about, choices, hints=[("select_confirm", "choose"), ("interrupt", "stay")])
