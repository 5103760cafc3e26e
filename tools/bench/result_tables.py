"""The tables of docs/benchmarks.md and the figures of README.md, from the newest result files of each kind."""
import json
import pathlib

import device_table
import fclib_tables

RESULTS = pathlib.Path(__file__).resolve().parent / "results"


def newest(kind: str) -> pathlib.Path:
    """The newest result: names begin with the date, so it is the last."""
    files = sorted(RESULTS.glob(f"*-{kind}.json"))
    if not files:
        raise RuntimeError(f"{RESULTS} has no *-{kind}.json")
    return files[-1]


def load(kind: str) -> list[dict]:
    return json.loads(newest(kind).read_text())


def source(kind: str) -> str:
    """Machine and date: a line above a table."""
    path, runs = newest(kind), load(kind)
    return f"Measured {path.name[:10]} on {runs[0]['device']}: [{path.name}](../tools/bench/results/{path.name}).\n\n"


def table(head: list[str], rows: list[list[str]]) -> str:
    return "".join("| " + " | ".join(row) + " |\n" for row in (head, ["---"] * len(head), *rows))


def number(value: float | None, digits: int = 3) -> str:
    """With `digits` significant digits, without an exponent if that is readable."""
    if value is None:
        return ""
    if value == 0 or 1e-3 <= abs(value) < 10**digits:
        return f"{value:#.{digits}g}".rstrip(".")
    return f"{value:.0f}" if 10**digits <= abs(value) < 1e6 else f"{value:.1e}"


def power(value: float) -> str:
    """1e-8, not 1e-08."""
    return f"{value:g}".replace("e-0", "e-")


def millimetres(value: float | None) -> str:
    return "" if value is None else f"{1000 * value:.2f}" if value < 0.01 else f"{1000 * value:.1f}" if value < 0.1 else f"{1000 * value:.0f}"


def micrometres(value: float | None) -> str:
    return "" if value is None else number(1e6 * value)


# --- rigid bodies -------------------------------------------------------------------------------------------------


def rigid() -> str:
    rows, last = [], None
    for row in load("rigid")[0]["rows"]:
        same = row["scene"] == last
        last = row["scene"]
        place = ["", ""] if same else [f"`{row['scene']}`", f"{row['bodies']}"]
        if row.get("error"):
            rows.append([*place, row["method"], "", "", row["error"], "", ""])
            continue
        fell = row.get("fallen") or 0
        overlap = f"{fell} fell" if fell else f"{millimetres(row['penetration_max'])} ({millimetres(row['penetration_seen'])})"
        rows.append([*place, row["method"], f"{row['contacts'] / 1000:.1f}k", number(row["ms_mean"]), overlap,
                     "" if fell else millimetres(row.get("drift_max")), "" if row.get("residual_mean") is None else f"{row['residual_mean']:.1e}"])
    return source("rigid") + table(["scene", "bodies", "engine, iterations", "contacts", "ms per step", "overlap [mm]", "drift [mm]", "residual"], rows)


# --- thin objects -------------------------------------------------------------------------------------------------


def thin() -> str:
    rows, last = [], None
    for row in load("thin")[0]["rows"]:
        same = row["scene"] == last
        last = row["scene"]
        place = ["", ""] if same else [f"`{row['scene']}`", f"{row['dofs'] / 1000:.0f}k"]
        shares = [f"{100 * row['share_' + name]:.0f}" for name in ("linear_solve", "contact_solve", "detection")]
        rows.append([*place, f"`{row['method']}`", f"{row['contacts_mean']:.0f}", number(row["seconds_per_step"]), number(row["seconds_per_frame"]), *shares,
                     f"{row['converged']} of {row['steps']}", millimetres(row["penetration_max"])])
    return source("thin") + table(["scene", "unknowns", "method", "contacts", "s per step", "s per frame", "linear [%]", "contact solve [%]", "detection [%]", "converged", "overlap [mm]"], rows)


# --- contact problems -----------------------------------------------------------------------------------------------


def problem_name(name: str) -> str:
    return "LMGC PerioBox" if name.startswith("LMGC") else name.split("-i0")[0].split("-i1")[0]


def run_text(run: dict | None, tolerance: float, setup: bool) -> str:
    """With the residual by the judge if it is far above the requested tolerance."""
    if run is None:
        return "none"
    judged = run.get("judge")
    return f"{run['solver']} {number(fclib_tables.cost(run, setup))}" + (f" (judge: {judged:.0e})" if judged and judged > 1e3 * tolerance else "")


