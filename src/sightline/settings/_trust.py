"""Which folders the user trusts: only there a project's own settings, extensions, agents, commands and
skills are used.

Rules:

- A folder is trusted by its real path, for the settings, extensions, agents, slash commands and skills it held when
  it was trusted: a digest of them is stored. A change of one of them ends the trust until the user gives it again.
- A change of an agent alone ends the use of all agents, and not that of settings and extensions: they are the trusted
  ones, and may hold rules that deny. The same holds for slash commands and skills.
- Of a folder below a trusted one nothing is known, so it is trusted only as long as it has neither of its own.
- The root and the home folder, and what they are in, are never trusted: too much comes to be below them.
- A copy of a folder gets the digests of that folder, not digests of its own: what differs in it is not trusted.
- A list that cannot be read trusts nothing. Nor does an entry without a digest, from before there were any.
"""

import contextlib
import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sightline.exceptions import SightlineError, UserMistake
from sightline.paths import data_folder
from sightline.settings._files import held, read_small, replace

if TYPE_CHECKING:
    from sightline.settings._digest import Digest

Trust = Literal["trusted", "untrusted", "changed"]  # changed: since the user trusted it
_AGENTS, _COMMANDS, _SKILLS = 1, 2, 3  # of the words of a folder


def is_trusted(folder: Path) -> bool:
    return trust_of(folder) == "trusted"


def trust_of(folder: Path) -> Trust:
    """Of everything in it."""
    states = (trusted(folder)[0] for trusted in (trusted_agents, trusted_commands, trusted_skills))
    return next((state for state in states if state != "trusted"), "trusted")


def trusted_files(folder: Path) -> tuple[Trust, dict[Path, bytes]]:
    """Whether its settings and extensions are trusted, and the content of these, by their real paths."""
    real = Path(os.path.realpath(folder))
    try:
        known = {each: digest for each, digest in _digests().items() if not _is_too_much(each)}
        if not any(real.is_relative_to(each) for each in known):
            return "untrusted", {}
        from sightline.settings._digest import NOTHING, digest_of

        digest = digest_of(real)
        if digest.word == _words(known.get(real, NOTHING))[0]:
            return "trusted", digest.files
    except SightlineError:
        return "untrusted", {}
    return "changed" if real in known else "untrusted", {}


def trusted_agents(folder: Path) -> tuple[Trust, dict[Path, bytes]]:
    """Whether its settings, its extensions and its definitions of agents are trusted, and the content of these, by
    their real paths."""
    from sightline.settings import _digest

    return _trusted_definitions(folder, _AGENTS, lambda real: _digest.agents_digest_of(real))


def trusted_commands(folder: Path) -> tuple[Trust, dict[Path, bytes]]:
    """The same for its slash commands."""
    from sightline.settings import _digest

    return _trusted_definitions(folder, _COMMANDS, lambda real: _digest.commands_digest_of(real))


def trusted_skills(folder: Path) -> tuple[Trust, dict[Path, bytes]]:
    """The same for its skills, with the content of all their files."""
    from sightline.settings import _digest

    return _trusted_definitions(folder, _SKILLS, lambda real: _digest.skills_digest_of(real))


def _trusted_definitions(
    folder: Path, which: int, digest_of: "Callable[[Path], Digest]"
) -> tuple[Trust, dict[Path, bytes]]:
    real = Path(os.path.realpath(folder))
    state = trusted_files(real)[0]
    if state != "trusted":
        return state, {}
    try:
        digest, known = digest_of(real), _digests()
    except SightlineError:
        return "untrusted", {}
    if digest.word == _words(known.get(real, ""))[which]:
        return "trusted", digest.files
    return "changed" if real in known else "untrusted", {}


