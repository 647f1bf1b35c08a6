"""A home and a repository for the tests of settings."""

import pytest

from sightline.exceptions import UserMistake
from sightline.settings import load


class Place:
    """The files settings are in, and loading them."""

    def __init__(self, folder):
        self.environ = {"SIGHTLINE_HOME": str(folder / "sightline-home")}
        self.user = folder / "sightline-home" / "settings.toml"
        self.work = folder / "work"
        self.project = self.work / ".sightline" / "settings.toml"
        (self.work / ".git").mkdir(parents=True)

    def say(self, file, text):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def load(self, **options):
        return load(options.pop("cwd", self.work), environ=self.environ, **options)

    def mistakes(self, **options):
        with pytest.raises(UserMistake) as caught:
            self.load(**options)
        return caught.value


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)
