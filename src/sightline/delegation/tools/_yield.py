"""`yield`: how an agent hands back its result and ends its task. `report_finding`: one finding of a review."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from sightline.delegation._excerpt import excerpt
from sightline.delegation._member import Member, Yielded
from sightline.delegation._schema import problems
from sightline.events import FindingFact
from sightline.text import clean_line, clean_text, cut_graphemes
from sightline.tools import Outcome, Tool, ToolContext, ToolError

_FINDINGS_AT_MOST = 200
_TITLE_AT_MOST, _BODY_AT_MOST = 200, 4000  # characters
_LINE_AT_MOST = 2**31 - 1


class YieldParams(msgspec.Struct, frozen=True):
    result: Annotated[
        Any, Meta(description="What you found or did, complete: the agent that started you reads only this.")
    ] = None
    error: Annotated[str, Meta(description="Why the task could not be done; leave it out where it was.")] = ""


class YieldTool(Tool[YieldParams]):
    name = "yield"
    description = """\
Hand back the result of your task and end it. Call this exactly once, when you are done; nothing after it is read."""
    params = YieldParams
    exclusive = True

    def __init__(self, member: Member) -> None:
        self._member = member
        self._corrected = False

    def schema(self) -> dict[str, Any]:
        found = super().schema()
        schema = self._member.record.definition.output
        if schema is not None:
            found = {**found, "properties": {**found["properties"], "result": schema}}
        return found

    def preview(self, params: YieldParams) -> str:
        return clean_line(params.error) if params.error else ""

    async def execute(self, params: YieldParams, context: ToolContext) -> Outcome:
        schema = self._member.record.definition.output
        if params.error.strip():
            self._member.yielded = Yielded(text=_text(params.result), error=clean_text(params.error.strip()))
        elif schema is None:
            text = _text(params.result)
            if not text.strip():
                raise ToolError("`result` is empty. Say what you found or did, or give `error`.")
            self._member.yielded = Yielded(text=text)
        else:
            self._member.yielded = self._structured(params.result, schema)
        return Outcome(text="handed back", ends_run=True)

    def _structured(self, value: object, schema: dict[str, Any]) -> Yielded:
        value = _decoded(value)
        found = problems(value, schema)
        if not found:
            return Yielded(data=value)
        listed = "; ".join(found)
        if not self._corrected:
            self._corrected = True
            raise ToolError(f"the result does not fit its schema: {listed}. Correct it and call yield again.")
        return Yielded(text=_text(value), error=f"its result does not fit the schema: {listed}")


class FindingParams(msgspec.Struct, frozen=True):
    title: Annotated[str, Meta(description="What is wrong, in one line.")]
    body: Annotated[str, Meta(description="Why, and when it shows.")] = ""
    file: str = ""
    first_line: Annotated[int, Meta(ge=0, le=_LINE_AT_MOST)] = 0
    last_line: Annotated[int, Meta(ge=0, le=_LINE_AT_MOST)] = 0
    priority: Annotated[int, Meta(ge=0, le=3, description="0: must be fixed, 3: a nit.")] = 2
    confidence: Annotated[float, Meta(ge=0, le=1)] = 1.0


class ReportFindingTool(Tool[FindingParams]):
    name = "report_finding"
    description = "Report one finding of a review. Call it once for each, as you find them; then `yield` your verdict."
    params = FindingParams

    def __init__(self, member: Member) -> None:
        self._member = member

    def preview(self, params: FindingParams) -> str:
        return clean_line(params.title)

    async def execute(self, params: FindingParams, context: ToolContext) -> Outcome:
        if not params.title.strip():
            raise ToolError("`title` is empty.")
        if len(self._member.findings) >= _FINDINGS_AT_MOST:
            raise ToolError(f"{_FINDINGS_AT_MOST} findings were reported, which is the maximum: yield your verdict.")
        finding = FindingFact(
            title=cut_graphemes(clean_line(params.title.strip()), _TITLE_AT_MOST),
            body=excerpt(clean_text(params.body.strip()), _BODY_AT_MOST, f"history://{self._member.id}"),
            file=cut_graphemes(clean_line(params.file), _TITLE_AT_MOST),
            first_line=params.first_line,
            last_line=max(params.last_line, params.first_line),
            priority=params.priority,
            confidence=params.confidence,
        )
        self._member.findings.append(finding)
        return Outcome(text=f"finding {len(self._member.findings)} noted", details=finding.as_details())


def _text(value: object) -> str:
    if value is None:
        return ""
    return clean_text(value) if isinstance(value, str) else msgspec.json.format(msgspec.json.encode(value)).decode()


def _decoded(value: object) -> object:
    """Models write an object as its JSON text now and then."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.MsgspecError, RecursionError):
        return value
