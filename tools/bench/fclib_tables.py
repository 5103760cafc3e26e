"""Tables, means and performance profiles of runs of several solvers on several problems. Pure Python; plots need matplotlib.

A run: {problem, side ("ours" or "siconos"), solver, tolerance, ms or None, setup_ms, siconos_error, judge,
end}. Its cost is ms + setup_ms, on both sides, unless a table says "solve alone". The errors are measured on its impulses, in the same way for both sides. Three rules decide whether a
run counts for a tolerance:
  own      it was run with this tolerance and stopped by its own criterion: Siconos by its error function,
           ours by the judge, which is stricter;
  siconos  Siconos' error function is at most the tolerance;
  judge    the judge's residual is at most the tolerance.
For the last two the fastest run of a solver counts, with any tolerance."""
import math
import pathlib

OURS, THEIRS = "ours", "siconos"
RULES = {
    "own": "each stops by its own criterion (Siconos: its error function; ours: the judge)",
    "siconos": "solved as Siconos' own error function measures",
    "judge": "solved as the judge measures",
}
INK, MUTED, GRID = "#1b1f24", "#6e7781", "#d8dee4"
COLOURS = ["#0b6bcb", "#d1570c", "#2a9d8f", "#b5488f", "#8a6d00", "#7a68c9", "#c22f3d", "#3f8f29", "#5b3f2b", "#1aa3c4",
           "#e0a100", "#6e7781"]
MOST_CURVES = 12  # on each side
LARGEST_FACTOR = 1e4


def at_most(value, bound: float) -> bool:
    return value is not None and value <= bound


def reached(run: dict, tolerance: float, rule: str) -> bool:
    if run["ms"] is None:
        return False
    if rule != "own":
        return at_most(run["siconos_error" if rule == "siconos" else "judge"], tolerance)
    measure = "judge" if run["side"] == OURS else "siconos_error"
    return run["tolerance"] == tolerance and run["end"] == "converged" and at_most(run[measure], tolerance)


def cost(run: dict, setup: bool = True) -> float:
    return run["ms"] + (run.get("setup_ms") or 0 if setup else 0)


def fastest(runs: list[dict], problem: str, tolerance: float, rule: str, *, side=None, solver=None, setup=True):
    """The fastest run that counts, or None."""
    found = [run for run in runs if run["problem"] == problem and side in (None, run["side"])
             and solver in (None, run["solver"]) and reached(run, tolerance, rule)]
    return min(found, key=lambda run: cost(run, setup), default=None)


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def has_setups(result: dict) -> bool:
    """Whether the set-up of both sides was measured, as it is since 2026-11-27; otherwise costs are solves alone."""
    return all(run.get("setup_ms") is not None for run in result["runs"] if run["side"] == THEIRS and run["ms"] is not None)


def comparison(result: dict, tolerance: float, rule: str) -> list[dict]:
    """Per problem: the best of both sides and auto, with set-up; the ratios Siconos over ours, also of solves alone."""
    rows = []
    both = has_setups(result)
    for problem in result["problems"]:
        row = {"problem": problem}
        for prefix, setup in (("", both), ("bare_", False)):
            def best(**which):
                return fastest(result["runs"], problem["name"], tolerance, rule, setup=setup, **which)

            theirs, ours, auto = best(side=THEIRS), best(side=OURS), best(side=OURS, solver="auto")
            if not prefix:
                row |= {"theirs": theirs, "ours": ours, "auto": auto}
            for name, run in (("ratio", ours), ("auto_ratio", auto)):
                row[prefix + name] = cost(theirs, setup) / cost(run, setup) if theirs and run else None
        rows.append(row)
    return rows


def short(value) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if value == 0 or 1e-3 <= abs(value) < 1000 else f"{value:.0f}" if 1e3 <= value < 1e6 else f"{value:.1e}"


def measures(run) -> str:
    return "" if run is None else " / ".join("-" if x is None else f"{x:.0e}" for x in (run["siconos_error"], run["judge"]))


