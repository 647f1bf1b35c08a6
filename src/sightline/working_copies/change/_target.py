"""Which change is meant: what a user named, as commits; and what there is to choose from.

Rules:

- Names are untrusted: others make branches, too. None is given to git where it could be an option. A
  branch is looked for by its whole name (`refs/heads/…`), anything else only where it begins with no dash. What follows
  uses the ids of commits alone.
- A branch is compared with from where the two parted: what it has and we have not is no change of ours.
"""

import os
import re
from collections.abc import Iterator

import msgspec

from sightline.exceptions import UserMistake
from sightline.text import clean_line, cut_graphemes
from sightline.working_copies._git import GitFailure, Repository, find_repository, git_program

UNCOMMITTED = "the uncommitted changes"
_BRANCHES = ("refs/heads/", "refs/remotes/")
_MAIN = ("main", "master", "trunk")
_NAME_AT_MOST, _TITLE_AT_MOST = 500, 80  # characters
_LISTED_BRANCHES, _LISTED_COMMITS = 200, 50
_LIST_AT_MOST = 1024 * 1024  # bytes of what git lists
_SHORT = 10  # characters of a commit's id that are shown
_is_id = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}").fullmatch


class ChangeTarget(msgspec.Struct, frozen=True, kw_only=True):
    """`about`: in words, such as `main..HEAD` or `the changes against main`."""

    about: str
    base: str  # the id of a commit, or of the tree without files
    tip: str = ""  # the id of a commit; empty: the files as they are now


class CommitChoice(msgspec.Struct, frozen=True):
    id: str
    title: str


