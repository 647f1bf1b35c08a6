"""The todo tool and its list."""

from sightline.tools.todo._list import PlannedPhase as PlannedPhase
from sightline.tools.todo._list import PlannedTask as PlannedTask
from sightline.tools.todo._list import ended as ended
from sightline.tools.todo._list import from_markdown as from_markdown
from sightline.tools.todo._list import to_markdown as to_markdown
from sightline.tools.todo._list import without as without
from sightline.tools.todo._tool import TodoTool as TodoTool
from sightline.tools.todo._tool import phases_of as phases_of
from sightline.tools.todo._tool import plan as plan
from sightline.tools.todo._tool import reminder as reminder
from sightline.tools.todo._tool import set_phases as set_phases
from sightline.tools.todo._tool import stored_phases as stored_phases
