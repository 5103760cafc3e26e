#!/usr/bin/env python3
"""device_table.py FILE.json ... [--backend cuda|cpu]: the marks (targets) of the GPU backend, met or not.

Reads output of `stickslip bench --json`, stickslip_kernel_bench and tools/gpu_check.sh and prints one
Markdown table: work, figure, floor (the best possible), ratio to it, mark, and whether it is met. Without
--backend: cuda if a file has it, else cpu, for which the marks in milliseconds and microseconds are
meaningless. A later result replaces an earlier one."""
import argparse
import dataclasses
import pathlib
import re
import sys
from typing import Callable

import report


@dataclasses.dataclass
class Seen:
    """A figure, and the copy bandwidth [GB/s] of the same backend if the bench `device` ran."""

    figure: dict
    copy: float | None


@dataclasses.dataclass
class Mark:
    text: str
    holds: Callable[[Seen], bool | None]  # None: unknown
    is_absolute: bool = False  # specific to one kind of device


def slower_than(figure: dict, other: float | None) -> float | None:
    """Ratio of the figure's time to `other`; None without it."""
    return report.speed(figure, other) if other else None


def at_most(limit: float, unit: str) -> Mark:
    def holds(seen: Seen) -> bool | None:
        return seen.figure["value"] <= limit if seen.figure["unit"].split("/")[0] == unit else None

    return Mark(f"{report.short(limit)} {unit}", holds, is_absolute=True)


def within(times: float) -> Mark:
    def holds(seen: Seen) -> bool | None:
        ratio = slower_than(seen.figure, seen.figure.get("floor"))
        return None if ratio is None else ratio <= times

    return Mark(f"{times:g} times its floor", holds)


def of_copy_bandwidth(share: float) -> Mark:
    def holds(seen: Seen) -> bool | None:
        best = seen.copy or seen.figure.get("floor")
        return seen.figure["value"] >= share * best if best else None

    return Mark(f"{100 * share:.0f}% of copy bandwidth", holds)


def as_peer(share: float, peer: str, text: str, is_absolute: bool = False) -> Mark:
    """`peer`: a word of the peer's name; other peers are ignored."""

    def holds(seen: Seen) -> bool | None:
        ratio = slower_than(seen.figure, seen.figure.get("peer"))
        return None if ratio is None or peer not in seen.figure["peer_name"] else share * ratio <= 1

    return Mark(text, holds, is_absolute)


@dataclasses.dataclass
class Row:
    work: str
    bench: str
    name: str  # regular expression for the whole name of the figure
    mark: Mark | None = None


CUB = as_peer(0.95, "CUB", "CUB's own figure (95%)")
PUBLISHED = as_peer(1, "published", "the published time", is_absolute=True)
ROWS = [
    Row("copy", "device", r"copy \S+ f64"),
    Row("triad", "device", r"triad \S+ f64"),
    Row("host to device", "device", r"host to device .*"),
    Row("device to host", "device", r"device to host .*"),
    Row("launch", "device", "launch, back to back"),
    Row("launch and wait", "device", "launch and wait"),
    Row("read back", "device", "read back of one word"),
    Row("repetition of a device loop", "device", "repetition of a loop, 1 launch"),
    Row("barrier of the grid", "device", "grid barrier, all lanes"),
    Row("radix sort, 32-bit pairs", "primitives", r"sort \S+ u32 pairs", CUB),
    Row("radix sort, 64-bit pairs", "primitives", r"sort \S+ u64 pairs", CUB),
    Row("scan", "primitives", r"scan .*", CUB),
    Row("select", "primitives", r"select .*", CUB),
    Row("LBVH over 1M triangles, codes to boxes", "lbvh", "1M triangles of a surface, codes to boxes", at_most(1, "ms")),
    Row("proximity search", "queries", r".*, proximity search"),
    Row("contacts of its candidates", "queries", r".*, contacts of the candidates"),
    Row("proximity queries", "queries", r".*, proximity queries"),
    Row("useful pairs of them", "queries", r".*, useful share of proximity candidates"),
    Row("swept search", "queries", r".*, swept search"),
    Row("step bound", "queries", r".*, step bound"),
    Row("CCD queries", "queries", r".*, ccd queries"),
    Row("useful pairs of them", "queries", r".*, useful share of swept candidates"),
    Row("SpMV, 1M nodes with contacts", "spmv", r"spmv 1M nodes, \S+ contacts", of_copy_bandwidth(0.8)),
    Row("PCG iteration, 10k nodes", "pcg", "pcg iteration 10.6k nodes", at_most(10, "us")),
    Row("PCG iteration, 1M nodes", "pcg", "pcg iteration 1M nodes", within(1.3)),
    Row("gradient and Hessian", "assembly", r".*, gradient and Hessian", within(3)),
    Row("colouring, 100k contacts", "contacts", r"100k (assembled|factored), colouring"),
    Row("colouring, 1M contacts", "contacts", r"1M (assembled|factored), colouring", at_most(5, "ms")),
    Row("the same of a graph at hand", "contacts", "1M assembled, colouring of the graph", at_most(5, "ms")),
    Row("PROX-GS sweep", "contacts", r"(100k|1M) (assembled|factored), prox_gs sweep", within(2)),
    Row("SPG iteration", "contacts", r"(100k|1M) (assembled|factored), spg", within(2)),
    Row("step of `drop`", "steps", r"drop, .*, step"),
    Row("step of `stack`", "steps", r"stack, .*, step"),
    Row("step of `bowl`", "steps", r"bowl, .*, step", PUBLISHED),
    Row("step of `noodles`", "steps", r"noodles, .*, step", PUBLISHED),
    Row("step of granular bodies", "steps", r"rubble, .*, step"),
    Row("memory a tet", "memory", r"a tet, .*"),
    Row("memory a node", "memory", r"a node, .*"),
    Row("memory a contact", "memory", "a contact"),
    Row("memory of 9M tets", "memory", r"9M tets with .*", Mark("8 GB", lambda seen: seen.figure["value"] <= 8)),
]


