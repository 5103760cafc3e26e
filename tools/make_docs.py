#!/usr/bin/env python3
"""Writes the generated parts of README.md, docs/*.md and docs/solvers/*.md: the text between

    <!-- generated: NAME -->
    <!-- end -->

tools/make_docs.py [--program build/release/app/stickslip]     writes them
tools/make_docs.py --check [--program ...]                     fails when one is out of date

Parts come from kept measurements (tools/bench/results), from files (examples/) and from the program itself:
the output of its `list` commands, and what kinds of bodies and contacts each solver accepts. Without the program
the parts that need it stay unchanged. tools/solver_pages.py makes the pictures of docs/solvers.
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
import solver_tables

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

# Contacts and joints that not every solver takes, as scenes for `accepts`.
HINGE = "[[joint]]\nname = 'hinge'\nkind = 'hinge'\nbetween = ['b0', 'b1']\nanchor = [0.15, 0.055, 0]\naxis = [0, 0, 1]\n"
SPECIAL = {
    "joints": GROUND + OBJECT.format("b0", 0.0, RIGID) + OBJECT.format("b1", 0.3, RIGID) + HINGE,
    "torsion": GROUND + "torsion_radius = 0.01\n" + OBJECT.format("b0", 0.0, RIGID),
    "rolling": GROUND + "rolling_resistance = 0.01\n" + OBJECT.format("b0", 0.0, RIGID),
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
        return self.accepts(GROUND + "".join(OBJECT.format(f"b{i}", 0.3 * i, keys) for i, keys in enumerate(bodies)), solver)

    @functools.cache
    def accepts(self, text: str, solver: str) -> str:
        """The same of a scene's text."""
        with tempfile.TemporaryDirectory() as folder:
            scene, report = pathlib.Path(folder) / "scene.toml", pathlib.Path(folder) / "report.jsonl"
            scene.write_text(text)
            done = self.call("run", str(scene), "--frames", "1", "--solver", solver, "--backend", "cpu", "--threads", "1",
                             "--quiet", "--report", str(report))
            if not report.exists() or not report.read_text():
                if done.returncode != 2:
                    raise RuntimeError(f"{solver}: exit code {done.returncode}: {done.stderr.strip()}, with the scene\n{text}")
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


LAW_TEXTS = {
    "exact": "[exact](../equations.md#laws), Coulomb's",
    "associated": "[associated](../equations.md#laws) by itself; with `de_saxce`, the default, the exact one",
    "box": "[box friction](../equations.md#laws)",
    "polyhedral": "[cones with facets](../equations.md#cones-with-facets)",
    "penalty": "[springs, dampers and a friction law of their own](../equations.md#penalty-forces)",
}


def number_text(value: float) -> str:
    """1e-8, not 1e-08, and not 1.0."""
    text = str(value) if isinstance(value, int) else f"{value:g}"
    return re.sub(r"e([+-])0*(\d)", lambda match: "e" + match[1].replace("+", "") + match[2], text)