def fclib() -> str:
    result = load("fclib")[0]
    tolerance, both = min(result["tolerances"]), fclib_tables.has_setups(result)
    rows = []
    for row in fclib_tables.comparison(result, tolerance, "own"):
        problem = row["problem"]
        rows.append([problem_name(problem["name"]), str(problem["contacts"]), run_text(row["theirs"], tolerance, both), run_text(row["ours"], tolerance, both),
                     "" if row["ratio"] is None else number(row["ratio"]), number(fclib_tables.cost(row["auto"], both)) if row["auto"] else "none"])
    peer = result["peer"].split()[0]
    return (source("fclib") + f"Times in milliseconds{', set-up included,' if both else ' of solves alone, without set-up,'} of the fastest solver of each side, to a tolerance of {power(tolerance)}. Both sides run on one thread, for at most {result['limit']:g} s per solve. The peer is {result['peer']}.\n\n"
            + table(["problem", "contacts", f"fastest of {peer} [ms]", "fastest of ours [ms]", "ratio", "`auto` [ms]"], rows))


def means(result: dict, tolerance: float, rule: str, setup: bool = True) -> dict:
    """`setup`: times contain the set-up of both sides."""
    rows = fclib_tables.comparison(result, tolerance, rule)
    prefix = "" if setup else "bare_"
    ratios = [row[prefix + "ratio"] for row in rows if row[prefix + "ratio"] is not None]
    auto = [row[prefix + "auto_ratio"] for row in rows if row[prefix + "auto_ratio"] is not None]
    return {"mean": fclib_tables.geometric_mean(ratios), "least": min(ratios, default=float("nan")),
            "auto": fclib_tables.geometric_mean(auto), "auto_wins": sum(r > 1 for r in auto), "auto_all": len(auto),
            "both": len(ratios), "theirs": sum(row["theirs"] is not None for row in rows), "ours": sum(row["ours"] is not None for row in rows), "all": len(rows)}


def with_our_setup(result: dict, tolerance: float) -> float:
    """The mean ratio where our set-up counts and that of the peer, which was not measured, does not."""
    ratios = []
    for problem in result["problems"]:
        theirs, ours = (fclib_tables.fastest(result["runs"], problem["name"], tolerance, "own", side=side) for side in (fclib_tables.THEIRS, fclib_tables.OURS))
        if theirs and ours:
            ratios.append(theirs["ms"] / fclib_tables.cost(ours))
    return fclib_tables.geometric_mean(ratios)


def fclib_means() -> str:
    result = load("fclib")[0]
    peer = result["peer"].split()[0]
    rows = []
    least = min(result["tolerances"])
    cases = [(tolerance, "own", "", True) for tolerance in sorted(result["tolerances"], reverse=True)]
    cases += [(least, "judge", ", by the judge on both sides", True), (least, "own", ", solve alone", False)][:2 if fclib_tables.has_setups(result) else 1]
    for tolerance, rule, note, setup in cases:
        m = means(result, tolerance, rule, setup)
        rows.append([f"{power(tolerance)}{note}", f"{m['mean']:.1f}", f"{m['least']:.1f}", f"{m['auto']:.1f}, faster on {m['auto_wins']} of {m['auto_all']}",
                     f"{m['theirs']} / {m['ours']} of {m['all']}"])
    return table(["tolerance", "ratio, geometric mean", "ratio, smallest", "ratio of `auto`, geometric mean", f"problems solved by {peer} / by ours"], rows) + setup_text(result, least)


def setup_text(result: dict, tolerance: float) -> str:
    """How the time to form W compares with a solve; problems with one contact, whose solve takes a microsecond, apart."""
    rows = [row for row in fclib_tables.comparison(result, tolerance, "own") if row["ours"] and row["ours"].get("setup_ms") is not None]
    shares = {row["problem"]["name"]: 100 * row["ours"]["setup_ms"] / row["ours"]["ms"] for row in rows}
    many = [shares[row["problem"]["name"]] for row in rows if row["problem"]["contacts"] > 1]
    if not many:
        return ""
    single = "".join(f", and {shares[row['problem']['name']]:.0f}% for the single contact of {problem_name(row['problem']['name'])}" for row in rows if row["problem"]["contacts"] == 1)
    return f"\nOur set-up, which forms W, takes {min(many):.0f} to {max(many):.0f}% of the time of our fastest solve to {power(tolerance)}{single}.\n"


