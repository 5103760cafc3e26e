#!/usr/bin/env python3
"""fclib_peers.py [FILE.hdf5 ...] [--quick]: compares Siconos and our solvers on frictional contact problems.

Without files: those of ../shared/data/fclib and about twenty from our generators. Both get the same local
problem; global ones are reduced outside of the timing. One thread each, from zero, best of some repetitions
in one process. Times are those of the solve and of the set-up before it, on both sides: ours forms the block
rows of W, Siconos its own form of the problem. Siconos' own error function and the judge, here in numpy, measure the results of both.
Writes DATE-MACHINE-fclib.json and .md and profiles as .png.

Needs python3-siconos, python3-h5py, python3-scipy and, for plots, python3-matplotlib; --redraw FILE.json only the last."""
import argparse
import datetime
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import fclib_tables
from fclib_tables import OURS, THEIRS

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR")}
GENERATED = [  # name, size, seed
    ("random_stacks", 20, 1), ("random_stacks", 100, 2), ("granular_column", 30, 1), ("granular_column", 300, 2),
    ("granular_column", 3000, 3), ("mass_chain", 10, 1), ("mass_chain", 1000, 1), ("mass_chain", 1000000, 1),
    ("over_constrained", 2, 1), ("over_constrained", 8, 2), ("hyperstatic", 16, 1), ("hyperstatic", 200, 1),
    ("tasora_b2", 100, 1), ("tasora_b2", 1000, 2), ("tasora_b3", 5, 1), ("tasora_b3", 20, 1), ("tasora_b4", 30, 1),
    ("tasora_b4", 200, 1)]
QUICK_GENERATED = [("granular_column", 30, 1), ("hyperstatic", 16, 1), ("tasora_b3", 5, 1)]
QUICK_OURS = ("auto", "nsgs", "prox_gs", "newton_ac")
JUDGES_AGREE = 1e-12
SLACK = 60.0  # seconds for a process in addition to its solves


class BadInput(Exception):
    pass


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE.hdf5")
    parser.add_argument("--quick", action="store_true", help="few problems and solvers, limit 2 s: does it all work?")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/app/stickslip")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared/data/fclib")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "results", help="folder")
    parser.add_argument("--tolerances", default="1e-4,1e-8", help="of the tables")
    parser.add_argument("--also", default="", help="more tolerances to run at, e.g. 1e-2,1e-6,1e-10: the fastest run that "
                        "reaches a tolerance of the tables by a measure counts, whatever it was asked for")
    parser.add_argument("--limit", type=float, help="seconds of one solve; default 10, quick 2")
    parser.add_argument("--repeats", type=int, default=3, help="of each solve at least, unless it is slow")
    parser.add_argument("--ours", help="solvers, with commas; default: all that know Coulomb's cone")
    parser.add_argument("--theirs", help="solvers, with commas (fclib_siconos.py); default: all")
    parser.add_argument("--redraw", type=pathlib.Path, metavar="FILE.json", help="tables and plots of a kept result")
    options = parser.parse_args(arguments)
    try:
        options.tolerances = [float(text) for text in options.tolerances.split(",")]
        options.also = [float(text) for text in options.also.split(",") if text]
    except ValueError:
        parser.error("--tolerances and --also must be numbers with commas")
    if not all(0 < t < 1 for t in [*options.tolerances, *options.also]):
        parser.error("tolerances must be between 0 and 1")
    options.limit = options.limit or (2.0 if options.quick else 10.0)
    return options


def device() -> str:
    info = pathlib.Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", info.read_text()) if info.exists() else None
    return f"{found.group(1).strip() if found else 'unknown'}, {os.cpu_count()} threads"


def stem(result: dict) -> str:
    """2026-11-21-epyc-2-threads-fclib, like the names of the other results."""
    words = re.findall(r"[a-z0-9]+", re.sub(r"\(.*?\)|processor|amd|intel|cpu.*(?=,)|\d+-core", "", result["device"].lower()))
    return "-".join([result["date"], *words, "fclib"])