class ChangeChoices(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to choose from."""

    uncommitted: int  # files
    main: str = ""  # the branch that others are usually compared with
    ahead: int = 0  # commits that it has not
    branches: list[str] = []  # the last changed first
    commits: list[CommitChoice] = []  # the last first


def open_repository(folder: str) -> Repository:
    """The one that a folder is in. UserMistake where there is none."""
    if git_program() is None:
        raise UserMistake("a review needs git, which is not installed", "install git")
    repository = find_repository(os.path.realpath(folder))
    if repository is None:
        raise UserMistake(f"not in a git repository that can be used: {clean_line(folder)}", "`git init` makes one")
    return repository


def find_target(repository: Repository, words: str) -> ChangeTarget:
    """What the user named: nothing, a branch, `A..B`, or a commit."""
    words = words.strip()
    if not words:
        return ChangeTarget(about=UNCOMMITTED, base=repository.head() or _no_files(repository))
    if len(words) > _NAME_AT_MOST or not words.isprintable():
        raise _unknown(words)
    if ".." in words:
        return _range(repository, words)
    branch = _branch(repository, words)
    if branch:
        head = _head(repository)
        return ChangeTarget(about=f"the changes against {words}", base=_parted(repository, branch, head))
    commit = _commit(repository, words)
    before = _parent(repository, commit) or _no_files(repository)
    about = f"commit {commit[:_SHORT]} {_title(repository, commit)}".rstrip()
    return ChangeTarget(about=about, base=before, tip=commit)


def commit_choices(repository: Repository) -> ChangeChoices:
    """All but the number of files that are not committed."""
    head = repository.head()
    if head is None:
        return ChangeChoices(uncommitted=0)
    branches = list(_branches(repository))
    main = _main_branch(repository, branches)
    ahead = int(repository.line("rev-list", "--count", head, f"^{_branch(repository, main)}")) if main else 0
    commits = list(_commits(repository, f"--max-count={_LISTED_COMMITS}", head))
    return ChangeChoices(uncommitted=0, main=main, ahead=ahead, branches=branches, commits=commits)


def _range(repository: Repository, words: str) -> ChangeTarget:
    first, dots, last = words.partition("...") if "..." in words else words.partition("..")
    base, tip = (_revision(repository, name or "HEAD") for name in (first, last))
    return ChangeTarget(about=f"{first or 'HEAD'}{dots}{last or 'HEAD'}", base=_parted(repository, base, tip), tip=tip)


def _revision(repository: Repository, name: str) -> str:
    return _branch(repository, name) or _commit(repository, name)


def _branch(repository: Repository, name: str) -> str:
    """The commit it is at; empty where there is none of this name."""
    for start in _BRANCHES:
        if _is_ref(repository, f"{start}{name}"):
            return _id(repository, f"{start}{name}")
    return ""


def _is_ref(repository: Repository, name: str) -> bool:
    """By its whole name: `main^` is none, though it leads to a commit."""
    return bool(repository.run("show-ref", "--verify", "--hash", name, allowed=(0, 1, 128)))


def _commit(repository: Repository, name: str) -> str:
    found = "" if name.startswith("-") else _id(repository, name)
    if not found:
        raise _unknown(name)
    return found


def _id(repository: Repository, name: str) -> str:
    """Of the commit that a name, which is no option, leads to; empty where it leads to none."""
    words = ("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    found = os.fsdecode(repository.run(*words, allowed=(0, 1, 128))).strip()
    return found if _is_id(found) else ""


def _unknown(name: str) -> UserMistake:
    shown = cut_graphemes(clean_line(name), _TITLE_AT_MOST)
    return UserMistake(f"no branch, commit or range {shown}", "git branch --all lists branches, git log commits")


def _head(repository: Repository) -> str:
    head = repository.head()
    if head is None:
        raise UserMistake("the repository has no commit yet", "leave out the branch")
    return head


def _parted(repository: Repository, one: str, other: str) -> str:
    """Where two commits parted; the first, where they have nothing in common."""
    found = os.fsdecode(repository.run("merge-base", one, other, allowed=(0, 1))).strip()
    return found if _is_id(found) else one


def _parent(repository: Repository, commit: str) -> str:
    return _id(repository, f"{commit}^1")


def _no_files(repository: Repository) -> str:
    """The id of the tree without files. Nothing is written: git knows it."""
    return os.fsdecode(repository.run("hash-object", "-t", "tree", "--stdin")).strip()


def _title(repository: Repository, commit: str) -> str:
    return next((each.title for each in _commits(repository, "--max-count=1", commit)), "")


def _commits(repository: Repository, *words: str) -> Iterator[CommitChoice]:
    data, _ = repository.read("rev-list", "--format=%H %s", *words, limit=_LIST_AT_MOST)
    for line in data.decode(errors="replace").split("\n"):
        id, _, title = line.partition(" ")
        if _is_id(id):
            yield CommitChoice(id[:_SHORT], cut_graphemes(clean_line(title), _TITLE_AT_MOST))


def _branches(repository: Repository) -> Iterator[str]:
    """Those whose names can be shown as they are."""
    words = ("for-each-ref", "--sort=-committerdate", f"--count={_LISTED_BRANCHES}", "--format=%(refname)%(symref)")
    data, _ = repository.read(*words, *_BRANCHES, limit=_LIST_AT_MOST)
    for line in data.decode(errors="replace").split("\n"):
        name = next((line.removeprefix(start) for start in _BRANCHES if line.startswith(start)), "")
        if name and "refs/" not in name and clean_line(name) == name and "�" not in name:
            yield name


def _main_branch(repository: Repository, branches: list[str]) -> str:
    """The one that the server names, else the first of the usual ones; not the branch that one is on."""
    here = os.fsdecode(repository.run("symbolic-ref", "--quiet", "HEAD", allowed=(0, 1))).strip()
    try:
        named = repository.line("symbolic-ref", "--quiet", "refs/remotes/origin/HEAD").removeprefix("refs/remotes/")
    except GitFailure:
        named = ""
    usual = [named.removeprefix("origin/"), named, *(each for name in _MAIN for each in (name, f"origin/{name}"))]
    return next((name for name in usual if name in branches and f"refs/heads/{name}" != here), "")
