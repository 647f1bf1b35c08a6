"""Conversations with chat completions servers, which store none: one file each, under an id of ours.

The file holds the messages as they are sent. It is replaced as a whole, so a reader sees the old or the new one, and
only its owner can read it.
"""

import os
import re
import secrets

import msgspec

from sightline.exceptions import OutsideFailure, UserMistake
from sightline.paths import data_folder, private_folder

_valid_id = re.compile(r"[A-Za-z0-9_-]{1,64}").fullmatch


class StoredConversation(msgspec.Struct, kw_only=True):
    id: str
    model: str = ""
    messages: list[dict[str, object]] = []


def new_conversation() -> StoredConversation:
    return StoredConversation(id=f"chat-{secrets.token_hex(8)}")


def load_conversation(ident: str) -> StoredConversation:
    """The conversation of that id; UserMistake when there is none."""
    if not _valid_id(ident):
        raise UserMistake("that is not the id of a conversation", "use the one from `run_started.session`")
    folder = data_folder() / "chat"
    try:
        return msgspec.json.decode((folder / f"{ident}.json").read_bytes(), type=StoredConversation)
    except FileNotFoundError:
        raise UserMistake(
            f"there is no conversation '{ident}'", f"conversations are stored in {folder}; start a new one"
        ) from None
    except (OSError, ValueError):
        raise OutsideFailure(f"the conversation '{ident}' cannot be read", f"see {folder}; start a new one") from None


def save_conversation(conversation: StoredConversation) -> None:
    """Store it for next time; OSError when that is not possible."""
    folder = data_folder() / "chat"
    private_folder(folder)
    new = folder / f".{conversation.id}.{secrets.token_hex(4)}"
    try:
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(conversation))
        new.replace(folder / f"{conversation.id}.json")
    except OSError:
        new.unlink(missing_ok=True)
        raise
