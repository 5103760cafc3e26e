#!/usr/bin/env python3
"""Runs every shipped scene with every stepping solver that accepts it and writes the errors of the laws:
docs/law-matrix.md.

tools/law_matrix.py --program build/release/app/stickslip [--frames 6] [--limit SECONDS] [--scenes A,B] [--solvers C,D] [--data FILE]
tools/law_matrix.py --page-only

The measurements are kept in FILE. Those of scenes and solvers that are not run stay unchanged; the page shows all of
FILE.
"""
import argparse
import collections
import datetime
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VELOCITY = ["nsgs", "prox_gs", "prox_jacobi", "nncg", "auto", "manifold_gs", "newton_ac", "newton_fb", "newton_minmap", "newton_ncp", "newton_al",
            "spg", "apgd", "admm", "staggered", "pgs", "pgs_jacobi", "pgs_sm", "pivot_incremental", "pivot_block",
            "lemke", "penalty_implicit"]
# The rows of gpu/params/contact_solvers.h: the law of each solver. VELOCITY has them in the page's order.
LAWS = dict(re.findall(r"^  (?:PROBLEM|BODIES|STEP)\(\w+, (\w+), (\w+),", (ROOT / "gpu/params/contact_solvers.h").read_text(), re.M))
BOX = {name for name, law in LAWS.items() if law == "box"}
BARRIER = ["ipc", "barrier_al", "ccd_al"]
ROUNDING = 1e-12  # [N s] largest impulse of a step without contact impulses
DATA = ROOT / "tools/bench/results/laws"
CONE, MOMENTUM = 1e-3, 1e-6  # shares of the largest impulse, and of all impulses: a larger error breaks a law


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "unknown processor"


