"""Draws the pictures of the documentation from the real program's output: `make pictures`."""

from tools.pictures_console import console_pictures, page_picture
from tools.pictures_terminal import record

if __name__ == "__main__":
    record("gallery", "sightline gallery", [("", "q quit"), ("markdown\r", "### The end"), ("t", "› text")])
    console_pictures()
    page_picture()
