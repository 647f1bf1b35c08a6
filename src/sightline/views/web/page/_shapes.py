"""What is drawn of a call besides its output: by the shape of its details, else of its arguments, never by its name.

Rules:

- A shape is given whole or not at all: what does not fit is None, and the call's output is shown instead.
- Everything is bounded here; `cut` says that something was left out, and the output or the download has it.
- `whole`: the shape has everything the output has, which is then shown only on request.
"""

import msgspec

from sightline import events
from sightline.text import clean_line, clean_text
from sightline.transcript import TranscriptCall
from sightline.views._reviews import finding_text, fix_heading, review_outcome

_MOST_STEPS = 50
_AGENT, _TASK, _PREVIEW = 24, 80, 120
_MOST_TEXT = 64 * 1024
_MOST_ROWS = 200
_MOST_COLUMNS = 20
_MOST_WRITTEN = 4000
_LONGEST_LINE = 500
_LONGEST_PROBLEM, _PROBLEM_LINES = 2000, 12

Shape = dict[str, object]


def shape_of(call: TranscriptCall) -> Shape | None:
    steps = events.delegation_from_details(call.details)
    if steps is not None:
        return {**_steps(steps), "whole": bool(steps.items)}
    shape = _shown(events.ui_fact(call.details), call)
    if shape is not None:
        return shape
    plan = events.delegation_from_args(call.args)
    if plan is not None:
        return _steps(plan)
    if call.written and call.args is None:
        return {"kind": "writing", "text": _last(call.written, _MOST_WRITTEN)}
    has_output = isinstance(call.details, dict) and "artifact" in call.details
    return None if has_output else _problem(call) or _content(call)


def _shown(fact: events.UiFact | None, call: TranscriptCall) -> Shape | None:
    match fact:
        case events.DiffFact():
            return _diff(fact, call)
        case events.TodoFact():
            return _todo(fact, call)
        case events.JobsFact():
            return _jobs(fact)
        case events.SearchFact() | events.FilesFact():
            return _found(fact, call)
        case events.QuestionFact():
            return _question(fact, call)
        case events.ImageFact():
            return _image(fact, call)
        case events.TableFact():
            return _table(fact)
        case events.MarkdownFact():
            text = fact.markdown or fact.displayed or call.content
            return {"kind": "markdown", **_text(text), "whole": True} if text else None
        case events.ReviewFact():
            return _review(fact, call)
        case events.FindingFact():
            return {"kind": "finding", **_finding(1, fact), "whole": True}
        case events.ReadFact() | events.ListingFact() | events.CodeFact():
            return _code(fact, call)
        case events.JsonFact():
            known = fact.data is not msgspec.UNSET
            return {"kind": "json", "value": fact.data, "whole": True} if known else _content(call)
    return None


def phases_of(plan: events.TodoState) -> list[Shape]:
    """The phases of a plan."""
    phases: dict[str, list[Shape]] = {}
    for task in plan.tasks[:_MOST_ROWS]:
        shown: Shape = {"text": _line(task.text), "status": task.status, "notes": []}
        phases.setdefault(_line(task.phase), []).append(shown)
    return [{"name": name, "tasks": tasks} for name, tasks in phases.items()]


def _steps(steps: events.Delegation) -> Shape:
    statuses = [item.status for item in steps.items]
    done, failed = statuses.count("ok"), statuses.count("error")
    errors = f" · {failed} err" if failed else ""
    live = any(statuses)
    items = [
        {
            "agent": _short(item.agent, _AGENT),
            "task": _short(item.task, _TASK),
            "status": item.status or "",
            "preview": _short(item.preview or "", _PREVIEW),
            "active": steps.active_id is not None and item.id == steps.active_id,
        }
        for item in steps.items[:_MOST_STEPS]
    ]
    suffix = f"{done} ok{errors} / {len(statuses)}" if live else ""
    return {"kind": "steps", "mode": steps.mode, "items": items, "total": len(statuses), "suffix": suffix}