def run(program, scene, solver, frames, limit):
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.jsonl"
        command = [program, "run", scene, "--solver", solver, "--frames", str(frames), "--quiet",
                   "--check-intersections", "--report", str(report)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return {"reason": f"more than {limit} s"}
        steps = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
        if not steps:
            said = done.stderr.strip().removeprefix("stickslip: ")[:160] or "nothing said"
            return {"reason": said if done.returncode in (1, 2) else f"exit code {done.returncode}: {said}"}
        return measure(steps)


def number(value):
    """Reports have null for a number that is not finite."""
    return math.inf if value is None else value


def measure(steps):
    cell = {"frames": len(steps), "converged": sum(s["converged"] for s in steps),
            "intersections": max((s["intersections"] or 0) for s in steps), "cone": 0.0, "momentum": 0.0,
            "approach": 0.0, "work": 0.0, "residual": 0.0}
    reasons = {}
    for step in steps:
        solve = step["contact_solve"]
        if not step["converged"]:
            reasons[step["stop_reason"]] = reasons.get(step["stop_reason"], 0) + 1
        if solve is None:
            continue
        if solve["message"]:
            cell["message"] = solve["message"]
        cell["residual"] = max(cell["residual"], number(solve["residual"]))
        law = solve["law"] and {key: number(value) for key, value in solve["law"].items()}
        if law is None or law["impulse"] < ROUNDING:
            continue
        cell["cone"] = max(cell["cone"], max(law["cone"], law["pull"]) / law["impulse"])
        cell["momentum"] = max(cell["momentum"], law["momentum"] / (law["impulse"] * (1 + step["contacts"])))
        cell["approach"] = max(cell["approach"], law["approach"])
        cell["work"] = max(cell["work"], law["friction_work"])
    if reasons:
        cell["reason"] = max(reasons, key=reasons.get)
    return cell


def text(cell, solver):
    if "frames" not in cell:
        return "–"
    mark = f"{cell['converged']}/{cell['frames']}" if cell["converged"] < cell["frames"] else "all"
    if cell["intersections"] > 0 or cell["momentum"] > MOMENTUM or (solver not in BOX and cell["cone"] > CONE):
        mark += " **broken**"
    return mark + ("ⁿ" if "nsgs took its place" in cell.get("message", "") else "")


def table(rows, solvers, cells):
    yield "| scene | " + " | ".join(f"`{s}`" for s in solvers) + " |"
    yield "|---|" + "---|" * len(solvers)
    for scene in rows:
        yield f"| `{scene}` | " + " | ".join(text(cells[scene, s], s) for s in solvers) + " |"


def reasons(rows, solvers, cells):
    seen = {}
    for scene in rows:
        for solver in solvers:
            cell = cells[scene, solver]
            for why in sorted({cell.get("message"), cell.get("reason")} - {None, ""}):
                seen.setdefault(why.replace(" ()", ""), []).append(f"`{scene}` {solver}")
    for why, where in sorted(seen.items(), key=lambda item: (-len(item[1]), item[0])):
        yield f"* {why}: {', '.join(where[:8])}" + (f" and {len(where) - 8} more" if len(where) > 8 else "")


def when(kept, scenes):
    """Machine and date of the measurements of these scenes."""
    runs = collections.Counter((c["machine"], c["threads"], c["date"], c["frame_limit"])
                               for (scene, _), c in kept.items() if scene in scenes)
    return "; ".join(f"the first {frames} steps on {machine}, {threads} threads, {date}"
                     for machine, threads, date, frames in sorted(runs))


def power(value):
    """1e-6, not 1e-06."""
    return f"{value:g}".replace("e-0", "e-")


def page(cells):
    """The lines of docs/law-matrix.md. `cells`: measurement of (scene, solver)."""
    rigid = sorted({scene for scene, solver in cells if solver in VELOCITY})
    elastic = sorted({scene for scene, solver in cells if solver in BARRIER})
    yield "# Law matrix: every scene with every solver"
    yield ""
    yield "`tools/law_matrix.py` generates this page from the newest file in `tools/bench/results/laws`. The test `SceneLaws` checks the laws in " \
          "three steps of each scene with rigid bodies, from the first contact on."
    yield ""
    yield "Each cell belongs to one scene and one solver. It says how many steps [*converged*](report.md#the-report-of-a-step): they reached the scene's tolerance within the scene's limit on iterations and, with rigid bodies, impulses lie in their cones and momentum balances. " \
          "`all` means all measured steps, `4/6` means 4 of 6."
    yield ""
    yield "In addition, `LawChecker` (`gpu/rigid/law_check.cuh`) checks the laws of Coulomb and Newton in each velocity-level step, with code that no solver shares: " \
          "impulses lie in their friction cones, no impulse pulls, and the impulses add up to the change of momentum."
    yield ""
    yield f"* **broken**: in some step, the momentum is off by more than {power(MOMENTUM)} of the largest impulse times the number of contacts, an impulse lies outside its cone by more than {power(CONE)} of the largest impulse, " \
          "or surfaces intersect."
    yield "* ⁿ: `nsgs` replaced the solver in at least one step."
    yield "* –: the solver refused the scene or ran out of time. The list at the end of a section has the reason."
    yield ""
    yield "## Scenes with rigid bodies, with velocity-level solvers"
    yield ""
    yield f"Measured: {when(cells, rigid)}."
    yield ""
    yield "`pgs`, `pgs_jacobi`, `pgs_sm` and the two `pivot` solvers solve box friction. Where a body slides obliquely to the tangents of its contact, " \
          "they cannot reach the tolerance, because the residual is that of Coulomb's law; nor can `lemke`, whose friction cones have facets. For those of box friction, friction outside the cone counts neither as broken nor against convergence; an impulse that pulls does count against convergence. " \
          "`penalty_implicit` replaces contacts by springs. `penalty_explicit` solves no contact problem, so it has no column."
    yield ""
    yield from table(rigid, VELOCITY, cells)
    yield ""
    yield "The next table has the worst value of each solver over all scenes. Where the laws hold, each value is zero. The values include steps that did not converge."
    yield ""
    yield "* outside the cone: the part of an impulse that lies outside its cone, relative to the largest impulse"
    yield "* momentum: the change of momentum that no impulse explains, relative to the largest impulse times the number of contacts"
    yield "* approach: the largest velocity at which bodies in contact still approach each other at the end of a step"
    yield "* energy from friction: the largest energy that friction added in a step"
    yield ""
    yield "| solver | outside the cone | momentum | approach [m/s] | energy from friction [J] |"
    yield "|---|---|---|---|---|"
    for solver in VELOCITY:
        column = [cells[s, solver] for s in rigid if "frames" in cells[s, solver]]
        worst = [max((c[k] for c in column), default=0.0) for k in ("cone", "momentum", "approach", "work")]
        yield f"| `{solver}` | " + " | ".join(f"{w:.1e}" for w in worst) + " |"
    yield ""
    yield "The next list gives the reasons why steps did not converge, or why `nsgs` replaced a solver. Each entry has the program's message, then the scenes and solvers. The most frequent message comes first. " \
          "\"finds nothing\" means that no iterate had a residual of at most 1, which zero impulses always have. \"impulses lie outside their cones\" means, for a solver of box friction, that an impulse pulls."
    yield ""
    yield from reasons(rigid, VELOCITY, cells)
    if elastic:
        yield ""
        yield "## Other scenes, with barrier solvers"
        yield ""
        yield f"Measured: {when(cells, elastic)}. The columns are the solvers of the scenes' own family. [The judge](equations.md#the-judge-of-a-step) " \
              "measures barrier steps, too, but they depart from Coulomb's law by design (a barrier acts at a distance, friction is smoothed), so a cell has no limit on the laws. " \
              "The surfaces were checked for intersections after each step; an intersection counts as broken."
        yield ""
        yield from table(elastic, BARRIER, cells)
        if lines := list(reasons(elastic, BARRIER, cells)):
            yield from ["", *lines]


def newest_data():
    files = sorted(DATA.glob("*.json"))
    return files[-1] if files else None


def load(path):
    return {(c["scene"], c["solver"]): {k: v for k, v in c.items() if k not in ("scene", "solver")}
            for c in json.loads(Path(path).read_text())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/app/stickslip"))
    parser.add_argument("--frames", type=int, default=6)
    parser.add_argument("--limit", type=float, default=60, help="seconds a cell may take")
    parser.add_argument("--scenes", help="comma-separated; all otherwise")
    parser.add_argument("--solvers", help="comma-separated; all otherwise")
    parser.add_argument("--out", default=str(ROOT / "docs/law-matrix.md"))
    parser.add_argument("--data", help="file of measurements; the newest in tools/bench/results/laws otherwise")
    parser.add_argument("--page-only", action="store_true", help="write the page from the measurements kept")
    options = parser.parse_args()
    data = Path(options.data) if options.data else newest_data() or DATA / f"{datetime.date.today()}.json"
    cells = load(data) if data.exists() else {}
    if not options.page_only:
        scenes = options.scenes.split(",") if options.scenes else sorted(
            path.stem for path in (ROOT / "assets/scenes").glob("*.toml"))
        for scene in scenes:
            is_rigid = 'body = "rigid"' in (ROOT / f"assets/scenes/{scene}.toml").read_text()
            for solver in VELOCITY if is_rigid else BARRIER:
                if options.solvers and solver not in options.solvers.split(","):
                    continue
                cells[scene, solver] = {**run(options.program, scene, solver, options.frames, options.limit),
                                        "machine": processor(), "threads": os.cpu_count(),
                                        "date": str(datetime.date.today()), "frame_limit": options.frames}
                print(scene, solver, cells[scene, solver], file=sys.stderr, flush=True)
            # After each scene, so that an interrupted run keeps its measurements.
            data.write_text(json.dumps([{"scene": s, "solver": k, **c} for (s, k), c in sorted(cells.items())], indent=1))
    Path(options.out).write_text("\n".join(page(cells)) + "\n")


if __name__ == "__main__":
    main()
