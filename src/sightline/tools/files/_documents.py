"""Documents of office programs as markdown, converted in a process of its own.

The converter (extra `docs`) runs in the sandbox, without a network, on a copy in a folder of its own, and is ended with
everything it started when it takes too long or the call is cancelled.
"""

import asyncio
import importlib.util
import os
import shutil
import sys
import tempfile
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.tools._tool import ToolError
from sightline.tools.files._regular import opened, read_all

if TYPE_CHECKING:
    from sightline.exec import Process

EXTENSIONS = frozenset({".pdf", ".doc", ".docx", ".ppt", ".pptx", ".xls", ".xlsx", ".rtf", ".epub"})
MAX_INPUT = 100 * 1024**2
MAX_OUTPUT = 16 * 1024**2
SECONDS = 60.0
_CONVERTER = Path(__file__).with_name("_document_converter.py")
_REASON_LENGTH = 300


class DocumentError(ToolError):
    """A document could not be converted; the message is the reason alone."""


class Conversions:
    """The documents converted last, so that paging through one converts it once. One per session."""

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._texts: OrderedDict[tuple[Path, int, int], str] = OrderedDict()

    async def text(self, path: Path) -> str:
        """The document as markdown, converted when it has changed. DocumentError says why it cannot be."""
        facts = await asyncio.to_thread(_facts, path)
        key = (path, facts.st_mtime_ns, facts.st_size)
        if key not in self._texts:
            self._texts[key] = await convert(path)
            while len(self._texts) > self._most:
                self._texts.popitem(last=False)
        self._texts.move_to_end(key)
        return self._texts[key]


def is_document(name: str) -> bool:
    return Path(name).suffix.lower() in EXTENSIONS


def cannot_read(name: str, reason: object) -> str:
    """What a model is shown in place of a document."""
    return f"[Cannot read {Path(name).suffix.lower()} file: {reason}]"


async def convert(path: Path, *, python: str = sys.executable, seconds: float = SECONDS) -> str:
    """An absolute path's document as markdown. DocumentError says why it cannot be."""
    if python == sys.executable and importlib.util.find_spec("markitdown") is None:
        raise DocumentError('documents need an extra that is not installed; pip install "sightline[docs]"')
    size = (await asyncio.to_thread(_facts, path)).st_size
    if size > MAX_INPUT:
        raise DocumentError(f"it has {size // 1024**2} MB, and documents are read up to {MAX_INPUT // 1024**2} MB")
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="sightline-document-"))
    try:
        copy = await asyncio.to_thread(_copied, path, folder)
        return await _converted(copy, folder, python, seconds)
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))


def _facts(path: Path) -> os.stat_result:
    with opened(path) as fd:
        return os.fstat(fd)


def _copied(path: Path, folder: Path) -> Path:
    """A copy of the file that was judged, wherever a link leads meanwhile; it is where a sandboxed command sees it,
    which it does not in folders such as /tmp."""
    copy = folder / f"document{path.suffix.lower()}"
    with opened(path) as fd:
        copy.write_bytes(read_all(fd, MAX_INPUT))
    return copy


async def _converted(path: Path, folder: Path, python: str, seconds: float) -> str:
    from sightline.exec import SETUP_ATTEMPTS, Process, SandboxSpec, sandboxed

    argv, spec = [python, "-I", "-B", str(_CONVERTER), str(path)], SandboxSpec(workspace=str(folder), is_passing=True)
    for _ in range(SETUP_ATTEMPTS):
        box = await asyncio.to_thread(sandboxed, argv, str(folder), spec)
        process = Process(
            box.argv, cwd=str(folder), env=box.env, grace=0.5, handover=box.handover, pass_fds=box.descriptors
        )
        try:
            async with asyncio.timeout(seconds):
                data = await _output(process)
        except TimeoutError:
            raise DocumentError(f"converting it took more than {seconds:g} seconds") from None
        finally:
            await process.end()
            process.close()
            await asyncio.shield(asyncio.to_thread(box.cleanup))
        if box.is_set_up:
            break
    if process.exit_code != 0:
        raise DocumentError(_reason(process.stderr, process.exit_code))
    return data.decode("utf-8", "replace")


async def _output(process: "Process") -> bytes:
    data = bytearray()
    while chunk := await process.read():
        data += chunk
        if len(data) > MAX_OUTPUT:
            raise DocumentError(f"its text is longer than {MAX_OUTPUT // 1024**2} MB")
    return bytes(data)


def _reason(stderr: bytes, exit_code: int | None) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    if exit_code is not None and (exit_code < 0 or exit_code > 128):  # the sandbox adds 128
        return f"the converter was ended by signal {-exit_code if exit_code < 0 else exit_code - 128}"
    return lines[-1][:_REASON_LENGTH] if lines else f"the converter ended with {exit_code}"
