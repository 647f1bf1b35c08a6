"""What an extension file needs, and a program with tools of its own. See docs/guide/extensions.md.

Each name is loaded when it is asked for: the console loads extension files too, for what they draw, and has no use for
an agent; a host has none for what draws.
"""

from sightline._later import later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from msgspec import Meta

    from sightline.agent._extension_ui import ExtensionUi
    from sightline.agent._extensions import Extension
    from sightline.agent._hooks import Block, Call, Cancelled, NewArgs, Summary
    from sightline.exec import CommandSpec
    from sightline.text import clean_line, clean_text
    from sightline.tools import Answer, Choice, Image, Need, Outcome, Question, Tool, ToolContext, ToolError
    from sightline.tty import (
        CURSOR,
        Bindings,
        Component,
        Key,
        Paste,
        Rows,
        Theme,
        expand_tabs,
        matches,
        measure,
        pad,
        truncate,
        wrap,
    )
    from sightline.tty._keys import is_release, is_repeat
    from sightline.views.console._extensions import ConsoleUi
    from sightline.views.console._renderers import RenderOptions, Result

__all__ = [
    "CURSOR",
    "Answer",
    "Bindings",
    "Block",
    "Call",
    "Cancelled",
    "Choice",
    "CommandSpec",
    "Component",
    "ConsoleUi",
    "Extension",
    "ExtensionUi",
    "Image",
    "Key",
    "Meta",
    "Need",
    "NewArgs",
    "Outcome",
    "Paste",
    "Question",
    "RenderOptions",
    "Result",
    "Rows",
    "Summary",
    "Theme",
    "Tool",
    "ToolContext",
    "ToolError",
    "clean_line",
    "clean_text",
    "expand_tabs",
    "is_release",
    "is_repeat",
    "matches",
    "measure",
    "pad",
    "truncate",
    "wrap",
]

_MODULES = {
    "agent._extension_ui": "ExtensionUi",
    "agent._extensions": "Extension",
    "agent._function_tool": "Meta",
    "agent._hooks": "Block Call Cancelled NewArgs Summary",
    "exec": "CommandSpec",
    "text": "clean_line clean_text",
    "tools": "Answer Choice Image Need Outcome Question Tool ToolContext ToolError",
    "tty": "CURSOR Bindings Component Key Paste Rows Theme expand_tabs matches measure pad truncate wrap",
    "tty._keys": "is_release is_repeat",
    "views.console._extensions": "ConsoleUi",
    "views.console._renderers": "RenderOptions Result",
}
_LATER = {name: module for module, names in _MODULES.items() for name in names.split()}

__getattr__ = later("sightline", _LATER)


def __dir__() -> list[str]:
    """The public names, loaded or not: for completion and `help()`."""
    return __all__
