#!/usr/bin/env python3
"""Every citation resolves: a tag such as [Guo24 §3] or [Course Alg.16; Daviet20 Alg.4] names a key of docs/references.md, each
key there is cited somewhere and listed once, and no citation uses name and year instead."""
import pathlib
import re
import sys
from collections.abc import Iterator

from sources import CODE, PAGES, SCRIPTS, tree

REFERENCES = pathlib.Path("docs/references.md")
OWN = {"tools/check_references.py", "tools/test_checks.py"}  # contain examples of violations

ROW = re.compile(r"^\| ([A-Z]\w+) \| ", re.MULTILINE)
KEY = re.compile(r"\b([A-Z][A-Za-z]+[0-9]{2}(?:[0-9]{2})?|Course|StiffGIPC)\b")
NAME_AND_YEAR = re.compile(r"\b[A-Z][a-z]+(?: et al\.)?,? (?:1[89]|20)[0-9]{2}\b")
# Not the subscript of an array and not the text of a link. WRAP has joined wrapped comments into one line.
BRACKET = re.compile(r"(?<![\w)\]])\[([^\[\]]{1,200})\](?!\()")
WRAP = re.compile(r"\n[ \t]*(?://+|#|\*)?[ \t]*")


def brackets(text: str) -> Iterator[tuple[int, str]]:
    """Line and content of everything in brackets."""
    starts = [0]
    for match in re.finditer("\n", text):
        starts.append(match.end())
    joined = WRAP.sub(lambda match: " ".ljust(len(match[0])), text)  # keeps offsets
    line = 0
    for match in BRACKET.finditer(joined):
        while line + 1 < len(starts) and starts[line + 1] <= match.start():
            line += 1
        yield line + 1, re.sub(" +", " ", match[1])


def check(root: pathlib.Path) -> list[str]:
    faults, cited = [], set()
    rows = ROW.findall((root / REFERENCES).read_text())
    keys = set(rows)
    for key in sorted(key for key in keys if rows.count(key) > 1):
        faults.append(f"{REFERENCES}: {key} stands there {rows.count(key)} times")
    for path in tree(root, CODE | SCRIPTS | PAGES):
        if path.as_posix() in OWN:
            continue
        for line, content in brackets((root / path).read_text(errors="replace")):
            if NAME_AND_YEAR.search(content):
                faults.append(f"{path}:{line}: [{content}] cites by name and year: use a tag of {REFERENCES}")
            for key in KEY.findall(content):
                if key not in keys:
                    faults.append(f"{path}:{line}: [{content}]: {key} is not in {REFERENCES}")
                elif path != REFERENCES:
                    cited.add(key)
    faults += [f"{REFERENCES}: no file cites {key}" for key in sorted(keys - cited)]
    return faults


if __name__ == "__main__":
    faults = check(pathlib.Path(__file__).resolve().parents[1])
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(1 if faults else 0)
