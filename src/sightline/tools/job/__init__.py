"""Waiting for background jobs, and ending them."""

from sightline.tools.job._tool import JobTool

__all__ = ["JobTool"]
