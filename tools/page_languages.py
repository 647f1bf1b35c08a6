"""Writes the languages of the console's highlighter for the page, after a change: `python -m tools.page_languages`."""

import json
from pathlib import Path

from sightline.tty.components._languages import ALIASES, LANGUAGES

PLACE = Path(__file__).parents[1] / "src" / "sightline" / "views" / "web" / "static" / "languages.js"


def source() -> str:
    rows = [f"  {json.dumps(name)}: {json.dumps(each._asdict())}," for name, each in LANGUAGES.items()]
    made = "// Made by tools/page_languages.py from the console's: change those."
    return "\n".join(
        [made, "", "export const LANGUAGES = {", *rows, "};", "", f"export const ALIASES = {json.dumps(ALIASES)};", ""]
    )


if __name__ == "__main__":
    PLACE.write_text(source())
