#!/usr/bin/env python3
"""race_plot.py RACE.csv PLOT.png [--title TEXT] [--tolerance T]: draws the output of `stickslip race --csv`.

Two panels: the smallest residual so far of every solver, against iterations and against seconds. Needs matplotlib."""
import argparse
import csv
import math
import pathlib
import sys

INK, MUTED, GRID = "#1b1f24", "#6e7781", "#d8dee4"
# Distinct on screen and in print; further runs repeat the colours with dashes.
COLOURS = ["#0b6bcb", "#d1570c", "#2a9d8f", "#b5488f", "#8a6d00", "#7a68c9", "#c22f3d", "#3f8f29", "#5b3f2b"]
DASHES = ["solid", (0, (5, 2)), (0, (1.5, 1.5))]
COLUMNS = ("solver", "setting", "iteration", "seconds", "residual")
SMALLEST = 1e-16  # smaller residuals count as zero, which a log axis cannot show
MOST_POINTS = 600
LEAST_GAP = 0.034  # between labels, in heights of a panel


class BadInput(Exception):
    pass


class Run:
    """One solver's history: points (iteration, seconds, smallest residual so far)."""

    def __init__(self, solver: str, setting: str):
        self.solver, self.setting, self.points = solver, setting, []

    @property
    def name(self) -> str:
        return f"{self.solver} {self.setting}".strip()

    def add(self, iteration: float, seconds: float, residual: float) -> None:
        if math.isnan(residual):
            return
        best = min(residual, self.points[-1][2]) if self.points else residual
        self.points.append((iteration, seconds, max(best, SMALLEST)))


