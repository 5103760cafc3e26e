#!/usr/bin/env python3
"""report.py [FILE.json ...] [--plots FOLDER]: reports on the output of `stickslip bench --json`,
stickslip_kernel_bench and tools/gpu_check.sh.

Prints one Markdown table: each figure beside its floor (the best possible) and its peer (another program on
the same work, machine and run). With --plots also draws, for every bench, the ratios to floor and peer, and
the shares of the stages; this needs matplotlib. Without files: the stored results beside this script."""
import argparse
import json
import math
import pathlib
import sys

import barrier_plots

INK, MUTED, GRID = "#1b1f24", "#6e7781", "#d8dee4"
OURS, FLOOR, PEER = "#0b6bcb", "#6e7781", "#d1570c"
STAGES = ["#0b6bcb", "#e08a1e", "#2a9d8f", "#b5488f", "#7a68c9", "#9aa528", "#98a2ad", "#5b3f2b"]
SHARE = ", share of "


class BadInput(Exception):
    pass


def load(path: pathlib.Path) -> list[dict]:
    """The bench results in a file. Throws BadInput with the file and the fault."""
    try:
        data = json.loads(path.read_text())
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise BadInput(f"{path}: this is no JSON: {error}") from None
    results = data.get("benches") if isinstance(data, dict) else data
    if not isinstance(results, list):
        raise BadInput(f"{path}: expected a list of bench results, or an object with 'benches'")
    for result in results:
        for key in ("bench", "backend", "device", "threads", "figures"):
            if not isinstance(result, dict) or key not in result:
                raise BadInput(f"{path}: a bench result has no '{key}'")
        for figure in result["figures"]:
            for key in ("name", "value", "unit"):
                if key not in figure:
                    raise BadInput(f"{path}: a figure of bench {result['bench']} has no '{key}'")
    return results


def more_is_better(unit: str) -> bool:
    return unit.endswith("/s")


def speed(figure: dict, other: float) -> float:
    """Speed of `other` relative to the figure."""
    return other / figure["value"] if more_is_better(figure["unit"]) else figure["value"] / other


def short(value: float) -> str:
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return f"{value:.2e}"


def machine(result: dict) -> str:
    used = f", {result['threads']} used" if result["backend"] == "cpu" and result["threads"] > 0 else ""
    return f"{result['backend']}: {result['device']}{used}"


def compared(figure: dict) -> bool:
    return bool(figure["value"]) and bool(figure.get("floor") or figure.get("peer"))


# --- table ------------------------------------------------------------------------------------------------------


def floor_cell(figure: dict) -> str:
    if not figure.get("floor") or not figure["value"]:
        return ""
    share = 100 / speed(figure, figure["floor"])
    return f"{share:.0f}% of {short(figure['floor'])} ({figure['floor_name']})"


def peer_cell(figure: dict) -> str:
    if not figure.get("peer") or not figure["value"]:
        return ""
    return f"{short(1 / speed(figure, figure['peer']))} times as fast as {short(figure['peer'])} ({figure['peer_name']})"


