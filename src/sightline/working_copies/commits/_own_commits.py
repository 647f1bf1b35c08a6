"""Commits of a repository that an agent has in its copy, which no other repository has.

Rules:

- Git is never run in a repository of the agent's, whose settings are the agent's too, nor opens a file of it: names and
  objects are read here, and git gets a repository of ours with what are regular files.
- A commit is the agent's own when the repository of the workspace does not have it, and none that was fetched leads to
  it.
- They are stored as a bundle, from which git fetches. It needs commits of the workspace's, which are not in it. Where
  git makes none, the repository of ours is stored.
- All of a copy together has one time limit and one bound. What is not stored is named.
"""

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from sightline.exceptions import OutsideFailure
from sightline.exec import remove_folder
from sightline.working_copies._facts import StoredCommits
from sightline.working_copies._git import GitFailure, Repository, TimeLimit, git_program
from sightline.working_copies.commits._objects import ObjectBudget, copy_objects
from sightline.working_copies.commits._repositories import CopyRepository, Names, names_of

SECONDS = 20.0
_REPOSITORIES_AT_MOST = 20
_NAMES_AT_MOST = 1000
_SAID_AT_MOST = 100  # names
_NAME_AT_MOST = 200  # characters of one that is said
_OBJECTS_AT_MOST = 100_000
_BYTES_AT_MOST = 512 * 1024 * 1024
_name = re.compile(r"refs(?:/(?!\.)[^\0-\x20\x7f~^:?*\[\\/]+(?<!\.lock)(?<!\.))+")


def store_own_commits(
    repositories: Iterable[CopyRepository], folder: Path, scratch: Path, limit: TimeLimit
) -> list[StoredCommits]:
    """As `folder`/commits.bundle and so on."""
    budget, found = ObjectBudget(limit, _OBJECTS_AT_MOST, _BYTES_AT_MOST), list[StoredCommits]()
    every = list(repositories)
    for repository in every[:_REPOSITORIES_AT_MOST]:
        made = sum(each.bundle is not None or each.repository is not None for each in found)
        place = folder / f"commits{f'-{made + 1}' if made else ''}.bundle"
        try:
            found += _Storing(repository, budget, place, scratch / "bundling").run()
        except (OutsideFailure, OSError) as problem:
            if limit.is_stopped:  # the copy stays
                raise
            found.append(StoredCommits((f"all{_place(repository)}",), None, _why(problem)))
    if left := every[_REPOSITORIES_AT_MOST:]:
        names = [f"all{_place(each)}"[:_NAME_AT_MOST] for each in left[:_SAID_AT_MOST]]
        names += [f"those of {len(left) - len(names):,} more repositories"] if len(left) > len(names) else []
        why = f"at most {_REPOSITORIES_AT_MOST} repositories of a copy are stored"
        found.append(StoredCommits((*names,), None, why))
    return found


class _Storing:
    """Of one repository."""

    def __init__(self, repository: CopyRepository, budget: ObjectBudget, place: Path, scratch: Path) -> None:
        self._repository = repository
        self._original = repository.original and repository.original.within(budget.limit)
        self._budget = budget
        self._place = place
        self._scratch = str(scratch)

    def run(self) -> list[StoredCommits]:
        names = names_of(self._repository, self._budget.limit)
        fetched = {commit for name, commit in names.commits.items() if name.startswith("refs/remotes/")}
        names.commits = self._unknown(names.commits)
        names.commits = {
            name: commit
            for name, commit in _without_twins(names.commits).items()
            if not name.startswith("refs/remotes/") and commit not in fetched
        }
        if not names.commits:
            return []
        try:
            return self._stored(names, fetched)
        except (OutsideFailure, OSError) as problem:
            if self._budget.limit.is_stopped:
                raise
            return [StoredCommits(self._words(names), None, _why(problem))]
        finally:
            remove_folder(self._scratch)

    def _unknown(self, names: dict[str, str]) -> dict[str, str]:
        """Those that lead to a commit the workspace does not have."""
        original = self._original
        if original is None or not names:
            return names
        if self._repository.shared:
            return _not_below(original, names, self._known_to_original(original))
        with suppress(GitFailure):  # all count as its own then
            present = {*_kinds(original, names.values()), *_named_by(original)}  # where one is broken, so is its copy
            return {name: commit for name, commit in names.items() if commit not in present}
        return names

    def _stored(self, names: Names, fetched: set[str]) -> list[StoredCommits]:
        ours = self._ours(len(next(iter(names.commits.values()))))
        repository, known = self._repository, self._original.common if self._original is not None else ""
        if not repository.shared:
            objects = os.path.join(known, "objects") if known else ""
            copy_objects(repository.root, f"{repository.git}/objects", ours, objects, self._budget)
        kinds = _kinds(ours, {*names.commits.values(), *fetched})
        lost = Names({name: commit for name, commit in names.commits.items() if commit not in kinds})
        known_commits = self._known_to_original(ours)
        present = {name: commit for name, commit in names.commits.items() if commit in kinds}
        if fetched:
            there = [each for each in fetched if kinds.get(each) == "commit"]
            present = _not_below(ours, present, [*known_commits, *there])
        stored = [StoredCommits(self._words(lost), None, "their objects are missing")] if lost.commits else []
        if present:
            bundled = {name: present[name] for name in [*present][:_NAMES_AT_MOST]}
            names = Names(bundled, names.more + len(present) - len(bundled))
            stored.insert(0, self._bundled(ours, names, known_commits))
        return stored

    def _ours(self, length: int) -> Repository:
        """Empty, with the objects of the workspace's repository to borrow."""
        program = git_program()
        if program is None:
            raise GitFailure("git is not installed")
        remove_folder(self._scratch)
        os.mkdir(self._scratch, 0o700)
        git = os.path.join(self._scratch, ".git")
        ours = Repository(program, self._scratch, git, git, self._budget.limit)
        ours.run("init", "--quiet", "--template=", f"--object-format={'sha1' if length == 40 else 'sha256'}")
        if self._original is not None:
            info = Path(git, "objects", "info")
            info.mkdir(exist_ok=True)
            (info / "alternates").write_bytes(os.fsencode(os.path.join(self._original.common, "objects") + "\n"))
        return ours

    def _known_to_original(self, there: Repository) -> list[str]:
        """What its names lead to, where a repository has that: one may be broken."""
        original = self._original
        if original is None:
            return []
        found = _named_by(original)
        with suppress(GitFailure):
            found += filter(None, [original.head()])
        kinds = _kinds(there, found)
        return [each for each, kind in kinds.items() if kind in ("commit", "tag")]

    def _bundled(self, ours: Repository, names: Names, excluded: list[str]) -> StoredCommits:
        words = self._words(names)
        lines = [f"{commit} {ref}\n" for ref, commit in _refs(names.commits).items()]
        Path(ours.git_dir, "packed-refs").write_bytes(os.fsencode("".join(lines)))
        data = "".join(f"^{each}\n" for each in excluded).encode()
        try:
            ours.run("bundle", "create", "--quiet", str(self._place), "--all", "--stdin", data=data)
        except (OutsideFailure, OSError) as problem:
            for unfinished in (self._place, self._place.with_name(f"{self._place.name}.lock")):
                unfinished.unlink(missing_ok=True)
            if self._budget.limit.is_stopped:
                raise
            place = self._place.with_suffix(".git")
            remove_folder(str(place))
            os.rename(ours.git_dir, place)
            return StoredCommits(words, None, _why(problem), place)
        return StoredCommits(words, self._place)

    def _words(self, names: Names) -> tuple[str, ...]:
        where = _place(self._repository)
        said = [f"{_in_words(name)[:_NAME_AT_MOST]} {names.commits[name][:12]}{where}" for name in names.commits]
        more = names.more + max(0, len(said) - _SAID_AT_MOST)
        return (*said[:_SAID_AT_MOST], *([f"{more:,} more names{where}"] if more else []))


