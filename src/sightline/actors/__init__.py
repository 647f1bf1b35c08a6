"""Actors: the one way to publish. Whatever acts in a session does it through an actor."""

from sightline._later import later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.actors._actor import Actor as Actor
    from sightline.actors._approval_details import all_details as all_details
    from sightline.actors._bounds import bounded_value as bounded_value
    from sightline.actors._bounds import encodable as encodable
    from sightline.actors._bounds import encodable_call as encodable_call
    from sightline.actors._log import Log as Log
    from sightline.actors._log import RunningCommand as RunningCommand

if not TYPE_CHECKING:  # so that a wrong name is found by the type checker
    __getattr__, __dir__ = later(__name__, __file__)
