"""The public names for extension files, and for programs with tools of their own. See docs/guide/extensions.md.

Each name is loaded when it is used: the console loads extension files too, for what they draw, and has no use for
an agent; a host has none for what draws.
"""

from sightline._later import later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from msgspec import Meta as Meta

    from sightline.agent.extensions._extensions import Extension as Extension
    from sightline.agent.extensions._hooks import Block as Block
    from sightline.agent.extensions._hooks import Call as Call
    from sightline.agent.extensions._hooks import Cancelled as Cancelled
    from sightline.agent.extensions._hooks import NewArgs as NewArgs
    from sightline.agent.extensions._hooks import Summary as Summary
    from sightline.agent.extensions._ui import ExtensionUi as ExtensionUi
    from sightline.delegation import AgentDefinitions as AgentDefinitions
    from sightline.exec import CommandSpec as CommandSpec
    from sightline.text import clean_line as clean_line
    from sightline.text import clean_text as clean_text
    from sightline.tools import Answer as Answer
    from sightline.tools import Choice as Choice
    from sightline.tools import Image as Image
    from sightline.tools import Need as Need
    from sightline.tools import Outcome as Outcome
    from sightline.tools import Question as Question
    from sightline.tools import Tool as Tool
    from sightline.tools import ToolContext as ToolContext
    from sightline.tools import ToolError as ToolError
    from sightline.tty import CURSOR as CURSOR
    from sightline.tty import Bindings as Bindings
    from sightline.tty import Component as Component
    from sightline.tty import Key as Key
    from sightline.tty import Paste as Paste
    from sightline.tty import Rows as Rows
    from sightline.tty import Theme as Theme
    from sightline.tty import expand_tabs as expand_tabs
    from sightline.tty import matches as matches
    from sightline.tty import measure as measure
    from sightline.tty import pad as pad
    from sightline.tty import truncate as truncate
    from sightline.tty import wrap as wrap
    from sightline.tty.input._keys import is_release as is_release
    from sightline.tty.input._keys import is_repeat as is_repeat
    from sightline.views.console.extensions._extensions import ConsoleUi as ConsoleUi
    from sightline.views.console.extensions._renderers import RenderOptions as RenderOptions
    from sightline.views.console.extensions._renderers import Result as Result

if not TYPE_CHECKING:  # so that a wrong name is found by the type checker
    __getattr__, __dir__ = later(__name__, __file__)
