#!/usr/bin/env python3
"""Makes the short films of docs/manual.md: drives the window of the program, by scripts and by a pointer, takes a
screenshot for each picture, and joins them into docs/manual/NAME.webp. Of a still the last picture is
docs/manual/NAME.png.

    tools/films.py [NAME...] [--program build/release/app/stickslip] [--pictures FOLDER]

Needs Xvfb, xdotool and ffmpeg; it starts an X server of its own. --pictures keeps the single pictures."""
import argparse
import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILMS = ROOT / "docs" / "manual"
LARGEST = 300_000  # bytes of a film
SCREEN = (1280, 720)
SCENE_AND_TIMELINE = (652, 690, 314, 0)  # width, height, left, top [px] of what lies between the panels
SCENE_AND_VIEW = (966, 540, 314, 0)  # the same of the scene and the panel beside it
MARKS = ((530, 363), (482, 495), (577, 499), (676, 504), (778, 511))  # [px] of contacts of the card house
PATIENCE = 120.0  # [s] for a picture or a step


class Hand:
    """Keys and pointer of a window that is open. Steps and pictures are waited for."""

    def __init__(self, folder: pathlib.Path, journal: pathlib.Path):
        self.folder, self.journal = folder, journal
        self.at = (0, 0)

    def do(self, *words: str) -> None:
        subprocess.run(["xdotool", *words], check=True, stdout=subprocess.DEVNULL)

    def key(self, name: str) -> None:
        self.do("key", name)

    def move(self, x: int, y: int) -> None:
        self.at = (x, y)
        self.do("mousemove", str(x), str(y))
        time.sleep(0.15)  # until the window has seen it

    def press(self) -> None:
        self.do("mousedown", "1")
        time.sleep(0.3)

    def release(self) -> None:
        self.do("mouseup", "1")
        time.sleep(0.3)

    def grab(self) -> None:
        """Ctrl + left button, of which the button stays down."""
        self.do("keydown", "ctrl")
        time.sleep(0.2)
        self.press()
        self.do("keyup", "ctrl")

    def click(self, x: int, y: int) -> None:
        self.move(x, y)
        self.do("click", "1")
        time.sleep(0.4)

    def step(self, count: int = 1) -> None:
        for _ in range(count):
            before, asked = self.steps(), 0.0

            def has_stepped() -> bool:
                nonlocal asked
                if time.monotonic() - asked > 2:  # again: the window ignores the key until it has seen the end of the step before
                    self.key("period")
                    asked = time.monotonic()
                return self.steps() > before

            self.wait(has_stepped, "a step")

    def picture(self) -> None:
        time.sleep(0.2)
        before = len(pictures(self.folder))
        self.key("F12")
        self.wait(lambda: len(pictures(self.folder)) > before, "a picture")

    def steps(self) -> int:
        return self.journal.read_text().count('"event":"step"') if self.journal.exists() else 0

    @staticmethod
    def wait(done: Callable[[], bool], what: str) -> None:
        start = time.monotonic()
        while not done():
            if time.monotonic() - start > PATIENCE:
                raise RuntimeError(f"waited {PATIENCE:.0f} s for {what}")
            time.sleep(0.02)


@dataclasses.dataclass
class Film:
    """`lines`: a script of the window (docs/manual.md); each `screenshot` is a picture. `by_hand` goes on from there."""

    scene: str
    lines: list[str]
    by_hand: Callable[[Hand], None] | None = None
    panels: bool = False
    crop: tuple[int, int, int, int] = (900, 600, 190, 60)  # width, height, left, top [px]
    width: int = 480
    rate: int = 12  # pictures per second
    quality: int = 70  # of WebP
    hold: int = 10  # times that the last picture is shown
    arguments: tuple[str, ...] = ()
    still: bool = False  # only the last picture


def repeated(count: int, *lines: str) -> list[str]:
    return [line for _ in range(count) for line in lines]


