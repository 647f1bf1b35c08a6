"""A prompt made of a command: its pieces are carried out as calls, in their order, and the text is put together.

Rules:

- A piece is chosen by a file, and not by the user: it is a call like one of the agent's, with the same hooks, rules,
  approvals and sandbox, and shown like one.
- The first that is refused or fails ends the command. Nothing is sent then.
- A name after `@` that is no file stays text: it may be a user's or a package's.
"""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from sightline.agent.commands._command_file import CommandFile
from sightline.agent.commands._template import CommandPiece, CommandWords, pieces_of
from sightline.agent.loop._calls import CallRunner
from sightline.conversation import CallPart, ImagePart, ToolMessage, text_of
from sightline.exceptions import OutsideFailure, UserMistake
from sightline.text import clean_line, cut_graphemes, first_line

MOST_PIECES = 20  # commands and files of one text
SECONDS_OF_A_PIECE = 60.0
LARGEST_EXPANSION = 256 * 1024  # characters
_LONGEST_SHOWN = 80

SOURCE = "command"  # of its calls, and of the text that is sent


class ExpandedCommand(msgspec.Struct, frozen=True):
    text: str
    images: tuple[ImagePart, ...] = ()


class CommandExpansion:
    """Expands the commands of one agent, one at a time."""

    def __init__(
        self, calls: Callable[[Callable[[ToolMessage], None]], CallRunner], cwd: Path, new_call: Callable[[], str]
    ) -> None:
        """`calls`: makes what runs the pieces, of a receiver of their results."""
        self._results: list[ToolMessage] = []
        self.calls = calls(self._results.append)
        self._cwd = cwd
        self._new_call = new_call

    async def expand(self, command: CommandFile, typed: str) -> ExpandedCommand:
        """UserMistake or OutsideFailure when nothing can be sent."""
        try:
            return await self._expanded(command, typed)
        except (UserMistake, OutsideFailure) as error:
            raise type(error)(f"/{command.name} was not sent: {error.message}", error.hint) from None

    async def _expanded(self, command: CommandFile, typed: str) -> ExpandedCommand:
        pieces, words = pieces_of(command.text), CommandWords(typed)
        filled = [self._filled(piece, words) for piece in pieces]
        if sum(piece.kind != "text" for piece in filled) > MOST_PIECES:
            raise UserMistake(f"it has more than {MOST_PIECES} commands and files", "leave some of them to the agent")
        text, files = "", dict[str, str]()
        images: list[ImagePart] = []
        for piece in filled:
            if piece.kind == "run":
                result = await self._call("bash", {"command": piece.text, "timeout": SECONDS_OF_A_PIECE}, piece.text)
                text += _printed(result)
            elif piece.kind == "file" and piece.text not in files:
                result = await self._call("read", {"path": piece.text}, f"@{piece.text}")
                files[piece.text] = text_of(result)
                images += [part for part in result.parts if isinstance(part, ImagePart)]
            text += {"text": piece.text, "file": f"@{piece.text}", "run": ""}[piece.kind]
            _refuse_large(text, *files.values())
        if typed and not words.are_used(pieces):
            text += f"\n\nARGUMENTS: {typed}"
        parts = [text.strip(), *(f'<file path="{path}">\n{content}\n</file>' for path, content in files.items())]
        _refuse_large(*parts)
        return ExpandedCommand("\n\n".join(parts), tuple(images))

    async def _call(self, tool: str, args: dict[str, object], shown: str) -> ToolMessage:
        self._results.clear()
        await self.calls.make([CallPart(self._new_call(), tool, args)])
        result = self._results[0]
        if result.is_error:
            what = cut_graphemes(clean_line(first_line(shown)), _LONGEST_SHOWN)
            raise OutsideFailure(f"`{what}` {_why(result)}", "nothing was sent; its call above has all of it")
        return result

    def _filled(self, piece: CommandPiece, words: CommandWords) -> CommandPiece:
        """With what the user typed. A name that is no file is text."""
        text = words.in_command(piece.text) if piece.kind == "run" else words.in_text(piece.text)
        if piece.kind == "file" and not self._is_file(text):
            return CommandPiece("text", f"@{text}")
        return CommandPiece(piece.kind, text)

    def _is_file(self, path: str) -> bool:
        try:
            return os.path.lexists(self._cwd / os.path.expanduser(path))
        except (OSError, ValueError):
            return False


def _printed(result: ToolMessage) -> str:
    text = text_of(result)
    return (text if result.ending is None else result.ending.without_outcome(text)).rstrip("\n")


def _why(result: ToolMessage) -> str:
    ending = result.ending
    if ending is not None and ending.by:
        return clean_line(f"was refused: {ending.why_refused}" if ending.why_refused else "was refused")
    lines = (ending.outcome_lines if ending is not None else None) or [first_line(text_of(result))]
    return clean_line(f"failed: {lines[-1]}")


def _refuse_large(*texts: str) -> None:
    size = sum(map(len, texts))
    if size > LARGEST_EXPANSION:
        raise UserMistake(
            f"its text has {size:,} characters with its files and output, more than {LARGEST_EXPANSION:,}",
            "leave some of its files and commands to the agent",
        )
