#!/usr/bin/env python3
"""Writes the generated parts of README.md and docs/*.md: the text between

    <!-- generated: NAME -->
    <!-- end -->

tools/make_docs.py [--program build/release/app/stickslip]     writes them
tools/make_docs.py --check [--program ...]                     fails when one is out of date

Parts come from kept measurements (tools/bench/results), from files (examples/) and from the program itself:
the output of its `list` commands, and the kinds of bodies that each solver accepts. Without the program the
parts that need it stay unchanged.
"""
import argparse
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "bench"))
import reproduction
import result_tables

ROOT = pathlib.Path(__file__).resolve().parent.parent
PART = re.compile(r"(<!-- generated: ([\w-]+(?: [\w./ -]+)?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)

GROUND = "[[half_space]]\nmu = 0.5\n[[material]]\nname = 'm'\ndensity = 1000\n"
OBJECT = "[[object]]\nname = '{0}'\nposition = [{1}, 0.055, 0]\nmaterial = 'm'\n{2}\n"
BOX = "shape = 'box'\nsize = [0.1, 0.1, 0.1]\n"
ELASTIC, AFFINE, RIGID = BOX + "edge = 0.1", BOX + "body = 'affine'\nedge = 0.1", BOX + "body = 'rigid'"
CLOTH = "body = 'cloth'\nshape = 'sheet'\nsize = [0.1, 0.1]\nedge = 0.05\nthickness = 1e-3"
RODS = "body = 'rods'\nshape = 'ring'\nradius = 0.05\nsegments = 12\ndiameter = 1e-3"
BODIES = {
    "elastic solids": [ELASTIC],
    "affine bodies": [AFFINE],
    "cloth": [CLOTH],
    "rods": [RODS],
    "elastic and affine": [ELASTIC, AFFINE],
    "rigid bodies": [RIGID],
    "rigid and elastic": [RIGID, ELASTIC],
    "rigid and affine": [RIGID, AFFINE],
    "rigid, cloth and rods": [RIGID, CLOTH, RODS],
}


class Program:
    def __init__(self, path: pathlib.Path):
        self.path = path

    def call(self, *arguments: str) -> subprocess.CompletedProcess:
        environment = {**os.environ, "STICKSLIP_ASSETS": str(ROOT / "assets")}
        return subprocess.run([self.path, *arguments], capture_output=True, text=True, env=environment)

    @functools.cache
    def listed(self, what: str) -> list[dict]:
        done = self.call("list", what, "--json")
        if done.returncode != 0:
            raise RuntimeError(f"{self.path} list {what}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def stepping_solvers(self) -> list[str]:
        solvers = self.listed("solvers")
        contact = next(s["contact_solvers"] for s in solvers if "contact_solvers" in s)
        return [s["name"] for s in solvers if "contact_solvers" not in s] + sorted(contact)

    def takes(self, bodies: list[str], solver: str) -> str:
        """Result of one step of such bodies: "yes", the name of the solver that replaces it, or "-"."""
        with tempfile.TemporaryDirectory() as folder:
            scene, report = pathlib.Path(folder) / "scene.toml", pathlib.Path(folder) / "report.jsonl"
            scene.write_text(GROUND + "".join(OBJECT.format(f"b{i}", 0.3 * i, keys) for i, keys in enumerate(bodies)))
            done = self.call("run", str(scene), "--frames", "1", "--solver", solver, "--backend", "cpu", "--threads", "1",
                             "--quiet", "--report", str(report))
            if not report.exists() or not report.read_text():
                if done.returncode != 2:
                    raise RuntimeError(f"{solver}, {bodies}: exit code {done.returncode}: {done.stderr.strip()}")
                return "–"
            solve = json.loads(report.read_text().splitlines()[0]).get("contact_solve") or {}
            other = re.search(r"(\w+) took its place", solve.get("message") or "")
            return f"by `{other[1]}`" if other else "yes"


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def matrix(program: Program) -> str:
    """Solvers with equal cells share a row."""
    rows: dict[tuple, list[str]] = {}
    for solver in program.stepping_solvers():
        rows.setdefault(tuple(program.takes(bodies, solver) for bodies in BODIES.values()), []).append(f"`{solver}`")
    backends = ", ".join(f"`{b['name']}`" for b in program.listed("backends"))
    return table(["solver", *BODIES, "backends"], [[", ".join(names), *cells, backends] for cells, names in rows.items()])


def keys(program: Program) -> str:
    return program.call("view", "--keys").stdout


def named(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def groups_of(solver: dict) -> dict[str, list[str]]:
    """The parameters that a solver reads, by group."""
    groups: dict[str, list[str]] = {}
    for param in solver["params"]:
        groups.setdefault(param["group"], []).append(param["name"])
    return groups


def reads(program: Program, names: str) -> str:
    """The law of a solver and its groups of parameters. Several names, with spaces between them, stand for equal lines."""
    listed = {solver["name"]: solver for what in ("step-solvers", "solvers") for solver in program.listed(what)}
    lines = set()
    for name in names.split():
        if name not in listed:
            raise RuntimeError(f"the program lists no solver {name}")
        law = f"Law: {listed[name]['law']}. " if "law" in listed[name] else ""
        lines.add(f"{law}Parameters: {named(list(groups_of(listed[name])))}.\n")
    if len(lines) != 1:
        raise RuntimeError(f"the solvers {names} differ in law or groups")
    return lines.pop()


def groups(program: Program, what: str) -> str:
    """One row for each group of parameters of the solvers in a list of the program."""
    solvers = program.listed(what)
    params: dict[str, list[str]] = {}
    readers: dict[str, list[str]] = {}
    for solver in solvers:
        for group, names in groups_of(solver).items():
            params.setdefault(group, names)
            readers.setdefault(group, []).append(solver["name"])
    return table(["group", "parameters", "read by"],
                 [[f"`{group}`", named(names), "all" if len(readers[group]) == len(solvers) else named(sorted(readers[group]))]
                  for group, names in params.items()])


def code(path: str, language: str) -> str:
    return f"```{language}\n{(ROOT / path).read_text()}```\n"


def scene_count(gallery: str) -> str:
    """Scenes grouped by their kinds of bodies. `gallery`: the page's path from here."""
    rigid = elastic = both = 0
    for path in (ROOT / "assets/scenes").glob("*.toml"):
        text = path.read_text()
        objects = [block for block in re.split(r"(?m)^(?=\[)", text) if block.startswith("[[object]]")]
        is_rigid = [bool(re.search(r'(?m)^body = "rigid"', block)) for block in objects]
        rigid += all(is_rigid)
        elastic += not any(is_rigid)
        both += any(is_rigid) and not all(is_rigid)
    return (f"[The gallery]({gallery}) shows the {rigid + elastic + both} scenes: {elastic} of elastic solids, {rigid} of rigid bodies, "
            f"{both} of both.\n")


def families(gallery: str) -> str:
    """What each scene's [steppers] table says of the two families. `gallery`: the page's path from here."""
    rows, held = [], 0
    for path in sorted((ROOT / "assets/scenes").glob("*.toml")):
        says = tomllib.loads(path.read_text()).get("steppers", {})
        cells = ["holds" if says.get(family) is True else says.get(family, "not stated") for family in ("barrier", "velocity")]
        held += cells == ["holds", "holds"]
        rows.append([f"`{path.stem}`", *cells])
    return (f"All expectations of {held} of [the {len(rows)} scenes]({gallery}) hold under both families.\n\n" +
            table(["scene", "barrier steps", "velocity-level steps"], rows))


FROM_PROGRAM = {"matrix": lambda program, _: matrix(program), "keys": lambda program, _: keys(program), "reads": reads,
                "groups": groups}
FROM_FILES = {
    "hello": lambda _: code("examples/hello.cpp", "cpp"),
    "hello-scene": lambda _: code("examples/hello.toml", "toml"),
    "scene-count": scene_count,
    "families": families,
    "reproduction": reproduction.paper_table,
    **{name: lambda _, make=make: make() for name, make in result_tables.PARTS.items()},
}


def rewrite(text: str, program: Program | None) -> str:
    def part(match: re.Match) -> str:
        name, _, argument = match[2].partition(" ")
        if name in FROM_FILES:
            body = FROM_FILES[name](argument)
        elif name not in FROM_PROGRAM:
            raise RuntimeError(f"nothing makes the part '{match[2]}'")
        else:
            body = FROM_PROGRAM[name](program, argument) if program else match[3]
        return match[1] + body + match[4]

    return PART.sub(part, text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/app/stickslip")
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args()
    program = Program(options.program.resolve()) if options.program.exists() else None
    if program is None:
        print(f"make_docs: {options.program} is not built: the parts that it says stay as they are")
    faults = 0
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        old = path.read_text()
        new = rewrite(old, program)
        if new == old:
            continue
        faults += options.check
        print(f"{path.relative_to(ROOT)} " + ("is out of date: tools/make_docs.py writes it" if options.check else "written"))
        if not options.check:
            path.write_text(new)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
