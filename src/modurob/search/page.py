"""The designs of a search as one HTML file: pictures of the best, what they are worth, and a table of all."""

import base64
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from modurob import draw
from modurob.catalogue.reading import write_text
from modurob.search.evolution import Design
from modurob.search.table import text

if TYPE_CHECKING:
    from modurob.search.searching import Designs

HIDDEN = ("refused", "trace", "gait")
MOST_ROWS = 2000
STYLE = """
:root{color-scheme:light dark;--ink:light-dark(#1c2430,#e6e9ee);--soft:light-dark(#5d6877,#98a3b3);--card:light-dark(#fff,#1b2129);
--ground:light-dark(#f3f5f8,#12161c);--line:light-dark(#dde2e9,#2d3540);--mark:#d9772b;--blue:#3f78b5}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);margin:0 auto;max-width:1180px;padding:24px}
h1{font-size:24px;margin:0}h2{font-size:17px;margin:32px 0 10px}p{margin:4px 0;color:var(--soft)}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(215px,1fr));gap:14px}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;overflow:hidden}
.card img{width:100%;display:block;background:light-dark(#fff,#39434f)}.card div{padding:10px 12px}
.card b{font-size:17px}.card span{font-size:13px}.card dl{display:grid;grid-template-columns:auto auto;margin:6px
0;font-size:13px;gap:0 10px} dt{color:var(--soft)}dd{margin:0;text-align:right;font-variant-numeric:tabular-nums}
a{color:var(--blue);font-size:13px}.plots{display:flex;flex-wrap:wrap;gap:14px}.plots figure{max-width:720px}
figure{background:var(--card);border:1px solid var(--line);border-radius:10px;margin:0;padding:10px;flex:1 1 420px}
figcaption{color:var(--soft);font-size:13px}svg text{fill:var(--soft);font-size:11px}
.wide{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:10px}
table{border-collapse:collapse;width:100%;font-size:13px}th,td{padding:4px 10px;text-align:right;white-space:nowrap}
th{cursor:pointer;border-bottom:1px solid var(--line)}td:first-child,th:first-child{text-align:left;font-family:monospace}
tr.front td{color:var(--mark)}
"""
SORT = """
document.querySelectorAll('th').forEach(th=>th.onclick=()=>{const b=th.closest('table').tBodies[0],i=th.cellIndex;
const s=th.dataset.up=th.dataset.up==1?-1:1;const v=r=>r.cells[i].dataset.v??r.cells[i].textContent;
[...b.rows].sort((x,y)=>{const p=v(x),q=v(y),n=p-q;return s*(isNaN(n)?(p>q)-(p<q):n)}).forEach(r=>b.append(r))})
"""


def write(found: "Designs", path: Path, pictures: int) -> None:
    """Write the page whole or not at all."""
    write_text(path, page(found, pictures))


def page(found: "Designs", pictures: int = 24) -> str:
    """The page as text; it needs no network."""
    front = {d.key for d in found.front}
    shown = list({d.key: d for d in [*found.front, *found.elites]}.values())[:pictures]
    title = f"{len(found.stages[-1])} designs: {found.task.kind}"
    listed = "All designs" if found.before is None else "Measured again"
    body = [
        f"<h1>{escape(title)}</h1>",
        *(f"<p>{escape(line)}</p>" for line in _summary(found)),
        "<h2>How it went</h2>",
        f'<div class="plots">{_history(found.stages[-1])}{_goals(found)}</div>',
        "<h2>Best designs: the Pareto front, then the best of each kind</h2>",
        f'<div class="cards">{"".join(_card(d, found, d.key in front) for d in shown)}</div>',
        f"<h2>{listed}{'' if len(found) <= MOST_ROWS else f': the best {MOST_ROWS}'}</h2>",
        f'<div class="wide">{_table(found.designs[:MOST_ROWS], front)}</div>',
        *(part for stage in found.stages[1:] for part in _before(stage)),
    ]
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    joined = "\n".join(body)
    top = f"<!doctype html>\n<html lang=en><head>{head}<style>{STYLE}</style></head>"
    return f"{top}<body>\n{joined}\n<script>{SORT}</script></body></html>\n"


def _summary(found: "Designs") -> Iterable[str]:
    settings = ", ".join(f"{k} {v}" for k, v in found.task.settings.items() if k != "kind" and np.size(v) < 8)
    yield f"Task: {found.task.kind} ({settings}); goals: {', '.join(map(_words, found.by))}; {found.seconds:.0f} s."
    if found.before is not None:
        yield f"The best {len(found)} were measured again with more effort; those before them are below."
    why = Counter(str(d.measures.get("refused"))[:110] for d in found.designs if not d.ok)
    yield (
        f"{sum(d.ok for d in found.designs)} fit" + "".join(f"; {n} refused: {w}" for w, n in why.most_common(5)) + "."
    )


def _before(found: "Designs") -> Iterable[str]:
    """What was measured with less effort."""
    yield f"<h2>Before, with less effort: {min(len(found), MOST_ROWS)} of {len(found)} designs</h2>"
    yield f'<div class="wide">{_table(found.designs[:MOST_ROWS], {d.key for d in found.front})}</div>'


