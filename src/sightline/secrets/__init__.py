"""Secret values: which are known, and texts, streams and stored output without them."""

from sightline._later import later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.secrets._masked_artifact import MaskedArtifact as MaskedArtifact
    from sightline.secrets._masked_artifact import secrets_here as secrets_here
    from sightline.secrets._masked_output import MaskedOutput as MaskedOutput
    from sightline.secrets._restored import PLACEHOLDER as PLACEHOLDER
    from sightline.secrets._restored import RestoredText as RestoredText
    from sightline.secrets._restored import not_restored as not_restored
    from sightline.secrets._secrets import HARMLESS as HARMLESS
    from sightline.secrets._secrets import HARMLESS_CODED as HARMLESS_CODED
    from sightline.secrets._secrets import MaskedStream as MaskedStream
    from sightline.secrets._secrets import Secrets as Secrets
    from sightline.secrets._secrets import secrets_in as secrets_in

if not TYPE_CHECKING:  # so that a wrong name is found by the type checker
    __getattr__, __dir__ = later(__name__, __file__)
