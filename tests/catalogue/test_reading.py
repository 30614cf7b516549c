"""Files: read up to a limit, written whole or not at all, and nothing else replaced."""

import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from modurob.catalogue import reading
from modurob.catalogue.reading import read_text, write_bytes, write_text
from modurob.errors import FormatError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    """Sets the umask for one test."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.fixture(params=["nameless", "named"])
def way(request, monkeypatch) -> str:
    """Both ways to write: with files that have no name, and on systems that lack them."""
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    return request.param


# ---- reading ----


def test_a_missing_file_names_those_that_are_there(tmp_path):
    for name in ("crab.yaml", "arm.yaml", "notes.txt"):
        (tmp_path / name).write_text("x")
    with pytest.raises(
        FormatError, match=r"crabb.yaml: no such file; did you mean 'crab.yaml'\? valid: arm.yaml, crab"
    ):
        read_text(tmp_path / "crabb.yaml")
    with pytest.raises(FormatError, match=r"robot.yml: no such file; the folder has no \*.yml file"):
        read_text(tmp_path / "robot.yml")
    with pytest.raises(FormatError, match=r"robot.yaml: no such file: there is no folder .*nowhere"):
        read_text(tmp_path / "nowhere" / "robot.yaml")


def test_files_that_are_no_text(tmp_path):
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(
        FormatError, match=r"b.yaml: cannot be read as text: byte 0xff at place 0 is no UTF-8: expected"
    ):
        read_text(tmp_path / "b.yaml")
    with pytest.raises(FormatError, match=r"cannot be read as text: it is a folder: expected a file"):
        read_text(tmp_path)
    with pytest.raises(FormatError, match=r"cannot be read as text: embedded null"):
        read_text(Path("a\0b"))


def test_a_byte_order_mark_is_no_text(tmp_path):
    (tmp_path / "a.yaml").write_bytes("\ufeffa: 1".encode())
    assert read_text(tmp_path / "a.yaml") == "a: 1"


def test_large_files_are_refused_unread(tmp_path):
    path = tmp_path / "large.yaml"
    with path.open("wb") as file:
        file.truncate(100_000_000_000)
    with pytest.raises(FormatError, match=r"large.yaml: 100000 MB is too large: expected at most 8 MB"):
        read_text(path)


def test_devices_without_end_are_read_to_the_limit():
    with pytest.raises(FormatError, match=r"/dev/zero: 8 MB is too large: expected at most 8 MB"):
        read_text(Path("/dev/zero"))


# ---- writing ----


def test_write_then_read(tmp_path, way):
    path = tmp_path / "a.yaml"
    for text in ("one: ²\n", "two\n"):
        write_text(path, text)
        assert read_text(path) == text
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_gets_what_the_umask_leaves(tmp_path, way, umask, mask):
    umask(mask)
    write_text(tmp_path / "a.yaml", "a")
    assert mode(tmp_path / "a.yaml") == 0o666 & ~mask


@pytest.mark.parametrize("kept", [0o600, 0o640, 0o666, 0o444])
def test_a_file_keeps_its_mode(tmp_path, way, umask, kept):
    path = tmp_path / "a.yaml"
    path.write_text("before")
    path.chmod(kept)
    umask(0o077)
    write_text(path, "after")
    assert (mode(path), path.read_text()) == (kept, "after")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_file_keeps_its_owner(tmp_path, way):
    path = tmp_path / "a.yaml"
    path.write_text("before")
    os.chown(path, 1234, 4321)
    write_text(path, "after")
    assert (path.stat().st_uid, path.stat().st_gid, path.read_text()) == (1234, 4321, "after")


def test_a_link_is_written_through(tmp_path, way):
    (tmp_path / "real").mkdir()
    target, link, loose = tmp_path / "real" / "a.yaml", tmp_path / "link.yaml", tmp_path / "loose.yaml"
    target.write_text("before")
    link.symlink_to("real/a.yaml")
    loose.symlink_to("real/b.yaml")
    write_text(link, "after")
    write_text(loose, "new")
    assert link.is_symlink()
    assert loose.is_symlink()
    assert (target.read_text(), (tmp_path / "real" / "b.yaml").read_text()) == ("after", "new")
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a.yaml", "b.yaml", "link.yaml", "loose.yaml", "real"]


@pytest.fixture
def null(tmp_path) -> Path:
    """A device that swallows what is written: one of our own where root might harm the real one."""
    if os.geteuid() != 0:
        return Path("/dev/null")
    try:
        os.mknod(tmp_path / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        (tmp_path / "null").write_bytes(b"")
    except OSError:
        pytest.skip("no devices may be made here")
    return tmp_path / "null"


def test_devices_stay_devices(tmp_path, null):
    before = null.stat()
    link = tmp_path / "link"
    link.symlink_to(null)
    for path in (null, link):
        write_text(path, "gone")
    after = null.stat()
    assert stat.S_ISCHR(after.st_mode)
    assert (before.st_ino, before.st_rdev) == (after.st_ino, after.st_rdev)
    assert link.is_symlink()


def test_a_pipe_is_written_to(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "through")
    reader.join()
    assert read == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_folder_is_not_replaced(tmp_path):
    with pytest.raises(FormatError, match="cannot be written: Is a directory"):
        write_text(tmp_path, "x")
    with pytest.raises(FormatError, match=r"nowhere/a.yaml: cannot be written: No such file or directory"):
        write_text(tmp_path / "nowhere" / "a.yaml", "x")
    with pytest.raises(FormatError, match="cannot be written: embedded null"):
        write_text(Path("a\0b"), "x")
    with pytest.raises(FormatError, match=r"cannot be written as UTF-8: .*surrogates"):
        write_text(tmp_path / "a.yaml", "\ud800")
    assert list(tmp_path.iterdir()) == []


def test_a_long_name_can_be_written(tmp_path, way):
    path = tmp_path / ("x" * 250 + ".yaml")
    write_text(path, "one")
    write_text(path, "two")
    assert path.read_text() == "two"


@pytest.mark.parametrize("before", [True, False])
def test_a_full_disk_leaves_what_was_there(tmp_path, way, before):
    """A limit on the size of files stands for the disk."""
    path = tmp_path / "a.yaml"
    if before:
        path.write_text("before")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
        with pytest.raises(FormatError, match=r"a.yaml: cannot be written: File too large"):
            write_bytes(path, b"x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [p.read_text() for p in tmp_path.iterdir()] == ["before"] * before


@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_an_interrupted_write_leaves_nothing_behind(tmp_path, way, monkeypatch, step):
    path = tmp_path / "a.yaml"
    write_text(path, "before")

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(reading.os, step, interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_text(path, "after")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


KILLED = """
import os, signal, sys
from pathlib import Path
from modurob.catalogue import reading
os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
reading.write_bytes(Path(sys.argv[1]), b"after" * 1000)
"""


@pytest.mark.parametrize("before", [True, False])
def test_a_kill_leaves_nothing_behind(tmp_path, before):
    path = tmp_path / "a.yaml"
    if before:
        path.write_text("before")
    try:
        os.close(os.open(tmp_path, os.O_TMPFILE | os.O_WRONLY))
    except (AttributeError, OSError):
        pytest.skip("this file system has no files without a name")
    done = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    assert done.returncode == -signal.SIGKILL
    assert [p.read_text() for p in tmp_path.iterdir()] == ["before"] * before


def test_threads_that_write_one_file_leave_one_of_their_contents(tmp_path, way):
    path = tmp_path / "a.yaml"
    contents = [bytes([65 + i]) * 50_000 for i in range(8)]
    threads = [threading.Thread(target=write_bytes, args=(path, c)) for c in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() in contents
    assert list(tmp_path.iterdir()) == [path]
