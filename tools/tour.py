#!/usr/bin/env python3
"""Makes the pictures of docs/tour.md: runs each script of docs/tour in the window and keeps its screenshot.

    tools/tour.py [NAME...] [--program build/release/app/stickslip]

Needs a display; without one it starts xvfb-run."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOUR = ROOT / "docs" / "tour"
SCENES = {"1-contacts": "card-house", "2-fork": "card-house", "3-lab": "card-house", "4-time": "card-house", "5-stress": "stack"}
LARGEST = 300_000  # bytes of a picture


def picture_of(program: str, name: str) -> None:
    command = [program, "view", SCENES[name], "--fresh", "--paused", "--panels", "--quality", "medium", "--script", str(TOUR / f"{name}.txt")]
    if not os.environ.get("DISPLAY"):
        command = ["xvfb-run", "-a", "-s", "-screen 0 1280x720x24", *command]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*command, "--output", folder], check=True, stdout=subprocess.DEVNULL)
        full, small = next(pathlib.Path(folder).glob("*.png")), pathlib.Path(folder, "small.png")
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", full, "-vf",
                        "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=sierra2_4a", small], check=True)
        shutil.copyfile(small, TOUR / f"{name}.png")
    size = (TOUR / f"{name}.png").stat().st_size
    print(f"docs/tour/{name}.png: {size // 1000} kB")
    if size > LARGEST:
        raise RuntimeError(f"docs/tour/{name}.png has more than {LARGEST // 1000} kB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of scripts; default: all")
    parser.add_argument("--program", default=str(ROOT / "build/release/app/stickslip"))
    arguments = parser.parse_args()
    scripts = {file.stem for file in TOUR.glob("*.txt")}
    if unknown := set(arguments.names) - scripts:
        parser.error(f"no such script: {', '.join(sorted(unknown))}")
    os.environ["STICKSLIP_ASSETS"] = str(ROOT / "assets")
    for name in sorted(arguments.names or scripts):
        picture_of(arguments.program, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
