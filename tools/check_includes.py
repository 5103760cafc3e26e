#!/usr/bin/env python3
"""Includes point one way: core -> math -> {params, model, geometry} -> {broadphase, ccd, energy, law, linear}
-> {barrier, dfcp, collide} -> elastic -> rigid -> step -> engine -> {bench, app} -> bench/program. Siblings in
braces do not include each other. Rooms of a folder point one way too. Only gpu/core includes CUDA, CUB and TBB."""
import pathlib
import re
import sys

from sources import CODE, sources

LAYERS = [
    {"core"},
    {"math"},
    {"params", "model", "geometry"},
    {"broadphase", "ccd", "energy", "law", "linear"},
    {"barrier", "dfcp", "collide"},
    {"elastic"},
    {"rigid"},
    {"step"},
    {"engine"},
]
# Rooms of a folder, in the order in which they may include each other: a room includes those before it.
ROOMS = {"gpu/dfcp": ["problem", "operator", "judge", "solvers"], "app/io": ["file", "mesh", "scene", "claims", "ipc", "fclib", "checkpoint", "bundle", "animation", "report"]}
# Scenes are read from scripts, and scripts make scenes; a scene's file is one of both.
ROOM_EXCEPTIONS = {("app/io/scene/scene.cpp", "app/io/ipc/ipc_script.h"), ("app/io/scene/scene.cpp", "app/io/checkpoint/checkpoint.h")}
RANK = {folder: rank for rank, layer in enumerate(LAYERS) for folder in layer}
SIBLINGS = {("model", "params"), ("model", "geometry"), ("ccd", "broadphase")}
# Headers of the library that the program may include: host-only headers.
APP_SEES = re.compile(r"gpu/(engine\.h|sharing\.h|contact_lab\.h|core/(span_totals|device_lost)\.h|energy/(solid_stress|thin_strain)\.h|dfcp/problem/(contact_problem|generators)\.h|law/contact_law\.h|rigid/frozen_records\.h|geometry/shape\.h|(model|params|math)/\w+\.h)$")

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')
BACKEND_API = re.compile(r"\b(tbb|cub|thrust)::|\bcuda[A-Z]\w*\s*\(")
BACKEND_HEADER = re.compile(r"(cuda_runtime|cuda\.h|cub/|thrust/|tbb/|oneapi/)")
# The emulated device has its own; CUB as a reference for the measurements of gpu/core.
BACKEND_USERS = re.compile(r"gpu/core/|tests/core/|tests/device/|bench/(cub_peer\.cu|sort_peer\.cpp)$")
PEER_HEADER = re.compile(r"(embree3/|Eigen/|bt\w+\.h)")
PEER_USERS = re.compile(r"bench/\w+_peer\.cpp|gpu/linear/(sparse_cholesky|fill_order)\.cpp|tests/")


def gpu_folder(path: str) -> str:
    """The layer of a path below gpu/; files directly in gpu/ are the engine."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else "engine"


def room_fault(source: str, target: str) -> str | None:
    """Why a room may not include another of its folder, or None."""
    for folder, rooms in ROOMS.items():
        here, there = (path.removeprefix(folder + "/").split("/")[0] if path.startswith(folder + "/") else ""
                       for path in (source, target))
        if here not in rooms or there not in rooms or (source, target) in ROOM_EXCEPTIONS:
            continue
        if rooms.index(there) > rooms.index(here):
            return f"{folder}/{here} stands left of {there}"
    return None


def include_fault(source: str, target: str) -> str | None:
    """Why `source` may not include `target`, or None."""
    if fault := room_fault(source, target):
        return fault
    if BACKEND_HEADER.match(target) and not BACKEND_USERS.match(source):
        return "only gpu/core includes CUDA, CUB or TBB"
    if PEER_HEADER.match(target) and not PEER_USERS.match(source):
        return "only the benches' peers and the reference factorisation include Embree, Eigen or Bullet"
    if source.startswith(("gpu/", "app/")) and target.startswith("bench/"):
        return "neither the library nor the program includes benches"
    if source.startswith("bench/") and target.startswith("tests/"):
        return "benches do not include tests"
    if source.startswith("bench/") and not source.startswith("bench/program/") and target.startswith("app/"):
        return "benches of the library do not include the program; those of the program stand in bench/program"
    if source.startswith("app/") and target.startswith("gpu/") and not APP_SEES.match(target):
        return "app sees the library only through gpu/engine.h and host-only headers"
    if not source.startswith("gpu/"):
        return None
    if target.startswith(("app/", "tests/")):
        return "gpu includes neither app nor tests"
    if not target.startswith("gpu/"):
        return None
    here, there = gpu_folder(source), gpu_folder(target)
    if here == there or (here, there) in SIBLINGS:
        return None
    if here not in RANK or there not in RANK:
        return f"folder gpu/{here if here not in RANK else there} has no place in the order"
    if RANK[there] >= RANK[here]:
        return f"{here} stands left of or beside {there}"
    return None


def check(root: pathlib.Path) -> list[str]:
    faults = []
    for path in sources(root, CODE):
        source = path.as_posix()
        for number, line in enumerate((root / path).read_text(errors="replace").splitlines(), 1):
            include = INCLUDE.match(line)
            if include:
                why = include_fault(source, include[1])
                if why:
                    faults.append(f"{source}:{number}: includes {include[1]}: {why}")
            elif source.startswith(("gpu/", "app/", "bench/")) and not BACKEND_USERS.match(source):
                if BACKEND_API.search(line.split("//")[0]):
                    faults.append(f"{source}:{number}: only gpu/core may call CUDA, CUB or TBB")
    return faults


if __name__ == "__main__":
    faults = check(pathlib.Path(__file__).resolve().parents[1])
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(1 if faults else 0)
