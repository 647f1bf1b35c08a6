"""Commits of a repository that is itself a copy: an overlay's, or a plain copy's. No other repository has them.

Rules:

- Which names lead to them (branches, tags, stashes, a HEAD on no branch) is read here: git is never run in a repository
  of the agent's, whose settings are the agent's too.
- A commit is the agent's own when the repository of the workspace does not have it.
- They are stored as a bundle, from which git fetches. It needs commits of the workspace's, which are not in it.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from sightline.exceptions import OutsideFailure
from sightline.exec import remove_folder
from sightline.working_copies._facts import StoredCommits
from sightline.working_copies._git import GitFailure, Repository, find_repository, git_program
from sightline.working_copies._states import listed, look

_NAMES_AT_MOST = 1000
_commit = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_packed = re.compile(rb"([0-9a-f]{40,64}) (refs/[^\0\n ]+)")


def store_own_commits(workspace: str, root: str, folder: str, place: Path, scratch: Path) -> StoredCommits | None:
    """Of the repository at `folder` in a copy, whose files are in `root`. None where there are none."""
    git = os.path.join(folder, ".git")
    original = _repository_at(os.path.normpath(os.path.join(workspace, folder)))
    found = _own(_names(root, git), original)
    if not found:
        return None
    words = tuple(
        f"{_in_words(name)} {commit[:12]}{f' in {folder}' if folder else ''}" for name, commit in found.items()
    )
    try:
        _bundle(found, os.path.join(root, git, "objects"), original, place, scratch)
    except (OutsideFailure, OSError) as problem:
        with suppress(OSError):
            place.unlink()
        return StoredCommits(words, None, problem.message if isinstance(problem, OutsideFailure) else str(problem))
    return StoredCommits(words, place)


def _repository_at(folder: str) -> Repository | None:
    found = find_repository(folder)
    return found if found is not None and found.folder == folder else None


def _names(root: str, git: str) -> dict[str, str]:
    """What each name leads to. Of stashes all, which only a log has."""
    found: dict[str, str] = {}
    for line in look(root, f"{git}/packed-refs", force=True).data.splitlines():
        if packed := _packed.fullmatch(line):
            found[os.fsdecode(packed[2])] = packed[1].decode()
    waiting = [f"{git}/refs"]
    while waiting and len(found) < _NAMES_AT_MOST:
        above = waiting.pop()
        for name, status in listed(root, above, force=True):
            path = f"{above}/{name}"
            if stat.S_ISDIR(status.st_mode):
                waiting.append(path)
            elif commit := _read(root, path):
                found[path.removeprefix(f"{git}/")] = commit
    found.pop("refs/stash", None)
    found |= dict(_stashes(root, git))
    if head := _read(root, f"{git}/HEAD"):
        found["HEAD"] = head
    return found


def _stashes(root: str, git: str) -> Iterator[tuple[str, str]]:
    lines = look(root, f"{git}/logs/refs/stash", force=True).data.splitlines()
    for number, line in enumerate(lines[: -_NAMES_AT_MOST - 1 : -1]):
        commit = line.split(b" ")[1:2]
        if commit and _commit.fullmatch(commit[0]):
            yield f"stash-{number}", commit[0].decode()


def _read(root: str, path: str) -> str:
    found = look(root, path, force=True).data.strip()
    return found.decode() if _commit.fullmatch(found) else ""


def _own(names: dict[str, str], original: Repository | None) -> dict[str, str]:
    """Those that lead to a commit the workspace does not have. A commit on a branch is not named as HEAD again."""
    with suppress(GitFailure):  # all count as its own then
        if original is not None and names:
            asked = "".join(f"{commit}\n" for commit in names.values())
            lines = original.run("cat-file", "--batch-check", data=asked.encode()).splitlines()
            missing = {line.split(b" ")[0].decode() for line in lines if line.endswith(b" missing")}
            names = {name: commit for name, commit in names.items() if commit in missing}
    branches = {commit for name, commit in names.items() if name != "HEAD"}
    return {
        name: commit for name, commit in names.items()
        if not name.startswith("refs/remotes/") and (name != "HEAD" or commit not in branches)
    }  # fmt: skip


def _in_words(name: str) -> str:
    for start, word in (("refs/heads/", "branch "), ("refs/tags/", "tag "), ("refs/", "")):
        if name.startswith(start):
            return word + name.removeprefix(start)
    return "a commit on no branch" if name == "HEAD" else name


def _bundle(names: dict[str, str], objects: str, original: Repository | None, place: Path, scratch: Path) -> None:
    """Made in a repository of ours, which borrows the objects of both."""
    program = git_program()
    if program is None:
        raise GitFailure("git is not installed")
    made = str(scratch / "bundling")
    remove_folder(made)
    os.mkdir(made, 0o700)
    try:
        ours = Repository(program, made, os.path.join(made, ".git"), os.path.join(made, ".git"))
        ours.run("init", "--quiet", f"--object-format={'sha1' if len(next(iter(names.values()))) == 40 else 'sha256'}")
        borrowed = [objects, *([os.path.join(original.common, "objects")] if original is not None else [])]
        Path(ours.git_dir, "objects", "info", "alternates").write_bytes(
            os.fsencode("".join(f"{e}\n" for e in borrowed))
        )
        refs = {name if name.startswith("refs/") else f"refs/{name.lower()}": commit for name, commit in names.items()}
        ours.run("update-ref", "--stdin", data=b"".join(b"create %b %b\n" % _pair(*each) for each in refs.items()))
        known = b"" if original is None else original.run("for-each-ref", "--format=^%(objectname)")
        head = original.head() if original is not None else None
        known += f"^{head}\n".encode() if head else b""
        ours.run("bundle", "create", "--quiet", str(place), "--all", "--stdin", data=known)
    finally:
        remove_folder(made)


def _pair(name: str, commit: str) -> tuple[bytes, bytes]:
    return os.fsencode(name), commit.encode()
