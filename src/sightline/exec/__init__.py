"""Processes: started, read as they write, and ended with everything they started."""

from sightline.exec._process import GRACE, Process

__all__ = ["GRACE", "Process"]
