"""Where the program keeps its files. `SIGHTLINE_HOME` moves all of them."""

import os
from pathlib import Path


def data_folder() -> Path:
    """The folder everything is kept in; not created here."""
    home = os.environ.get("SIGHTLINE_HOME")
    if home:
        return Path(home)
    data = os.environ.get("XDG_DATA_HOME")
    return Path(data) / "sightline" if data else Path.home() / ".local" / "share" / "sightline"