def _diff(fact: events.DiffFact, call: TranscriptCall) -> Shape:
    counts = {name: count for name, count in (("added", fact.added), ("removed", fact.removed)) if count is not None}
    shape = {"kind": "diff", "path": _line(fact.path), "partial": fact.partial, **counts}
    # The diff of a change that was made is complete; of one that failed, the output has the reason.
    return {**shape, **_text(fact.diff), "whole": not call.is_error}


def _todo(fact: events.TodoFact, call: TranscriptCall) -> Shape:
    shown = [
        {"name": _line(phase.name), "tasks": [_task(task) for task in phase.tasks[:_MOST_ROWS]]}
        for phase in fact.phases[:_MOST_ROWS]
    ]
    tasks = [task for phase in fact.phases for task in phase.tasks]
    done = sum(task.status == "completed" for task in tasks)
    return {"kind": "todo", "phases": shown, "suffix": f"{done} of {len(tasks)} done", "whole": not call.is_error}


def _task(task: events.PhaseTask) -> Shape:
    notes = [clean_text(note)[:2000] for note in task.notes[:20]]
    return {"text": _line(task.content), "status": task.status, "notes": notes}


def _jobs(fact: events.JobsFact) -> Shape:
    rows = [
        {"id": _line(job.id), "label": _line(job.label), "status": job.status, "seconds": job.seconds}
        for job in fact.jobs[:_MOST_ROWS]
    ]
    return {"kind": "jobs", "jobs": rows, "whole": False}


def _code(fact: events.ReadFact | events.ListingFact | events.CodeFact, call: TranscriptCall) -> Shape | None:
    text = fact.displayed if fact.displayed is not None or not isinstance(fact, events.CodeFact) else fact.code
    if text is None or call.is_error:
        return None
    shape = {
        "kind": "code",
        "read": "" if isinstance(fact, events.CodeFact) else fact.KIND,
        "path": _line(fact.path),
        "first": fact.first_displayed,
        "suffix": _size_of(fact, text),
    }
    return {**shape, **_text(text), "whole": True}


def _size_of(fact: events.TextFact, text: str) -> str:
    if fact.entries is not None:
        return _count(fact.entries, "entry", "entries")
    if fact.total is not None:
        return _count(fact.total, "line", "lines")
    return _count(text.count("\n") + (not text.endswith("\n")), "line", "lines") if text else ""


def _found(fact: events.SearchFact | events.FilesFact, call: TranscriptCall) -> Shape | None:
    names = fact.files or [] if isinstance(fact, events.SearchFact) else fact.names
    text = fact.display_content if fact.display_content is not None else "\n".join([_line(name) for name in names])
    if not text or call.is_error:
        return None
    return {"kind": "found", "suffix": _found_words(fact), **_text(text), "whole": True}


def _found_words(fact: events.SearchFact | events.FilesFact) -> str:
    in_files = _count(fact.file_count, "file", "files") if fact.file_count is not None else ""
    if not isinstance(fact, events.SearchFact) or fact.match_count is None:
        return in_files
    found = _count(fact.match_count, "match", "matches")
    return f"{found} in {in_files}" if fact.file_count else found


def _question(fact: events.QuestionFact, call: TranscriptCall) -> Shape | None:
    if not fact.question or (fact.answers is None and fact.chosen is None):
        return None
    if fact.answers is not None:
        each = [one for one in fact.answers[:_MOST_ROWS] if one.replies]
        answers = [f"{_line(one.question)}: {clean_text(', '.join(one.replies))[:_MOST_TEXT]}" for one in each]
    else:
        answers = [clean_text(answer)[:_MOST_TEXT] for answer in fact.replies[:_MOST_ROWS]]
    question = clean_text(fact.question)[:_MOST_TEXT]
    titled = clean_line(question) == clean_line(call.arg)  # the row itself shows it
    return {"kind": "question", "question": "" if titled else question, "said": answers, "whole": True}


