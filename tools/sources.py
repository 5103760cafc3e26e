"""The files that the checks read."""
import os
import pathlib
from collections.abc import Iterator

CODE = {".h", ".cuh", ".cu", ".cpp"}
SCRIPTS = {".py", ".sh", ".cmake", ".vert", ".frag", ".comp", ".glsl"}
PAGES = {".md", ".toml"}
FOLDERS = ("gpu", "app", "bench", "examples", "tests", "shaders", "tools", "cmake")


def sources(root: pathlib.Path, suffixes: set[str]) -> Iterator[pathlib.Path]:
    """Paths relative to `root`, sorted."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.suffix in suffixes:
                yield path.relative_to(root)


def tree(root: pathlib.Path, suffixes: set[str]) -> Iterator[pathlib.Path]:
    """Paths of the whole tree relative to `root`, sorted, without built, fetched or hidden files."""
    for folder, below, names in os.walk(root):
        below[:] = sorted(name for name in below if not name.startswith(".") and name not in {"build", "shared"})
        for name in sorted(names):
            if pathlib.Path(name).suffix in suffixes:
                yield (pathlib.Path(folder) / name).relative_to(root)