def default_of(param: dict) -> str:
    value = param["default"]
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value}`" if isinstance(value, str) else number_text(value)


def range_of(param: dict) -> str:
    if "choices" in param:
        return ", ".join(f"`{choice}`" for choice in param["choices"])
    if "low" not in param:
        return "`true`, `false`"
    unit = "" if param["unit"] == "1" else f" {param['unit']}"
    return f"{number_text(param['low'])} to {number_text(param['high'])}{unit}"


def param_table(params: list[dict]) -> str:
    rows = [[f"`{param['name']}`", default_of(param), range_of(param), param["meaning"].replace("|", "\\|")] for param in params]
    return table(["parameter", "default", "values", "effect"], rows)


def solver_row(program: Program, name: str) -> dict:
    listed = {solver["name"]: solver for what in ("step-solvers", "solvers") for solver in program.listed(what)}
    if name not in listed:
        raise RuntimeError(f"the program lists no solver {name}")
    return listed[name]


def params(program: Program, argument: str) -> str:
    """Of a solver, the parameters in some groups, or without groups all but those that every contact solver reads."""
    name, *wanted = argument.split()
    found = [p for p in solver_row(program, name)["params"] if (p["group"] in wanted if wanted else p["group"] != "stop")]
    if missing := set(wanted) - {param["group"] for param in found}:
        raise RuntimeError(f"{name} reads no group {', '.join(sorted(missing))}")
    return param_table(found) if found else "None beside those of every contact solver.\n"


def rows_of(program: Program, names: str) -> str:
    """Single parameters of steps."""
    listed = {param["name"]: param for param in program.listed("params")}
    return param_table([listed[name] for name in names.split()])


def answer_of(program: Program, kind: str, solver: str) -> str:
    """As Program.accepts. Penalty forces have no moments against rolling (docs/equations.md), though a step runs."""
    if kind == "rolling" and solver_row(program, solver).get("law") == "penalty":
        return "ignored"
    return program.accepts(SPECIAL[kind], solver)


def kinds_of(program: Program, solver: str) -> str:
    """What of SPECIAL a solver takes, and what not, in words."""
    found = {kind: answer_of(program, kind, solver) for kind in SPECIAL}
    names = {"joints": "joints", "torsion": "torsional friction", "rolling": "rolling resistance"}
    takes = ["contacts", *(names[kind] for kind, answer in found.items() if answer == "yes")]
    text = "**Takes** " + " and ".join(filter(None, [", ".join(takes[:-1]), takes[-1]]))
    if replaced := [names[kind] for kind, answer in found.items() if answer.startswith("by")]:
        text += f". In scenes with {' or '.join(replaced)} `nsgs` takes its place"
    if refused := [names[kind] for kind, answer in found.items() if answer == "–"]:
        text += f". It refuses {' and '.join(refused)}"
    if ignored := [names[kind] for kind, answer in found.items() if answer == "ignored"]:
        text += f". It ignores {' and '.join(ignored)}"
    return text + "."


def facts(program: Program, name: str) -> str:
    """A list: law, what the solver takes, what it needs, backends; and for contact solvers the law matrix."""
    solver = solver_row(program, name)
    lines = [f"**Law:** {LAW_TEXTS[solver['law']]}."] if "law" in solver else []
    lines.append(kinds_of(program, name))
    if solver.get("lab"):
        lines.append("**Needs** " + ("the entries of W." if solver["assembled"] else "W in blocks, or as H A^-1 H' by bodies" + (", or its products through A^-1 alone." if solver["products"] else ".")) +
                     ("" if solver["problems"] else " Of the lab it takes problems of rigid bodies alone."))
    elif "law" in solver:
        lines.append("**Needs** a running scene: the lab has no such solver.")
    lines.append(f"**Runs on** the backends {named([backend['name'] for backend in program.listed('backends')])}.")
    return "".join(f"* {line}\n" for line in lines)


def index(program: Program, what: str) -> str:
    """One line for each solver: `step-solvers`, or the barrier steppers of `solvers`."""
    rows = []
    for solver in sorted(program.listed(what), key=lambda solver: solver["name"]):
        if "contact_solvers" in solver:
            continue
        name = solver["name"]
        law = [solver["law"]] if "law" in solver else []
        groups = [group for group in groups_of(solver) if not law or group != "stop"]
        rows.append([f"[`{name}`](solvers/{name}.md)", solver["meaning"].replace("|", "\\|"), *law, *(answer_of(program, kind, name) for kind in SPECIAL), named(groups)])
    law = ["law"] if "law" in program.listed(what)[0] else []
    return table(["solver", "method and source", *law, *SPECIAL, "groups of parameters"], rows)


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
                "groups": groups, "params": params, "rows": rows_of, "facts": facts, "index": index}
FROM_FILES = {
    "hello": lambda _: code("examples/hello.cpp", "cpp"),
    "hello-scene": lambda _: code("examples/hello.toml", "toml"),
    "scene-count": scene_count,
    "families": families,
    "reproduction": reproduction.paper_table,
    **{name: lambda _, make=make: make() for name, make in result_tables.PARTS.items()},
    **solver_tables.PARTS,
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
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/solvers").glob("*.md"))]:
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