def _review(fact: events.ReviewFact, call: TranscriptCall) -> Shape:
    """With the prompt that has a finding fixed, in the words of the console."""
    return {
        "kind": "review",
        "review": call.id,
        "suffix": review_outcome(fact, failed=call.is_error),
        "problem": _line(events.call_ending(call.details).problem),
        "summary": clean_text(fact.summary[:_MOST_TEXT]),
        "findings": [_finding(number, each) for number, each in enumerate(fact.findings[:_MOST_ROWS], 1)],
        "notes": [*map(_line, fact.warnings[:20]), *([_left_out(fact.left_out)] if fact.left_out else [])],
        "fix": {name: fix_heading(_line(fact.target), several=name == "all") for name in ("one", "all")},
        "whole": True,
    }


def _finding(number: int, finding: events.ReviewFinding) -> Shape:
    return {
        "number": number,
        "priority": finding.priority,
        "title": _line(finding.title),
        "place": _line(finding.place),
        "path": _line(finding.file),
        "body": clean_text(finding.body[:_MOST_TEXT]),
        "diff": clean_text(finding.diff[:_MOST_TEXT]),
        "fix": clean_text(finding_text(finding)[:_MOST_TEXT]),
    }


def _left_out(count: int) -> str:
    return f"{_count(count, 'file', 'files')} left out: a rule denies reading"


def _image(fact: events.ImageFact, call: TranscriptCall) -> Shape | None:
    kind, _, ending = fact.media_type.partition("/")
    if kind != "image" or not ending.isalnum() or call.content is None:
        return None
    name = f"{call.id}-image0.{ending}"  # as the agent stores it
    return {"kind": "image", "name": name, "alt": _line(fact.path), "whole": False}


def _table(fact: events.TableFact) -> Shape | None:
    if fact.columns is None or not isinstance(fact.rows, list):
        return None
    cells = [[_cell(cell) for cell in row[:_MOST_COLUMNS]] for row in fact.rows[:_MOST_ROWS]]
    cut = len(fact.rows) > _MOST_ROWS or len(fact.columns) > _MOST_COLUMNS
    return {"kind": "table", "columns": [_line(c) for c in fact.columns[:_MOST_COLUMNS]], "rows": cells, "cut": cut}


def _problem(call: TranscriptCall) -> Shape | None:
    """Why a call failed that printed nothing: words for a reader, which a row of output would cut at the edge. Of a
    refused one, the reason: its content is for the model."""
    ending = events.call_ending(call.details)
    if ending.by:
        why = clean_text(ending.why_refused[:_LONGEST_PROBLEM])
        return {"kind": "problem", "text": why, "whole": True} if why else None
    text = (call.content or "").strip("\n")
    short = 0 < len(text) <= _LONGEST_PROBLEM and text.count("\n") < _PROBLEM_LINES
    if not call.is_error or call.received or not short or clean_text(text) != text:
        return None
    return {"kind": "problem", "text": text, "whole": True}


def _content(call: TranscriptCall) -> Shape | None:
    """A result that is JSON, of any tool."""
    text = (call.content or "").strip()
    if call.is_error or len(text) > _MOST_TEXT or text[:1] + text[-1:] not in ("{}", "[]"):
        return None
    try:
        return {"kind": "json", "value": msgspec.json.decode(text), "whole": True}
    except (msgspec.MsgspecError, RecursionError):
        return None


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _text(text: str) -> Shape:
    return {"text": clean_text(text[:_MOST_TEXT]), "cut": len(text) > _MOST_TEXT}


def _cell(value: object) -> str:
    return _line("" if value is None else value)


def _line(value: object) -> str:
    return clean_line(str(value if value is not None else "")[:_LONGEST_LINE])


def _short(text: str, most: int) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _last(text: str, most: int) -> str:
    return text if len(text) <= most else f"…{text[-most:]}"
