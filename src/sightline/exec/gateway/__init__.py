"""The network of sandboxed commands: a namespace with nothing in it but a proxy of ours, which asks before it connects."""

from typing import TYPE_CHECKING

from sightline._later import later

if TYPE_CHECKING:
    from sightline.exec.gateway._addresses import IPAddress, is_public
    from sightline.exec.gateway._entrance import Entrance
    from sightline.exec.gateway._gateway import Gateway, Judge, Ruling
    from sightline.exec.gateway._namespace import NoNamespace

__all__ = ["Entrance", "Gateway", "IPAddress", "Judge", "NoNamespace", "Ruling", "is_public"]

_LATER = {
    "Entrance": "_entrance",
    "Gateway": "_gateway",
    "IPAddress": "_addresses",
    "Judge": "_gateway",
    "NoNamespace": "_namespace",
    "Ruling": "_gateway",
    "is_public": "_addresses",
}

__getattr__ = later(__name__, _LATER)
