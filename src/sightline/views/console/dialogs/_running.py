"""Sessions run in this folder already. Answers `("attach", ID)`, `("new", "")`, `("pick", "")`, or None to leave."""

from collections.abc import Sequence

import msgspec

from sightline.tty.components import Item, SelectList, Text
from sightline.views.console._drawing import Drawing
from sightline.views.console.dialogs._dialog_frame import Dialog, Height, usual_height

_ATTACH, _NEW, _PICK = "attach:", "new", "pick"


class RunningSession(msgspec.Struct, frozen=True):
    """One to go back to. `about`: what it does, `working for 3 m`, `waits for you`."""

    id: str
    title: str = ""
    about: str = ""


class RunningDialog(Dialog):
    """The one that began last comes first."""

    def __init__(
        self,
        sessions: Sequence[RunningSession],
        drawing: Drawing,
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
        self.show(Text(text, theme=self.theme), choices, hints=[("select_confirm", "choose"), ("interrupt", "leave")])

    def _chosen(self, item: Item) -> None:
        attach = item.value.startswith(_ATTACH)
        self.finish(("attach", item.value.removeprefix(_ATTACH)) if attach else (item.value, ""))
