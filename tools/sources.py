"""The files that the checks read."""
import pathlib
from collections.abc import Iterator

CODE = {".h", ".cuh", ".cu", ".cpp"}
SCRIPTS = {".py", ".sh", ".cmake", ".vert", ".frag", ".comp", ".glsl"}
FOLDERS = ("gpu", "app", "bench", "tests", "shaders", "tools", "cmake")


def sources(root: pathlib.Path, suffixes: set[str]) -> Iterator[pathlib.Path]:
    """Paths relative to `root`, in order."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.suffix in suffixes:
                yield path.relative_to(root)
