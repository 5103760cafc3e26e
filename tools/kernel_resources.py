#!/usr/bin/env python3
"""Compiles the CUDA kernels of the library and the benches to machine code and lists what each of them takes per lane.

usage: tools/kernel_resources.py BUILD [--arch 90] [--all] [--only REGEX] [--json FILE]

BUILD is a configured build folder with the CUDA backend. Prints the stack, spills and registers of the kernels with the
largest stacks (of all with --all), and exits 1 where a stack exceeds the limit: the driver reserves the largest stack for
every lane that can be resident, which is 270,000 lanes on an H100. FILE gets the figures of all kernels, with demangled
names: input of `stickslip bench device-model --resources`.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from typing import NamedTuple

LIMIT = 4096  # bytes of stack per lane
SHOWN = 15


class Kernel(NamedTuple):
    """Bytes and registers per lane; `stack` with calls; `shared` bytes per block."""

    stack: int
    spill_stores: int
    spill_loads: int
    registers: int
    shared: int


def batches(build):
    """(folder, command, source) of each CUDA source of the library and the benches."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    root = os.path.abspath(build)
    for entry in entries:
        source = os.path.relpath(entry["file"], root)
        ours = re.search("/(gpu|bench)/", "/" + source) and "/tests/" not in "/" + source
        if entry["file"].endswith(".cu") and ours:
            yield entry["directory"], shlex.split(entry["command"]), entry["file"]


def assemble(batch, arch):
    """ptxas's report on the kernels of one source."""
    folder, command, source = batch
    with tempfile.TemporaryDirectory() as scratch:
        kept = [command[0]]
        skip = 0
        for word in command[1:]:
            if skip:
                skip -= 1
            elif word in ("-o", "-c", "-x"):
                skip = 1
            elif word == "-Xcicc":
                skip = 1
            elif not re.match(r"-O\d$|--generate-code|-arch|" + re.escape(source), word):
                kept.append(word)
        kept += ["-O3", f"-arch=sm_{arch}", "-cubin", "-Xptxas", "-v", "-x", "cu", source]
        kept += ["-o", os.path.join(scratch, "out.cubin")]
        done = subprocess.run(kept, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{source}:\n{done.stderr}")
    return done.stderr


def kernels(report):
    """name -> Kernel of each entry function in a report."""
    found = {}
    entry = None
    frames, current = {}, None
    for line in report.splitlines():
        if match := re.search(r"Compiling entry function '(\S+)'", line):
            entry = match[1]
        elif match := re.search(r"Function properties for (\S+)", line):
            current = match[1]
        elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            frames[current] = tuple(int(group) for group in match.groups())
        elif (match := re.search(r"Used (\d+) registers", line)) and entry:
            deep = re.search(r"(\d+) bytes cumulative stack size", line)
            shared = re.search(r"(\d+) bytes smem", line)
            frame, stores, loads = frames.get(entry, (0, 0, 0))
            found[entry] = Kernel(int(deep[1]) if deep else frame, stores, loads, int(match[1]), int(shared[1]) if shared else 0)
            entry = None
    return found


def demangled(names):
    done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return dict(zip(names, done.stdout.splitlines()))


def short(name):
    """The part of a kernel's name that a reader knows: the function or functor that it runs."""
    name = re.sub(r"^void ", "", name)
    name = name.replace("stickslip::cuda::", "").replace("stickslip::", "").replace("(anonymous namespace)::", "")
    if match := re.search(r"\b(\w+)(?:<[^()]*>)?\([^{}]*\)(?: const)?::\{lambda", name):
        return match[1]
    if match := re.match(r"(?:detail::)?(?:launch|team|grid)_kernel<(.*)>\(", name):
        return match[1].strip()
    return name.split("(")[0]


def without_parameters(name):
    """A template function's name up to its template arguments: types that repeat in its parameters."""
    start = name.find("_kernel<")
    if start < 0:
        return name
    depth = 0
    for at in range(start, len(name)):
        depth += (name[at] == "<") - (name[at] == ">")
        if depth == 0 and name[at] == ">":
            return name[: at + 1]
    return name


def above_limit(rows):
    return [name for kernel, name in rows if kernel.stack > LIMIT]


def compiler():
    """nvcc's version, such as 13.0.88."""
    text = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"release [\d.]+, V([\d.]+)", text)[1]


def document(found, names, arch, nvcc, date):
    """The content of --json. Names lack the parameters."""
    rows = {(without_parameters(names[key]), kernel) for key, kernel in found.items()}
    return {"date": date, "nvcc": nvcc, "arch": f"sm_{arch}",
            "kernels": [{"name": name, **kernel._asdict()} for name, kernel in sorted(rows)]}


def write_json(path, content):
    """A kernel in each line."""
    head = {key: value for key, value in content.items() if key != "kernels"}
    lines = ",\n  ".join(json.dumps(kernel) for kernel in content["kernels"])
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(head)[:-1] + f', "kernels": [\n  {lines}\n]}}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--arch", default="90")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    sources = [b for b in batches(options.build) if re.search(options.only, b[2])]
    if not sources:
        if options.only:
            sys.exit(f"kernel_resources: no CUDA source matches {options.only}")
        print("kernel_resources: nothing to check: the build has no CUDA backend")
        return
    found = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for report in pool.map(lambda b: assemble(b, options.arch), sources):
            found.update(kernels(report))
    if not found:
        sys.exit("kernel_resources: no kernel in ptxas's reports")
    names = demangled(list(found))
    rows = sorted(((value, short(names[key])) for key, value in found.items()), reverse=True)
    print(f"{len(rows)} kernels, compiled for sm_{options.arch}; largest stacks:")
    print(f"{'stack':>7} {'spills':>7} {'registers':>9}  kernel   [bytes with calls, own bytes, per lane]")
    for kernel, name in rows if options.all else rows[:SHOWN]:
        print(f"{kernel.stack:7} {kernel.spill_stores:7} {kernel.registers:9}  {name}")
    if options.json:
        write_json(options.json, document(found, names, options.arch, compiler(), datetime.date.today().isoformat()))
    if over := above_limit(rows):
        sys.exit(f"kernel_resources: more than {LIMIT} bytes of stack per lane: " + ", ".join(over))


if __name__ == "__main__":
    main()
