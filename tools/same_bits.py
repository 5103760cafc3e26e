#!/usr/bin/env python3
"""Compares the results of two builds bit by bit: states and reports of the first steps of every shipped scene.

tools/same_bits.py OLD NEW [--frames 10] [--scenes A,B] [--solvers nsgs,manifold_gs]

OLD and NEW are two `stickslip` programs, or a program and a file written by --save. Exits with 1 if a scene
differs and prints the first different step. Times, allocations and launches are not results and are not
compared. Run this before and after a change that only moves code.
"""
import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOT_RESULTS = ("seconds", "device_seconds", "allocations", "launches", "copies", "host", "memory", "synchronisations", "bytes_", "spans")


def results(value):
    """A report line without the values that depend on the machine."""
    if isinstance(value, dict):
        return {k: results(v) for k, v in value.items() if not any(word in k for word in NOT_RESULTS)}
    return [results(v) for v in value] if isinstance(value, list) else value


def measure(program, scene, frames, solver, limit):
    """A hash for each step, then one of the final state. Or the program's refusal."""
    with tempfile.TemporaryDirectory() as folder:
        report, state = Path(folder) / "report.jsonl", Path(folder) / "state.obj"
        command = [program, "run", scene, "--frames", str(frames), "--threads", "2", "--quiet", "--report", str(report),
                   "--state", str(state)] + (["--solver", solver] if solver else [])
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return [f"more than {limit:g} s"]
        lines = [json.dumps(results(json.loads(line)), sort_keys=True) for line in report.read_text().splitlines()] \
            if report.exists() else [done.stderr.strip()]
        whole = state.read_bytes() if state.exists() else b""
        return [hashlib.sha256(line.encode()).hexdigest()[:16] for line in lines] + [hashlib.sha256(whole).hexdigest()[:16]]


def difference(old, new):
    """A description of the difference, or None."""
    if old == new:
        return None
    for step, (a, b) in enumerate(zip(old, new), 1):
        if a != b:
            return "the last state differs" if step == max(len(old), len(new)) else f"step {step} differs"
    return f"{len(old) - 1} steps, then {len(new) - 1}"


def load(source, scenes, options):
    if source.endswith(".json"):
        return json.loads(Path(source).read_text())
    out = {}
    for scene in scenes:
        for solver in options.solvers:
            name = f"{scene} {solver}".strip()
            out[name] = measure(source, scene, options.frames, solver, options.limit)
            print(f"{source}: {name}", file=sys.stderr, flush=True)
    return out


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new", nargs="?")
    parser.add_argument("--frames", type=int, default=10)
    parser.add_argument("--scenes", help="comma-separated; all otherwise")
    parser.add_argument("--solvers", default="", help="comma-separated, beside each scene's own: run all of them on each scene")
    parser.add_argument("--limit", type=float, default=600, help="seconds a run may take")
    parser.add_argument("--save", help="write OLD's hashes to this .json file, and stop if there is no NEW")
    options = parser.parse_args(arguments)
    options.solvers = [""] + [s for s in options.solvers.split(",") if s]
    scenes = options.scenes.split(",") if options.scenes else sorted(p.stem for p in (ROOT / "assets/scenes").glob("*.toml"))
    old = load(options.old, scenes, options)
    if options.save:
        Path(options.save).write_text(json.dumps(old, indent=1))
    if not options.new:
        return 0
    new = load(options.new, scenes, options)
    differing = {name: difference(old[name], new[name]) for name in old if name in new and old[name] != new[name]}
    for name, what in differing.items():
        print(f"{name}: {what}")
    print(f"{len(set(old) & set(new)) - len(differing)} of {len(set(old) & set(new))} runs are equal, bit by bit")
    return 1 if differing or not set(old) & set(new) else 0


if __name__ == "__main__":
    sys.exit(main())
