"""Which server is used, and with which key.

Where each comes from, first wins: `options.base_url`, `SIGHTLINE_OPENAI_BASE_URL`, `OPENAI_BASE_URL`, the settings
file; `SIGHTLINE_OPENAI_API_KEY`, `OPENAI_API_KEY`, the settings file. The key comes from nowhere else: options end up
in command lines, flow files and logs. There is no base URL by default, so that nothing goes to a server that the
user did not name.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from sightline.exceptions import UserMistake
from sightline.providers._provider import ProviderPrompt

_SETTINGS = ("base_url", "api_key", "model")


class EndpointSettings(NamedTuple):
    """Address, key and model. The key is left out of every representation."""

    base_url: str
    api_key: str
    model: str
    file: Path
    file_is_open: bool = False  # others can read the file the key is in

    def __repr__(self) -> str:
        return f"Settings(base_url={self.base_url!r}, model={self.model!r}, file={str(self.file)!r})"


def settings_file(environ: Mapping[str, str]) -> Path:
    home = environ.get("SIGHTLINE_HOME")
    if home:
        return Path(home) / "openai_compatible.toml"
    config = environ.get("XDG_CONFIG_HOME")
    return (Path(config) if config else Path.home() / ".config") / "sightline" / "openai_compatible.toml"


def load_settings(ask: ProviderPrompt) -> EndpointSettings:
    """The settings for one prompt; UserMistake when they do not name a server or cannot be read."""
    environ = {**os.environ, **ask.env}
    file = settings_file(environ)
    stored, is_open = _read_file(file)
    env_url = _first(environ.get("SIGHTLINE_OPENAI_BASE_URL"), environ.get("OPENAI_BASE_URL"))
    base_url = _first(ask.options.get("base_url"), env_url, stored.get("base_url"))
    env_key = _first(environ.get("SIGHTLINE_OPENAI_API_KEY"), environ.get("OPENAI_API_KEY"))
    key = env_key or _first(stored.get("api_key"))
    if not base_url:
        raise UserMistake("no server is set", f"set OPENAI_BASE_URL, options.base_url, or base_url in {file}")
    if not (key.isascii() and key.isprintable()):
        raise UserMistake(
            "the API key has a character that no key can have", "check OPENAI_API_KEY and the settings file"
        )
    is_open = is_open and bool(stored.get("api_key")) and not env_key
    return EndpointSettings(_checked_url(base_url), key, stored.get("model", ""), file, is_open)


def _read_file(file: Path) -> tuple[dict[str, str], bool]:
    import tomllib

    try:
        with file.open("rb") as stream:
            is_open = bool(os.fstat(stream.fileno()).st_mode & 0o077)
            stored = tomllib.load(stream)
    except (FileNotFoundError, NotADirectoryError):
        return {}, False
    except OSError as problem:
        raise UserMistake(f"{file} cannot be read: {problem.strerror}", "check its owner and mode") from None
    except ValueError:  # its message may quote the file, and with it the key
        raise UserMistake(
            f"{file} is not a TOML file", 'write lines like: base_url = "http://127.0.0.1:8080/v1"'
        ) from None
    wrong = [name for name, value in stored.items() if name not in _SETTINGS or not isinstance(value, str)]
    if wrong:
        raise UserMistake(f"{file}: '{wrong[0]}' is not a setting", f"settings are strings: {', '.join(_SETTINGS)}")
    return stored, is_open


def _first(*values: object) -> str:
    return next((value.strip() for value in values if isinstance(value, str) and value.strip()), "")


def _checked_url(base_url: str) -> str:
    scheme, separator, rest = base_url.partition("://")
    if scheme not in ("http", "https") or not separator or not rest or any(c.isspace() for c in base_url):
        raise UserMistake("the base URL is not an http or https address", "write it like http://127.0.0.1:8080/v1")
    if "@" in rest.split("/", 1)[0]:
        raise UserMistake("the base URL holds a password", "put the key into OPENAI_API_KEY instead")
    return base_url
