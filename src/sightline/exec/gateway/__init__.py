"""The network of sandboxed commands: a namespace with nothing in it but a proxy of ours, and who may leave by it."""

from typing import TYPE_CHECKING

from sightline._later import later

if TYPE_CHECKING:
    from sightline.exec.gateway._addresses import IPAddress, is_public, spellings
    from sightline.exec.gateway._entrance import Entrance
    from sightline.exec.gateway._gateway import Gateway, gateway_problem
    from sightline.exec.gateway._judge import Judge, Ruling
    from sightline.exec.gateway._namespace import NoNamespace

__all__ = [
    "Entrance",
    "Gateway",
    "IPAddress",
    "Judge",
    "NoNamespace",
    "Ruling",
    "gateway_problem",
    "is_public",
    "spellings",
]

_LATER = {
    "Entrance": "_entrance",
    "Gateway": "_gateway",
    "IPAddress": "_addresses",
    "Judge": "_judge",
    "NoNamespace": "_namespace",
    "Ruling": "_judge",
    "gateway_problem": "_gateway",
    "is_public": "_addresses",
    "spellings": "_addresses",
}

__getattr__ = later(__name__, _LATER)
