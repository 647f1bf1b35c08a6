"""Model APIs for our own agent: Anthropic, OpenAI and what is compatible with it, Gemini, and a scripted one."""

from sightline._later import later
from sightline.models._api import CallDelta as CallDelta
from sightline.models._api import CallStarted as CallStarted
from sightline.models._api import Done as Done
from sightline.models._api import ErrorKind as ErrorKind
from sightline.models._api import Model as Model
from sightline.models._api import ModelError as ModelError
from sightline.models._api import ModelFacts as ModelFacts
from sightline.models._api import ModelRequest as ModelRequest
from sightline.models._api import Piece as Piece
from sightline.models._api import ReasoningDelta as ReasoningDelta
from sightline.models._api import Retrying as Retrying
from sightline.models._api import TextDelta as TextDelta
from sightline.models._api import ToolSpec as ToolSpec
from sightline.models._assembly import Assembly as Assembly

TYPE_CHECKING = False
# Clients and what finds them are imported when a model is opened.
if TYPE_CHECKING:
    from sightline.models._open import default_model as default_model
    from sightline.models._open import open_model as open_model
    from sightline.models._open import vision_model as vision_model
    from sightline.models._scripted import AgentRecording as AgentRecording
    from sightline.models._scripted import load_recording as load_recording
    from sightline.models.choice._listing import UsableModel as UsableModel
    from sightline.models.choice._listing import usable as usable

if not TYPE_CHECKING:  # so that a wrong name is found by the type checker
    __getattr__, __dir__ = later(__name__, __file__)