def rewind() -> Film:
    there, back = 168, list(range(168, 59, -6))
    lines = [*repeated(there // 6, "steps 6", "screenshot")]
    for frame in back:
        lines += [f"rewind {frame}", "screenshot"]
    return Film("dominoes", [*lines, "set mu=0.05", *repeated(16, "steps 6", "screenshot")], panels=True, crop=SCENE_AND_TIMELINE, width=400)


def cones() -> Film:
    """Friction is lowered until contacts slide."""
    lines = ["toggle_panels", "toggle_contacts", "toggle_cones", "steps 20", *repeated(4, "screenshot")]
    for percent in range(50, 19, -2):
        lines += [f"set mu={percent / 100}", "steps 2", "screenshot"]
    return Film("card-house", [*lines, *repeated(8, "steps 1", "screenshot")], crop=(480, 360, 390, 310), width=400, quality=50)


def tree() -> Film:
    return Film("drop", ["toggle_panels", "toggle_tree", *repeated(32, "steps 2", "screenshot")], crop=(860, 640, 180, 10))


def fork() -> Film:
    return Film("card-house", ["toggle_panels", "steps 30", *repeated(3, "screenshot"), "fork", "set mu=0.12", *repeated(24, "steps 2", "screenshot")], crop=(720, 680, 280, 20), width=400)


def panes() -> Film:
    """Card houses with less and less friction, in panes beside the run."""
    lines = ["toggle_panels", "steps 30", "fork", "set mu=0.12", "fork", "set mu=0.05", "fork_panes", *repeated(3, "screenshot")]
    return Film("card-house", [*lines, *repeated(14, "steps 2", "screenshot")], crop=(1280, 580, 0, 0), width=720, quality=60, rate=8)


def gizmo() -> Film:
    """A ball is moved by the handles of two axes, and falls."""

    def along(hand: Hand, by: tuple[int, int], count: int) -> None:
        hand.picture()
        hand.press()
        x, y = hand.at
        for k in range(1, count + 1):
            hand.move(x + by[0] * k // count, y + by[1] * k // count)
            hand.picture()
        hand.release()
        hand.picture()

    def act(hand: Hand) -> None:
        hand.click(679, 310)
        hand.key("z")
        hand.move(679, 235)  # the arrow along y
        along(hand, (0, -130), 8)
        hand.move(745, 192)  # the arrow along x
        along(hand, (-250, -13), 10)
        hand.key("z")
        hand.move(5, 5)
        for _ in range(20):
            hand.step(2)
            hand.picture()

    return Film("mattress", ["toggle_panels", "steps 60", "screenshot"], act, panels=True, crop=(760, 520, 260, 50))


def drag() -> Film:
    """A corner of a cloth is pulled with Ctrl and the left button."""

    def act(hand: Hand) -> None:
        hand.move(517, 488)
        hand.grab()
        for k in range(1, 25):
            hand.move(517 - 5 * k, 488 - 12 * k)
            hand.step(2)
            hand.picture()
        hand.release()
        for _ in range(14):
            hand.step(2)
            hand.picture()

    return Film("cloth-sphere", ["toggle_panels", "steps 90", "screenshot"], act, panels=True, crop=(900, 660, 200, 40))


def patterns() -> Film:
    """Threads of a skirt that swings."""
    return Film("sewn-skirt", ["toggle_panels", *repeated(24, "steps 4", "screenshot")], crop=(640, 400, 320, 270), width=400, quality=60)


def twist() -> Film:
    """The cells of a rod that is twisted at one end."""
    return Film("writhe", ["toggle_panels", *repeated(30, "steps 10", "screenshot")], crop=(640, 400, 320, 190), width=480, quality=60)


def on_scale(scene: str, colors: int, start: int, steps: int, change: tuple[str, ...] = ()) -> Film:
    """Contacts on one of the scales, which is so many presses away, with its legend."""
    lines = ["toggle_contacts", *repeated(colors, "contact_colors"), f"steps {start}", "screenshot", *change, *repeated(24, f"steps {steps}", "screenshot")]
    return Film(scene, lines, panels=True, crop=SCENE_AND_VIEW, width=560, quality=60)


def pressure() -> Film:
    """An arch stands, and falls when there is too little friction."""
    return on_scale("arch-rigid", 7, 20, 2, ("set mu=0.12",))


def age() -> Film:
    return on_scale("dominoes", 8, 6, 8)


def hover() -> Film:
    """The numbers of some contacts, beside the pointer."""

    def act(hand: Hand) -> None:
        for mark in MARKS:
            for step in (3, 2, 1, 0):
                hand.move(mark[0] - 9 * step, mark[1] + 6 * step)
                hand.picture()
            for _ in range(4):
                hand.picture()

    return Film("card-house", ["toggle_contacts", "steps 30", "screenshot"], act, panels=True, crop=(600, 400, 340, 260), width=480)


def matrix() -> Film:
    """One picture: a tower and its matrix."""

    def act(hand: Hand) -> None:
        for y in (257, 337, 357, 397, 17):  # folds Last step, Judge and Convergence, opens Matrix D + L + C, folds View
            hand.click(1118, y)
            hand.picture()  # the window has seen the click
        hand.move(640, 700)
        hand.picture()

    return Film("stack", ["steps 20", "screenshot"], act, panels=True, crop=(720, 700, 560, 0), width=720, still=True)


MAKERS: dict[str, Callable[[], Film]] = {"rewind": rewind, "cones": cones, "tree": tree, "fork": fork, "panes": panes, "gizmo": gizmo, "drag": drag, "patterns": patterns, "twist": twist, "pressure": pressure, "age": age, "hover": hover, "matrix": matrix}


def pictures(folder: pathlib.Path) -> list[pathlib.Path]:
    """In the order in which they were taken: their names end with a number."""
    return sorted(folder.glob("*.png"), key=lambda file: int("".join(filter(str.isdigit, file.stem.rsplit("-", 1)[-1])) or 0))


class Display:
    """An X server without a screen, on a display number that is free."""

    def __enter__(self) -> str:
        read, write = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", f"{SCREEN[0]}x{SCREEN[1]}x24", "-nolisten", "tcp"], pass_fds=[write],
                                       stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as stream:
            number = stream.readline().strip()
        if not number:
            raise RuntimeError("Xvfb does not start")
        return f":{number}"

    def __exit__(self, *_) -> None:
        self.server.terminate()
        self.server.wait()


def steps_of(lines: list[str]) -> int:
    """How many steps a script makes."""
    return sum(int(line.split()[1]) for line in lines if line.startswith("steps "))


def take(program: str, film: Film, folder: pathlib.Path) -> list[pathlib.Path]:
    """The pictures of a film, in `folder`. Errors: RuntimeError."""
    script, journal = folder / "script.txt", folder / "journal.jsonl"
    script.write_text("\n".join([*film.lines, *([] if film.by_hand else ["quit"])]) + "\n")
    command = [program, "view", film.scene, "--fresh", "--paused", "--quality", "medium", "--script", str(script), "--output", str(folder), "--journal", str(journal), *film.arguments]
    # Which sections are open is remembered from run to run: each film begins with the usual ones.
    environment = {**os.environ, "XDG_CONFIG_HOME": str(folder / "config")}
    window = subprocess.Popen([*command, *(["--panels"] if film.panels else [])], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        if film.by_hand:
            wanted = film.lines.count("screenshot")
            hand = Hand(folder, journal)
            Hand.wait(lambda: (len(pictures(folder)) >= wanted and hand.steps() >= steps_of(film.lines)) or window.poll() is not None, "the script")
            film.by_hand(hand)
            subprocess.run(["xdotool", "key", "--clearmodifiers", "ctrl+q"], check=True)
        said = window.communicate(timeout=1200)[1]
    except BaseException:
        window.kill()
        window.wait()
        raise
    if window.returncode != 0 or not pictures(folder):
        raise RuntimeError(f"{film.scene}: {said.strip()}")
    return pictures(folder)


def join(files: list[pathlib.Path], film: Film, target: pathlib.Path) -> None:
    width, height, left, top = film.crop
    view = f"crop={width}:{height}:{left}:{top},scale={film.width}:-2:flags=lanczos"
    with tempfile.TemporaryDirectory() as folder:
        shown = files[-1:] if film.still else files + [files[-1]] * film.hold
        for k, file in enumerate(shown):
            os.symlink(file, pathlib.Path(folder) / f"{k:04}.png")
        how = ["-c:v", "libwebp_anim", "-quality", str(film.quality), "-compression_level", "6", "-loop", "0"]
        if film.still:
            view, how = f"{view},split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=sierra2_4a", ["-frames:v", "1", "-update", "1"]
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-framerate", str(film.rate), "-i", f"{folder}/%04d.png", "-vf", view, *how, target], check=True)
    size = target.stat().st_size
    print(f"{target.relative_to(ROOT)}: {len(files)} pictures, {size // 1000} kB", flush=True)
    if size > LARGEST:
        raise RuntimeError(f"{target} has more than {LARGEST // 1000} kB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of films; default: all")
    parser.add_argument("--program", default=str(ROOT / "build/release/app/stickslip"))
    parser.add_argument("--pictures", type=pathlib.Path, help="keep the pictures below this folder")
    options = parser.parse_args()
    if unknown := set(options.names) - set(MAKERS):
        parser.error(f"no such film: {', '.join(sorted(unknown))}")
    os.environ["STICKSLIP_ASSETS"] = str(ROOT / "assets")
    FILMS.mkdir(exist_ok=True)
    with Display() as display:
        os.environ["DISPLAY"] = display
        for name in options.names or MAKERS:
            with tempfile.TemporaryDirectory() as temporary:
                folder = options.pictures / name if options.pictures else pathlib.Path(temporary)
                folder.mkdir(parents=True, exist_ok=True)
                if pictures(folder):
                    parser.error(f"{folder} has pictures already")
                film = MAKERS[name]()
                files = take(options.program, film, folder)
                join(files, film, FILMS / f"{name}.{'png' if film.still else 'webp'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
