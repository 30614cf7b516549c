"""Films hold the pictures that were asked for, with a browser and without one."""

import io
from importlib import import_module

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

import modurob as mr
from modurob.errors import FormatError, InputError, ModurobWarning, SimulationError
from modurob.viewer import film, headless


def pages(path):
    """The pictures of a GIF, (pictures, height, width, 3)."""
    with Image.open(path) as image:
        found = []
        for k in range(image.n_frames):
            image.seek(k)
            found.append(np.asarray(image.convert("RGB"), dtype=int))
    return np.stack(found)


def test_a_gif_moves_as_the_run_did(crab_run, tmp_path):
    assert crab_run.animate(tmp_path / "a.gif", fps=20, size=(160, 121)) == tmp_path / "a.gif"
    frames = pages(tmp_path / "a.gif")
    assert frames.shape == (5, 120, 160, 3)
    assert np.ptp(frames[0]) > 100  # something is drawn
    apart = [np.abs(frames[k] - frames[0]).mean() for k in (1, 4)]
    assert 0 < apart[0] < apart[1]


def test_films_hold_every_picture(crab_run, tmp_path, monkeypatch):
    drawn = [film_frame(k) for k in range(9)]
    monkeypatch.setattr(film, "pictures", lambda chapters, times, size, fps: drawn[: len(times)])
    for ending in film.CODECS:
        path = tmp_path / f"a{ending}"
        crab_run.animate(path, fps=20, speed=0.5)
        assert import_module("imageio_ffmpeg").count_frames_and_secs(str(path)) == (9, pytest.approx(0.45, abs=0.06))


def film_frame(k):
    out = io.BytesIO()
    Image.new("RGB", (64, 64), (20 * k, 0, 0)).save(out, "PNG")
    return out.getvalue()


def test_without_a_browser_matplotlib_draws(crab, crab_run, tmp_path, monkeypatch):
    monkeypatch.setattr(headless, "browser", lambda: None)
    with pytest.warns(ModurobWarning, match="drawn by matplotlib"):
        crab.show(path=tmp_path / "a.png")
    assert Image.open(tmp_path / "a.png").size == (800, 600)
    with pytest.warns(ModurobWarning, match="drawn by matplotlib"):
        crab_run.animate(tmp_path / "b.gif", fps=10, size=(200, 160))
    frames = pages(tmp_path / "b.gif")
    assert frames.shape == (3, 160, 200, 3)
    assert np.abs(frames[2] - frames[0]).max() > 50


def test_mistakes_are_named_before_anything_is_drawn(crab_run, tmp_path, monkeypatch):
    with pytest.raises(FormatError, match=r"no film is called \.avi: valid: \.mp4, \.webm, \.gif"):
        crab_run.animate(tmp_path / "a.avi")
    with pytest.raises(FormatError, match="there is no folder"):
        crab_run.animate(tmp_path / "nowhere" / "a.gif")
    with pytest.raises(InputError, match="expected up to 120 pictures a second"):
        crab_run.animate(tmp_path / "a.gif", fps=0)
    with pytest.raises(InputError, match="20001 pictures: expected at most 20000"):
        crab_run.animate(tmp_path / "a.gif", speed=3e-4, fps=30)
    with pytest.raises(InputError, match=r"size = \(10, 20\): expected \(width, height\)"):
        crab_run.animate(tmp_path / "a.gif", size=(10, 20))
    many = mr.simulate(crab_run.robot, np.zeros((2, 3)), duration=0.01)
    with pytest.raises(SimulationError, match="several runs side by side cannot be shown"):
        many.animate(tmp_path / "a.gif")
    assert many._repr_html_().startswith("<table>")
    monkeypatch.setattr(film.shutil, "which", lambda name: None)
    monkeypatch.setattr(film, "import_module", lambda name: import_module("no_such_module"))
    with pytest.raises(InputError, match=r"need ffmpeg: pip install 'modurob\[video\]'"):
        crab_run.animate(tmp_path / "a.mp4")


def test_a_film_that_ffmpeg_cannot_write_is_an_error(crab_run, tmp_path, monkeypatch):
    monkeypatch.setattr(film, "pictures", lambda *_: [b"no picture"])
    with pytest.raises(FormatError, match=r"ffmpeg could not write \.mp4"):
        crab_run.animate(tmp_path / "a.mp4")
    assert not (tmp_path / "a.mp4").exists()


def test_films_tell_how_far_they_are():
    """In a terminal; where nobody looks, nothing is written."""
    for terminal in (True, False):
        out = io.StringIO()
        with film.progress(3, Console(file=out, force_terminal=terminal, width=80)) as told:
            for _ in range(3):
                told()
        assert ("3/3" in out.getvalue() and "drawing" in out.getvalue()) == terminal
        assert bool(out.getvalue()) == terminal


def test_each_picture_is_told(crab_run, monkeypatch):
    monkeypatch.setattr(headless, "_pictures", lambda *args: iter([film_frame(1), film_frame(2)]))
    count = []
    assert len(headless.pictures((), (), (64, 64), 30.0, lambda: count.append(1))) == len(count) == 2
