"""A review: its verdict, its summary, and its findings, one a row; and a finding when it is reported."""

from collections.abc import Sequence

from sightline.events import FindingFact, ReviewFact, ReviewFinding, call_ending
from sightline.text import clean_line, clean_text
from sightline.tty import Theme, truncate
from sightline.views._reviews import review_outcome
from sightline.views.console.shapes._shape import FactShape, ShapeBody, plural, wrapped

ROLES = {0: "error", 1: "warning", 2: "text"}
"""By priority; a nit is muted."""


class ReviewShape(FactShape[ReviewFact]):
    folded, unfolded = 12, 200

    @property
    def title(self) -> str:
        return clean_line(self._fact.target)

    @property
    def suffix(self) -> str:
        return review_outcome(self._fact, failed=self.call.is_error)

    def body(self, width: int) -> ShapeBody:
        """The findings with their texts unfolded, and in linear mode, where no list shows them."""
        theme, fact = self.drawing.theme, self._fact
        problem = clean_line(call_ending(self.call.details).problem)
        rows = [theme.style("error", row) for row in wrapped(problem, width)] if problem else []
        rows += _text_rows(fact.summary, width)
        for finding in fact.findings:
            rows.append(finding_row(finding, theme, width))
            if (self.drawing.unfolded or self.drawing.linear) and finding.body:
                rows += [f"   {row}" if row else "" for row in _text_rows(finding.body, width - 3)]
        for warning in fact.warnings:
            rows += [theme.style("warning", row) for row in wrapped(clean_line(warning), width)]
        if fact.left_out:
            rows.append(theme.style("muted", f"{plural(fact.left_out, 'file')} left out: a rule denies reading"))
        way = self.drawing.way_to("review") if fact.findings else ""
        last = [theme.style("muted", truncate(f"{way} steps through them", width))] if way else []
        room = self.room - len(last)
        if len(rows) > room:
            rows = [*rows[: room - 1], self.more(len(rows) - room + 1, "row", width)]
        return ShapeBody([*rows, *last])

    @property
    def most(self) -> int:
        return self.unfolded if self.drawing.linear else super().most


class FindingShape(FactShape[FindingFact]):
    folded, unfolded = 10, 60

    @property
    def title(self) -> str:
        return clean_line(f"P{self._fact.priority} {self._fact.place} {self._fact.title}".replace("  ", " "))

    @property
    def source(self) -> str:
        return f"{self.title}\n\n{self._fact.body}".rstrip()

    def body(self, width: int) -> ShapeBody:
        return self.text_rows(self._fact.body, width)


def finding_row(finding: ReviewFinding, theme: Theme, width: int) -> str:
    """`P0 src/app.py:12 what is wrong`, with a colour for what is urgent."""
    priority = theme.style(ROLES.get(finding.priority, "muted"), f"P{finding.priority}")
    place = f" {clean_line(finding.place)}" if finding.place else ""
    return truncate(f"{priority}{theme.style('muted', place)} {clean_line(finding.title)}", width)


def _text_rows(text: str, width: int) -> Sequence[str]:
    return [row for line in clean_text(text).split("\n") for row in wrapped(line, width)] if text else []
