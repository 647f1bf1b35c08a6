"""Internal addresses: artifacts, conversations, the agent's notes, merge conflicts."""

from sightline.tools.resources._resource import is_internal as is_internal
from sightline.tools.resources._resource import needs_of as needs_of
from sightline.tools.resources._resource import resolve as resolve
from sightline.tools.resources._resource import write as write