# --- barrier --------------------------------------------------------------------------------------------------------


def barrier_cell(first: dict, other: dict | None) -> str:
    if other is None or other.get("error"):
        return "-"
    return " / ".join(f"{first[key] / other[key]:.2f}" if other[key] else "-" for key in ("newton_iterations", "pcg_iterations", "seconds"))


def barrier() -> str:
    result = load("barrier")[0]
    problems: dict[str, dict] = {}
    for row in result["rows"]:
        problems.setdefault(row["problem"], {})[row["solver"], row["preconditioner"], row["warm_start"]] = row
    others = {"`barrier_al`": ("barrier_al", "block_jacobi", False), "warm start": ("ipc", "block_jacobi", True),
              "additive": ("ipc", "additive", False), "multilevel": ("ipc", "multilevel", False)}
    rows = []
    for name, methods in problems.items():
        first = methods["ipc", "block_jacobi", False]
        steps, seconds = first["frames"], first["seconds"] / first["frames"]
        scene, _, scale = name.partition(" ")
        rows.append([f"`{scene}` {scale}".strip(), f"{first['tets']}, {first['contacts']}",
                     f"{first['newton_iterations'] / steps:g} / {first['pcg_iterations'] / steps:.0f} / " + (f"{seconds:.2f}" if seconds < 10 else f"{seconds:.1f}"),
                     *(barrier_cell(first, methods.get(method)) for method in others.values())])
    return source("barrier") + table(["scene", "tets, contacts", "`ipc`, block-Jacobi: Newton / PCG / s", *others], rows)


# --- marks of the GPU backend ------------------------------------------------------------------------------------------


def share(figure: dict, bound: float | None, name: str, ends_in_time: bool) -> str:
    if not bound or not figure["value"]:
        return ""
    times = figure["value"] / bound if ends_in_time else bound / figure["value"]
    return f"{times:.2f} times the time of {name.replace('bytes moved', 'moving its bytes')}" if ends_in_time else f"{100 / times:.0f}% of {name}"


def marks() -> str:
    rows = []
    for run in load("marks"):
        for figure in run["figures"]:
            if not figure.get("floor") and not figure.get("peer") and figure["unit"] != "GB/s":
                continue  # on a processor, launches and waits are function calls
            in_time = figure["unit"] in ("us", "ms", "s")
            rows.append([run["bench"], figure["name"], f"{number(figure['value'])} {figure['unit']}",
                         share(figure, figure.get("floor"), figure.get("floor_name") or "the floor", in_time),
                         share(figure, figure.get("peer"), figure.get("peer_name") or "the peer", in_time)])
    return source("marks") + table(["bench", "what", "measured", "floor", "peer"], rows)


def device_marks() -> str:
    """Checks, and the marks, as a device gave them."""
    path = newest("h200")
    run = json.loads(path.read_text())
    scenes = [check for check in run["checks"] if check["name"].startswith("compare ")]
    tests = [int(check["detail"].split()[0]) for check in run["checks"] if check["name"].startswith("tests ") and check["status"] == "good"]
    return (f"Measured {path.name[:10]} on {run['device'].split(',')[0]}: [{path.name}](../tools/bench/results/{path.name}). There {sum(tests)} tests of kernels and of whole steps passed, "
            f"and in {sum(check['status'] == 'good' for check in scenes)} of {len(scenes)} scenes six steps agreed with those of the CPU.\n\n"
            + device_table.table(run["benches"], "cuda").split("\n\n")[0] + "\n")


# --- elastic steps by stage ----------------------------------------------------------------------------------------------


def stages() -> str:
    names = {"linear_solve": "linear solve", "broad_phase": "broad phase", "line_search": "line search"}
    rows, last = [], None
    for row in load("stages")[0]["rows"]:
        place = "" if row["scene"] == last else f"`{row['scene']}`, {row['steps']}"
        last = row["scene"]
        missed = row["steps"] - row["converged"]
        rows.append([place, row["program"] + (f" ({missed} steps miss)" if missed else ""), *(number(value) for value in row["stages"].values()),
                     number(row["total"]), f"{row['newton'] / row['steps']:.1f}", f"{row['pcg'] / row['steps']:.0f}"])
    heads = [names.get(stage, stage) for stage in load("stages")[0]["rows"][0]["stages"]]
    return source("stages") + table(["scene, steps", "program", *heads, "all [ms]", "Newton", "PCG"], rows)