def chosen_benches(results: list[dict], backend: str | None) -> tuple[str, dict[str, dict]]:
    """The backend, and its last result of each bench."""
    if backend is None:
        backend = "cuda" if any(r["backend"] == "cuda" for r in results) else "cpu"
    return backend, {r["bench"]: r for r in results if r["backend"] == backend}


def copy_bandwidth(benches: dict[str, dict]) -> float | None:
    for figure in benches.get("device", {}).get("figures", []):
        if re.fullmatch(r"copy \S+ f64", figure["name"]):
            return figure["value"]
    return None


def met_cell(mark: Mark | None, seen: Seen, backend: str) -> str:
    if mark is None or (mark.is_absolute and backend != "cuda"):
        return ""
    return {True: "yes", False: "NO", None: "cannot be told"}[mark.holds(seen)]


def best_cell(figure: dict) -> str:
    cells = [f"{report.short(figure[k])} ({figure[k + '_name']})" for k in ("floor", "peer") if figure.get(k)]
    return "; ".join(cells)


def ratio_cell(figure: dict) -> str:
    """Above 1: slower than the floor; than the peer if there is no floor, or if there are both."""
    ratios = [slower_than(figure, figure.get(k)) for k in ("floor", "peer")]
    return "; ".join(f"{ratio:.2f}" for ratio in ratios if ratio)


def table(results: list[dict], backend: str | None = None) -> str:
    backend, benches = chosen_benches(results, backend)
    copy = copy_bandwidth(benches)
    rows = [("work", "measured", "figure", "floor; peer", "ratio", "mark", "met")]
    for row in ROWS:
        figures = [f for f in benches.get(row.bench, {}).get("figures", []) if re.fullmatch(row.name, f["name"]) and f["value"]]
        mark = row.mark.text if row.mark else ""
        if not figures:
            rows.append((row.work, "", "not measured", "", "", mark, ""))
        for figure in figures:
            seen = f"{report.short(figure['value'])} {figure['unit']}"
            rows.append((row.work, figure["name"], seen, best_cell(figure), ratio_cell(figure), mark, met_cell(row.mark, Seen(figure, copy), backend)))
    cells = [[cell.replace("|", "/") for cell in row] for row in rows]
    widths = [max(len(row[c]) for row in cells) for c in range(len(cells[0]))]
    lines = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    machines = sorted({report.machine(r) for r in benches.values()})
    notes = [note for r in benches.values() for note in r.get("notes", [])]
    if backend != "cuda":
        machines.append("Marks in milliseconds, microseconds and against published times are those of a device: not judged here.")
    return "\n".join([*lines, "", *machines, *notes])


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE.json")
    parser.add_argument("--backend", choices=("cuda", "cpu"))
    options = parser.parse_args(arguments)
    try:
        results = [result for path in options.files for result in report.load(path)]
    except report.BadInput as error:
        print(f"device_table: {error}", file=sys.stderr)
        return 2
    print(table(results, options.backend))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
