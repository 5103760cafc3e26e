#!/usr/bin/env python3
"""Renders the gallery: a picture of every shipped scene, and the page assets/README.md that shows them.

    tools/gallery.py [SCENE...]   renders these scenes, or all, and writes the page
    tools/gallery.py --page       writes the page only
    tools/gallery.py --check      fails when the page or a picture is missing or out of date

Titles, descriptions and the frame of the picture come from the scenes, through `stickslip list scenes
--json`."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURES = ROOT / "assets" / "pictures"
PAGE = ROOT / "assets" / "README.md"
SIZE = "640x400"
LARGEST = 200_000  # bytes of a picture

INTRODUCTION = """\
# The scenes

Made by `tools/gallery.py`. `tools/run.sh view NAME` opens one in the window, `tools/run.sh run NAME --video FILE.mp4` films it;
[scenes/](scenes/README.md) explains the keys of a scene.
"""


def page(scenes: list[dict]) -> str:
    parts = [INTRODUCTION]
    for scene in scenes:
        name, frames = scene["name"], scene["frames"]
        variants = "".join(f"* `--variant {v['name']}`: {v['description']}\n" for v in scene["variants"])
        parts.append(f"## {name}\n\n{scene['title']}. {scene['description']}\n\n"
                     f"![{scene['title']}](pictures/{name}.png)\n\n"
                     f"Frame {scene['picture']} of {frames}; [{name}.toml](scenes/{name}.toml)\n" + (f"\n{variants}" if variants else ""))
    return "\n".join(parts)


def render(program: str, scene: dict):
    """Simulates up to the scene's frame and reduces the picture to 256 colours, without a visible difference."""
    target = PICTURES / f"{scene['name']}.png"
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        full, small = pathlib.Path(folder, "full.png"), pathlib.Path(folder, "small.png")
        subprocess.run([program, "run", scene["name"], "--frames", str(max(1, scene["picture"])), "--size", SIZE,
                        "--image", full, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["ffmpeg", "-v", "error", "-i", full, "-vf",
                        "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=sierra2_4a", small], check=True)
        target.write_bytes(small.read_bytes())
    print(f"{target.relative_to(ROOT)}: {target.stat().st_size // 1000} kB")


def faults(scenes: list[dict]) -> list[str]:
    found = []
    if not PAGE.exists() or PAGE.read_text() != page(scenes):
        found.append(f"{PAGE.relative_to(ROOT)} is out of date: tools/gallery.py --page writes it")
    for scene in scenes:
        picture = PICTURES / f"{scene['name']}.png"
        if not picture.exists():
            found.append(f"{picture.relative_to(ROOT)} is missing: tools/gallery.py {scene['name']} renders it")
        elif picture.stat().st_size > LARGEST:
            found.append(f"{picture.relative_to(ROOT)} is larger than {LARGEST // 1000} kB")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", metavar="SCENE")
    parser.add_argument("--program", default=ROOT / "build" / "release" / "app" / "stickslip")
    parser.add_argument("--page", action="store_true", help="render nothing")
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args()

    if not pathlib.Path(options.program).is_file():
        print(f"gallery: {options.program} is not built, which lists the scenes: build it, or name another by --program", file=sys.stderr)
        return 1
    os.environ["STICKSLIP_ASSETS"] = str(ROOT / "assets")
    listed = subprocess.run([options.program, "list", "scenes", "--json"], check=True, stdout=subprocess.PIPE)
    scenes = json.loads(listed.stdout)
    if options.check:
        found = faults(scenes)
        print("\n".join(found), file=sys.stderr)
        return 1 if found else 0
    unknown = set(options.scenes) - {scene["name"] for scene in scenes}
    if unknown:
        parser.error("there is no scene " + ", ".join(sorted(unknown)))
    for scene in scenes:
        if not options.page and (not options.scenes or scene["name"] in options.scenes):
            render(options.program, scene)
    PAGE.write_text(page(scenes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