def untrusted_notice(what: str, left_out: Mapping[Path, tuple[Trust, int]]) -> str:
    """One line about all that is not used, such as `agent`: how many in each project, and how to trust them."""
    count = sum(number for _, number in left_out.values())
    states = {trust for trust, _ in left_out.values()}
    why = "changed since you trusted its folder" if states == {"changed"} else "its folder is not trusted"
    commands = " and ".join(f"`sightline config trust {shlex.quote(str(project))}`" for project in left_out)
    subject = f"{count} {what}{'s' * (count > 1)} of this project {'are' if count > 1 else 'is'} not used"
    return f"{subject}: {why}. Read {'them' if count > 1 else 'it'}, then run {commands}"


def trusted_folders() -> list[Path]:
    """Real paths, sorted. A UserMistake when the list is damaged."""
    return sorted(_digests())


def trust(folder: Path) -> Path:
    """As it is now. Returns its real path."""
    real = Path(os.path.realpath(folder))
    if not real.is_dir():
        raise UserMistake(f"not a folder: {folder}", "name the folder of the project")
    if _is_too_much(real):
        raise UserMistake(f"{real} cannot be trusted as a whole", "trust the folder of one project")
    from sightline.settings._digest import agents_digest_of, commands_digest_of, digest_of, skills_digest_of

    with held(_file()):
        words = (look(real).word for look in (digest_of, agents_digest_of, commands_digest_of, skills_digest_of))
        _write({**_digests(), real: "+".join(words).rstrip("+")})
    return real


def untrust(folder: Path) -> Path:
    real = Path(os.path.realpath(folder))
    with held(_file()):
        digests = _digests()
        if real not in digests:
            above = next((each for each in sorted(digests) if real.is_relative_to(each)), None)
            hint = f"it is trusted as a part of {above}" if above else "see `sightline config trust --list`"
            raise UserMistake(f"not in the list of trusted folders: {real}", hint)
        _write({each: digest for each, digest in digests.items() if each != real})
    return real


def trust_copy(folder: Path, copy: Path) -> None:
    """In a copy of a folder, trust what is trusted in the folder: no more than it had when the user trusted it."""
    source, target = Path(os.path.realpath(folder)), Path(os.path.realpath(copy))
    with held(_file()):
        digests = _digests()
        below = {each: word for each, word in digests.items() if each.is_relative_to(source) and word}
        copied = {target / each.relative_to(source): word for each, word in below.items() if not _is_too_much(each)}
        if any(digests.get(each) != word for each, word in copied.items()):
            _write({**digests, **copied})


def forget_trust_below(folder: Path) -> None:
    """Of a copy that is removed."""
    real = Path(os.path.realpath(folder))
    with held(_file()):
        digests = _digests()
        others = {each: word for each, word in digests.items() if not each.is_relative_to(real)}
        if len(others) < len(digests):
            _write(others)


@contextlib.contextmanager
def trust_preserved(folder: Path) -> Iterator[None]:
    """A folder that was trusted before the change is trusted with it."""
    trusted = is_trusted(folder)
    yield
    if trusted:
        trust(folder)


def _words(stored: str) -> tuple[str, ...]:
    """The digest of settings and extensions, those of agents, commands and skills; empty where there were none."""
    return (*stored.split("+"), "", "", "")[:4]


def _is_too_much(folder: Path) -> bool:
    return Path(os.path.realpath(Path.home())).is_relative_to(folder)


def _file() -> Path:
    return data_folder() / "trusted.json"


def _digests() -> dict[Path, str]:
    import json

    file = _file()
    data = read_small(file)
    if data is None:
        return {}
    try:
        folders = json.loads(data)["folders"]
        entries = folders if isinstance(folders, dict) else dict.fromkeys(folders, "")
        return {Path(folder): str(digest) for folder, digest in entries.items() if os.path.isabs(folder)}
    except (ValueError, LookupError, TypeError, RecursionError):
        raise UserMistake(
            f"{file} is damaged; no folder is trusted", "remove it, and trust your folders again"
        ) from None


def _write(digests: dict[Path, str]) -> None:
    import json

    folders = {str(folder): digest for folder, digest in sorted(digests.items())}
    replace(_file(), json.dumps({"folders": folders}, indent=1).encode() + b"\n")
