"""The tables of docs/reference/settings.md, from the tree itself: `make reference` writes them.

What a setting is for is the comment beside it in the tree; a comment may also stand on the line before.
"""

import ast
import inspect
import re

import msgspec

from sightline.settings import _tree
from sightline.settings._fields import describe, is_section, is_table
from sightline.settings._toml import written
from sightline.settings._tree import Server, Settings, SettingsSection

BEGIN, END = "<!-- tables -->\n", "<!-- end of tables -->\n"


def tables() -> str:
    """A table for each section, those of the top first."""
    top = {name: kind for name, kind in Settings.__annotations__.items() if not is_section(kind)}
    parts = [_table("Before the first section", Settings, top)]
    for name, kind in Settings.__annotations__.items():
        if is_section(kind):
            parts.append(_table(f"`[{name}]`", kind, kind.__annotations__))
    parts.append(_table("`[models.servers.NAME]`", Server, Server.__annotations__))
    return "\n".join(parts)


def _table(title: str, section: type[SettingsSection], names: dict[str, object]) -> str:
    rows = [f"## {title}", "", "| setting | default | must be | what for |", "| --- | --- | --- | --- |"]
    defaults = {field.name: _default(field) for field in msgspec.structs.fields(section)}
    comments = _comments(section)
    for name, kind in names.items():
        words = "tables" if is_table(kind) else describe(kind)
        rows.append(f"| `{name}` | {defaults[name]} | {words} | {comments[name]} |")
    return "\n".join(rows) + "\n"


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "must be given"
    value = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    return f"`{written(value)}`"


def _comments(section: type[SettingsSection]) -> dict[str, str]:
    lines = inspect.getsource(_tree).splitlines()
    tree = ast.parse(inspect.getsource(_tree))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == section.__name__)
    found = {}
    for node in body:
        if isinstance(node, ast.AnnAssign):
            beside = re.search(r"  # (.*)$", lines[node.end_lineno - 1])
            before = re.fullmatch(r"\s*# (.*)", lines[node.lineno - 2])
            comment = beside or before
            found[node.target.id] = comment[1] if comment else ""
    return found


def settings_page(page: str) -> str:
    """The page as it should be."""
    return page[: page.index(BEGIN) + len(BEGIN)] + "\n" + tables() + "\n" + page[page.index(END) :]
