"""Slash commands from Markdown files: which there are, what their files mean, and a prompt made of one."""
