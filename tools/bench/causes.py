#!/usr/bin/env python3
"""causes.py NAME=PROGRAM ... [--ipc FOLDER] > FILE.json

Counts the Newton iterations of barrier steps with several builds of `stickslip`, and what shortened them: an impact (the bound of CCD is
below one half), the line search, or nothing. FOLDER holds IPC's scripts (input/paperExamples); without it they are left out."""
import argparse
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile

from stages import processor

SCENES = [("drop", ["drop"], 60), ("spikes", ["spikes"], 60), ("roller", ["roller", "--set", "barrier=log"], 16), ("rollers", ["rollers"], 40), ("squeeze", ["squeeze"], 40),
          ("twist", ["twist"], 60), ("card-house", ["card-house"], 20), ("arch", ["arch"], 30), ("mixed", ["mixed"], 40), ("dominoes", ["dominoes"], 40),
          ("staircase x 4", ["staircase", "--scale", "4"], 40), ("puffer-net, stiff", ["puffer-net", "--variant", "stiff"], 20)]
SCRIPTS = [("tetTet", "10_tetTet.txt", 100), ("cubeStack", "10_cubeStack.txt", 100), ("spikeWedgeCO", "11_erleben/spikeWedgeCO.txt", 100),
           ("cubeCliffCO", "11_erleben/cubeCliffCO.txt", 100), ("masonryArch", "7_masonryArch.txt", 20), ("mat40x40_twist", "21_scalability/mat40x40_twist.txt", 20),
           ("sphereOnMat", "12_sphereOnMat.txt", 20), ("matKnives", "2_matKnives.txt", 20)]


def count(steps: list[dict]) -> dict:
    """From the lines of a report."""
    found = {"steps": len(steps), "converged": sum(step["converged"] for step in steps), "newton": 0, "pcg": sum(step["pcg_iterations"] for step in steps),
             "impact": 0, "halved": 0, "full": 0}
    for step in steps:
        found["newton"] += step["newton_iterations"]
        for iteration in step["newton"]:
            bound, length = iteration["ccd_bound"], iteration["step_length"]
            cause = "impact" if bound < 0.5 else "halved" if length < 0.999 * bound else "full"
            found[cause] += 1
    return found


def run(program: str, arguments: list[str], frames: int) -> dict | None:
    """None where the program does not know the scene. Settings that an older program does not know are left out."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.jsonl"
        done = subprocess.run([program, "run", *arguments, "--solver", "ipc", "--frames", str(frames), "--threads", "1", "--quiet", "--report", str(report)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if not report.exists() or not report.read_text():
            if "--set" in arguments:
                return run(program, arguments[:arguments.index("--set")], frames)
            print(f"{program} run {' '.join(arguments)}: {done.stderr.strip()}", file=sys.stderr)
            return None
        return count([json.loads(line) for line in report.read_text().splitlines()])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="+", metavar="NAME=PROGRAM")
    parser.add_argument("--ipc", type=pathlib.Path)
    arguments = parser.parse_args()
    programs = dict(text.split("=", 1) for text in arguments.programs)
    scripts = [(f"IPC's {name}", [str(arguments.ipc / file)], frames) for name, file, frames in SCRIPTS] if arguments.ipc else []
    rows = []
    for scene, args, frames in SCENES + scripts:
        for name, program in programs.items():
            found = run(program, args, frames)
            if found is not None:
                rows.append({"scene": scene, "program": name, **found})
                print(rows[-1], file=sys.stderr)
    print(json.dumps([{"bench": "causes", "backend": "cpu", "device": f"{processor()}, 1 thread", "threads": 1, "date": datetime.date.today().isoformat(),
                       "rows": rows, "figures": []}], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