def markdown(rows: list[tuple]) -> str:
    widths = [max(len(str(row[c])) for row in rows) for c in range(len(rows[0]))]
    lines = ["| " + " | ".join(str(cell).ljust(w) for cell, w in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)


def verdict(rows: list[dict], key: str) -> str:
    ratios = [row[key] for row in rows if row[key] is not None]
    if not ratios:
        return "no problem that both solved"
    return (f"geometric mean {geometric_mean(ratios):.2f}, least {min(ratios):.2f}, faster on "
            f"{sum(ratio > 1 for ratio in ratios)} of {len(ratios)}")


def table(result: dict, tolerance: float, rule: str) -> str:
    head = ("problem", "contacts", "best of Siconos", "ms", "error / judge", "best of ours", "ms", "error / judge",
            "ratio", "solve alone", "auto, ms", "auto's ratio", "solve alone")
    lines = [head]
    rows, both = comparison(result, tolerance, rule), has_setups(result)
    for row in rows:
        theirs, ours, auto = row["theirs"], row["ours"], row["auto"]
        missing = "only ours" if ours and not theirs else "only theirs" if theirs and not ours else "-"
        lines.append((row["problem"]["name"], row["problem"]["contacts"], theirs["solver"] if theirs else "none",
                      short(theirs and cost(theirs, both)), measures(theirs), ours["solver"] if ours else "none",
                      short(ours and cost(ours, both)), measures(ours), short(row["ratio"]) if row["ratio"] else missing,
                      short(row["bare_ratio"]), short(auto and cost(auto, both)), short(row["auto_ratio"]),
                      short(row["bare_auto_ratio"])))
    solved = {side: sum(1 for row in rows if row[side]) for side in ("theirs", "ours", "auto")}
    notes = [f"Solved: Siconos {solved['theirs']}, ours {solved['ours']}, auto {solved['auto']} of {len(rows)}."]
    for key, what in (("ratio", "best of theirs / best of ours"), ("bare_ratio", "the same, solve alone"),
                      ("auto_ratio", "best of theirs / auto"), ("bare_auto_ratio", "the same, solve alone")):
        notes.append(f"* {what}: {verdict(rows, key)}")
    return "\n".join([f"### To {tolerance:g}, {RULES[rule]}", "", markdown(lines), "", *notes])


def report(result: dict) -> str:
    parts = [f"# {result['peer']} and ours on FCLIB problems", "",
             f"{result['device']}, 1 thread used, {result['date']}. Limit of a solve {result['limit']:g} s.", *result["notes"]]
    for tolerance in result["tolerances"]:
        parts += ["" + "\n" + table(result, tolerance, rule) for rule in RULES]
    return "\n".join(parts) + "\n"


def figures(result: dict) -> list[dict]:
    """Figures for report.py: our best and Siconos' best, each by its own criterion."""
    found, both = [], has_setups(result)
    for tolerance in result["tolerances"]:
        for row in comparison(result, tolerance, "own"):
            ours, theirs = row["ours"], row["theirs"]
            if ours:
                found.append({"name": f"{row['problem']['name']} to {tolerance:g} ({ours['solver']})", "unit": "ms",
                              "value": cost(ours, both), "floor": None, "floor_name": "", "peer": theirs and cost(theirs, both),
                              "peer_name": f"Siconos {theirs['solver']}" if theirs else ""})
    return found


# --- performance profiles [Dolan02] ----------------------------------------------------------------------


def profiles(result: dict, tolerance: float, rule: str) -> dict[tuple[str, str], list[float]]:
    """(side, solver) -> sorted factors by which it is slower than the best solver of each problem it solved."""
    curves: dict[tuple[str, str], list[float]] = {}
    both = has_setups(result)
    for problem in result["problems"]:
        best = fastest(result["runs"], problem["name"], tolerance, rule, setup=both)
        if best is None:
            continue
        for key in dict.fromkeys((run["side"], run["solver"]) for run in result["runs"]):
            run = fastest(result["runs"], problem["name"], tolerance, rule, side=key[0], solver=key[1], setup=both)
            if run:
                curves.setdefault(key, []).append(cost(run, both) / cost(best, both))
    return {key: sorted(values) for key, values in curves.items()}


def area(factors: list[float]) -> float:
    """Area below the curve on the log axis, by which solvers are ranked."""
    return sum(max(0.0, math.log10(LARGEST_FACTOR / factor)) for factor in factors)


def chosen(all_curves: list[dict]) -> tuple[dict[str, list[str]], list[str]]:
    """The curves to draw, best first, by side; and the names of the curves left out. For a solver in two
    storages ("NSGS", "NSGS csc") only the first has a curve; tables have both."""
    total: dict[tuple[str, str], float] = {}
    for curves in all_curves:
        for key, factors in curves.items():
            total[key] = total.get(key, 0) + area(factors)
    kept, left = {}, []
    for side in (OURS, THEIRS):
        names = [name for (s, name), _ in sorted(total.items(), key=lambda item: -item[1])
                 if s == side and not (name.endswith(" csc") and (s, name.removesuffix(" csc")) in total)]
        kept[side], rest = names[:MOST_CURVES], names[MOST_CURVES:]
        left += [name if side == OURS else f"Siconos {name}" for name in rest]
    return kept, left


def draw_panel(axes, curves: dict, kept: dict[str, list[str]], count: int) -> list:
    handles = []
    for side in (OURS, THEIRS):
        for k, name in enumerate(kept[side]):
            factors = curves.get((side, name), [])
            x, y = [1.0], [0.0]
            for n, factor in enumerate(factors, 1):
                if factor < LARGEST_FACTOR:
                    x.append(factor)
                    y.append(n / count)
            look = {"color": INK if (side, name) == (OURS, "auto") else COLOURS[k % len(COLOURS)],
                    "linestyle": "solid" if side == OURS else (0, (4, 2)),
                    "linewidth": 2.8 if (side, name) == (OURS, "auto") else 1.5}
            label = name if side == OURS else f"Siconos {name}"
            handles += axes.plot([*x, LARGEST_FACTOR], [*y, y[-1]], drawstyle="steps-post", label=label, **look)
    axes.set_xscale("log")
    axes.set_xlim(1, LARGEST_FACTOR)
    axes.set_ylim(0, 1.02)
    axes.grid(True, color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)
    for name in ("top", "right"):
        axes.spines[name].set_visible(False)
    axes.tick_params(colors=MUTED, labelsize=9, which="both")
    axes.set_xlabel("factor \u03c4 to the fastest solver [1]", fontsize=10)
    return handles


def draw_profiles(result: dict, tolerance: float, path: pathlib.Path) -> None:
    """Two panels, by Siconos' error function and by the judge. Our curves are solid, Siconos' dashed."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"font.family": "DejaVu Sans", "text.color": INK, "axes.labelcolor": INK})
    rules = ("siconos", "judge")
    curves = [profiles(result, tolerance, rule) for rule in rules]
    kept, left = chosen(curves)
    count = len(result["problems"])
    fig, panels = pyplot.subplots(1, 2, figsize=(14, 6), dpi=120, sharey=True)
    fig.subplots_adjust(left=0.055, right=0.835, top=0.84, bottom=0.11, wspace=0.07)
    for axes, found, rule in zip(panels, curves, rules):
        handles = draw_panel(axes, found, kept, count)
        axes.set_title(RULES[rule], fontsize=10, color=INK)
    panels[0].set_ylabel(f"fraction of {count} problems solved within \u03c4 [1]", fontsize=10)
    fig.legend(handles=handles, loc="center right", bbox_to_anchor=(0.995, 0.48), fontsize=8.5, frameon=False,
               handlelength=2.8, labelspacing=0.35)
    fig.text(0.055, 0.95, f"Contact solvers to {tolerance:g}: performance profiles of {result['peer']} (dashed) and ours (solid)",
             fontsize=12, fontweight="bold", va="center")
    fig.text(0.055, 0.908, f"{result['device']}, 1 thread used, {result['date']}; time of {'set-up and solve' if has_setups(result) else 'the solve alone'}, limit "
             f"{result['limit']:g} s", fontsize=9, color=MUTED, va="center")
    if left:
        fig.text(0.835, 0.012, "not drawn: " + ", ".join(left), fontsize=7, color=MUTED, ha="right")
    fig.savefig(path, format="png")
    pyplot.close(fig)
