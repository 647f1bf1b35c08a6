"""The git worktree a session of the user's works in, where it does.

Rules:

- While a session works in one, nothing removes it, and every view knows which one it is.
- A session that began in a worktree is resumed there. It goes elsewhere only where the user names another worktree, or
  resumes it in the workspace after its worktree was removed; that is reported.
- What is denied in the workspace is denied by the path it has in the worktree, and in the workspace itself, too.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from sightline.events import Event, Notice, State, WorktreeState
from sightline.exceptions import UserMistake
from sightline.journal import SessionReader, Store
from sightline.paths import in_copies_folder
from sightline.settings import StartOptions, anchored, denied_in_copy, load, remembered_rules
from sightline.text import clean_line

if TYPE_CHECKING:
    from sightline.host.session._session import HostSession
    from sightline.working_copies import UserWorktree


_BEFORE_IT_SERVES = 1000  # events of a session until it names its worktree


@contextmanager
def worktree_held(session: "HostSession", cwd: str) -> Iterator[None]:
    """While a session is served that works in this folder."""
    worktree = _at(cwd)
    if worktree is None:
        if session.seq and not in_copies_folder(cwd) and in_copies_folder(SessionReader(session.folder).header.cwd):
            text = "this session worked in a worktree that was removed; it works in this folder now"
            session.actor("host").publish(Notice(f"{text}: {clean_line(cwd)}", "warning"))
        yield
        return
    actor = session.actor("host")
    with worktree.used():
        actor.publish(WorktreeState(worktree.name, worktree.branch, str(worktree.workspace)).as_state())
        try:
            yield
        finally:
            actor.publish(WorktreeState.over())


def placed(store: Store, options: StartOptions) -> StartOptions:
    """With the folder the session is to work in, and what is denied there."""
    if options.resume:
        options = replace(options, cwd=folder_to_resume_in(store, options.resume, options.cwd))
    worktree = _at(options.cwd)
    if worktree is None:
        return options
    here, there = worktree.workspace, worktree.tree
    original = here / Path(os.path.realpath(options.cwd)).relative_to(there)  # what is remembered is by folder
    remembered = remembered_rules(original).deny
    settings = [load(each, flags=options.flags).settings for each in (here, original, there)]
    denied = [*(rule for each in settings for rule in each.permissions.deny), *remembered, *remembered_rules(here).deny]
    denied += options.deny
    kept = [anchored(rule, str(original), denies=True) for rule in denied]  # the workspace can be reached from here
    moved = denied_in_copy(denied, str(here), str(there))
    return replace(options, deny=list(dict.fromkeys((*options.deny, *remembered, *kept, *moved))))


def folder_to_resume_in(store: Store, session: str, cwd: str) -> str:
    """`cwd`: where the user is; empty: where it worked before. UserMistake where its worktree was removed, and the
    user is not in the workspace."""
    stored = store.read(session).header.cwd
    if cwd and (in_copies_folder(cwd) or not in_copies_folder(stored)):
        return cwd
    if not in_copies_folder(stored):
        return stored
    worktree = _at(stored)
    if worktree is not None:
        return stored if os.path.isdir(stored) else str(worktree.tree)
    fact = _last_worktree(store, session)
    if fact is None:
        return cwd or stored
    if cwd and Path(os.path.realpath(cwd)).is_relative_to(fact.workspace):
        return cwd
    import shlex

    words = f"cd {shlex.quote(fact.workspace)} && sightline --resume {session}"
    hint = f"in the workspace: {words}; in a new worktree: add --worktree {fact.name} to that"
    raise UserMistake(clean_line(f"session {session} worked in the worktree {fact.name}, which was removed"), hint)


def first_worktree(store: Store, session: str) -> WorktreeState | None:
    """That in which a session began, also after it was removed."""
    return next(_worktrees(islice(store.read(session).events(), _BEFORE_IT_SERVES)), None)


def _last_worktree(store: Store, session: str) -> WorktreeState | None:
    found = None
    for fact in _worktrees(store.read(session).events()):
        found = fact
    return found


def _worktrees(events: Iterable[Event]) -> Iterator[WorktreeState]:
    for event in events:
        if isinstance(event, State) and event.key == WorktreeState.KEY:
            fact = WorktreeState.of(event.value)
            if fact is not None:
                yield fact


def _at(folder: str) -> "UserWorktree | None":
    if not folder or not in_copies_folder(folder):
        return None
    from sightline.working_copies import worktree_at  # few sessions work in one

    return worktree_at(folder)