def _card(design: Design, found: "Designs", on_front: bool) -> str:
    first = found.by[0]
    numbers = {k: v for k, v in design.measures.items() if k not in (*HIDDEN, first) and isinstance(v, int | float)}
    listed = "".join(f"<dt>{escape(_words(k))}</dt><dd>{v:.4g}</dd>" for k, v in numbers.items())
    file, name = quote(text(design)), f"design-{design.key[:8]}"
    unit = found.task.units.get(first, "")
    mark = ' <span style="color:var(--mark)">front</span>' if on_front else ""
    return (
        f'<div class="card"><img alt="{name}" src="data:image/png;base64,{_picture(design, found)}"><div>'
        f"<b>{design.measures[first]:.4g}</b> {unit} {escape(_words(first))}{mark}<dl>{listed}</dl>"
        f'<a download="{name}.yaml" href="data:text/yaml,{file}">robot file</a> <span style="color:var(--soft)">'
        f"{design.key[:8]}, generation {design.generation}, {escape(design.operator)}</span></div></div>"
    )


def _words(name: str) -> str:
    return name.replace("_", " ")


def _titled(found: "Designs", name: str) -> str:
    unit = found.task.units.get(name, "")
    return f"{_words(name)} [{unit}]" if unit else _words(name)


def _picture(design: Design, found: "Designs") -> str:
    """A small PNG, base64."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    robot, q = found.task.posed(design.assembly, design.measures)
    figure = Figure(figsize=(3.2, 2.4), dpi=120)
    ax: Any = figure.add_axes((-0.06, -0.12, 1.12, 1.24), projection="3d")
    draw.draw(robot, q, ax)
    # what lies behind the robot is the page's, light or dark
    figure.patch.set_alpha(0.0)
    ax.patch.set_alpha(0.0)
    ax.set_axis_off()
    out = io.BytesIO()
    with np.errstate(over="ignore"):  # matplotlib projects points behind the eye
        FigureCanvasAgg(figure).print_png(out)
    return base64.b64encode(out.getvalue()).decode()


def _table(designs: Sequence[Design], front: set[str]) -> str:
    names = list(
        dict.fromkeys(n for d in designs for n, v in d.measures.items() if n not in HIDDEN and not isinstance(v, list))
    )
    head = "".join(f"<th>{escape(_words(n))}</th>" for n in ("design", *names, "generation", "operator", "refused"))
    lines = []
    for d in designs:
        cells = [
            d.key[:8],
            *(d.measures.get(n) for n in names),
            d.generation,
            d.operator,
            d.measures.get("refused", ""),
        ]
        kind = ' class="front"' if d.key in front else ""
        lines.append(f"<tr{kind}>{''.join(map(_cell, cells))}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _cell(x: Any) -> str:
    if isinstance(x, float):
        return f'<td data-v="{x!r}">{x:.4g}</td>'
    return f"<td>{'' if x is None else escape(str(x)[:60])}</td>"


# ---- plots ----

WIDTH, HEIGHT, LEFT, BELOW, RIGHT = 460, 250, 52, 30, 20


def _history(found: "Designs") -> str:
    """The best value of the first goal over the number of designs; a single value has no course."""
    if len(found.history) < 2:
        return ""
    points = np.array(found.history, dtype=float)
    place = _Scale(points[:, 0], points[:, 1])
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in place(points))
    drawn = f'<polyline points="{path}" fill="none" stroke="var(--blue)" stroke-width="2"/>'
    return _figure(f"best {_titled(found, found.by[0])} over designs measured", place.axes() + drawn)


def _goals(found: "Designs") -> str:
    """The first two goals of each design, the front marked; with one goal, that of the designs of each size."""
    y_name, x_name = (*found.by, "modules")[:2]
    fit = [d for d in found.designs if d.ok]
    if not fit:
        return ""
    points = np.array([[float(d.measures[x_name]), float(d.measures[y_name])] for d in fit])
    shown = np.isfinite(points).all(axis=1) & (points[:, 0] <= np.quantile(points[:, 0], 0.98, method="higher"))
    front = {d.key for d in found.front}
    place = _Scale(points[shown, 0], points[shown, 1])
    dots = []
    for (x, y), on in sorted(
        zip(place(points[shown]), (d.key in front for d, s in zip(fit, shown, strict=True) if s), strict=True),
        key=lambda p: p[1],
    ):
        look = 'r="4" fill="var(--mark)"' if on else 'r="2" fill="var(--blue)" fill-opacity="0.45"'
        dots.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" {look}/>')
    caption = f"{_titled(found, y_name)} over {_titled(found, x_name)}; the front is marked"
    return _figure(caption, place.axes() + "".join(dots))


def _figure(caption: str, inside: str) -> str:
    drawn = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="100%">{inside}</svg>'
    return f"<figure>{drawn}<figcaption>{escape(caption)}</figcaption></figure>"


class _Scale:
    """From numbers to positions in a plot."""

    def __init__(self, x: Any, y: Any):
        same = (
            0.5 * max(abs(x.max()), 1e-12) * (x.max() == x.min())
        )  # room on both sides where all stand above one place
        self.low = np.array([x.min() - same, min(0.0, y.min())])
        self.size = np.maximum(np.array([x.max() + same, y.max()]) - self.low, 1e-12)

    def __call__(self, points: Any) -> Any:
        part = (points - self.low) / self.size
        return part * [WIDTH - LEFT - RIGHT, -(HEIGHT - BELOW - 14)] + [LEFT, HEIGHT - BELOW]

    def axes(self) -> str:
        """Lines and numbers at five positions of each axis."""
        out = []
        for f in np.linspace(0, 1, 5):
            (x, y), value = self(self.low + f * self.size), self.low + f * self.size
            out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--line)"/>')
            out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value[1]:.3g}</text>')
            out.append(f'<text x="{x:.1f}" y="{HEIGHT - 10}" text-anchor="middle">{value[0]:.3g}</text>')
        return "".join(out)