def number(value) -> float | None:
    """Replaces values that are not finite, which JSON cannot represent."""
    return float(value) if value is not None and math.isfinite(value) else None


def called(command: list, seconds: float) -> subprocess.CompletedProcess | None:
    """None: it ran out of time."""
    try:
        return subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace",
                              timeout=seconds, env={**os.environ, **ONE_THREAD})
    except subprocess.TimeoutExpired:
        return None


class Bench:
    """Runs solvers on problems; files go through `folder`."""

    def __init__(self, options: argparse.Namespace, folder: pathlib.Path):
        import warnings

        import fclib_problems
        import fclib_siconos

        warnings.filterwarnings("ignore", message="Performance warning")  # about converted indices
        self.options, self.folder = options, folder
        self.problems, self.siconos = fclib_problems, fclib_siconos

    # --- our solvers ---

    def stickslip(self, *words, seconds: float = SLACK) -> dict | list | None:
        """The program's JSON output; None after a timeout or without output. Throws BadInput if refused."""
        done = called([self.options.program, *words], seconds)
        if done is not None and done.returncode == 2:
            raise BadInput(f"stickslip {' '.join(map(str, words))}: {done.stderr.strip()}")
        try:
            return json.loads(done.stdout) if done else None
        except ValueError:
            return None

    def our_solvers(self) -> list[str]:
        if self.options.ours:
            return self.options.ours.split(",")
        known = self.stickslip("list", "contact-solvers", "--json")
        return [s["name"] for s in known if s["law"] != "box" and s.get("problems", True) and (not self.options.quick or s["name"] in QUICK_OURS)]

    def generated(self, name: str, size: int, seed: int) -> pathlib.Path:
        path = self.folder / f"{name}-{size}.hdf5"
        self.stickslip("solve", "--generate", name, "--size", size, "--seed", seed, "--max-iterations", 1, "--solver", "nsgs",
                       "--backend", "cpu", "--threads", 1, "--json", "--out", path)
        return path

    def solve(self, *words, seconds: float = SLACK) -> tuple[dict | None, object]:
        """Report of `stickslip solve` on the local problem, and the impulses."""
        answer = self.folder / "answer.hdf5"
        answer.unlink(missing_ok=True)
        said = self.stickslip("solve", self.folder / "local.hdf5", "--backend", "cpu", "--threads", 1, "--json", "--out",
                              answer, *words, seconds=seconds)
        return said, self.problems.load_impulses(answer) if said and answer.exists() else None

    def run_ours(self, problem, solver: str, tolerance: float) -> dict:
        limit = self.options.limit
        stop = ["--tolerance", tolerance, "--time-budget", limit, "--max-iterations", 2 * 10**9]
        said, r = self.solve("--solver", solver, *stop, seconds=2 * limit + SLACK)
        run = {"problem": problem.name, "side": OURS, "solver": solver, "tolerance": tolerance, "ms": None,
               "end": said["end"] if said else "no answer", **self.measured(problem, r)}
        if said is None or r is None:
            return run
        seconds, setups = [said["seconds"]], [said["setup_seconds"]]
        repeats = self.siconos.repetitions(said["seconds"], self.options.repeats)
        if said["converged"] and repeats > 1:
            # Repeated in one process, as Siconos is.
            again = self.stickslip("race", self.folder / "local.hdf5", "--solvers", ",".join([solver] * repeats), "--backend",
                                   "cpu", "--threads", 1, "--json", *stop, seconds=repeats * said["seconds"] * 5 + SLACK)
            same = [x for x in again["ranking"] if x["converged"]] if again else []
            seconds += [x["seconds"] for x in same]
            setups += [x["setup_seconds"] for x in same]
        return {**run, "ms": 1e3 * min(seconds), "first_ms": 1e3 * seconds[0], "setup_ms": 1e3 * min(setups),
                "iterations": said["iterations"], "said": number(said["residual"])}

    # --- Siconos ---

    def run_theirs(self, problem, solver: str, tolerance: float) -> dict:
        target = self.folder / "answer.npz"
        target.unlink(missing_ok=True)
        limit, repeats = self.options.limit, self.options.repeats
        done = called([sys.executable, HERE / "fclib_siconos.py", self.folder / "local.npz", target, solver, tolerance, limit,
                       repeats], limit * repeats + SLACK)
        run = {"problem": problem.name, "side": THEIRS, "solver": solver, "tolerance": tolerance, "ms": None}
        if not target.exists():
            timed_out = done is None or done.returncode == -14
            words = (done.stderr.strip().splitlines() or [""])[-1][:120] if done else ""
            return {**run, "end": "time" if timed_out else f"crashed ({done.returncode}) {words}", **self.measured(problem, None)}
        import numpy as np

        answer = np.load(target)
        times, info = answer["times"], int(answer["info"])
        return {**run, "ms": 1e3 * float(min(times)), "first_ms": 1e3 * float(times[0]), "setup_ms": 1e3 * float(min(answer["setups"])),
                "iterations": int(answer["iterations"]),
                "end": "converged" if info == 0 else f"info {info}", **self.measured(problem, answer["r"])}

    def measured(self, problem, r) -> dict:
        import numpy as np

        if r is None or not np.all(np.isfinite(r)):
            return {"siconos_error": None, "judge": None}
        return {"siconos_error": number(self.siconos.error(problem.W, problem.q, problem.mu, r)),
                "judge": number(self.problems.judged(problem, r))}

    # --- both ---

    def hand_out(self, problem) -> None:
        """Writes the local problem to the files that both read."""
        import numpy as np

        W = problem.W
        W.sort_indices()
        self.problems.save_local(self.folder / "local.hdf5", problem)
        np.savez(self.folder / "local.npz", x=W.data, i=W.indices.astype(np.int64), p=W.indptr.astype(np.int64), q=problem.q,
                 mu=problem.mu)

    def judges_gap(self, problem) -> float:
        """Relative difference of our two judges, and of the two forms of Siconos' error, after one sweep."""
        said, r = self.solve("--solver", "nsgs", "--max-iterations", 1, "--tolerance", 1e-15)
        here = self.measured(problem, r)
        pairs = [(said["residual"], here["judge"]), (said["residual_fclib"], here["siconos_error"])]
        # Problems solved after one sweep leave only rounding errors.
        return max((abs(a - b) / max(a, b) for a, b in pairs if max(a, b) > 1e-9), default=0.0)

    def run_all(self, problem) -> list[dict]:
        jobs = [(self.run_ours, name) for name in self.our_solvers()]
        names = self.options.theirs.split(",") if self.options.theirs else self.siconos.SOLVERS
        jobs += [(self.run_theirs, name) for name in names
                 if self.options.theirs or not self.options.quick or name in self.siconos.QUICK]
        runs = []
        for job, name in jobs:
            for tolerance in sorted({*self.options.tolerances, *self.options.also}, reverse=True):
                run = job(problem, name, tolerance)
                runs.append(run)
                print(f"  {run['side']:8s}{name:14s}{tolerance:8.0e}  {fclib_tables.short(run['ms']):>9s} ms  error "
                      f"{fclib_tables.short(run['siconos_error'])}, judge {fclib_tables.short(run['judge'])}, {run['end']}", flush=True)
                if run["end"] == "time":
                    break  # a smaller tolerance takes at least as long
        return runs


