#!/usr/bin/env python3
"""methods.py PROGRAM [--threads N] [--scenes SCENE:FRAMES,...] > FILE.json

Runs elastic scenes with every penetration-free method, and prints as JSON what each needs and how large the judge's
errors are."""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from stages import processor

SCENES = "drop:60,stack:60,twist:60,roller:20,rollers:40,staircase:40,spikes:40,squeeze:30,mat-twist:30,rods-twist:60"
PRINTED = ["barrier=log", "multiplier_update=value", "multiplier_pace=1e6", "augmentation_end=together", "barrier_growth=1.2", "sigma_rule=jump", "barrier_floor=1e-8"]
METHODS = {"ipc2020": ("ipc", ["barrier=log", "sigma_rule=ipc2020"]), "ipc": ("ipc", ["barrier=log"]), "barrier_al": ("barrier_al", ["barrier=log"]), "printed": ("barrier_al", PRINTED), "cubic": ("ipc", ["barrier=cubic"]), "ccd_al": ("ccd_al", [])}
LIMIT = 300  # [s] of a run


def largest(steps: list[dict], value) -> float | None:
    known = [value(step) for step in steps if value(step) is not None]
    return max(known) if known else None


def run(program: str, scene: str, frames: int, threads: int, solver: str, settings: list[str]) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.jsonl"
        command = [program, "run", scene, "--solver", solver, "--frames", str(frames), "--threads", str(threads), "--quiet", "--check-intersections", "--report", str(report)]
        for setting in settings:
            command += ["--set", setting]
        try:
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return {"error": f"over {LIMIT} s"}
        if not report.exists():
            return {"error": done.stderr.strip()}
        steps = [json.loads(line) for line in report.read_text().splitlines()]
    gaps = [step["gap_min"] for step in steps if step["gap_min"] is not None]
    return {"steps": len(steps), "converged": sum(step["converged"] for step in steps), "newton": sum(step["newton_iterations"] for step in steps),
            "pcg": sum(step["pcg_iterations"] for step in steps), "seconds": sum(step["seconds"]["total"] - step["seconds"]["check"] for step in steps),
            "gap_min": min(gaps) if gaps else None, "error": None, "judge_error": largest(steps, lambda step: (step["judgement"] or {}).get("error")),
            "friction_work": largest(steps, lambda step: ((step["judgement"] or {}).get("law") or {}).get("friction_work")),
            "intersections": sum(step["intersections"] or 0 for step in steps)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--scenes", default=SCENES)
    arguments = parser.parse_args()
    rows = []
    for text in arguments.scenes.split(","):
        scene, frames = text.split(":")
        for name, (solver, settings) in METHODS.items():
            seen = run(arguments.program, scene, int(frames), arguments.threads, solver, settings)
            rows.append({"scene": scene, "frames": int(frames), "method": name, **seen})
            print(rows[-1], file=sys.stderr)
    print(json.dumps([{"bench": "methods", "backend": "cpu", "device": f"{processor()}, {arguments.threads} threads", "threads": arguments.threads,
                       "date": datetime.date.today().isoformat(), "methods": {name: {"solver": solver, "set": settings} for name, (solver, settings) in METHODS.items()},
                       "rows": rows, "figures": []}], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
