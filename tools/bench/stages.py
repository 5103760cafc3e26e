#!/usr/bin/env python3
"""stages.py NAME=PROGRAM ... [--threads N] [--repeats N] [--scenes SCENE:FRAMES,...] > FILE.json

Runs elastic scenes with several builds of `stickslip`, in turn, and prints as JSON what each stage of a step
takes: the mean over the steps of the repetition with the least total, in milliseconds."""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SCENES = "drop:180,stack:120,twist:120,roller:40,rollers:40,arch:20,squeeze:40"
STAGES = ("linear_solve", "assembly", "broad_phase", "contacts", "ccd", "line_search", "other")


def run(program: str, scene: str, frames: int, threads: int) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.jsonl"
        done = subprocess.run([program, "run", scene, "--solver", "ipc", "--frames", str(frames), "--threads", str(threads), "--quiet",
                               "--report", str(report)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if not report.exists():
            raise RuntimeError(f"{program} run {scene}: {done.stderr.strip()}")
        steps = [json.loads(line) for line in report.read_text().splitlines()]
    stages = {stage: 1000 * sum(step["seconds"][stage] for step in steps) / len(steps) for stage in STAGES}
    return {"stages": stages, "total": 1000 * sum(step["seconds"]["total"] for step in steps) / len(steps), "steps": len(steps),
            "newton": sum(step["newton_iterations"] for step in steps), "pcg": sum(step["pcg_iterations"] for step in steps),
            "converged": sum(step["converged"] for step in steps)}


def processor() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown processor"


def figures(rows: list[dict], programs: list[str]) -> list[dict]:
    """For report.py: a step of the last program, with the first as its peer."""
    totals = {(row["scene"], row["program"]): row["total"] for row in rows}
    return [{"name": f"{scene}, a step", "value": totals[scene, programs[-1]], "unit": "ms", "floor": None, "floor_name": "",
             "peer": totals[scene, programs[0]] if len(programs) > 1 else None, "peer_name": programs[0] if len(programs) > 1 else ""}
            for scene in dict.fromkeys(row["scene"] for row in rows)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="+", metavar="NAME=PROGRAM")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scenes", default=SCENES)
    arguments = parser.parse_args()
    programs = dict(text.split("=", 1) for text in arguments.programs)
    rows = []
    for text in arguments.scenes.split(","):
        scene, frames = text.split(":")
        best = {}
        for _ in range(arguments.repeats):
            for name, program in programs.items():
                seen = run(program, scene, int(frames), arguments.threads)
                if name not in best or seen["total"] < best[name]["total"]:
                    best[name] = seen
        rows.extend({"scene": scene, "program": name, **best[name]} for name in programs)
        print(scene, {name: round(best[name]["total"], 2) for name in programs}, file=sys.stderr)
    print(json.dumps([{"bench": "stages", "backend": "cpu", "device": f"{processor()}, {arguments.threads} threads", "threads": arguments.threads,
                       "repeats": arguments.repeats, "date": datetime.date.today().isoformat(), "rows": rows,
                       "figures": figures(rows, list(programs))}], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
