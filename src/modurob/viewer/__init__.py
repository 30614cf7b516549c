"""Robots and runs in 3D: what is drawn as plain data, pages that need no server, pictures and films.

The page draws with the code of the studio (three.js, kept in `static`), so that a robot looks the same everywhere.
"""

from pathlib import Path

STATIC = (Path(__file__).parent / "static").resolve()
