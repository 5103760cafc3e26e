#!/usr/bin/env python3
"""Writes assets/textures/rings.pgm: a direction map of rings around its middle, one grey level per degree.

    tools/ring_texture.py"""
import math
import pathlib

SIDE = 64


def grey(column: int, row: int) -> int:
    """The tangent of the ring through a texel, from the columns' axis, modulo half a turn."""
    u, v = column + 0.5 - SIDE / 2, row + 0.5 - SIDE / 2
    return round(math.degrees(math.atan2(u, -v))) % 180


def main():
    file = pathlib.Path(__file__).resolve().parent.parent / "assets" / "textures" / "rings.pgm"
    greys = bytes(grey(i, j) for j in range(SIDE) for i in range(SIDE))
    file.write_bytes(f"P5\n{SIDE} {SIDE}\n179\n".encode() + greys)


if __name__ == "__main__":
    main()
