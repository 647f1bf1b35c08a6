"""What is drawn of a call besides its output: by the shape of its details, else of its arguments, never by its name.

Rules:

- A shape is given whole or not at all: what does not fit is None, and the call's output is shown instead.
- Everything is bounded here; `cut` says that something was left out, and the output or the download has it.
- `whole`: the shape says all that the output says, which is then shown only when asked for.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from sightline.events import Delegation, delegation_from_args, delegation_from_details
from sightline.text import clean_line, clean_text
from sightline.transcript import Call

_MOST_STEPS = 50
_AGENT, _TASK, _PREVIEW = 24, 80, 120
_MOST_TEXT = 64 * 1024
_MOST_ROWS = 200
_MOST_COLUMNS = 20
_MOST_WRITTEN = 4000
_LONGEST_LINE = 500
_LONGEST_PROBLEM, _PROBLEM_LINES = 2000, 12

Shape = dict[str, Any]


def shape_of(call: Call) -> Shape | None:
    details = call.details if isinstance(call.details, dict) else {}
    steps = delegation_from_details(details)
    if steps is not None:
        return {**_steps(steps), "whole": bool(steps.items)}
    ui = details.get("ui")
    reader = _READERS.get(str(ui.get("kind"))) if isinstance(ui, dict) else None
    shape = reader(details, call) if reader is not None else None
    if shape is not None:
        return shape
    plan = delegation_from_args(call.args)
    if plan is not None:
        return _steps(plan)
    if call.written and call.args is None:
        return {"kind": "writing", "text": _last(call.written, _MOST_WRITTEN)}
    return (_problem(call) or _content(call)) if "artifact" not in details else None


def plan_of(value: Any) -> list[Shape] | None:
    """The phases of a todo list that is told as rows of text, status and phase."""
    if not isinstance(value, list):
        return None
    phases: dict[str, list[Shape]] = {}
    for row in value[:_MOST_ROWS]:
        if isinstance(row, dict):
            task = {"text": _line(row.get("text")), "status": str(row.get("status", "pending")), "notes": []}
            phases.setdefault(_line(row.get("phase", "")), []).append(task)
    return [{"name": name, "tasks": tasks} for name, tasks in phases.items()]


def _steps(steps: Delegation) -> Shape:
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


def _diff(details: dict[str, Any], call: Call) -> Shape | None:
    diff = details.get("diff")
    if not isinstance(diff, str):
        return None
    facts = {name: details[name] for name in ("added", "removed") if isinstance(details.get(name), int)}
    shape = {"kind": "diff", "path": _line(details.get("path", "")), "partial": bool(details.get("partial")), **facts}
    # A change that was made says all there is to say; of one that failed, the output says why.
    return {**shape, **_text(diff), "whole": not call.is_error}


def _todo(details: dict[str, Any], call: Call) -> Shape | None:
    phases = details.get("phases")
    if not isinstance(phases, list) or not all(isinstance(phase, dict) for phase in phases):
        return None
    shown = [_phase(phase) for phase in phases[:_MOST_ROWS]]
    tasks = [task for phase in shown for task in phase["tasks"]]
    done = sum(task["status"] == "completed" for task in tasks)
    return {"kind": "todo", "phases": shown, "suffix": f"{done} of {len(tasks)} done", "whole": not call.is_error}


def _phase(phase: dict[str, Any]) -> Shape:
    tasks = phase.get("tasks")
    listed = [task for task in tasks if isinstance(task, dict)] if isinstance(tasks, list) else []
    return {"name": _line(phase.get("name", "")), "tasks": [_task(task) for task in listed[:_MOST_ROWS]]}


def _task(task: dict[str, Any]) -> Shape:
    notes = task.get("notes")
    kept = [clean_text(str(note))[:2000] for note in notes[:20]] if isinstance(notes, list) else []
    return {"text": _line(task.get("content")), "status": str(task.get("status", "pending")), "notes": kept}


def _jobs(details: dict[str, Any], call: Call) -> Shape | None:
    jobs = details.get("jobs")
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        return None
    rows = [
        {
            "id": _line(job.get("id")),
            "label": _line(job.get("label", "")),
            "status": str(job.get("status", "")),
            "seconds": (job.get("duration_ms") or 0) / 1000 if isinstance(job.get("duration_ms"), int | float) else 0,
        }
        for job in jobs[:_MOST_ROWS]
    ]
    return {"kind": "jobs", "jobs": rows, "whole": False}


def _code(details: dict[str, Any], call: Call) -> Shape | None:
    shown = details.get("display_content", details.get("code"))
    text = shown.get("text") if isinstance(shown, dict) else shown
    if not isinstance(text, str) or call.is_error:
        return None
    first = shown.get("start_line", 1) if isinstance(shown, dict) else 1
    ui = details["ui"]
    shape = {
        "kind": "code",
        "read": ui["kind"] if ui["kind"] in ("read", "listing") else "",
        "path": _line(ui.get("path", details.get("path", ""))),
        "first": first if isinstance(first, int) else 1,
        "suffix": _size_of(ui, text),
    }
    return {**shape, **_text(text), "whole": True}


def _size_of(ui: dict[str, Any], text: str) -> str:
    for name, one, many in (("entries", "entry", "entries"), ("total", "line", "lines")):
        if isinstance(ui.get(name), int):
            return _count(ui[name], one, many)
    return _count(text.count("\n") + (not text.endswith("\n")), "line", "lines") if text else ""


def _found(details: dict[str, Any], call: Call) -> Shape | None:
    shown, files = details.get("display_content"), details.get("files")
    names = [file.get("path") if isinstance(file, dict) else file for file in files] if isinstance(files, list) else []
    text = shown if isinstance(shown, str) else "\n".join([_line(name) for name in names])
    if not text or call.is_error:
        return None
    return {"kind": "found", "suffix": _found_words(details), **_text(text), "whole": True}


def _found_words(details: dict[str, Any]) -> str:
    matches, files = details.get("match_count"), details.get("file_count")
    in_files = _count(files, "file", "files") if isinstance(files, int) else ""
    if not isinstance(matches, int):
        return in_files
    found = _count(matches, "match", "matches")
    return f"{found} in {in_files}" if files else found


def _question(details: dict[str, Any], call: Call) -> Shape | None:
    answers = details.get("answers")
    if not isinstance(details.get("question"), str):
        return None
    if isinstance(answers, list):  # to several questions
        each = [one for one in answers[:_MOST_ROWS] if isinstance(one, dict)]
        said = [f"{_line(str(one.get('question', '')))}: {', '.join(found)}" for one in each if (found := _said(one))]
    elif isinstance(details.get("chosen"), list):
        said = _said(details)
    else:
        return None
    question = clean_text(details["question"])[:_MOST_TEXT]
    titled = clean_line(question) == clean_line(call.arg)  # the row itself says it
    return {"kind": "question", "question": "" if titled else question, "said": said, "whole": True}


def _said(answer: dict[str, Any]) -> list[str]:
    chosen = answer.get("chosen")
    rows = [_line(one) for one in chosen[:_MOST_ROWS]] if isinstance(chosen, list) else []
    return [part for part in (*rows, clean_text(str(answer.get("text") or ""))[:_MOST_TEXT]) if part]


def _image(details: dict[str, Any], call: Call) -> Shape | None:
    media = str(details["ui"].get("media_type", ""))
    kind, _, ending = media.partition("/")
    if kind != "image" or not ending.isalnum() or call.content is None:
        return None
    name = f"{call.id}-image0.{ending}"  # as the agent keeps it
    return {"kind": "image", "name": name, "alt": _line(details["ui"].get("path", "")), "whole": False}


def _table(details: dict[str, Any], call: Call) -> Shape | None:
    source = {**details, **details["ui"]}
    columns, rows = source.get("columns"), source.get("rows")
    if not isinstance(columns, list) or not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        return None
    cells = [[_cell(cell) for cell in row[:_MOST_COLUMNS]] for row in rows[:_MOST_ROWS]]
    cut = len(rows) > _MOST_ROWS or len(columns) > _MOST_COLUMNS
    return {"kind": "table", "columns": [_line(c) for c in columns[:_MOST_COLUMNS]], "rows": cells, "cut": cut}


def _markdown(details: dict[str, Any], call: Call) -> Shape | None:
    source = {**details, **details["ui"]}
    text = source.get("markdown", details.get("display_content", call.content))
    return {"kind": "markdown", **_text(text), "whole": True} if isinstance(text, str) and text else None


def _json(details: dict[str, Any], call: Call) -> Shape | None:
    source = {**details, **details["ui"]}
    return {"kind": "json", "value": source["data"], "whole": True} if "data" in source else _content(call)


def _problem(call: Call) -> Shape | None:
    """Why a call failed that printed nothing: words for a reader, which a row of output would cut at the edge."""
    text = (call.content or "").strip("\n")
    short = 0 < len(text) <= _LONGEST_PROBLEM and text.count("\n") < _PROBLEM_LINES
    if not call.is_error or call.received or not short or clean_text(text) != text:
        return None
    return {"kind": "problem", "text": text, "whole": True}


def _content(call: Call) -> Shape | None:
    """A result that is JSON of some kind, whoever returned it."""
    text = (call.content or "").strip()
    if call.is_error or len(text) > _MOST_TEXT or text[:1] + text[-1:] not in ("{}", "[]"):
        return None
    try:
        return {"kind": "json", "value": msgspec.json.decode(text), "whole": True}
    except (msgspec.MsgspecError, RecursionError):
        return None


_READERS: dict[str, Callable[[dict[str, Any], Call], Shape | None]] = {
    "diff": _diff,
    "todo": _todo,
    "jobs": _jobs,
    "read": _code,
    "listing": _code,
    "code": _code,
    "search": _found,
    "files": _found,
    "question": _question,
    "image": _image,
    "table": _table,
    "markdown": _markdown,
    "json": _json,
}


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _text(text: str) -> Shape:
    return {"text": clean_text(text[:_MOST_TEXT]), "cut": len(text) > _MOST_TEXT}


def _cell(value: Any) -> str:
    return _line("" if value is None else value)


def _line(value: Any) -> str:
    return clean_line(str(value if value is not None else "")[:_LONGEST_LINE])


def _short(text: str, most: int) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _last(text: str, most: int) -> str:
    return text if len(text) <= most else f"…{text[-most:]}"
