"""For whoever else shows images to a model: what kind bytes are, and how they become small enough."""

from sightline.tools.files._images import MAX_INPUT, SNIFFED, Fitted, ImageFacts, fit, sniff

__all__ = ["MAX_INPUT", "SNIFFED", "Fitted", "ImageFacts", "fit", "sniff"]
