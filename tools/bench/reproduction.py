#!/usr/bin/env python3
"""reproduction.py FOLDER: keeps the results that `stickslip reproduce --out FOLDER` wrote, in results/reproduction beside
this script; tools/make_docs.py makes the tables of docs/reproduction.md of them. Quick runs and claims that are not
measured are refused."""
import argparse
import json
import pathlib
import shutil
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLAIMS = ROOT / "assets/claims"
RESULTS = pathlib.Path(__file__).resolve().parent / "results/reproduction"


def text_of(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.3g}".replace("e-0", "e-").replace("e+0", "e")


def is_current(claim: dict, result: dict) -> bool:
    """Whether a result is one of the claim as it stands now: the same run, methods and checks."""
    methods = [{"name": m["name"], "solver": m.get("solver", ""), "set": m.get("set", [])} for m in claim.get("method", [])]
    checks = [(c["quantity"], c["claimed"], c.get("sense", "equal"), c.get("tolerance", 0)) for c in claim["check"]]
    return (all(result["run"].get(key) == value for key, value in claim.get("run", {}).items())
            and [{key: m[key] for key in ("name", "solver", "set")} for m in result["methods"]] == methods
            and [(c["quantity"], c["claimed"], c["sense"], c["tolerance"]) for c in result["verdict"]["checks"]] == checks)


def seen_text(check: dict) -> str:
    """Median and range beside what is claimed."""
    sense = {"at_least": "at least ", "at_most": "at most ", "equal": ""}[check["sense"]]
    spread = ""
    if check["starts"] > 1 and check["low"] < check["high"]:
        spread = f" ({text_of(check['low'])} to {text_of(check['high'])})"
    mark = "" if check["holds"] else "**"
    return f"{check['meaning']}: {mark}{text_of(check['median'])}{mark}{spread}, claimed {sense}{text_of(check['claimed'])}"


def noted(notes: list[str], most: int = 3) -> list[str]:
    """The first of the notes, each once."""
    once = list(dict.fromkeys(note.replace("\n", " ") for note in notes))
    return once[:most] + ([f"and {len(once) - most} more notes in the file"] if len(once) > most else [])


def row(claim: dict, results: pathlib.Path) -> list[str]:
    path = results / f"{claim['name']}.json"
    cells = [claim["where"], f"`{claim['name']}`: {claim['claim']}"]
    if "missing" in claim:
        return [*cells, "no run yet", claim["missing"][:1].upper() + claim["missing"][1:] + "."]
    result = json.loads(path.read_text()) if path.exists() else None
    if result is None or not is_current(claim, result):
        return [*cells, "no result kept", "The result of the present claim is not kept yet."]
    verdict = result["verdict"]
    starts = max(check["starts"] for check in verdict["checks"])
    details = [seen_text(check) for check in verdict["checks"]]
    details[-1] += f". {starts} start{'s' if starts > 1 else ''}"
    details += [claim[key].rstrip(".") for key in ("hardware", "remark") if key in claim]
    details += noted(result["notes"])
    picture = f"[plot](../tools/bench/results/reproduction/{claim['name']}.svg), " if path.with_suffix(".svg").exists() else ""
    machine = f"{result['machine']}, {result['threads'] or 'all'} thread{'' if result['threads'] == 1 else 's'}, {result['date']}"
    return [*cells, f"**{verdict['outcome']}**", "<br>".join(details) + f"<br>{picture}{machine}"]


def paper_table(key: str, claims: pathlib.Path = CLAIMS, results: pathlib.Path = RESULTS) -> str:
    """Head line, table of the claims and what is left out of a paper."""
    paper = tomllib.loads((claims / f"{key}.toml").read_text())
    rows = [row(claim, results) for claim in paper["claim"]]
    counts = {}
    for cells in rows:
        outcome = cells[2].strip("*")
        counts[outcome] = counts.get(outcome, 0) + 1
    head = ["where", "claim", "verdict", "seen"]
    lines = [" | ".join(cells) for cells in (head, ["---"] * len(head), *[[c.replace("|", "\\|") for c in r] for r in rows])]
    text = f"{paper['title']} [{paper['reference']}]: " + ", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items())) + ".\n\n"
    text += "".join(f"| {line} |\n" for line in lines)
    if paper.get("left_out"):
        text += "\nThese state no result of a program: " + "; ".join(paper["left_out"]) + ".\n"
    return text


def keep(folder: pathlib.Path, results: pathlib.Path = RESULTS) -> list[str]:
    """Copies results; returns those that are refused, with the reason."""
    refused = []
    results.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.glob("*.json")):
        result = json.loads(path.read_text())
        if result["quick"]:
            refused.append(f"{path}: a quick run")
        elif result["verdict"]["outcome"] == "not measured":
            refused.append(f"{path}: not measured")
        else:
            shutil.copy(path, results / path.name)
            if path.with_suffix(".svg").exists():
                shutil.copy(path.with_suffix(".svg"), results / f"{path.stem}.svg")
    return refused


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    refused = keep(parser.parse_args().folder)
    print("\n".join(refused), end="\n" if refused else "")
    sys.exit(1 if refused else 0)
