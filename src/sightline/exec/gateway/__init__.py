"""The network of sandboxed commands: a namespace with nothing in it but a proxy of ours, and who may leave by it."""

from sightline._later import later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.exec.gateway._addresses import IPAddress as IPAddress
    from sightline.exec.gateway._addresses import is_public as is_public
    from sightline.exec.gateway._addresses import spellings as spellings
    from sightline.exec.gateway._entrance import Entrance as Entrance
    from sightline.exec.gateway._gateway import Gateway as Gateway
    from sightline.exec.gateway._gateway import gateway_problem as gateway_problem
    from sightline.exec.gateway._judge import ConnectionPolicy as ConnectionPolicy
    from sightline.exec.gateway._judge import Ruling as Ruling
    from sightline.exec.gateway._namespace import NoNamespace as NoNamespace

if not TYPE_CHECKING:  # so that a wrong name is found by the type checker
    __getattr__, __dir__ = later(__name__, __file__)
