"""A tar archive with one entry replaced or added.

A tar archive is its members one after the other, each a header and content in blocks, then zeros. Members are copied
byte for byte, extended headers included; a new one takes the place of the old, or comes last.
"""

import gzip
import io
import tarfile
import time
from typing import BinaryIO, cast

from sightline.tools.archives._limits import REWRITE_BYTES, ArchiveTrouble, check_ratio
from sightline.tools.archives._names import safe_name
from sightline.tools.archives._tar import GZIP_MAGIC, guarded, members, special
from sightline.tools.archives._write import refuse_unfaithful

_MAGIC = slice(257, 265)


def tar_with(before: bytes, name: str, data: bytes, *, packed: bool) -> bytes:
    """`packed` is for an archive that does not exist yet; one that does stays as it is."""
    if before:
        packed = before[:2] == GZIP_MAGIC
        before = _unpacked(before) if packed else before
    plain = _replaced(before, name, data)
    return gzip.compress(plain, mtime=0) if packed else plain


def _unpacked(before: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(before)) as file:
        plain = file.read(REWRITE_BYTES + 1)
    check_ratio(len(plain), len(before), "it")
    if len(plain) > REWRITE_BYTES:
        raise ArchiveTrouble(f"it unpacks to more than {REWRITE_BYTES // 2**20} MiB: not rewritten. Use a command.")
    return plain


def _replaced(before: bytes, name: str, data: bytes) -> bytes:
    found: list[tuple[tarfile.TarInfo, int]] = []
    end = 0
    if before:
        with tarfile.TarFile(fileobj=cast(BinaryIO, guarded(io.BytesIO(before)))) as tar:
            for known, end in members(tar):
                if safe_name(known.name) == name:
                    found.append((known, end))
                elif known.islnk() and safe_name(known.linkname) == name:
                    raise refuse_unfaithful(f"'{known.name}' is a hard link to '{name}'")
    if end > len(before):
        raise ArchiveTrouble("it ends before its last entry does.")
    if len(found) > 1:
        raise refuse_unfaithful(f"it has {len(found)} entries named '{name}'")
    old, old_end = found[0] if found else (None, 0)
    if old is not None and (special(old) or not old.isreg()):
        raise ArchiveTrouble(f"entry '{name}' is {special(old) or 'no file'}; it is not replaced.")
    member = _member(old, name, data, before[_MAGIC])
    kept = (before[: old.offset], before[old_end:end]) if old is not None else (before[:end], b"")
    return _closed(kept[0] + member + kept[1])


def _member(old: tarfile.TarInfo | None, name: str, data: bytes, magic: bytes) -> bytes:
    info = tarfile.TarInfo(old.name if old else name)
    info.size, info.mtime, info.mode = len(data), int(time.time()), 0o644
    if old is not None:
        info.mode, info.uid, info.gid, info.uname, info.gname = old.mode, old.uid, old.gid, old.uname, old.gname
        derived = {"path", "size", "mtime", "linkpath", "uid", "gid", "uname", "gname"}
        info.pax_headers = {key: value for key, value in old.pax_headers.items() if key not in derived}
    is_gnu = magic.startswith(tarfile.GNU_MAGIC)
    header = info.tobuf(tarfile.GNU_FORMAT if is_gnu else tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
    return header + data + bytes(-len(data) % tarfile.BLOCKSIZE)


def _closed(content: bytes) -> bytes:
    """With the zeros that end an archive, filled up to a whole record as every tar program does."""
    content += bytes(2 * tarfile.BLOCKSIZE)
    return content + bytes(-len(content) % tarfile.RECORDSIZE)
