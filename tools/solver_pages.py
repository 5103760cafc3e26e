#!/usr/bin/env python3
"""Makes the pictures of docs/solvers: races every contact solver of the lab on a few generated problems, keeps the
residuals in tools/bench/results, and draws them, each solver beside nsgs.

    tools/solver_pages.py [SOLVER...] [--program build/release/app/stickslip]   measures these or all, and draws
    tools/solver_pages.py --couplings [--program ...]                           measures the couplings of solids
    tools/solver_pages.py --duals [--program ...]                               measures ADMM and dual solvers on thin objects
    tools/solver_pages.py --pictures [PAGE...] [--program ...]                  renders a scene for the pages of steppers
    tools/solver_pages.py --redraw                                              draws what is kept

tools/make_docs.py writes the tables beside the pictures. Without --out the newest result of this machine and day is
extended."""
import argparse
import csv
import datetime
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "bench"))
import result_tables
import solver_tables
from stages import processor

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "solvers"
# Balls in a box that slide and roll; a tower whose masses grow a thousandfold; redundant contacts.
PROBLEMS = [("granular_column", 150), ("mass_chain", 1000), ("over_constrained", 2)]
# The pages of solvers that solve another law show it, beside nsgs with that law.
LAW_OF = {"box": "box", "polyhedral": "exact"}
LIMIT, ITERATIONS, TOLERANCE = 5.0, 100_000, 1e-8
MOST_POINTS = 90  # kept of a run
REPEATS, SHORT = 3, 1.0  # a solve of less than SHORT [s] is repeated, and the fastest kept
SCENES = [("drop", 60), ("mattress", 60), ("jelly-tower", 60)]
COUPLINGS = [("rounds", []), ("factor", []), ("nodal_admm", []), ("nodal_admm", ["admm_tolerance=1e-6", "admm_iterations=400"]), ("ica", []),
             ("ica", ["admm_tolerance=1e-8", "admm_iterations=20000"])]
# ADMM on nodes, and dual solvers that apply A^-1 by PCG, to products or to the columns of W, or by factors: scenes of thin objects, and solver, coupling, settings.
THIN_SCENES = [("card-house-thin", 40), ("hairy-ball", 40)]
BY_PCG, MANY = ["dual_pcg_tolerance=1e-6"], ["contact.max_iterations=20000"]
DUALS = [("nsgs", "nodal_admm", []), ("spg", "factor", BY_PCG + MANY), ("apgd", "factor", BY_PCG + MANY), ("spg", "factor", BY_PCG + MANY + ["contact.storage=assembled"]),
         ("nsgs", "factor", BY_PCG + MANY), ("newton_ac", "factor", BY_PCG), ("spg", "factor", MANY), ("newton_ac", "factor", [])]
TIGHT_ICA = ["coupling=ica", "admm_tolerance=1e-8", "admm_iterations=20000"]
# Of pages without a race: scene, frames, solver, settings.
PICTURES = {
    "ipc": ("twist", 120, "ipc", []), "barrier_al": ("rods-twist", 120, "barrier_al", []), "ccd_al": ("erleben-spikes", 12, "ccd_al", []),
    "velocity": ("bowling", 136, "nsgs", []), "rounds": ("everything", 70, "nsgs", []), "factor": ("jelly-tower", 80, "newton_ac", ["coupling=factor"]),
    "nodal_admm": ("furry-ball", 62, "velocity", ["coupling=nodal_admm"]), "ica": ("mattress", 60, "nsgs", TIGHT_ICA),
    "penalty_explicit": ("dominoes", 1400, "penalty_explicit", ["dt=0.001"]), "penalty_implicit": ("pyramid", 60, "penalty_implicit", []),
}
SIZE, LARGEST = "640x400", 200_000  # [px], [bytes] of a picture

# --- measuring ----------------------------------------------------------------------------------------------------------