def problem_files(bench: Bench, options: argparse.Namespace) -> list[pathlib.Path]:
    if options.files:
        return options.files
    files = sorted(options.data.glob("*.hdf5"))
    if not files:
        print(f"fclib_peers: no problems in {options.data}: generated ones only", file=sys.stderr)
    return files + [bench.generated(*which) for which in (QUICK_GENERATED if options.quick else GENERATED)]


def measure(options: argparse.Namespace, folder: pathlib.Path) -> dict:
    bench = Bench(options, folder)
    unknown = [name for name in (options.theirs or "").split(",") if name and name not in bench.siconos.SOLVERS]
    if unknown:
        raise BadInput(f"--theirs: there is no '{unknown[0]}'; there are {', '.join(bench.siconos.SOLVERS)}")
    result = {"bench": "fclib", "backend": "cpu", "device": device(), "threads": 1, "date": datetime.date.today().isoformat(),
              "peer": peer_name(), "limit": options.limit, "repeats": options.repeats, "tolerances": options.tolerances,
              "problems": [], "runs": [], "notes": []}
    for path in problem_files(bench, options):
        try:
            problem = bench.problems.load(path)
        except bench.problems.BadInput as error:
            print(f"fclib_peers: left out: {error}", file=sys.stderr)
            continue
        bench.hand_out(problem)
        gap = bench.judges_gap(problem)
        print(f"{problem.name}: {problem.contacts} contacts, judges agree to {gap:.0e}", flush=True)
        if gap > JUDGES_AGREE:
            result["notes"].append(f"{problem.name}: the judges differ by {gap:.0e} relative.")
        result["problems"].append({"name": problem.name, "contacts": problem.contacts, "entries": int(problem.W.nnz),
                                   "nu": 3 * problem.contacts / problem.dofs if problem.dofs else None, "judges_gap": gap})
        result["runs"] += bench.run_all(problem)
    if not result["problems"]:
        raise BadInput("no problem to solve")
    result["figures"] = fclib_tables.figures(result)
    return result


