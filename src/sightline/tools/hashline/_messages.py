"""What the language says when something is wrong or was put right, in one place."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sightline.tools._tool import ToolError

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
    "Recovered from a stale tag: the file was changed by someone else since it was shown, away from these lines. "
    "The edit was moved to where the lines are now."
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


def missing_header(got: str) -> PatchError:
    shown = repr(clip(got, 120)) if got else "nothing"
    heading = _HEADING.fullmatch(got.strip())
    hint = f". Write ¶{clip(heading[1], 120)}" if heading else ""
    return PatchError(
        "missing_header",
        None,
        f'input must begin with "¶PATH#HASH" on the first non-blank line for anchored edits; got: {shown}{hint}',
    )


def missing_tag(path: str) -> PatchError:
    return PatchError(
        "missing_tag",
        None,
        f"Missing hashline snapshot tag for anchored edit to {path}; use ¶{path}#TAG from your latest read or search.",
    )


def malformed_tag(at: int, path: str, tag: str) -> PatchError:
    return PatchError(
        "malformed_tag", at, f'"#{tag}" is not a snapshot tag: ¶{path}#TAG needs the four hex digits that were shown.'
    )


def stray_payload(at: int, text: str) -> PatchError:
    return PatchError(
        "stray_payload",
        at,
        f"payload line has no preceding hunk header. Use {OPERATIONS} above the body. Got {clip(text, 120)!r}.",
    )


def minus_row(at: int) -> PatchError:
    return PatchError(
        "minus_row",
        at,
        "`-` rows are not valid; the range already names the lines that change. "
        "To insert a literal line that starts with `-`, write `+-…`.",
    )


def empty_body(hunk: "Hunk") -> PatchError:
    if hunk.verb != "replace":
        way_out = ""
    elif hunk.block:
        way_out = " To delete a block, use `delete block N`, or `delete N..M` with the block's line range."
    else:
        way_out = " To delete lines, use `delete N..M`."
    return PatchError("empty_body", hunk.at, f"`{hunk.operation}` needs at least one `+TEXT` body row.{way_out}")


def delete_with_body(at: int, hunk: "Hunk") -> PatchError:
    instead = "`replace block N:`" if hunk.block else "`replace N..M:`"
    return PatchError(
        "delete_with_body", at, f"`{hunk.operation}` does not take a colon or body rows. Remove them, or use {instead}."
    )


def backwards_range(at: int, first: int, last: int) -> PatchError:
    return PatchError("backwards_range", at, f"range {first}..{last} ends before it starts.")


def overlap(at: int, line: int, other: int) -> PatchError:
    return PatchError(
        "overlap",
        at,
        f"anchor line {line} is already targeted by another hunk on line {other}. Issue ONE hunk per range; the body "
        "is only the final content, never a before/after pair.",
    )


def apply_patch_sentinel(at: int, text: str) -> PatchError:
    return PatchError(
        "apply_patch_sentinel",
        at,
        f"apply_patch sentinel {clip(text, 80)!r} is not valid in hashline. File sections start with `¶path#HASH` "
        f"(no `Update File:` or `Add File:`). Use {OPERATIONS}.",
    )


def unified_diff_header(at: int) -> PatchError:
    return PatchError(
        "unified_diff_header",
        at,
        f"unified-diff hunk header (`@@ -N,M +N,M @@`) is not valid in hashline. Use {OPERATIONS}.",
    )


def bracketed_header(at: int, text: str) -> PatchError:
    return PatchError(
        "bracketed_header",
        at,
        f"`@@`-bracketed hunk header {clip(text, 80)!r} is not valid in hashline. Drop the brackets and write a verb "
        "header such as `replace N..M:`.",
    )


def bare_number(at: int, number: int) -> PatchError:
    return PatchError(
        "bare_number",
        at,
        f"hunk headers need a verb. Use `replace {number}..{number}:` to replace, or `delete {number}` to delete.",
    )


def bare_range(at: int, text: str, first: int, last: int) -> PatchError:
    return PatchError(
        "bare_range",
        at,
        f"bare range hunk header {clip(text, 80)!r} is not valid. Hunk headers need a verb: write "
        f"`replace {first}..{last}:` or `delete {first}..{last}`.",
    )


def malformed_header(at: int, text: str) -> PatchError:
    return PatchError(
        "malformed_header",
        at,
        f"{clip(text, 80)!r} is not a complete hunk header. Use {OPERATIONS}, with the body on the lines below as "
        "`+TEXT`; a literal line like this one is written with a `+` before it.",
    )


def no_operations(path: str, at: int) -> PatchError:
    return PatchError("no_operations", at, f"no operation follows ¶{path}. Use {OPERATIONS}.")


def two_tags(at: int, path: str, first: str, second: str) -> PatchError:
    return PatchError(
        "two_tags",
        at,
        f"{path} is edited under two tags, #{first} and #{second}. Use the latest for all of its hunks.",
    )


def out_of_range(line: int, count: int) -> PatchError:
    # Worded as models know it, without the place in the patch.
    way_out = "Use `insert tail:` to add to its end." if count else "Use `insert head:` to fill it."
    return PatchError("out_of_range", None, f"Line {line} does not exist (file has {count} lines). {way_out}")


def unresolved_block(hunk: "Hunk", context: str, hint: str) -> PatchError:
    line = hunk.first
    match hunk.verb:
        case "replace":
            instead = f"`replace {line}..M:` with the block's last line"
        case "delete":
            instead = f"`delete {line}..M` with the block's last line"
        case _:
            instead = "`insert after M:` with the block's explicit last line"
    message = (
        f"`{hunk.operation}` could not resolve a syntactic block beginning on line {line}. The language may be "
        "unsupported, the line may be blank or a closing delimiter, or the block may not parse. "
        f"Use {instead} instead."
    )
    parts = [f"{message} {hint}".rstrip(), context]
    return PatchError("unresolved_block", hunk.at, "\n\n".join(part for part in parts if part))


def no_change(path: str) -> PatchError:
    return PatchError(
        "no_change",
        None,
        f"Edits to {path} parsed and applied cleanly, but produced no change: the body rows are byte-identical to the "
        "file at those lines. The bug is somewhere else: read the file again before another edit. Do NOT widen the "
        "payload or add lines; verify the anchor first.",
    )


def not_shown(path: str, tag: str, line: int) -> PatchError:
    return PatchError(
        "not_shown",
        None,
        f"Line {line} of {path} was not shown under #{tag}. Read that part of the file, then edit it.",
    )


def mismatch(*, known: bool, path: str, tag: str, current: str, context: str) -> MismatchError:
    if known:
        reason = f"#{tag} is an earlier state of {path}: the file has changed since, at or near these lines."
    else:
        reason = f"#{tag} was never given for {path} in this session."
    message = f"{reason} Nothing was written. The file is now ¶{path}#{current}: check the lines, then use that tag."
    return MismatchError(message + (f"\n\n{context}" if context else ""))


def context_rows(lines: Sequence[str], anchors: Iterable[int]) -> str:
    """The lines around some line numbers: anchors marked `*`, `...` where lines are left out."""
    marked = sorted({anchor for anchor in anchors if 1 <= anchor <= len(lines)})[:MAX_ANCHORS_SHOWN]
    wanted = sorted(
        {
            number
            for anchor in marked
            for number in range(anchor - MISMATCH_CONTEXT, anchor + MISMATCH_CONTEXT + 1)
            if 1 <= number <= len(lines)
        }
    )
    rows: list[str] = []
    for place, number in enumerate(wanted):
        if place and wanted[place - 1] != number - 1:
            rows.append("...")
        rows.append(f"{'*' if number in marked else ' '}{number}:{clip(lines[number - 1], MAX_LINE_SHOWN)}")
    return "\n".join(rows)


def clip(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