def table(results: list[dict]) -> str:
    rows = [("bench", "backend", "what", "seen", "floor", "peer")]
    for result in results:
        for figure in result["figures"]:
            seen = f"{short(figure['value'])} {figure['unit']}"
            rows.append(
                (result["bench"], result["backend"], figure["name"], seen, floor_cell(figure), peer_cell(figure))
            )
    cells = [[str(cell).replace("|", "/") for cell in row] for row in rows]
    widths = [max(len(row[c]) for row in cells) for c in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    machines = sorted({machine(r) for r in results})
    notes = sorted({note for r in results for note in r.get("notes", [])})
    return "\n".join([*lines, "", *machines, *notes])


# --- plots ------------------------------------------------------------------------------------------------------


def new_axes(rows: int):
    from matplotlib import pyplot

    pyplot.rcParams.update({"font.family": "DejaVu Sans", "font.size": 9, "text.color": INK})
    fig, axes = pyplot.subplots(figsize=(10.5, 1.3 + 0.62 * rows), dpi=120)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(GRID)
    axes.tick_params(which="both", length=0, colors=MUTED)
    axes.set_ylim(rows - 0.4, -0.7)
    axes.set_yticks([])
    return fig, axes


def save(fig, axes, title: str, result: dict, path: pathlib.Path) -> None:
    from matplotlib import pyplot

    fig.subplots_adjust(left=0.03, right=0.97, top=1 - 0.62 / fig.get_figheight(), bottom=0.5 / fig.get_figheight())
    fig.text(0.03, 1 - 0.2 / fig.get_figheight(), title, fontsize=12, fontweight="bold", va="center")
    fig.text(0.97, 1 - 0.2 / fig.get_figheight(), machine(result), fontsize=8, color=MUTED, va="center", ha="right")
    fig.savefig(path)
    pyplot.close(fig)


def labels(figure: dict) -> list[tuple]:
    """(speed relative to ours, text, colour, marker, side of the text: -1, 0 or 1) of ours, the floor and the peer."""
    others = [(speed(figure, figure[k]), f"{short(figure[k])}  {figure[k + '_name']}", color, marker)
              for k, color, marker in (("floor", FLOOR, "|"), ("peer", PEER, "D")) if figure.get(k)]
    # A text is placed away from ours; that of ours is opposite to the others, or below the dot between them.
    sides = [1 if x > 1 else -1 for x, *_ in others]
    own = f"{short(figure['value'])} {figure['unit']}"
    return [(1.0, own, OURS, "o", -sides[0] if len(set(sides)) == 1 else 0),
            *((*other, side) for other, side in zip(others, sides))]


def limits(points: list[tuple], inches: float) -> tuple[float, float]:
    """Ends of a logarithmic axis of that length on which all points and their texts fit."""
    at = [math.log10(x) for x, *_ in points]
    low, high = min(-0.2, *at), max(0.2, *at)
    for _ in range(30):
        per_inch = (high - low) / inches
        rooms = [per_inch * (0.16 + 0.078 * len(text)) for _, text, *_ in points]
        low = min(low, *(x - room for x, room, point in zip(at, rooms, points) if point[4] <= 0))
        high = max(high, *(x + room for x, room, point in zip(at, rooms, points) if point[4] >= 0))
    return 10**low, 10**high


def draw_comparison(result: dict, figures: list[dict], path: pathlib.Path) -> None:
    """One row per figure on a logarithmic axis of speed: ours at 1, floor and peer at their ratios."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    fig, axes = new_axes(len(figures))
    rows = [labels(figure) for figure in figures]
    axes.set_xscale("log")
    axes.set_xlim(*limits([point for row in rows for point in row], 0.94 * fig.get_figwidth()))
    axes.axvline(1, color=GRID, linewidth=1, zorder=0)
    for y, (figure, points) in enumerate(zip(figures, rows)):
        ends = [point[0] for point in points]
        axes.plot([min(ends), max(ends)], [y, y], color=GRID, linewidth=3, solid_capstyle="round", zorder=1)
        axes.annotate(figure["name"], (0, y), xycoords=("axes fraction", "data"), xytext=(0, 13),
                      textcoords="offset points", va="center")
        for x, text, color, marker, side in points:
            tick = marker == "|"
            axes.plot(x, y, marker, color=color, markersize=12 if tick else 7, markeredgewidth=2.2 if tick else 1, zorder=3)
            axes.annotate(text, (x, y), xytext=(8 * side, 0 if side else -11), textcoords="offset points", color=color,
                          fontsize=8.5, va="center", ha={-1: "right", 0: "center", 1: "left"}[side], zorder=4)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}x"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("speed relative to stickslip (right is faster)", color=MUTED, fontsize=8.5)
    save(fig, axes, f"{result['bench']}: measured, floor and peer", result, path)


def draw_shares(result: dict, groups: dict[str, list[dict]], path: pathlib.Path) -> None:
    """One stacked bar per group: the shares of its stages, named in the bar if the name fits."""
    fig, axes = new_axes(len(groups))
    names = list(dict.fromkeys(f["name"].split(SHARE)[1] for group in groups.values() for f in group))
    color = {name: STAGES[i % len(STAGES)] for i, name in enumerate(names)}
    for row, (title, group) in enumerate(groups.items()):
        axes.annotate(title, (0, row), xytext=(0, 15), textcoords="offset points", fontsize=9, va="center")
        left = 0.0
        for figure in group:
            name, share = figure["name"].split(SHARE)[1], figure["value"]
            axes.barh(row, share, left=left, height=0.42, color=color[name], edgecolor="white", linewidth=1.2)
            label = f"{name} {share:.0f}%"
            if share > 1.05 * len(label):
                axes.text(left + share / 2, row, label, color="white", fontsize=8, ha="center", va="center")
            elif share >= 3:
                axes.text(left + share / 2, row, f"{share:.0f}", color="white", fontsize=8, ha="center", va="center")
            left += share
    handles = [axes.barh(0, 0, color=color[name], label=name) for name in names]
    axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=len(names), frameon=False,
                fontsize=8, handlelength=0.9, handleheight=0.9, columnspacing=1.3)
    axes.set_xlim(0, 100)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    save(fig, axes, f"{result['bench']}: where the time goes", result, path)


def draw(results: list[dict], folder: pathlib.Path) -> list[pathlib.Path]:
    """The plots of all results; a later result of the same bench and backend replaces an earlier one."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn, paths = {}, []
    for result in results:
        if result["bench"] == "barrier":
            paths += barrier_plots.draw(result, folder)
            continue
        stem = f"{result['bench']}-{result['backend']}"
        figures = [f for f in result["figures"] if compared(f)]
        if figures:
            drawn[folder / f"{stem}.png"] = lambda path, r=result, f=figures: draw_comparison(r, f, path)
        groups: dict[str, list[dict]] = {}
        for figure in result["figures"]:
            if SHARE in figure["name"]:
                groups.setdefault(figure["name"].split(SHARE)[0], []).append(figure)
        if groups:
            drawn[folder / f"{stem}-stages.png"] = lambda path, r=result, g=groups: draw_shares(r, g, path)
    for path, make in drawn.items():
        make(path)
    return paths + list(drawn)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE.json")
    parser.add_argument("--plots", type=pathlib.Path, metavar="FOLDER", help="also draw PNG files into this folder")
    options = parser.parse_args(arguments)
    files = options.files or sorted((pathlib.Path(__file__).parent / "results").glob("*.json"))
    try:
        results = [result for path in files for result in load(path)]
    except BadInput as error:
        print(f"report: {error}", file=sys.stderr)
        return 2
    print(table(results))
    if options.plots:
        try:
            import matplotlib
        except ImportError:
            print("report: plots need matplotlib: apt-get install python3-matplotlib", file=sys.stderr)
            return 2
        matplotlib.use("Agg")
        for path in draw(results, options.plots):
            print(f"report: wrote {path}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
