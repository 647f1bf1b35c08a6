"""Artifacts: byte for byte what was written, who wrote it, and what happens when the disk says no."""

import os
import resource
import signal
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.journal import Artifact, ArtifactReader, ArtifactRun


def written(path, *chunks, clock=lambda: 5.0):
    artifact = Artifact(path, clock)
    for stream, data in chunks:
        artifact.write(stream, data)
    artifact.close()
    return artifact


def test_the_bytes_come_back_in_the_order_they_arrived(tmp_path):
    """Both streams in one file; the index tells them apart."""
    written(tmp_path / "a.out", ("stdout", b"one"), ("stderr", b"two\xff"), ("stdout", b"three"))
    reader = ArtifactReader(tmp_path / "a.out")
    assert reader.read(0, 100) == b"onetwo\xffthree"
    assert reader.streams(0, 100) == [
        ArtifactRun(0, 3, "stdout", 5.0),
        ArtifactRun(3, 4, "stderr", 5.0),
        ArtifactRun(7, 5, "stdout", 5.0),
    ]


@given(st.lists(st.tuples(st.sampled_from(["stdout", "stderr"]), st.binary(min_size=1, max_size=20)), max_size=30))
def test_runs_cover_any_range_exactly(chunks):
    """For any range: no gap, no overlap, and every byte belongs to the stream it was written to."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.out"
        written(path, *chunks)
        reader = ArtifactReader(path)
        owners = [stream for stream, data in chunks for _ in data]
        for start in range(0, len(owners) + 1, 7):
            runs = reader.runs(start, len(owners))
            assert [run.stream for run in runs for _ in range(run.size)] == owners[start:]
            assert not runs or runs[0].offset == start
        reader.close()


def test_times_are_noted_every_tenth_of_a_second(tmp_path):
    """A stretch of one stream has a record for each tenth of a second in which something came."""
    times = iter([1.0, 1.05, 1.2, 1.25])
    written(tmp_path / "a.out", *[("stdout", b"x")] * 4, clock=lambda: next(times))
    assert [run.time for run in ArtifactReader(tmp_path / "a.out").runs(0, 4)] == [1.0, 1.2]


def test_a_clock_that_is_set_back_loses_no_record(tmp_path):
    """Bad weather, a clock that jumps: offsets stay in order whatever the times say."""
    times = iter([100.0, 3.0, 3.01, 500.0])
    written(tmp_path / "a.out", *[("stdout", b"xy")] * 4, clock=lambda: next(times))
    runs = ArtifactReader(tmp_path / "a.out").runs(0, 8)
    assert [(run.offset, run.time) for run in runs] == [(0, 100.0), (2, 3.0), (6, 500.0)]


def test_only_the_owner_can_read_it(tmp_path):
    """A command may print secrets: mode 0600."""
    written(tmp_path / "a.out", ("stdout", b"x"))
    for name in ("a.out", "a.idx"):
        assert stat.S_IMODE(os.stat(tmp_path / name).st_mode) == 0o600


def test_what_does_not_fit_is_counted_and_said(tmp_path):
    """Bad weather, no room: the beginning is kept, the rest only counted, and writing never fails."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
            artifact = Artifact(tmp_path / "a.out")
            for _ in range(5):
                artifact.write("stdout", b"x" * 4000)
            good = artifact.size == 20_000 and artifact.stored == 10_000 and "large" in artifact.problem
            code = 0 if good else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (tmp_path / "a.out").stat().st_size == 10_000


def test_an_artifact_has_a_cap(tmp_path, monkeypatch):
    """A command that prints for ever must not fill the disk: to the byte, and it is said."""
    monkeypatch.setattr("sightline.journal._artifact.ARTIFACT_CAP", 10)
    artifact = written(tmp_path / "a.out", ("stdout", b"1234567"), ("stdout", b"890abc"), ("stdout", b"def"))
    assert (artifact.size, artifact.stored, artifact.problem) == (16, 10, "it is longer than 0 MB")
    assert (tmp_path / "a.out").read_bytes() == b"1234567890"


def test_a_folder_that_cannot_be_written_keeps_nothing_and_says_so(tmp_path):
    """The command goes on; nobody is surprised later."""
    (tmp_path / "file").write_text("")
    artifact = Artifact(tmp_path / "file" / "a.out")
    artifact.write("stdout", b"abc")
    assert (artifact.size, artifact.stored) == (3, 0)
    assert artifact.problem


@pytest.mark.parametrize("gone", ["a.out", "a.idx"])
def test_a_deleted_file_is_empty_or_nameless_not_an_error(tmp_path, gone):
    """Bad weather, a deleted artifact: no bytes; a deleted index: all of it counts as stdout."""
    written(tmp_path / "a.out", ("stderr", b"abc"))
    (tmp_path / gone).unlink()
    reader = ArtifactReader(tmp_path / "a.out")
    if gone == "a.out":
        assert (reader.missing, reader.size, reader.read(0, 9), reader.runs(0, 9)) == (True, 0, b"", [])
    else:
        assert [(run.size, run.stream) for run in reader.runs(0, 3)] == [(3, "stdout")]
    reader.close()


def test_a_reader_that_comes_between_the_two_files_finds_the_second_later(tmp_path):
    """The index is made after the output: who looked too early still learns which stream wrote what."""
    (tmp_path / "a.out").touch()
    reader = ArtifactReader(tmp_path / "a.out")
    written(tmp_path / "a.out", ("stderr", b"abc"))
    assert [(run.size, run.stream) for run in reader.runs(0, 3)] == [(3, "stderr")]
    reader.close()


def test_a_reader_that_is_dropped_holds_no_descriptor(tmp_path):
    """Most are asked one thing and forgotten; a server asks for years."""
    written(tmp_path / "a.out", ("stdout", b"abc"))
    before = len(os.listdir("/proc/self/fd"))
    assert sum(ArtifactReader(tmp_path / "a.out").size for _ in range(50)) == 150
    assert len(os.listdir("/proc/self/fd")) == before
