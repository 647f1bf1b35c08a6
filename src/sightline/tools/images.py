"""Images for a model, as other packages use them: what kind bytes are, and how they become small enough."""

from sightline.tools.files._images import MAX_INPUT, SNIFFED, Fitted, ImageFacts, fit, sniff

__all__ = ["MAX_INPUT", "SNIFFED", "Fitted", "ImageFacts", "fit", "sniff"]
