"""The findings of a review, to step through: each with its text and the lines around its place.

Enter answers with a prompt that has it fixed, for the editor: the user sends it. A finding that was dismissed stays in
the list, and is left out where all are fixed. No key of it is a letter: where it is shown above the editor, what is
typed goes there, and closes it.
"""

import asyncio

from sightline.host import DismissFinding
from sightline.text import clean_line, clean_text
from sightline.tty import CachedComponent, Input, Rows, Theme, truncate, wrap
from sightline.tty.components import Diff, Item, Markdown
from sightline.views._reviews import ShownFinding, ShownReview, fix_prompt, reviews_of
from sightline.views.console._desk import Desk
from sightline.views.console._external import edit_file, is_file_of_project
from sightline.views.console.selectors._panel import ChoicePanel, Panel
from sightline.views.console.shapes._review import ROLES

_LISTED = 6  # findings
_UNREQUESTED_ROWS = 14  # above the editor, at most; on a high screen half of it
_LOOKS_APART = 0.25  # seconds
_FIX_ALL, _DISMISS, _EDIT = "list_fix_all", "list_remove", "list_edit"
_BACK, _FURTHER = "select_page_up", "select_page_down"


class FindingsPanel(ChoicePanel):
    """Answers with the prompt. `unrequested`: the review has just ended, and the user may be doing something else."""

    def __init__(self, desk: Desk, review: ShownReview, *, unrequested: bool = False) -> None:
        self._review = review
        self._unrequested = self.guarded = self.yields_to_draft = unrequested
        self._detail = FindingDetail(desk.drawing.theme)
        super().__init__(
            desk,
            f"Review of {review.target}",
            (),
            filter=False,
            confirm="fix this",
            keys={_FIX_ALL: lambda item: self._fix_all(), _DISMISS: self._dismiss, _EDIT: self._edit},
        )
        self.list.on_select = lambda item: self.finish(self._prompt([self._finding(item)]))
        self.list.on_highlight = self._show
        self.body.children.append(self._detail)
        self._take(review)

    async def poll(self) -> None:
        """Follow what is dismissed, here or in another view. What was opened unrequested is not to be in the way of a
        request, or of what the user writes."""
        while not self.finished:
            await asyncio.sleep(_LOOKS_APART)
            review = review_of(self.desk, self._review.call)
            if review is None or (self._unrequested and (self.desk.state.requests or self.is_postponed)):
                self.finish(None)
            elif review != self._review:
                self._take(review)
                self.redraw()

    def render(self, width: int) -> Rows:
        room = self.room
        if self._unrequested:  # the editor is below it
            room = min(room, max(_UNREQUESTED_ROWS, self.desk.height // 2))
        count = len(self._review.findings)
        listed = min(count, _LISTED, max(room // 3, 1))
        self.list.set_max_rows(listed)
        self._detail.set_height(max(room - listed - (count > listed), 1))
        return Panel.render(self, width)

    def react(self, event: Input) -> bool:
        for action, step in ((_BACK, -1), (_FURTHER, 1)):
            if self.desk.bindings.matches(event, action):
                self._detail.scroll(step)
                self.redraw()
                return True
        return super().react(event)

    def _take(self, review: ShownReview) -> None:
        self._review = review
        count, left = len(review.findings), len(review.open)
        whole = review.fact.outcome if review.fact is not None else ""
        self.heading.set_note(f"{left} of {count} findings" if left < count else whole)
        self.set_items([_item(shown) for shown in review.findings])
        if self.list.highlighted is not None:
            self._show(self.list.highlighted)

    def _show(self, item: Item) -> None:
        shown = self._finding(item)
        self._detail.show(shown)
        dismiss = "restore" if shown.is_dismissed else "dismiss"
        self.offer(((_FIX_ALL, "fix all"), (_DISMISS, dismiss), (_EDIT, "edit"), (_FURTHER, "read on")))

    def _finding(self, item: Item) -> ShownFinding:
        return self._review.findings[int(item.value) - 1]

    def _prompt(self, shown: list[ShownFinding]) -> str:
        return fix_prompt(self._review.target, [each.finding for each in shown])

    def _fix_all(self) -> None:
        if self._review.open:
            self.finish(self._prompt(self._review.open))

    def _dismiss(self, item: Item) -> None:
        shown = self._finding(item)
        command = DismissFinding(self._review.call, shown.number, not shown.is_dismissed)

        async def send() -> None:
            reply = await self.desk.submit(command)
            if not reply.ok:
                self.heading.set_note(reply.error)
                self.redraw()

        self.desk.spawn(send())
        if not shown.is_dismissed and shown.number < len(self._review.findings):
            self.list.move(1)

    def _edit(self, item: Item) -> None:
        finding = self._finding(item).finding
        if not finding.file:
            self.heading.set_note("it names no file")
        elif is_file_of_project(finding.file, self.desk.cwd):
            edit_file(self.desk, finding.file, finding.first_line)
        else:
            self.heading.set_note("the place is in no file of this project")


class FindingDetail(CachedComponent):
    """All of one finding, as much of it as there are rows."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._shown: ShownFinding | None = None
        self._body, self._diff = Markdown(theme=theme), Diff(theme=theme)
        self._height, self._top, self._last_top = 1, 0, 0

    def show(self, shown: ShownFinding) -> None:
        if shown != self._shown:
            self._top = 0 if self._shown is None or self._shown.number != shown.number else self._top
            self._shown = shown
            finding = shown.finding
            self._body = Markdown(clean_text(finding.body), theme=self._theme)
            self._body.finish()
            self._diff = Diff(clean_text(finding.diff), path=clean_line(finding.file), theme=self._theme)
            self.invalidate()

    def set_height(self, rows: int) -> None:
        if rows != self._height:
            self._height = rows
            self.invalidate()

    def scroll(self, pages: int) -> None:
        self._top = min(max(self._top + pages * max(self._height - 2, 1), 0), self._last_top)
        self.invalidate()

    def _draw(self, width: int) -> list[str]:
        rows = [] if self._shown is None else self._all(self._shown, max(width, 1))
        self._last_top = max(len(rows) - self._height, 0)
        self._top = min(self._top, self._last_top)
        shown = rows[self._top : self._top + self._height]
        left = len(rows) - self._top - len(shown)
        if left:
            shown[-1] = self._theme.style("dim", truncate(f"… {left + 1} more rows", width))
        return shown

    def _all(self, shown: ShownFinding, width: int) -> list[str]:
        finding, style = shown.finding, self._theme.style
        sure = f"{finding.confidence:.0%} sure" if finding.confidence < 1 else ""  # 1 is also what was not named
        facts = [f"P{finding.priority}", clean_line(finding.place), sure]
        facts += ["dismissed"] if shown.is_dismissed else []
        title = [style("strong", row) for row in wrap(clean_line(finding.title), width)]
        rows = [style("muted", truncate(" · ".join(fact for fact in facts if fact), width)), *title]
        rows += ["", *self._body.render(width)] if finding.body else []
        rows += ["", *self._diff.render(width)] if finding.diff else []
        return ["", *rows]


def review_of(desk: Desk, call: str) -> ShownReview | None:
    return next((review for review in reviews_of(desk.state) if review.call == call), None)


def finding_label(shown: ShownFinding) -> str:
    return f"P{shown.finding.priority} {clean_line(shown.finding.title)}"


def _item(shown: ShownFinding) -> Item:
    place = clean_line(shown.finding.place)
    about = f"dismissed · {place}" if shown.is_dismissed else place
    role = "dim" if shown.is_dismissed else ROLES.get(shown.finding.priority, "muted")
    return Item(str(shown.number), finding_label(shown), about.removesuffix(" · "), role=role)
