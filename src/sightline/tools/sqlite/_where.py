"""Whether a `where` is one condition and nothing else.

The database is open for reading only and every action is checked as well; this is here to say early and plainly what
is wrong, and to keep `limit`, `offset` and `order` meaning what they say.
"""

import re

from sightline.tools._tool import ToolError

# Strings and quoted names are one token each, so that a word inside them is not taken for a keyword.
_TOKEN = re.compile(
    r"""(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])|(?P<word>\w+)|(?P<comment>--|/\*)|(?P<other>.)""",
    re.DOTALL,
)
_KEYWORDS = frozenset(
    {"limit", "offset", "union", "intersect", "except", "order", "group", "having", "attach", "detach", "pragma"}
    | {"insert", "update", "delete", "replace", "create", "drop", "alter", "vacuum", "reindex", "analyze", "begin"}
    | {"commit", "rollback", "savepoint", "release", "returning"}
)


def validate_where(clause: str) -> None:
    """ToolError for what is not a plain condition."""
    if not clause.strip():
        raise ToolError("where= is empty. Leave it out to see all rows.")
    depth = 0
    tokens = list(_TOKEN.finditer(clause))
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token["comment"]:
            raise ToolError("where= cannot contain comments (-- or /*).")
        if token["word"] and token["word"].lower() in _KEYWORDS and not _is_function(token, following):
            raise ToolError(
                f"where= cannot contain {token['word'].upper()}: it is one condition. Use ?q=SELECT … for more."
            )
        depth += _opened(token["other"] or "")
        if depth < 0:
            break
    if depth != 0:
        raise ToolError("The brackets in where= do not match.")


def _is_function(token: re.Match[str], following: re.Match[str] | None) -> bool:
    return token["word"].lower() == "replace" and following is not None and following["other"] == "("


def _opened(character: str) -> int:
    if character == ";":
        raise ToolError("where= cannot contain a semicolon.")
    if character in "'\"`[" and character:
        raise ToolError("A quote in where= is not closed.")
    if character == "\0":
        raise ToolError("where= cannot contain a NUL character.")
    return {"(": 1, ")": -1}.get(character, 0)
