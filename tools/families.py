#!/usr/bin/env python3
"""Runs shipped scenes with a stepper of the family that they do not select (ipc, or nsgs) and prints what became
of their expectations: the basis of the scenes' [steppers] tables.

tools/families.py --program build/release/app/stickslip [--scenes A,B] [--limit SECONDS] [--out FILE.jsonl] [--own]

A scene that the stepper refuses runs once more with --force. A run that would take longer than the limit
is interrupted; its expectations are then judged by the frames that it made.
"""
import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BARRIER, VELOCITY = "barrier", "velocity"
STEPPER = {BARRIER: "ipc", VELOCITY: "nsgs"}
VERDICT = re.compile(r"^(passed |FAILED |skipped)  expected: (.*); seen: (.*)$")
EXCUSE = "; not expected with solver"
PROBE, PATIENCE = 12, 40  # [s] CPU time before a run is judged by its progress; that a signalled run may take


def own_family(text):
    """The family of the stepper that a scene file selects."""
    solver = re.search(r'(?m)^solver = "(\w+)"', text)
    if solver:
        return BARRIER if solver[1] in ("ipc", "barrier_al", "ccd_al") else VELOCITY
    return VELOCITY if re.search(r'(?m)^body = "rigid"', text) else BARRIER


def frames_of(text):
    frames = re.search(r"(?m)^frames = (\d+)", text)
    return int(frames[1]) if frames else 120


def judged(output):
    """From the program's output: the last line, and the verdicts by outcome. `excused`: they failed, and the scene
    gives a reason."""
    verdicts = {"passed": [], "FAILED": [], "skipped": [], "excused": []}
    last = {}
    for line in output.splitlines():
        if match := VERDICT.match(line):
            kind = "excused" if EXCUSE in match[3] else match[1].strip()
            verdicts[kind].append(f"{match[2]}; seen: {match[3].split(EXCUSE)[0]}")
        elif line.startswith("{"):
            last = json.loads(line)
    return last, verdicts


def read(file):
    file.seek(0)
    return file.read()


def cpu_seconds(process):
    """Of a running process."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watch(process, err, limit):
    """Waits for the end of a run. Interrupts it, so that it ends with its verdicts, where its CPU time exceeds the
    limit, or will by its progress so far."""
    told = None
    while process.poll() is None:
        time.sleep(0.2)
        if process.poll() is not None:
            return
        cpu = cpu_seconds(process)
        frames = re.findall(r"frame (\d+)/(\d+)", os.pread(err.fileno(), 1 << 20, 0).decode())
        share = int(frames[-1][0]) / int(frames[-1][1]) if frames else 1e-9
        if told is None and cpu > PROBE and (cpu > limit or cpu > limit * share):
            process.terminate()
            told = cpu
        if told is not None and cpu > told + PATIENCE:
            process.kill()


def run(program, scene, family, limit, force=False):
    command = [program, "run", str(scene), "--solver", STEPPER[family], "--backend", "cpu", "--threads", "1",
               "--check-intersections"]
    command += ["--force"] if force else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, cwd=ROOT)
        watch(process, err, limit)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        last, verdicts = judged(read(out))
        said = [line for line in read(err).splitlines() if line.startswith("stickslip: ")]
    return {"scene": scene.stem, "family": family, "forced": force, "code": process.returncode,
            "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "frames": last.get("frames", 0), "of": frames_of(scene.read_text()), "converged": last.get("converged", 0),
            "error": last.get("error"), "interrupted": last.get("interrupted", not last), "said": said, "verdicts": verdicts,
            "summary": last}


def row(result):
    verdicts = {kind: len(found) for kind, found in result["verdicts"].items()}
    what = "refused" if result["code"] == 2 else "holds" if result["code"] == 0 and result["frames"] == result["of"] else "-"
    overlap = result["summary"].get("overlap_max")
    deep = "" if overlap is None else f"  overlap {1e3 * overlap:.3g} mm of {result['summary']['overlap_of']}"
    return (f"{result['scene']:24} {result['family']:8}{' forced' if result['forced'] else '':7} {result['frames']:5}/{result['of']:<5}"
            f" {result['cpu']:7.1f} s  converged {result['converged']:4}  {verdicts}  {what}{deep}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/app/stickslip"))
    parser.add_argument("--scenes", help="comma-separated; all otherwise")
    parser.add_argument("--limit", type=float, default=120, help="seconds of CPU time that a run may take")
    parser.add_argument("--out", help="append a line of JSON for each run to this file")
    parser.add_argument("--own", action="store_true", help="the family that the scene selects instead of the other one")
    options = parser.parse_args()
    folder = ROOT / "assets/scenes"
    scenes = [folder / f"{name}.toml" for name in options.scenes.split(",")] if options.scenes else sorted(folder.glob("*.toml"))
    os.nice(10)
    for scene in scenes:
        own = own_family(scene.read_text())
        family = own if options.own else VELOCITY if own == BARRIER else BARRIER
        result = run(options.program, scene, family, options.limit)
        if result["code"] == 2 and family == BARRIER:
            result = {**run(options.program, scene, family, options.limit, force=True), "refused": result["said"]}
        print(row(result), flush=True)
        for kind in ("FAILED", "excused"):
            for text in result["verdicts"][kind]:
                print(f"    {kind}: {text}", flush=True)
        for text in [*result.get("refused", []), *result["said"]]:
            print(f"    {text}", flush=True)
        if options.out:
            with open(options.out, "a") as out:
                out.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    sys.exit(main())