def peer_name() -> str:
    done = called(["dpkg-query", "-W", "-f", "${Version}", "python3-siconos"], 10) if pathlib.Path("/usr/bin/dpkg-query").exists() else None
    version = done.stdout.split("+")[0].split("-")[0] if done and done.returncode == 0 else ""
    return f"Siconos {version}".strip()


def write(result: dict, folder: pathlib.Path) -> None:
    name = stem(result)
    text = fclib_tables.report(result)
    (folder / f"{name}.md").write_text(text)
    print(text)
    try:
        for tolerance in result["tolerances"]:
            fclib_tables.draw_profiles(result, tolerance, folder / f"fclib-profiles-{tolerance:.0e}.png")
    except ImportError as error:
        print(f"fclib_peers: {error}; no plots without python3-matplotlib", file=sys.stderr)
    print(f"fclib_peers: wrote {folder / name}.*", file=sys.stderr)


def check_needs(options: argparse.Namespace) -> None:
    """Throws BadInput that names the missing package."""
    for module, package in (("numpy", "numpy"), ("scipy.sparse", "scipy"), ("h5py", "h5py"), ("siconos.numerics", "siconos")):
        try:
            __import__(module)
        except ImportError as error:
            raise BadInput(f"{error}: apt-get install python3-{package}, and run this with /usr/bin/python3") from None
    if not os.access(options.program, os.X_OK):
        raise BadInput(f"{options.program} is not there: build it, or name it by --program")


def main(arguments: list[str]) -> int:
    options = parsed(arguments)
    try:
        if options.redraw:
            try:
                result = json.loads(options.redraw.read_text())[0]
            except (OSError, ValueError, LookupError) as error:
                raise BadInput(f"{options.redraw}: {error}") from None
            write(result, options.redraw.parent)
            return 0
        check_needs(options)
        options.out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            result = measure(options, pathlib.Path(folder))
    except BadInput as error:
        print(f"fclib_peers: {error}", file=sys.stderr)
        return 2
    (options.out / f"{stem(result)}.json").write_text(json.dumps([result], indent=1) + "\n")
    write(result, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
