"""The errors and warnings of the language, in one place."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sightline.tools._tool import ToolError
from sightline.tools._truncation import cut_end

if TYPE_CHECKING:
    from sightline.tools.hashline._parser import Hunk

MISMATCH_CONTEXT = 2
MAX_ANCHORS_SHOWN = 20
MAX_LINE_SHOWN = 400

# How search heads the files of a result, and others might.
_HEADING = re.compile(r"#+[ \t]+(\S.*#[0-9A-Fa-f]{4})")

OPERATIONS = "`replace N..M:`, `delete N..M` or `insert before|after|head|tail:`"

BARE_BODY_AUTO_PIPED_WARNING = (
    "Auto-prefixed bare body row(s) with +. Body rows must be +TEXT literal lines: check that what was added is meant."
)
RECOVERY_EXTERNAL_WARNING = (
    "Recovered from a stale tag: something other than an agent's edit changed the file since it was shown, away from "
    "these lines. The edit was moved to where the lines are now."
)
RECOVERY_SHOWN_WARNING = (
    "Recovered from a stale tag: the file has changed since, away from these lines, and was shown again. The edit was "
    "moved to where the lines are now. Use the tag of the latest result."
)
RECOVERY_SESSION_CHAIN_WARNING = (
    "Recovered from a stale tag: an earlier edit of this session changed the file, away from these lines. "
    "Use the tag of the latest result."
)
RECOVERY_SESSION_REPLAY_WARNING = (
    "Recovered from a stale tag by counting lines through this session's own edits, which changed lines right beside "
    "these. Check the diff, and use the tag of the latest result."
)


class PatchError(ToolError):
    """The patch itself is not valid. `kind` names the mistake."""

    def __init__(self, kind: str, at: int | None, message: str) -> None:
        super().__init__(message if at is None else f"line {at}: {message}")
        self.kind = kind


class MismatchError(ToolError):
    """The file is not in the state the tag names, and the edit cannot be moved safely."""

    kind = "mismatch"


# By kind of mistake. Values are written as `str.format` does.
_TEXTS = {
    "missing_header": (
        'input must begin with "¶PATH#HASH" on the first non-blank line for anchored edits; got: {got}{hint}'
    ),
    "missing_tag": (
        "Missing hashline snapshot tag for anchored edit to {path}; use ¶{path}#TAG from your latest read or search."
    ),
    "malformed_tag": '"#{tag}" is not a snapshot tag: ¶{path}#TAG needs the four hex digits that were shown.',
    "stray_payload": (f"payload line has no preceding hunk header. Use {OPERATIONS} above the body. Got {{text!r}}."),
    "minus_row": (
        "`-` rows are not valid; the range already names the lines that change. "
        "To insert a literal line that starts with `-`, write `+-…`."
    ),
    "empty_body": "`{operation}` needs at least one `+TEXT` body row.{way_out}",
    "delete_with_body": "`{operation}` does not take a colon or body rows. Remove them, or use {instead}.",
    "backwards_range": "range {first}..{last} ends before it starts.",
    "overlap": (
        "anchor line {line} is already targeted by another hunk on line {other}. Issue ONE hunk per range; the body "
        "is only the final content, never a before/after pair."
    ),
    "apply_patch_sentinel": (
        "apply_patch sentinel {text!r} is not valid in hashline. File sections start with `¶path#HASH` "
        f"(no `Update File:` or `Add File:`). Use {OPERATIONS}."
    ),
    "unified_diff_header": (
        f"unified-diff hunk header (`@@ -N,M +N,M @@`) is not valid in hashline. Use {OPERATIONS}."
    ),
    "bracketed_header": (
        "`@@`-bracketed hunk header {text!r} is not valid in hashline. Drop the brackets and write a verb "
        "header such as `replace N..M:`."
    ),
    "bare_number": (
        "hunk headers need a verb. Use `replace {first}..{first}:` to replace, or `delete {first}` to delete."
    ),
    "bare_range": (
        "bare range hunk header {text!r} is not valid. Hunk headers need a verb: write "
        "`replace {first}..{last}:` or `delete {first}..{last}`."
    ),
    "malformed_header": (
        f"{{text!r}} is not a complete hunk header. Use {OPERATIONS}, with the body on the lines below as "
        "`+TEXT`; a literal line like this one is written with a `+` before it."
    ),
    "no_operations": f"no operation follows ¶{{path}}. Use {OPERATIONS}.",
    "two_tags": "{path} is edited under two tags, #{first} and #{second}. Use the latest for all of its hunks.",
    # Worded as models know it, without the place in the patch.
    "out_of_range": "Line {line} does not exist (file has {count} lines). {way_out}",
    "unresolved_block": (
        "`{operation}` could not resolve a syntactic block beginning on line {line}. The language may be "
        "unsupported, the line may be blank or a closing delimiter, or the block may not parse. "
        "Use {instead} instead."
    ),
    "no_change": (
        "Edits to {path} parsed and applied cleanly, but produced no change: the body rows are byte-identical to the "
        "file at those lines. The bug is somewhere else: read the file again before another edit. Do NOT widen the "
        "payload or add lines; verify the anchor first."
    ),
    "not_shown": "Line {line} of {path} was not shown under #{tag}. Read that part of the file, then edit it.",
}


def mistake(kind: str, at: int | None = None, **values: object) -> PatchError:
    """`at`: the line of the patch; without one the message names no line."""
    return PatchError(kind, at, _TEXTS[kind].format_map(values))


def missing_header(got: str) -> PatchError:
    heading = _HEADING.fullmatch(got.strip())
    hint = f". Write ¶{clip(heading[1], 120)}" if heading else ""
    return mistake("missing_header", got=repr(clip(got, 120)) if got else "nothing", hint=hint)


def missing_tag(path: str) -> PatchError:
    return mistake("missing_tag", path=path)


def empty_body(hunk: "Hunk") -> PatchError:
    way_out = ""
    if hunk.verb == "replace" and hunk.block:
        way_out = " To delete a block, use `delete block N`, or `delete N..M` with the block's line range."
    elif hunk.verb == "replace":
        way_out = " To delete lines, use `delete N..M`."
    return mistake("empty_body", hunk.at, operation=hunk.operation, way_out=way_out)


def delete_with_body(at: int, hunk: "Hunk") -> PatchError:
    instead = "`replace block N:`" if hunk.block else "`replace N..M:`"
    return mistake("delete_with_body", at, operation=hunk.operation, instead=instead)


def out_of_range(line: int, count: int) -> PatchError:
    way_out = "Use `insert tail:` to add to its end." if count else "Use `insert head:` to fill it."
    return mistake("out_of_range", line=line, count=count, way_out=way_out)


def unresolved_block(hunk: "Hunk", context: str, hint: str) -> PatchError:
    line = hunk.first
    match hunk.verb:
        case "replace":
            instead = f"`replace {line}..M:` with the block's last line"
        case "delete":
            instead = f"`delete {line}..M` with the block's last line"
        case _:
            instead = "`insert after M:` with the block's explicit last line"
    found = mistake("unresolved_block", hunk.at, operation=hunk.operation, line=line, instead=instead)
    parts = [f"{found.message} {hint}".rstrip(), context]
    return PatchError(found.kind, None, "\n\n".join(part for part in parts if part))


def mismatch(*, known: bool, shown: bool, path: str, tag: str, current: str, context: str) -> MismatchError:
    """`known`: the tag was given for this path. `shown`: so was a tag of the file as it is now."""
    if known:
        change = "the file has changed" if shown else "something other than an agent's edit changed the file"
        reason = f"#{tag} is an earlier state of {path}: {change} since, at or near these lines."
    else:
        reason = f"#{tag} was never given for {path} in this session."
    message = f"{reason} Nothing was written. The file is now ¶{path}#{current}: check the lines, then use that tag."
    return MismatchError(message + (f"\n\n{context}" if context else ""))


def context_rows(lines: Sequence[str], anchors: Iterable[int]) -> str:
    """The lines around some line numbers: anchors marked `*`, `...` where lines are left out."""
    marked = sorted({anchor for anchor in anchors if 1 <= anchor <= len(lines)})[:MAX_ANCHORS_SHOWN]
    near = {number for anchor in marked for number in range(anchor - MISMATCH_CONTEXT, anchor + MISMATCH_CONTEXT + 1)}
    shown = sorted(number for number in near if 1 <= number <= len(lines))
    rows: list[str] = []
    for before, number in zip([None, *shown], shown, strict=False):
        if before is not None and before != number - 1:
            rows.append("...")
        rows.append(f"{'*' if number in marked else ' '}{number}:{clip(lines[number - 1], MAX_LINE_SHOWN)}")
    return "\n".join(rows)


def clip(text: str, limit: int) -> str:
    return text if len(text) <= limit else cut_end(text[: limit - 1]) + "…"