def load(path: pathlib.Path) -> list[Run]:
    """All runs in the order of the file. Throws BadInput with file and line."""
    runs: dict[tuple[str, str], Run] = {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            missing = [name for name in COLUMNS if name not in (rows.fieldnames or [])]
            if missing:
                raise BadInput(f"{path}:1: has no column '{missing[0]}'")
            for row in rows:
                key = (row["solver"], row["setting"])
                try:
                    runs.setdefault(key, Run(*key)).add(*(float(row[name]) for name in COLUMNS[2:]))
                except (TypeError, ValueError):
                    raise BadInput(f"{path}:{rows.line_num}: iteration, seconds and residual must be numbers") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: {error}") from None
    found = [run for run in runs.values() if run.points]
    if not found:
        raise BadInput(f"{path}: has no points to draw")
    return found


def parted(runs: list[Run]) -> tuple[list[Run], list[Run]]:
    """Runs with progress, and runs without (a solver that refused the problem has only its start)."""
    moved = [run for run in runs if len(run.points) > 1]
    return (moved, [run for run in runs if len(run.points) == 1]) if moved else (runs, [])


def thinned(points: list[tuple]) -> list[tuple]:
    """At most MOST_POINTS points: first, last, and others evenly spread in the log of their number."""
    if len(points) <= MOST_POINTS:
        return points
    ratio = math.log(len(points) - 1) / (MOST_POINTS - 2)
    chosen = {0, len(points) - 1} | {round(math.exp(ratio * k)) for k in range(MOST_POINTS - 1)}
    return [points[k] for k in sorted(chosen) if k < len(points)]


def styles(runs: list[Run]) -> list[dict]:
    """Colour and dashes of each run. Runs of one sweep share a colour, from light to dark."""
    from matplotlib import colors

    swept: dict[str, list[int]] = {}
    for k, run in enumerate(runs):
        if run.setting:
            swept.setdefault(f"{run.solver} {run.setting.split('=')[0]}", []).append(k)
    keys = list(dict.fromkeys(f"{run.solver} {run.setting.split('=')[0]}".strip() for run in runs))
    result = []
    for k, run in enumerate(runs):
        key = f"{run.solver} {run.setting.split('=')[0]}".strip()
        number = keys.index(key)
        colour = COLOURS[number % len(COLOURS)]
        if run.setting and len(swept[key]) > 1:
            order = sorted(swept[key], key=lambda i: float(runs[i].setting.split("=")[1]))
            shade = order.index(k) / (len(order) - 1)
            base, other = colors.to_rgb(colour), (1, 1, 1) if shade < 0.5 else (0, 0, 0)
            mix = 0.65 * abs(2 * shade - 1)
            colour = colors.to_hex([(1 - mix) * a + mix * b for a, b in zip(base, other)])
        result.append({"color": colour, "linestyle": DASHES[number // len(COLOURS) % len(DASHES)]})
    return result


def spread(heights: list[float], least: float) -> list[float]:
    """The heights, moved as little as possible so that neighbours are `least` apart and all lie in [0, 1]."""
    order = sorted(range(len(heights)), key=lambda k: heights[k])
    least = min(least, 1 / max(len(heights), 1))
    placed = [0.0] * len(heights)
    floor = 0.0
    for k in order:
        placed[k] = max(heights[k], floor)
        floor = placed[k] + least
    ceiling = 1.0
    for k in reversed(order):
        placed[k] = min(placed[k], ceiling)
        ceiling = placed[k] - least
    return placed


def draw_panel(axes, runs: list[Run], looks: list[dict], column: int, tolerance: float) -> None:
    positive = [p[column] for run in runs for p in run.points if p[column] > 0]
    first = min(positive) if positive else 1.0
    for run, look in zip(runs, looks):
        points = thinned(run.points)
        # The start, at zero, is placed at the left edge of a log axis.
        x = [max(p[column], 0.7 * first) for p in points]
        axes.plot(x, [p[2] for p in points], linewidth=1.7, drawstyle="steps-post", **look)
        axes.plot(x[-1], points[-1][2], "o", markersize=4, color=look["color"])
    axes.set_xscale("log")
    axes.set_yscale("log")
    residuals = [p[2] for run in runs for p in run.points]
    low, high = min([*residuals, tolerance]), max([*residuals, tolerance])
    axes.set_ylim(low / 3, high * 3)
    axes.axhline(tolerance, color=INK, linewidth=0.9, linestyle=(0, (2, 3)))
    axes.grid(True, color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.margins(x=0.02)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set_color(MUTED)
    axes.tick_params(colors=MUTED, labelsize=9, which="both")


def label_ends(axes, runs: list[Run], looks: list[dict]) -> None:
    """The name of every run in a column right of the panel, after a piece of its line and connected to its
    last point. Runs that end at the same height are in the order of their end."""
    to_panel = (axes.transData + axes.transAxes.inverted()).transform
    panel = [to_panel(run.points[-1][1:]) for run in runs]
    heights = spread([float(y) - 1e-4 * float(x) for x, y in panel], LEAST_GAP)
    for run, look, (x, y), height in zip(runs, looks, panel, heights):
        axes.plot([x, 1.0, 1.02], [y, y, height], transform=axes.transAxes, color=look["color"], linewidth=0.5,
                  alpha=0.5, clip_on=False)
        axes.plot([1.022, 1.07], [height, height], transform=axes.transAxes, linewidth=1.7, clip_on=False, **look)
        axes.text(1.078, height, run.name, transform=axes.transAxes, color=INK, fontsize=8.5, va="center")


def draw(runs: list[Run], path: pathlib.Path, title: str, tolerance: float) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"font.family": "DejaVu Sans", "text.color": INK, "axes.labelcolor": INK})
    runs, still = parted(runs)
    looks = styles(runs)
    height = max(5.2, 1.2 + 0.21 * len(runs))
    fig, (left, right) = pyplot.subplots(1, 2, figsize=(13, height), dpi=120, sharey=True)
    fig.subplots_adjust(left=0.065, right=0.835, top=1 - 0.62 / height, bottom=0.62 / height, wspace=0.06)
    for axes, column in ((left, 0), (right, 1)):
        draw_panel(axes, runs, looks, column, tolerance)
    left.set_ylabel("smallest residual so far [1]", fontsize=10)
    left.set_xlabel("iterations [1]", fontsize=10)
    right.set_xlabel("time of solving [s]", fontsize=10)
    left.annotate(f"tolerance {tolerance:g}", (0.005, tolerance), xycoords=("axes fraction", "data"), xytext=(0, 3),
                  textcoords="offset points", fontsize=8.5, color=INK)
    fig.canvas.draw()
    label_ends(right, runs, looks)
    fig.text(0.065, 1 - 0.3 / height, title, fontsize=11.5, fontweight="bold", va="center")
    if still:
        fig.text(0.835, 0.1 / height, "not drawn, no iteration: " + ", ".join(run.name for run in still), fontsize=7.5,
                 color=MUTED, ha="right", va="bottom")
    fig.savefig(path, format="png")
    pyplot.close(fig)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv", type=pathlib.Path)
    parser.add_argument("plot", type=pathlib.Path)
    parser.add_argument("--title", default="")
    parser.add_argument("--tolerance", type=float, default=1e-8)
    options = parser.parse_args(arguments)
    if not (math.isfinite(options.tolerance) and options.tolerance > 0):
        parser.error("--tolerance must be a number above 0")
    try:
        draw(load(options.csv), options.plot, options.title or options.csv.stem, options.tolerance)
    except BadInput as error:
        print(f"race_plot: {error}", file=sys.stderr)
        return 2
    except ImportError as error:
        print(f"race_plot: {error}; matplotlib draws the plot", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