def thinned(points: list[list]) -> list[list]:
    """The smallest residual so far at the first point, the last, and others evenly spread in the log of their number."""
    best, least = [], math.inf
    for iteration, seconds, residual in points:
        least = min(least, residual)
        best.append([iteration, float(f"{seconds:.4g}"), float(f"{least:.3g}")])
    if len(best) <= MOST_POINTS:
        return best
    ratio = math.log(len(best) - 1) / (MOST_POINTS - 2)
    chosen = {0, len(best) - 1} | {min(round(math.exp(ratio * k)), len(best) - 1) for k in range(MOST_POINTS - 1)}
    return [best[k] for k in sorted(chosen)]


def fastest(program: pathlib.Path, solver: str, problem: str, size: int, law: str) -> dict:
    """The fastest of some equal solves: on a shared machine others wait for the processor."""
    best = solve(program, solver, problem, size, law)
    for _ in range(REPEATS - 1 if best["seconds"] < SHORT else 0):
        best = min(best, solve(program, solver, problem, size, law), key=lambda run: run["seconds"])
    return best


def solve(program: pathlib.Path, solver: str, problem: str, size: int, law: str) -> dict:
    """A solve of a generated problem with its history. Errors: RuntimeError with what the program says."""
    with tempfile.TemporaryDirectory() as folder:
        history = pathlib.Path(folder) / "history.csv"
        command = [program, "solve", "--generate", problem, "--size", str(size), "--law", law, "--solver", solver, "--tolerance", str(TOLERANCE), "--threads", "1",
                   "--backend", "cpu", "--max-iterations", str(ITERATIONS), "--time-budget", str(LIMIT), "--history", str(history), "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
        if not done.stdout.strip() or not history.exists():
            raise RuntimeError(f"{solver} on {problem}: {done.stderr.strip()}")
        report = json.loads(done.stdout)
        with history.open() as stream:
            points = [[int(row["iteration"]), float(row["seconds"]), float(row["residual"])] for row in csv.DictReader(stream)]
    points = [point for point in points if math.isfinite(point[2])]
    return {"solver": solver, "problem": problem, "size": size, "law": law, "contacts": report["contacts"], "nu": report["nu"], "end": report["end"], "message": report["message"],
            "residual": report["residual"], "iterations": report["iterations"], "seconds": report["seconds"], "points": thinned(points)}


def couple(program: pathlib.Path, scene: str, frames: int, coupling: str, settings: list[str], solver: str = "nsgs") -> dict:
    """A run of a scene at velocity level with a coupling, its settings and a contact solver."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.jsonl"
        command = [program, "run", scene, "--solver", solver, "--frames", str(frames), "--threads", "1", "--backend", "cpu", "--quiet", "--report", str(report)]
        for setting in [f"coupling={coupling}", *settings]:
            command += ["--set", setting]
        subprocess.run(command, capture_output=True, text=True)
        rows = [json.loads(line) for line in report.read_text().splitlines()]
    return {"scene": scene, "frames": frames, "solver": solver, "coupling": coupling, "settings": settings, **coupled(rows)}


def inverse_of(coupling: str, settings: list[str], products: bool) -> str:
    """How a dual solver gets A^-1; `products`: it can do without W."""
    if coupling != "factor":
        return "–"
    if not any(setting.startswith("dual_pcg_tolerance") for setting in settings):
        return "factors"
    return "PCG in products" if products and "contact.storage=assembled" not in settings else "PCG for W"


def coupled(rows: list[dict]) -> dict:
    """The figures of steps, as their reports have them; means and the median are of steps with contacts."""
    solves = [row for row in rows if row["contacts"] and row["contact_solve"]]
    residuals = [row["judgement"]["residual"] for row in solves if row["judgement"] and row["judgement"]["residual"] is not None]
    spent = [1000 * (row["seconds"]["total"] - row["seconds"]["check"] - row["seconds"]["broad_phase"]) for row in solves]
    return {"steps": len(rows), "converged": sum(row["converged"] for row in rows),
            "iterations": statistics.mean(row["contact_solve"]["rounds"] or row["contact_solve"]["iterations"] for row in solves) if solves else 0,
            **{name: statistics.mean(row["contact_solve"][name] for row in solves) if solves else 0 for name in ("dual_solves", "dual_iterations")},
            "contacts": statistics.mean(row["contacts"] for row in solves) if solves else 0,
            "milliseconds": statistics.mean(spent) if spent else 0, "residual": statistics.median(residuals) if residuals else None}


def render(program: pathlib.Path, page: str) -> None:
    """Runs the scene of a page with its solver, and reduces the last picture to 256 colours. Errors: RuntimeError."""
    scene, frames, solver, settings = PICTURES[page]
    target = PAGES / f"{page}.png"
    with tempfile.TemporaryDirectory() as folder:
        full, small = pathlib.Path(folder, "full.png"), pathlib.Path(folder, "small.png")
        command = [program, "run", scene, "--solver", solver, "--frames", str(frames), "--size", SIZE, "--supersample", "2", "--image", full, "--quiet"]
        for setting in settings:
            command += ["--set", setting]
        done = subprocess.run(command, capture_output=True, text=True)  # expectations of the scene may fail with another solver
        if not full.exists():
            raise RuntimeError(f"{page}: {done.stderr.strip()}")
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", full, "-vf", "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=sierra2_4a", small], check=True)
        target.write_bytes(small.read_bytes())
    print(f"{target.relative_to(ROOT)}: {target.stat().st_size // 1000} kB", flush=True)
    if target.stat().st_size > LARGEST:
        raise RuntimeError(f"{target} has more than {LARGEST // 1000} kB")


# --- drawing ------------------------------------------------------------------------------------------------------------

WIDTH, HEIGHT = 900, 470
LEFT, RIGHT, TOP, GAP_X, GAP_Y, BOTTOM = 56, 14, 62, 30, 52, 40
STYLE = """<style>
.paper { fill: #ffffff } text { fill: #1b1f24; font: 12px sans-serif } .small { font-size: 11px; fill: #57606a }
.grid { stroke: #d8dee4; fill: none } .goal { stroke: #57606a; stroke-dasharray: 2 3; fill: none }
.own { stroke: #0b6bcb; stroke-width: 2.2; fill: none } .peer { stroke: #8c959f; stroke-width: 1.6; stroke-dasharray: 6 3; fill: none }
.own-end { fill: #0b6bcb } .peer-end { fill: #8c959f }
@media (prefers-color-scheme: dark) {
.paper { fill: #0d1117 } text { fill: #e6edf3 } .small { fill: #9198a1 } .grid { stroke: #30363d } .goal { stroke: #9198a1 }
.own { stroke: #58a6ff } .peer { stroke: #768390 } .own-end { fill: #58a6ff } .peer-end { fill: #768390 }
}
</style>"""


def decades(low: float, high: float, most: int) -> list[int]:
    """Exponents of ten within [low, high], at most `most` of them."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    step = max(1, math.ceil((last - first + 1) / most))
    return [k for k in range(first, last + 1) if (k - first) % step == 0]


def power_text(exponent: int) -> str:
    return {-1: "0.1", 0: "1", 1: "10", 2: "100", 3: "1000"}.get(exponent, f"1e{exponent}")


class Panel:
    """A plot with log axes in the rectangle x, y, width, height [px]."""

    def __init__(self, x: float, y: float, width: float, height: float, across: tuple[float, float], up: tuple[float, float]):
        self.x, self.y, self.width, self.height, self.across, self.up = x, y, width, height, across, up

    def px(self, value: float) -> float:
        low, high = (math.log(end) for end in self.across)
        return self.x + self.width * (math.log(min(max(value, self.across[0]), self.across[1])) - low) / (high - low)

    def py(self, value: float) -> float:
        low, high = (math.log(end) for end in self.up)
        return self.y + self.height * (1 - (math.log(min(max(value, self.up[0]), self.up[1])) - low) / (high - low))

    def frame(self, label: str, text_of: Callable[[int], str], with_scale: bool) -> list[str]:
        lines = []
        for k in decades(*self.up, 6):
            lines.append(f'<path class="grid" d="M{self.x:.1f} {self.py(10.0**k):.1f}h{self.width:.1f}"/>')
            if with_scale:
                lines.append(f'<text class="small" text-anchor="end" x="{self.x - 6:.1f}" y="{self.py(10.0**k) + 4:.1f}">{power_text(k)}</text>')
        for k in decades(*self.across, 5):
            lines.append(f'<path class="grid" d="M{self.px(10.0**k):.1f} {self.y:.1f}v{self.height:.1f}"/>')
            lines.append(f'<text class="small" text-anchor="middle" x="{self.px(10.0**k):.1f}" y="{self.y + self.height + 15:.1f}">{text_of(k)}</text>')
        lines.append(f'<path class="goal" d="M{self.x:.1f} {self.py(TOLERANCE):.1f}h{self.width:.1f}"/>')
        lines.append(f'<text class="small" text-anchor="middle" x="{self.x + self.width / 2:.1f}" y="{self.y + self.height + 29:.1f}">{label}</text>')
        return lines

    def curve(self, points: list[tuple[float, float]], style: str) -> list[str]:
        """Steps: between two points the smallest residual is that of the first."""
        path, last = "", None
        for a, b in points:
            x, y = self.px(a), self.py(b)
            if last is None:
                path = f"M{x:.1f} {y:.1f}"
            elif (x, y) != last:
                path += f"H{x:.1f}V{y:.1f}"
            last = (x, y)
        return [f'<path class="{style}" d="{path}"/>', f'<circle class="{style}-end" cx="{last[0]:.1f}" cy="{last[1]:.1f}" r="3"/>']


def span(values: list[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, max(high, 10 * low))


def picture(solver: str) -> str:
    """An SVG with a column for each problem: residuals over iterations above, over time below. It has its own
    background, which follows the reader's colour scheme."""
    result, runs = solver_tables.runs_of(solver)
    columns = [[run] if solver == solver_tables.REFERENCE else [solver_tables.peer_of(result, run), run] for run in runs]
    everything = [point[2] for pair in columns for run in pair for point in run["points"] if point[2] > 0]
    up = (min(min(everything), TOLERANCE) / 3, max(everything) * 2)
    width = (WIDTH - LEFT - RIGHT - GAP_X * (len(columns) - 1)) / len(columns)
    height = (HEIGHT - TOP - BOTTOM - GAP_Y) / 2
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">', STYLE,
             f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
             f'<path class="own" d="M{LEFT} 18h26"/><text x="{LEFT + 32}" y="22">{solver}</text>']
    if solver != solver_tables.REFERENCE:
        lines.append(f'<path class="peer" d="M{LEFT + 190} 18h26"/><text x="{LEFT + 222}" y="22">{solver_tables.REFERENCE}, for comparison</text>')
    lines.append(f'<text class="small" text-anchor="end" x="{WIDTH - RIGHT}" y="22">smallest residual so far; dotted: tolerance</text>')
    for k, pair in enumerate(columns):
        left = LEFT + k * (width + GAP_X)
        run = pair[-1]
        law = "" if run["law"] == "exact" else f", {solver_tables.LAW_TITLES[run['law']]}"
        lines.append(f'<text x="{left:.1f}" y="{TOP - 12}">{run["problem"]} {run["size"]}{law}</text>')
        for row, (column, label) in enumerate([(0, "iterations"), (1, "milliseconds")]):
            scale = (1.0, 1000.0)[column]
            positive = [scale * point[column] for one in pair for point in one["points"] if point[column] > 0]
            panel = Panel(left, TOP + row * (height + GAP_Y), width, height, span(positive), up)
            lines += panel.frame(label, power_text, k == 0)
            for one in pair:
                style = "own" if one is run else "peer"
                lines += panel.curve([(scale * point[column], point[2]) for point in one["points"]], style)
    return "\n".join([*lines, "</svg>"]) + "\n"


# --- command ------------------------------------------------------------------------------------------------------------


def law_for(solver: dict) -> str:
    return LAW_OF.get(solver["law"], "exact")


def result_file(kind: str) -> pathlib.Path:
    maker = "epyc" if "EPYC" in processor() else "xeon" if "Xeon" in processor() else "cpu"
    return result_tables.RESULTS / f"{datetime.date.today()}-{maker}-1-thread-{kind}.json"


def load(path: pathlib.Path) -> dict:
    if path.exists():
        return json.loads(path.read_text())[0]
    # Like all kept results with `figures`, which tools/bench/report.py reads; here there are none.
    return {"bench": "solvers", "backend": "cpu", "device": processor(), "threads": 1, "date": str(datetime.date.today()), "figures": [], "limit": LIMIT, "iterations": ITERATIONS, "tolerance": TOLERANCE, "runs": [], "couplings": []}


def write(path: pathlib.Path, result: dict) -> None:
    """One run a line, so that a changed run is a changed line."""
    head = {key: value for key, value in result.items() if key not in ("runs", "couplings")}
    lists = ",\n".join(f'"{key}": [\n' + ",\n".join(json.dumps(row) for row in result[key]) + "\n]" for key in ("runs", "couplings"))
    path.write_text("[" + json.dumps(head)[:-1] + ",\n" + lists + "}]\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("solvers", nargs="*", metavar="SOLVER")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/app/stickslip")
    parser.add_argument("--couplings", action="store_true")
    parser.add_argument("--duals", action="store_true")
    parser.add_argument("--pictures", action="store_true")
    parser.add_argument("--redraw", action="store_true", help="measure nothing")
    parser.add_argument("--out", type=pathlib.Path, help="the kept result")
    options = parser.parse_args()
    os.environ["STICKSLIP_ASSETS"] = str(ROOT / "assets")

    if options.pictures:
        if unknown := set(options.solvers) - set(PICTURES):
            parser.error(f"no picture is made for {', '.join(sorted(unknown))}")
        for page in options.solvers or PICTURES:
            render(options.program.resolve(), page)
        return 0
    if not options.redraw:
        path = options.out or result_file("couplings" if options.couplings else "duals" if options.duals else "solvers")
        result, program = load(path), options.program.resolve()
        if options.couplings:
            result["couplings"] = [couple(program, scene, frames, coupling, settings) for scene, frames in SCENES for coupling, settings in COUPLINGS]
        elif options.duals:
            listed = json.loads(subprocess.run([program, "list", "contact-solvers", "--json"], check=True, stdout=subprocess.PIPE).stdout)
            products = {solver["name"] for solver in listed if solver["products"]}
            result["couplings"] = [{**couple(program, scene, frames, coupling, settings, solver), "inverse": inverse_of(coupling, settings, solver in products)}
                                   for scene, frames in THIN_SCENES for solver, coupling, settings in DUALS]
        else:
            listed = json.loads(subprocess.run([program, "list", "contact-solvers", "--json"], check=True, stdout=subprocess.PIPE).stdout)
            names = [solver["name"] for solver in listed]
            if unknown := set(options.solvers) - set(names):
                parser.error(f"the lab has no solver {', '.join(sorted(unknown))}")
            chosen = [(solver["name"], law_for(solver)) for solver in listed if not options.solvers or solver["name"] in options.solvers]
            if not options.solvers:
                chosen.insert(0, (solver_tables.REFERENCE, "box"))
            for name, law in chosen:
                for problem, size in PROBLEMS:
                    run = fastest(program, name, problem, size, law)
                    print(f"{name} on {problem}, {law}: {run['end']} at {run['residual']:.1e} after {run['iterations']} iterations, {run['seconds']:.3g} s", flush=True)
                    same = lambda old: (old["solver"], old["problem"], old["law"]) == (name, problem, law)
                    result["runs"] = [old for old in result["runs"] if not same(old)] + [run]
        write(path, result)
    PAGES.mkdir(exist_ok=True)
    for name in sorted({run["solver"] for run in result_tables.load("solvers")[0]["runs"]}):
        (PAGES / f"{name}.svg").write_text(picture(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
