"""The generated parts of docs/solvers/*.md that come from kept results: residuals of races of contact solvers
(*-solvers.json, of tools/solver_pages.py, and *-couplings.json of its --couplings), the law matrix (laws/) and barrier methods (*-methods.json)."""
import json

import result_tables
from result_tables import number, table

REFERENCE = "nsgs"


def machine(kind: str) -> str:
    """Machine, date and file of the newest result of this kind, for pages in docs/solvers."""
    return result_tables.source(kind).strip().removesuffix(".").replace("(../tools", "(../../tools")


# --- contact solvers on problems of the lab -------------------------------------------------------------------------


def runs_of(solver: str) -> tuple[dict, list[dict]]:
    """The kept result, and the runs of a solver in the order of its problems. Errors: ValueError without any."""
    result = result_tables.load("solvers")[0]
    runs = [run for run in result["runs"] if run["solver"] == solver and (solver != REFERENCE or run["law"] == "exact")]
    if not runs:
        raise ValueError(f"no race of {solver} is kept: tools/solver_pages.py {solver} measures it")
    return result, runs


def peer_of(result: dict, run: dict) -> dict:
    """The run of the reference on the same problem with the same law."""
    return next(other for other in result["runs"] if other["solver"] == REFERENCE and (other["problem"], other["law"]) == (run["problem"], run["law"]))


def reached(run: dict, residual: float) -> tuple[int, float] | None:
    """Iterations and seconds of the first check at or below the residual."""
    return next(((iteration, seconds) for iteration, seconds, found in run["points"] if found <= residual), None)


def reached_text(run: dict, residual: float) -> str:
    hit = reached(run, residual)
    return "–" if hit is None else f"{hit[0]} / {number(1000 * hit[1])}"


def rounded(value: float) -> str:
    """With two digits: 1.5e-8."""
    return f"{value:.2g}" if value >= 0.01 else f"{value:.1e}".replace("e-0", "e-")


ENDS = {"iterations": "at the limit of iterations", "time": "out of time"}


def end_text(run: dict) -> str:
    return "converged" if run["end"] == "converged" else f"{rounded(run['residual'])}, {ENDS.get(run['end'], run['end'])}"


LAW_TITLES = {"exact": "Coulomb's law", "box": "box friction"}


def convergence(solver: str) -> str:
    """Picture and table of a solver's races: residuals against iterations and time, beside the reference."""
    result, runs = runs_of(solver)
    rows = []
    for run in runs:
        peer = peer_of(result, run)
        beside = [] if solver == REFERENCE else [reached_text(peer, 1e-4), reached_text(peer, 1e-8)]
        rows.append([f"`{run['problem']}`, {run['contacts']} contacts, nu = {number(run['nu'], 2)}", reached_text(run, 1e-4), reached_text(run, 1e-8), end_text(run), *beside])
    head = ["problem", "to 1e-4", "to 1e-8", "end"] + ([] if solver == REFERENCE else [f"`{REFERENCE}`: to 1e-4", "to 1e-8"])
    laws = " and ".join(dict.fromkeys(LAW_TITLES[run["law"]] for run in runs))
    beside = "" if solver == REFERENCE else f", beside `{REFERENCE}`"
    return (f"![Residual of {solver} over iterations and over time]({solver}.svg)\n\n"
            f"The smallest residual so far under {laws}{beside}. In the table: iterations / milliseconds until the residual is reached. An iteration is not the same work in all solvers. "
            f"{machine('solvers')}. One thread, at most {result['iterations']:,} iterations and {result['limit']:g} s, without the time to form W; the machine was shared, so that times are rough.\n\n" + table(head, rows))


# --- the law matrix ---------------------------------------------------------------------------------------------------


def cells() -> list[dict]:
    files = sorted((result_tables.RESULTS / "laws").glob("*.json"))
    return json.loads(files[-1].read_text())


