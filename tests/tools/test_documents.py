"""Documents: converted in a process of their own, or a notice that says why not."""

import asyncio
import os
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

from sightline.tools import Outcome
from sightline.tools.files import _documents
from sightline.tools.files._documents import DocumentError, cannot_read, convert, is_document
from sightline.tools.read import ReadTool
from tests.tools.support import make_context, run

needs_docs = pytest.mark.skipif(find_spec("markitdown") is None, reason="the extra `docs` is not installed")

PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 144]/Contents 4 0 R
/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj
4 0 obj<</Length 44>>stream
BT /F1 18 Tf 10 100 Td (Hello portable) Tj ET
endstream endobj
trailer<</Root 1 0 R>>
"""
TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType='
    '"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type='
    '"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>'
    "</Relationships>"
)
WORDS = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{}</w:body></w:document>'


def docx(path: Path, paragraphs: int) -> None:
    rows = "".join(f"<w:p><w:r><w:t>Paragraph {number}</w:t></w:r></w:p>" for number in range(paragraphs))
    with zipfile.ZipFile(path, "w") as target:
        target.writestr("[Content_Types].xml", TYPES)
        target.writestr("_rels/.rels", RELATIONS)
        target.writestr("word/document.xml", WORDS.format(rows))


@pytest.mark.parametrize(
    "extension",
    [
        pytest.param(extension, id=f"read.md/Documents/{extension}")
        for extension in (".pdf", ".doc", ".docx", ".ppt", ".pptx", ".xls", ".xlsx", ".rtf", ".epub")
    ],
)
def test_each_kind_of_document_is_known_by_its_name(extension: str) -> None:
    """In any case of letters; its notice names it."""
    assert is_document(f"a{extension}")
    assert is_document(f"A.B{extension.upper()}")
    assert cannot_read(f"a{extension}", "why") == f"[Cannot read {extension} file: why]"
    assert not is_document(f"a{extension}.txt")


async def test_without_the_extra_the_notice_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """read.md/Documents: a failure is a text, not an error."""
    monkeypatch.setattr(_documents.importlib.util, "find_spec", lambda name: None)
    context = make_context(tmp_path)
    (context.cwd / "a.pdf").write_bytes(PDF)
    outcome = await run(ReadTool(), context, path="a.pdf")
    assert outcome.text.startswith("[Cannot read .pdf file: ")
    assert 'pip install "sightline[docs]"' in outcome.text
    assert not outcome.is_error


async def test_raw_does_not_convert(tmp_path: Path) -> None:
    """The bytes themselves, where they are text."""
    context = make_context(tmp_path)
    (context.cwd / "a.rtf").write_text("{\\rtf1 Hello}")
    assert (await run(ReadTool(), context, path="a.rtf:raw")).text == "{\\rtf1 Hello}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a stand-in for Python is: on PATH, because of /tmp a sandboxed command sees nothing else."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def converter(folder: Path, body: str) -> str:
    """A Python that runs this instead of the converter."""
    script = folder / "python"
    script.write_text(f"#!{sys.executable} -S\n{body}\n")
    script.chmod(0o755)
    return str(script)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        pytest.param("import sys; sys.exit('first\\nlast words')", "last words", id="it says why"),
        pytest.param("import sys; sys.exit(7)", "ended with 7", id="it says nothing"),
        pytest.param("import os; os.kill(os.getpid(), 9)", "signal 9", id="it is killed"),
        pytest.param("while True: print('x' * 100_000)", "longer than", id="it never stops writing"),
        pytest.param("while True: pass", "more than 2 seconds", id="it never ends"),
    ],
)
async def test_a_converter_that_fails_is_told_of_and_gone(
    folder: Path, body: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every way to fail has a reason; nothing is left running and no file is left behind."""
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(_documents.tempfile, "tempdir", None)
    (folder / "a.pdf").write_bytes(PDF)
    with pytest.raises(DocumentError, match=words):
        await convert(folder / "a.pdf", python=converter(folder, body), seconds=2.0)
    assert not [name for name in os.listdir(folder) if name.startswith("sightline-document-")]
    assert not _running(str(folder))


async def test_a_conversion_nobody_waits_for_is_ended(folder: Path) -> None:
    """Cancelled means the process is gone too."""
    (folder / "a.pdf").write_bytes(PDF)
    task = asyncio.create_task(convert(folder / "a.pdf", python=converter(folder, "while True: pass")))
    async with asyncio.timeout(20):
        while not _running(str(folder)):  # noqa: ASYNC110  # another process starts when it does
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not _running(str(folder))


def _running(word: str) -> list[int]:
    mine = psutil.Process().children(recursive=True)
    return [process.pid for process in mine if any(word in argument for argument in _words(process))]


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline() if process.status() != psutil.STATUS_ZOMBIE else []
    except psutil.Error:
        return []


async def test_a_document_that_is_too_large_is_not_converted(tmp_path: Path) -> None:
    """100 MB; nothing is started."""
    with (tmp_path / "a.pdf").open("wb") as file:
        file.truncate(_documents.MAX_INPUT + 1)
    with pytest.raises(DocumentError, match="up to 100 MB"):
        await convert(tmp_path / "a.pdf", python="/nowhere")


@pytest.fixture
def converted(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Conversions that took place, each of 4,000 lines."""
    done: list[Path] = []

    async def instead(path: Path) -> str:
        done.append(path)
        return "".join(f"row {number}\n" for number in range(1, 4001))

    monkeypatch.setattr(_documents, "convert", instead)
    return done


async def test_the_text_is_cut_as_every_text_is_and_can_be_paged(tmp_path: Path, converted: list[Path]) -> None:
    """read.md/Documents: head-truncated; lines of the converted text after a selector, converted once."""
    context = make_context(tmp_path)
    (context.cwd / "a.docx").write_bytes(b"x")

    async def read(path: str) -> Outcome:
        return await run(ReadTool(), context, path=path)

    first = await read("a.docx")
    assert first.text.startswith("row 1\nrow 2\n")
    assert first.text.endswith("[Showing lines 1-3000 of 4000. Use :3001 to continue]")
    assert first.details["ui"]["kind"] == "markdown"
    assert first.details["truncation"]["next_offset"] == 3001
    assert (await read("a.docx:3999")).text == "3998:row 3998\n3999:row 3999\n4000:row 4000"
    assert len(converted) == 1
    (context.cwd / "a.docx").write_bytes(b"changed")
    await read("a.docx:1-1")
    assert len(converted) == 2


@needs_docs
async def test_a_pdf_and_a_word_document_become_text(tmp_path: Path) -> None:
    """With the real library, in the real sandbox."""
    context = make_context(tmp_path)
    (context.cwd / "a.pdf").write_bytes(PDF)
    docx(context.cwd / "b.docx", 3)
    assert "Hello portable" in (await run(ReadTool(), context, path="a.pdf")).text
    assert "Paragraph 2" in (await run(ReadTool(), context, path="b.docx")).text


@needs_docs
async def test_a_broken_document_is_a_notice(tmp_path: Path) -> None:
    """Whatever the library raises."""
    context = make_context(tmp_path)
    for name in ("a.docx", "a.xlsx", "a.doc", "a.rtf"):
        (context.cwd / name).write_bytes(b"\x01\x02 not what it says")
        assert (await run(ReadTool(), context, path=name)).text.startswith(f"[Cannot read {Path(name).suffix} file: ")
