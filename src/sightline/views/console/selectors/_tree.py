"""`/tree`: go on from another place of the conversation.

Choosing one of the person's messages goes to before it, with its words in the editor; choosing anything else goes
right behind it. What is left can be summarised first, where the settings say so.
"""

from sightline.host import Abort, CommandReply, MoveTo, Outline
from sightline.tty.components import Item
from sightline.views.console._desk import Desk
from sightline.views.console.selectors._panel import ChoicePanel, QuestionPanel, WaitingPanel
from sightline.views.console.selectors._tree_panel import PickedLine, TreePanel, TreeView
from sightline.views.console.selectors._tree_rows import TreeLine, outlined

_NO_SUMMARY, _SUMMARY, _CUSTOM = "none", "summary", "custom"
_CHOICES = (
    Item(_NO_SUMMARY, "No summary"),
    Item(_SUMMARY, "Summarize"),
    Item(_CUSTOM, "Summarize with custom prompt"),
)


async def open(desk: Desk, args: str) -> None:
    view = TreeView(search=args.strip())
    while (line := await _picked(desk, view)) is not None:
        if line.current:
            desk.report("Already at this point")
            return
        move = await _how(desk, line)
        if move is not None and await _moved(desk, move):
            return
        view.at = line.id


async def _picked(desk: Desk, view: TreeView) -> TreeLine | None:
    while True:
        reply = await desk.submit(Outline(view.filter, view.search))
        if not reply.ok:
            desk.report(reply.error, "error", reply.hint)
            return None
        picked: PickedLine | None = await desk.ask(TreePanel(desk, view, outlined(reply.data).lines))
        if picked is None or picked.line is not None:
            return None if picked is None else picked.line


async def _how(desk: Desk, line: TreeLine) -> MoveTo | None:
    """What to ask of the host; None: back to the tree."""
    if not desk.settings.branch_summary.enabled:
        return MoveTo(line.id)
    while True:
        choice = await desk.ask(ChoicePanel(desk, "Summarize the branch you leave?", _CHOICES, filter=False))
        if choice is None:
            return None
        if choice != _CUSTOM:
            return MoveTo(line.id, summarize=choice == _SUMMARY)
        words = await desk.ask(QuestionPanel(desk, "What should the summary be about?", confirm="summarize"))
        if words is not None:
            return MoveTo(line.id, summarize=True, instructions=words)


async def _moved(desk: Desk, move: MoveTo) -> bool:
    """Whether this is over; otherwise the person looks at the tree again, and nothing was moved."""
    if move.summarize:
        working = WaitingPanel(desk, "Summarizing the branch you leave…", move, Abort())
        reply = await working.answer()
        if not reply.ok:
            if not working.stopped:
                desk.report(reply.error, "error", reply.hint)
            return False
    else:
        reply = await desk.submit(move)
    _finish_move(desk, reply)
    return True


def _finish_move(desk: Desk, reply: CommandReply) -> None:
    if not reply.ok:
        desk.report(reply.error, "error", reply.hint)
        return
    done = reply.data if isinstance(reply.data, dict) else {}
    if not done.get("moved"):
        desk.report("Already at this point")
    elif prefill := str(done.get("prefill") or ""):
        # What was being written stays, behind the words that come back.
        desk.set_draft(f"{prefill}\n\n{desk.draft}" if desk.draft.strip() else prefill)
