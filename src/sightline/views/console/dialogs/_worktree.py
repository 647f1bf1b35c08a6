"""What becomes of the worktree a session worked in: merged, committed, left for later, or removed."""

from sightline.tty.components import Diff, Item
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.dialogs._dialog_frame import Dialog, Height, Pane, usual_height


class WorktreeDialog(Dialog):
    """Answers with a `WorktreeEnd`; None: nothing is done. `changed`: in words; `diff`: of all that changed. `leaving`:
    the user is about to leave; else the session continues, and only some of it can be done."""

    guarded = True

    def __init__(
        self,
        name: str,
        branch: str,
        changed: str,
        diff: str,
        workspace: str,
        drawing: DrawingOptions,
        height: Height = usual_height,
        *,
        leaving: bool = True,
    ) -> None:
        super().__init__(f"Worktree {name}", drawing, height, role="warning" if leaving else "accent")
        then = "the worktree is removed then" if leaving else "the session continues in the worktree"
        items = [
            Item("merge", f"Merge into {workspace}", then),
            Item("branch", f"Commit them to {branch}", "the branch stays, the worktree is removed"),
            Item("leave", "Leave it for later", f"sightline --worktree {name}"),
            Item("remove", "Remove it", "the changes are stored as a patch, commits stay on the branch"),
        ]
        if not leaving:
            items[1:] = [Item("remove", "Leave and remove it", items[3].description), Item("close", "Close")]
        body = Pane(Diff(diff, theme=self.theme), drawing) if diff else None
        choices = self.choices(items, lambda value: self.finish(None if value == "close" else value))
        hints = [("select_confirm", "choose"), ("interrupt", "stay" if leaving else "close")]
        self.show(self.text(f"{changed[:1].upper()}{changed[1:]}."), body, choices, hints=hints)
