"""Plots of `stickslip bench barrier`: every method on every problem, one picture per quantity. Used by report.py."""
import pathlib

INK, MUTED, GRID = "#1b1f24", "#6e7781", "#d8dee4"
SOLVERS = {"ipc": "#98a2ad", "barrier_al": "#0b6bcb"}
QUANTITIES = {
    "seconds": "seconds a step",
    "newton_iterations": "Newton iterations a step",
    "pcg_iterations": "PCG iterations a step",
}
COLUMNS = 2


def per_step(row: dict, quantity: str) -> float:
    return row[quantity] / row["frames"] if row["frames"] else 0.0


def group_name(row: dict) -> str:
    return row["preconditioner"].replace("_", " ") + ("\n+ warm start" if row["warm_start"] else "")


def text_of(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def draw_problem(axes, rows: list[dict], quantity: str) -> None:
    """Two bars, one per solver, for each preconditioner with and without warm start."""
    groups = list(dict.fromkeys(group_name(row) for row in rows))
    width = 0.38
    highest = max([per_step(row, quantity) for row in rows] + [1e-12])
    for row in rows:
        side = list(SOLVERS).index(row["solver"])
        x = groups.index(group_name(row)) + (side - 0.5) * width
        value = per_step(row, quantity)
        # Steps that did not converge give no time to convergence: they are hatched.
        arrived = row["converged"] == row["frames"] and not row["error"]
        axes.bar(x, value, 0.92 * width, color=SOLVERS[row["solver"]], hatch=None if arrived else "////", edgecolor="white", linewidth=0)
        axes.text(x, value + 0.015 * highest, text_of(value), ha="center", va="bottom", fontsize=6.5, color=INK)
    axes.set_xticks(range(len(groups)), groups, fontsize=7)
    axes.set_ylim(0, 1.16 * highest)
    axes.set_yticks([])
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(GRID)
    axes.tick_params(length=0, colors=MUTED)
    first = rows[0]
    axes.set_title(
        f"{first['problem']}: {first['tets']} tets, {max(row['contacts'] for row in rows)} contacts, from frame {first['start_frame']}",
        fontsize=8.5, loc="left", color=INK,
    )


def draw_quantity(result: dict, quantity: str, path: pathlib.Path) -> None:
    from matplotlib import pyplot
    from matplotlib.patches import Patch

    pyplot.rcParams.update({"font.family": "DejaVu Sans", "text.color": INK})
    problems: dict[str, list[dict]] = {}
    for row in result["rows"]:
        problems.setdefault(row["problem"], []).append(row)
    lines = -(-len(problems) // COLUMNS)
    height = 0.9 + 1.9 * lines
    fig, grid = pyplot.subplots(lines, COLUMNS, figsize=(13, height), dpi=110, squeeze=False)
    for axes in grid.flat[len(problems):]:
        axes.axis("off")
    for axes, rows in zip(grid.flat, problems.values()):
        draw_problem(axes, rows, quantity)
    fig.subplots_adjust(left=0.02, right=0.98, top=1 - 0.75 / height, bottom=0.4 / height, hspace=0.62, wspace=0.06)
    fig.text(0.02, 1 - 0.22 / height, f"bench barrier: {QUANTITIES[quantity]}", fontsize=12, fontweight="bold", va="center")
    fig.text(0.98, 1 - 0.22 / height, f"{result['backend']}: {result['device']}", fontsize=8, color=MUTED, ha="right", va="center")
    marks = [Patch(color=color, label=name) for name, color in SOLVERS.items()]
    marks.append(Patch(facecolor="#d8dee4", hatch="////", edgecolor="white", label="some steps did not converge"))
    fig.legend(handles=marks, loc="center left", bbox_to_anchor=(0.4, 1 - 0.22 / height), ncol=3, frameon=False, fontsize=8)
    fig.savefig(path)
    pyplot.close(fig)


def draw(result: dict, folder: pathlib.Path) -> list[pathlib.Path]:
    """Writes one picture per quantity to the folder; none without rows."""
    if not result.get("rows"):
        return []
    paths = []
    for quantity in QUANTITIES:
        path = folder / f"barrier-{result['backend']}-{quantity.removesuffix('_iterations')}.png"
        draw_quantity(result, quantity, path)
        paths.append(path)
    return paths
