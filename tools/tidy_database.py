#!/usr/bin/env python3
"""tidy_database.py BUILD: writes BUILD/tidy/compile_commands.json for clang-tidy and prints the sources in it.

The sources are the host sources of gpu, app and bench and the generated CPU copies of kernels. Warning flags
and options that only g++ supports are left out: the build with g++ applies them. So are precompiled headers.

Most of the time is spent on headers, so sources are checked in batches: those of the build (UNITY_BUILD), the CPU
copies of the kernels in one nvcc batch, and the library's host sources of a folder. What the build has batched
(STICKSLIP_GPU_BATCH) is batched again where it is little. A batch gets the command of its last source. .clang-tidy's
HeaderFilterRegex enables messages about included sources. Large batches are printed first: they run beside others."""
import json
import pathlib
import re
import sys

BATCH = 24  # sources of a folder
MERGED = 40  # sources of batches of the build
INCLUDED = re.compile(r'^#include "([^"]+)"$', re.MULTILINE)
GCC_ONLY = re.compile(r"\s-(W[\w=,-]+|m(move|store)-max=\d+|include \S+/cmake_pch\.hxx)(?=\s|$)")


def is_host_folder(path: pathlib.Path, root: pathlib.Path) -> bool:
    return path.is_relative_to(root / "app") or path.is_relative_to(root / "bench")


def is_ours(entry: dict, build: pathlib.Path, root: pathlib.Path) -> bool:
    """Whether it belongs to gpu, app or bench: a source, a CPU copy of a kernel, or a batch of sources."""
    source = pathlib.Path(entry["directory"], entry["file"]).resolve()
    if "/Unity/unity_" in str(source):
        return all(is_host_folder(pathlib.Path(i), root) for i in INCLUDED.findall(source.read_text()))
    kernels = build.resolve() / "kernels"
    ours = [root / "gpu", root / "app", root / "bench", kernels / "gpu", kernels / "bench", build.resolve() / "batches"]
    return source.suffix == ".cpp" and any(source.is_relative_to(folder) for folder in ours)


def kernel_batches(build: pathlib.Path) -> dict[str, pathlib.Path]:
    """The batch of every CPU copy whose kernel shares one."""
    kernels = build.resolve() / "kernels"
    batches = {}
    for batch in sorted([*kernels.glob("gpu/**/batch_*.cu"), *kernels.glob("bench/**/batch_*.cu")]):
        name = "_".join(batch.relative_to(kernels).with_suffix("").parts) + ".cpp"
        for kernel in INCLUDED.findall(batch.read_text()):
            batches[str(kernels / kernel.replace(".cu", "_cpu.cpp"))] = build.resolve() / "tidy" / name
    return batches


def folder_batches(sources: list[str], build: pathlib.Path, root: pathlib.Path) -> dict[str, pathlib.Path]:
    """The batch of every host source of the library: up to BATCH of a folder."""
    batches, count = {}, {}
    for source in sorted(sources):
        path = pathlib.Path(source)
        if not path.is_relative_to(root / "gpu"):
            continue
        folder = "_".join(path.parent.relative_to(root).parts)
        count[folder] = count.get(folder, -1) + 1
        batches[source] = build.resolve() / "tidy" / f"{folder}_host_{count[folder] // BATCH}.cpp"
    return batches


def merged_batches(sources: list[str], build: pathlib.Path, root: pathlib.Path) -> dict[str, pathlib.Path]:
    """The batch of every batch of the build: some of a folder, with up to MERGED sources, apart for sources and CPU copies of kernels."""
    batches, count, number = {}, {}, {}
    for source in sorted(sources):
        path = pathlib.Path(source)
        if not path.is_relative_to(build.resolve() / "batches"):
            continue
        members = INCLUDED.findall(path.read_text())
        member = pathlib.Path(members[0])
        place = build.resolve() if member.is_relative_to(build.resolve()) else root
        folder = "_".join(member.parent.relative_to(place).parts)
        if folder not in count or count[folder] + len(members) > MERGED:
            number[folder] = number.get(folder, -1) + 1
            count[folder] = 0
        count[folder] += len(members)
        batches[source] = build.resolve() / "tidy" / f"{folder}_merged_{number[folder]}.cpp"
    return batches


def tidy_entries(build: pathlib.Path, root: pathlib.Path) -> list[dict]:
    entries = [e for e in json.loads((build / "compile_commands.json").read_text()) if is_ours(e, build, root)]
    sources = [str(pathlib.Path(entry["directory"], entry["file"]).resolve()) for entry in entries]
    batches = kernel_batches(build) | folder_batches(sources, build, root) | merged_batches(sources, build, root)
    found, members = {}, {}
    for entry, source in zip(entries, sources):
        command = GCC_ONLY.sub("", entry["command"])
        if source in batches:
            batch = str(batches[source])
            members.setdefault(batch, []).append(source)
            command, source = command.replace(entry["file"], batch), batch
        found[source] = {"directory": entry["directory"], "file": source, "command": command}
    for batch, sources in members.items():
        pathlib.Path(batch).parent.mkdir(exist_ok=True)
        pathlib.Path(batch).write_text("".join(f'#include "{source}"\n' for source in sorted(sources)))
    return [found[source] for source in sorted(found)]


def size(file: str, root: pathlib.Path) -> int:
    """Of a source and of the sources that it includes [bytes]."""
    text = (root / file).read_text()
    return len(text) + sum(size(i, root) for i in INCLUDED.findall(text) if i.endswith((".cpp", ".cu")))


def main() -> None:
    build = pathlib.Path(sys.argv[1])
    root = pathlib.Path(__file__).resolve().parents[1]
    entries = tidy_entries(build, root)
    (build / "tidy").mkdir(exist_ok=True)
    (build / "tidy" / "compile_commands.json").write_text(json.dumps(entries, indent=1))
    print("\n".join(sorted((entry["file"] for entry in entries), key=lambda file: size(file, root), reverse=True)))


if __name__ == "__main__":
    main()