def _named_by(repository: Repository) -> list[str]:
    return repository.run("for-each-ref", "--format=%(objectname)").decode().split()


def _kinds(repository: Repository, objects: Iterable[str]) -> dict[str, str]:
    """Of those that it has."""
    data = "".join(f"{each}\n" for each in dict.fromkeys(objects)).encode()
    lines = repository.run("cat-file", "--batch-check=%(objectname) %(objecttype)", data=data).decode().splitlines()
    words = (line.split(" ") for line in lines)
    return {found[0]: found[1] for found in words if len(found) == 2 and found[1] in ("commit", "tag", "tree", "blob")}


def _not_below(ours: Repository, names: dict[str, str], fetched: list[str]) -> dict[str, str]:
    """Those with a commit that none of the fetched leads to."""
    asked = [*names.values(), *(f"^{each}" for each in fetched)]
    try:
        data = "".join(f"{each}\n" for each in asked).encode()
        own = set(ours.run("rev-list", "--stdin", data=data).decode().split())
        data = "".join(f"{each}^{{commit}}\n" for each in names.values()).encode()
        peeled = ours.run("cat-file", "--batch-check=%(objectname)", data=data).decode().splitlines()
    except GitFailure:  # something is broken: all count as its own
        return names
    return {name: names[name] for name, commit in zip(names, peeled, strict=True) if commit in own}


def _without_twins(names: dict[str, str]) -> dict[str, str]:
    """Branches and tags first. A commit that one of these leads to is not named as a HEAD again."""
    refs = {name: commit for name, commit in names.items() if name.startswith("refs/")}
    rest = {name: commit for name, commit in names.items() if name not in refs}
    named = set(refs.values())
    heads = {name: commit for name, commit in rest.items() if name == "HEAD" or name.startswith("worktrees/")}
    stashes = {name: commit for name, commit in rest.items() if name not in heads}
    return refs | stashes | {name: commit for name, commit in heads.items() if commit not in named}


def _refs(names: dict[str, str]) -> dict[str, str]:
    """Names that git takes, none of which is a folder of another."""
    found: dict[str, str] = {}
    folders: set[str] = set()
    for number, (name, commit) in enumerate(names.items()):
        ref = name if name.startswith("refs/") else f"refs/{name.lower()}"
        above = {ref[:at] for at in range(len("refs/"), len(ref)) if ref[at] == "/"}
        odd = not _name.fullmatch(ref) or ".." in ref or "@{" in ref
        if odd or ref in found or ref in folders or above & found.keys():
            ref, above = f"refs/unnamed-{number}", set()
        folders |= above
        found[ref] = commit
    return found


def _in_words(name: str) -> str:
    for start, word in (
        ("refs/heads/", "branch "),
        ("refs/tags/", "tag "),
        ("refs/", ""),
        ("worktrees/", "a commit on no branch of the worktree "),
    ):
        if name.startswith(start):
            return word + name.removeprefix(start)
    return "a commit on no branch" if name == "HEAD" else name


def _place(repository: CopyRepository) -> str:
    return f" in {repository.folder}" if repository.folder else ""


def _why(problem: Exception) -> str:
    return problem.message if isinstance(problem, OutsideFailure) else str(problem)