def causes() -> str:
    """The Newton iterations of two builds, and what shortened them."""
    def cells(row: dict) -> list[str]:
        missed = row["steps"] - row["converged"]
        shares = " / ".join(f"{100 * row[cause] / max(row['newton'], 1):.0f}" for cause in ("impact", "halved", "full"))
        return [f"{row['newton']}" + (f" ({missed} step{'s miss' if missed > 1 else ' misses'})" if missed else ""), shares + "%"]

    found = {(row["scene"], row["program"]): row for row in load("causes")[0]["rows"]}
    programs = list(dict.fromkeys(program for _, program in found))
    rows = []
    for scene in dict.fromkeys(scene for scene, _ in found):
        several = [found.get((scene, program)) for program in programs]
        rows.append([f"{scene}, {next(row for row in several if row)['steps']}", *(cell for row in several for cell in (cells(row) if row else ["-", "-"]))])
    heads = [head for program in programs for head in (program, "impact / halved / full")]
    return source("causes") + table(["scene, steps", *heads], rows)


def methods() -> str:
    rows, last = [], None
    for row in load("methods")[0]["rows"]:
        place = "" if row["scene"] == last else f"`{row['scene']}`, {row['frames']}"
        last = row["scene"]
        if row["error"]:
            rows.append([place, f"`{row['method']}`", row["error"], *[""] * 6])
            continue
        missed = row["frames"] - row["converged"]
        rows.append([place, f"`{row['method']}`", str(row["newton"]), str(row["pcg"]), number(row["seconds"]), str(missed) if missed else "", micrometres(row["gap_min"]),
                     number(1000 * row["judge_error"]) if row["judge_error"] is not None else "", str(row["intersections"])])
    return source("methods") + table(["scene, steps", "method", "Newton", "PCG", "seconds", "steps that miss", "smallest gap [um]", "largest error [mm/s]", "intersections"], rows)


# --- README -------------------------------------------------------------------------------------------------------------


def figures() -> str:
    lines = []
    result = load("fclib")[0]
    tolerance = min(result["tolerances"])
    m, bare = means(result, tolerance, "own"), means(result, tolerance, "own", setup=False)
    lines.append(f"**Contact solvers**, one thread: {m['both']} of {m['all']} problems are solved to {power(tolerance)} by both {result['peer']} and this program. On these the fastest solver here is {m['mean']:.1f} times "
                 f"as fast as the fastest of {result['peer'].split()[0]} (geometric mean), and {m['least']:.1f} times in the worst case. " + (f"Both times have the set-up in them: on our side that of the Delassus matrix W. For solves alone the mean is {bare['mean']:.1f}."
                    if fclib_tables.has_setups(result) else f"These times leave out the set-up of both sides: on ours, that of the Delassus matrix W. With ours alone counted, the mean is {with_our_setup(result, tolerance):.1f}."))
    run = load("rigid")[0]
    rows = [row for row in run["rows"] if row["scene"].startswith("pyramid") and not row.get("error")]
    most = max(row["bodies"] for row in rows)
    ours = min((row for row in rows if row["ours"] and row["bodies"] == most), key=lambda row: row["iterations"])
    theirs = min((row for row in rows if not row["ours"] and row["bodies"] == most), key=lambda row: row["ms_mean"])
    peer, _, settings = theirs["method"].partition(", ")
    lines.append(f"**Rigid bodies**, {run['threads']} threads: a step of a pyramid of {most} boxes takes {number(ours['ms_mean'])} ms with {ours['iterations']:g} iterations. After {run['steps']} steps its boxes overlap by at most "
                 f"{millimetres(ours['penetration_max'])} mm. {peer}, on one thread, takes {number(theirs['ms_mean'])} ms with {settings}, and its boxes overlap by at most {millimetres(theirs['penetration_max'])} mm.")
    spmv, threads = next(((figure, run["threads"]) for run in load("marks") for figure in run["figures"] if figure["name"] == "spmv 1M nodes"), (None, 0))
    if spmv:
        lines.append(f"**Linear algebra**, {threads} threads: a sparse matrix-vector product with 1M nodes reaches {100 * spmv['value'] / spmv['floor']:.0f}% of the memory bandwidth of the triad a = b + s c.")
    return "".join(f"* {line}\n" for line in lines)


