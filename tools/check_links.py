#!/usr/bin/env python3
"""Checks that every relative link and picture of a page points to a file or folder of the tree."""
import pathlib
import re
import sys

from sources import tree

LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
CODE_BLOCK = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def check(root: pathlib.Path) -> list[str]:
    faults = []
    for path in tree(root, {".md"}):
        text = CODE_BLOCK.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), (root / path).read_text(errors="replace"))
        for match in LINK.finditer(text):
            target = match[1]
            if not re.match(r"\w+:", target) and not (root / path.parent / target).exists():
                faults.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {target} does not exist")
    return faults


if __name__ == "__main__":
    faults = check(pathlib.Path(__file__).resolve().parents[1])
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(1 if faults else 0)
