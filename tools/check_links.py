#!/usr/bin/env python3
"""Checks that every relative link and picture of a page points to a file or folder of the tree, and that a link to a
place of a page (PAGE.md#PLACE) names one of its headings, as GitHub makes names of them."""
import functools
import pathlib
import re
import sys

from sources import tree

LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
CODE_BLOCK = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.MULTILINE)


def place_name(heading: str) -> str:
    """The name of a heading: lower case, no punctuation but _ and -, and - for each space."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


@functools.cache
def places(page: pathlib.Path) -> frozenset[str]:
    """Names of all headings; equal ones are numbered."""
    found: set[str] = set()
    for heading in HEADING.findall(FENCED.sub("", page.read_text(errors="replace"))):
        name, number = place_name(heading), 0
        while name + (f"-{number}" if number else "") in found:
            number += 1
        found.add(name + (f"-{number}" if number else ""))
    return frozenset(found)


def check(root: pathlib.Path) -> list[str]:
    faults = []
    places.cache_clear()
    for path in tree(root, {".md"}):
        text = CODE_BLOCK.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), (root / path).read_text(errors="replace"))
        for match in LINK.finditer(text):
            target, place = match[1], match[2]
            if re.match(r"\w+:", target) or not (target or place):
                continue
            file = (root / path.parent / target) if target else root / path
            line = text.count(chr(10), 0, match.start()) + 1
            if not file.exists():
                faults.append(f"{path}:{line}: {target} does not exist")
            elif place and file.suffix == ".md" and place not in places(file):
                faults.append(f"{path}:{line}: {target or path.name} has no heading #{place}")
    return faults


if __name__ == "__main__":
    faults = check(pathlib.Path(__file__).resolve().parents[1])
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(1 if faults else 0)
