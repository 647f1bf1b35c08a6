"""The ids of sessions, jobs and calls: short enough to type, distinct in form; a job and a call name their session.

A session is six characters that cannot be mistaken for each other or for a number (`k3m9qz`); a job of it has a dash
and a number after that (`k3m9qz-1`), a call of its agent a dash, a c and a number (`k3m9qz-c1`).
"""

import re
import secrets

_LETTERS = "abcdefghjkmnpqrstuvwxyz"
_CHARACTERS = _LETTERS + "23456789"

_session = re.compile(f"[{_LETTERS}][{_CHARACTERS}]{{5}}").fullmatch
_job = re.compile(f"([{_LETTERS}][{_CHARACTERS}]{{5}})-c?[1-9][0-9]{{0,8}}").fullmatch


def new_session_id() -> str:
    return secrets.choice(_LETTERS) + "".join(secrets.choice(_CHARACTERS) for _ in range(5))


def is_session_id(text: str) -> bool:
    return _session(text) is not None


def is_job_id(text: str) -> bool:
    """Of a job or of a call: both have an output under it."""
    return _job(text) is not None


def session_of(job: str) -> str:
    """The session a job or a call belongs to; empty for anything else."""
    match = _job(job)
    return "" if match is None else match[1]
