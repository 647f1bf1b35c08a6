"""Images for a model, as other packages use them: what kind bytes are, and how they become small enough."""

from sightline.tools.files._images import MAX_INPUT as MAX_INPUT
from sightline.tools.files._images import SNIFFED as SNIFFED
from sightline.tools.files._images import Fitted as Fitted
from sightline.tools.files._images import ImageFacts as ImageFacts
from sightline.tools.files._images import fit as fit
from sightline.tools.files._images import sniff as sniff