def device_model() -> str:
    """Predicted steps: the largest stages and the sum, and the largest costs."""
    text = ""
    for path in sorted((RESULTS / "device_model").glob("*.json")):
        run = json.loads(path.read_text())
        rows = [[stage["stage"] or "-", *device_model_figures(stage)] for stage in run["stages"][:6]]
        rows.append(["all", *device_model_figures(run["sum"])])
        settings = "".join(f" `--set {setting}`" for setting in run["settings"])
        scale = "" if run["scale"] == 1 else f" `--scale {run['scale']:g}`"
        steps = "the step" if run["steps"] == 1 else f"the mean of {run['steps']} steps"
        text += f"### {path.stem.rpartition('-')[0]}\n\n`{run['scene']}`{scale}{settings}, {run['size']}; {steps} after {run['warm']}, on an {run['device'].removeprefix('emulated ')}."
        if resources := run.get("resources"):
            text += f" Registers and stacks are known of {resources['matched']} of {resources['kernels']} kernels."
        text += "\n\n"
        text += table(["stage", "launches", "nodes", "waits", "copies", "MB", "floor [µs]", "predicted [µs]", "bound by"], rows)
        text += "\nLargest costs: " + "; ".join(
            f"`{cost['place']}` ({cost['stage']}) {number(cost['predicted_us'])} µs, {cost['bound']}" for cost in run["largest"][:3]) + ".\n\n"
    return text.rstrip("\n") + "\n"


def table1() -> str:
    """The scenes of Guo24's Table 1 at our own size: steps of the CPU, what the model predicts of a GPU, and the published steps."""
    predicted = {run["scene"]: run for path in (RESULTS / "device_model" / "table1").glob("*.json") for run in [json.loads(path.read_text())]}
    scenes: dict[str, dict[str, float]] = {}
    for figure in load("table1")[0]["figures"]:
        scene, _, rest = figure["name"].partition(", ")
        scenes.setdefault(scene, {})[rest.partition(", ")[2]] = figure["value"]
    rows = []
    for name, seen in scenes.items():
        if "published step" not in seen:
            continue
        row = [f"`{name}`", f"{thousands(seen['tets'])} / {thousands(seen['contacts at most'])}", f"{seen['newton']:.3g} / {number(seen['pcg'])}", number(1e-3 * seen["step"])]
        # Rows of one scene at two published sizes share its prediction: `staircase-dragons`.
        if run := predicted.get(name) or predicted.get(name.rpartition("-")[0]):
            newton = run["newton"] or 1
            row += [f"{run['newton']:g} / {run['pcg']:g}", number(1e-3 * run["sum"]["predicted_us"]), number(1e-6 * run["sum"]["predicted_us"] / newton * seen["newton"])]
        else:
            row += ["", "", ""]
        row += [f"{thousands(seen['published tets'])} / {thousands(seen['published contacts'])}", f"{seen['published newton']:g}", number(1e-3 * seen["published step"])]
        rows.append(row)
    run = load("table1")[0]
    threads = "1 thread" if run["threads"] == 1 else f"{run['threads']} threads"
    measured = f"Measured {newest('table1').name[:10]} on {run['device'].partition(',')[0]}, {threads}: [{newest('table1').name}](../tools/bench/results/{newest('table1').name}).\n\n"
    return measured + table(["scene", "tets / contacts", "Newton / PCG", "s", "model: Newton / PCG", "ms", "step [s]", "Table 1: tets / contacts", "Newton", "s"], rows)


def thousands(value: float) -> str:
    return f"{1e-6 * value:.3g}M" if value >= 1e6 else f"{1e-3 * value:.3g}k" if value >= 1e3 else f"{value:g}"


def device_model_figures(row: dict) -> list[str]:
    bound = max(row["by"], key=lambda name: row["by"][name]) if row["by"] else ""
    return [*(f"{row[name]:g}" for name in ("launches", "nodes", "waits", "copies")),
            *(number(row[name]) for name in ("megabytes", "floor_us", "predicted_us")), bound]


PARTS = {"device-model": device_model, "table1": table1, "rigid": rigid, "thin": thin, "fclib": fclib, "fclib-means": fclib_means, "barrier": barrier, "marks": marks, "device-marks": device_marks, "stages": stages, "causes": causes, "methods": methods, "figures": figures}
