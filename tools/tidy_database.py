#!/usr/bin/env python3
"""tidy_database.py BUILD: writes BUILD/tidy/compile_commands.json for clang-tidy and prints the sources in it.

Read are the host sources of gpu and app and the generated CPU copies of kernels. Warning flags and options that only
g++ knows are left out: g++ has judged by them already. A batch of sources (UNITY_BUILD) is taken apart
again: clang-tidy reads them one by one."""
import json
import pathlib
import re
import sys

INCLUDED = re.compile(r'^#include "(/[^"]+)"$', re.MULTILINE)
GCC_ONLY = re.compile(r"\s-(W[\w=,-]+|m(move|store)-max=\d+)(?=\s|$)")


def single_sources(entry: dict) -> list[dict]:
    """The entry itself, or one for each source of a batch."""
    if "/Unity/unity_" not in entry["file"]:
        return [entry]
    batch = pathlib.Path(entry["directory"], entry["file"])
    return [
        {**entry, "file": source, "command": entry["command"].replace(entry["file"], source)}
        for source in INCLUDED.findall(batch.read_text())
    ]


def tidy_entries(build: pathlib.Path, root: pathlib.Path) -> list[dict]:
    ours = [root / "gpu", root / "app", build.resolve() / "kernels" / "gpu"]
    found = {}
    commands = json.loads((build / "compile_commands.json").read_text())
    for entry in (single for command in commands for single in single_sources(command)):
        source = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if source.suffix == ".cpp" and any(source.is_relative_to(folder) for folder in ours):
            command = GCC_ONLY.sub("", entry["command"])
            found[str(source)] = {"directory": entry["directory"], "file": str(source), "command": command}
    return [found[source] for source in sorted(found)]


def main() -> None:
    build = pathlib.Path(sys.argv[1])
    entries = tidy_entries(build, pathlib.Path(__file__).resolve().parents[1])
    (build / "tidy").mkdir(exist_ok=True)
    (build / "tidy" / "compile_commands.json").write_text(json.dumps(entries, indent=1))
    print("\n".join(entry["file"] for entry in entries))


if __name__ == "__main__":
    main()