def scenes_text(names: list[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def laws(solver: str) -> str:
    """What the law matrix says of a solver: a sentence or two."""
    rows = [cell for cell in cells() if cell["solver"] == solver]
    ran = [cell for cell in rows if "frames" in cell]
    if not ran:
        raise ValueError(f"the law matrix has no column of {solver}")
    replaced = [cell for cell in ran if f"{REFERENCE} took its place" in cell.get("message", "") and solver != REFERENCE]
    own = [cell for cell in ran if cell not in replaced]
    missed = sorted((cell for cell in own if cell["converged"] < cell["frames"]), key=lambda cell: (cell["converged"] / cell["frames"], cell["scene"]))
    text = f"[The law matrix](../law-matrix.md) has the first steps of {len(rows)} scenes with `{solver}`. In {len(own) - len(missed)} of them all steps converge"
    text += f"; some do not in {len(missed)}: " + scenes_text(["`{scene}` ({converged}/{frames})".format(**cell) for cell in missed]) if missed else ""
    text += f"; in {len(replaced)} `{REFERENCE}` replaced it" if replaced else ""
    text += f"; {len(rows) - len(ran)} of them it refuses, or does not finish in time" if len(ran) < len(rows) else ""
    return text + ".\n"


# --- barrier steppers ---------------------------------------------------------------------------------------------------

# Methods of tools/bench/methods.py whose rows a page shows, beside those of `ipc`.
METHODS_OF = {"ipc": ["ipc2020", "ipc", "cubic"], "barrier_al": ["ipc", "barrier_al", "printed"], "ccd_al": ["ipc", "ccd_al"]}


def methods_of(stepper: str) -> str:
    """Iterations, time and errors of a barrier stepper on the ten scenes of docs/benchmarks.md."""
    shown, found = METHODS_OF[stepper], {}
    for row in result_tables.load("methods")[0]["rows"]:
        found.setdefault((row["scene"], row["frames"]), {})[row["method"]] = row

    def cell(row: dict) -> str:
        if row["error"]:
            return row["error"]
        missed = row["frames"] - row["converged"]
        error = "" if row["judge_error"] is None else number(1000 * row["judge_error"])
        return f"{row['newton']} / {number(row['seconds'])} / {error}" + (f" ({missed} miss)" if missed else "")

    rows = [[f"`{scene}`, {frames}", *(cell(by[method]) for method in shown)] for (scene, frames), by in found.items()]
    return (f"{machine('methods')}. Newton iterations / seconds / largest error of a contact [mm/s], measured by [the judge](../equations.md#the-judge-of-a-step). "
            "[Benchmarks](../benchmarks.md#six-methods-on-ten-scenes) explains the methods.\n\n" + table(["scene, steps", *(f"`{method}`" for method in shown)], rows))


# --- couplings ----------------------------------------------------------------------------------------------------------


def couplings() -> str:
    """Time, iterations and the judge's residual of each coupling on scenes with solids."""
    result = result_tables.load("couplings")[0]
    rows, last = [], None
    for row in result["couplings"]:
        place = "" if row["scene"] == last else f"`{row['scene']}`, {row['frames']}"
        last = row["scene"]
        residual = "" if row["residual"] is None else rounded(row["residual"])
        settings = "".join(f", `{setting}`" for setting in row["settings"])
        rows.append([place, f"`{row['coupling']}`{settings}", number(row["iterations"]), number(row["milliseconds"]), residual, f"{row['converged']}" + (", then not finite" if row["steps"] < row["frames"] else "")])
    return (f"{machine('couplings')}. Contact solver `nsgs`, one thread of a shared machine. Per step with contacts: rounds, sweeps of `nsgs` (`factor`) or iterations; milliseconds without collision detection; "
            "median of the judge's residual. Last, the steps that converge.\n\n" + table(["scene, steps", "`coupling`", "iterations", "ms", "residual", "converged"], rows))


def duals() -> str:
    """The same of ADMM on nodes and of dual solvers on thin objects, with the work of PCG for the dual ones."""
    rows, last = [], None
    for row in result_tables.load("duals")[0]["couplings"]:
        place = "" if row["scene"] == last else f"`{row['scene']}`, {row['frames']}"
        last = row["scene"]
        by_pcg = row["dual_solves"] > 0
        method = "`nodal_admm`" if row["coupling"] == "nodal_admm" else f"`{row['solver']}`"
        residual = "" if row["residual"] is None else rounded(row["residual"])
        rows.append([place, method, row["inverse"], number(row["iterations"]), *(number(row[name]) if by_pcg else "–" for name in ("dual_solves", "dual_iterations")),
                     number(row["milliseconds"]), residual, f"{row['converged']}" + (", then not finite" if row["steps"] < row["frames"] else "")])
    return (f"{machine('duals')}. One thread of a shared machine. Per step with contacts: iterations of the method; systems of connected parts of A that PCG solved, and its iterations in them; "
            "milliseconds without collision detection; median of the judge's residual. Last, the steps that converge.\n\n"
            + table(["scene, steps", "method", "A^-1", "iterations", "solves", "of PCG", "ms", "residual", "converged"], rows))


PARTS = {"duals": lambda _: duals(), "convergence": convergence, "laws": laws, "methods-of": methods_of, "couplings": lambda _: couplings()}
