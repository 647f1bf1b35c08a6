"""What the agent can do: one module or small package per tool, and what they have in common."""

from sightline.tools._context import ArtifactShelf as ArtifactShelf
from sightline.tools._context import Limits as Limits
from sightline.tools._context import StoredHistory as StoredHistory
from sightline.tools._context import ToolContext as ToolContext
from sightline.tools._context import Workplace as Workplace
from sightline.tools._registry import AnyTool as AnyTool
from sightline.tools._registry import ToolRegistry as ToolRegistry
from sightline.tools._registry import builtin_tools as builtin_tools
from sightline.tools._registry import parameters as parameters
from sightline.tools._schema import schema_of as schema_of
from sightline.tools._tool import Access as Access
from sightline.tools._tool import Answer as Answer
from sightline.tools._tool import Choice as Choice
from sightline.tools._tool import Details as Details
from sightline.tools._tool import Image as Image
from sightline.tools._tool import Need as Need
from sightline.tools._tool import Outcome as Outcome
from sightline.tools._tool import Proposal as Proposal
from sightline.tools._tool import Question as Question
from sightline.tools._tool import Tool as Tool
from sightline.tools._tool import ToolError as ToolError
from sightline.tools._tool import is_inside as is_inside
from sightline.tools._truncation import cutting as cutting
from sightline.tools.files._file_lock import remove_leftovers as remove_leftovers
