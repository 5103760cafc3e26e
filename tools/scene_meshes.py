#!/usr/bin/env python3
"""Writes the meshes of scenes in assets/meshes: those of palm and palm-frames, the cone of box-cone, the head
and the shirt of long-hair, and the form and the skirt of sewn-skirt.

    tools/scene_meshes.py"""
import math
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "assets" / "meshes"
CELLS, LENGTH = 10, 1.15  # of the rib of a frond [m]
SWEEP = math.radians(38)  # of leaflets, towards the tip
RINGS, SIDES, HEIGHT = 14, 10, 2.05  # of the trunk [m]


def rib(s: float) -> tuple[float, float, float]:
    """Place along the rib, from 0 at the root to 1, and its angle above the horizon: an arch."""
    x, y, parts = 0.055, 0.0, 200
    for k in range(parts):
        angle = math.radians(48 - 105 * (k + 0.5) / parts * s)
        x += LENGTH * s / parts * math.cos(angle)
        y += LENGTH * s / parts * math.sin(angle)
    return x, y, math.radians(48 - 105 * s)


def leaflet(points: list, row: list, following: list, s: float, side: int) -> list:
    """Three triangles from the edge of the rib between two rows; side is -1 or 1."""
    *_, angle = rib(s)
    along, up = (math.cos(angle), math.sin(angle)), (-math.sin(angle), math.cos(angle))
    edge = 0 if side < 0 else 2
    a, b = row[edge], following[edge]
    length = 0.36 * math.sin(math.pi * (0.08 + 0.84 * s)) ** 0.8
    half = 0.23 * math.dist(points[a], points[b])

    def add(share: float, shift: float) -> int:
        forward, rise = math.sin(SWEEP) * length * share + shift, 0.1 * length * share * (1 - share)
        points.append(((points[a][0] + points[b][0]) / 2 + along[0] * forward + up[0] * rise,
                       (points[a][1] + points[b][1]) / 2 + along[1] * forward + up[1] * rise,
                       (points[a][2] + points[b][2]) / 2 + side * math.cos(SWEEP) * length * share))
        return len(points) - 1

    near, far, tip = add(0.5, -half), add(0.5, half), add(1.0, 0.0)
    triangles = [(a, b, far), (a, far, near), (near, far, tip)]
    return triangles if side < 0 else [(i, k, j) for i, j, k in triangles]


def frond() -> tuple[list, list]:
    points, triangles, rows = [], [], []
    for i in range(CELLS + 1):
        s = i / CELLS
        x, y, angle = rib(s)
        width, roof = 0.020 * (1 - 0.75 * s) + 0.002, 0.016 * (1 - 0.7 * s)
        points += [(x, y, -width), (x - roof * math.sin(angle), y + roof * math.cos(angle), 0), (x, y, width)]
        rows.append([3 * i, 3 * i + 1, 3 * i + 2])
    for a, b in zip(rows, rows[1:]):
        for k in range(2):
            triangles += [(a[k], a[k + 1], b[k + 1]), (a[k], b[k + 1], b[k])]
    for i in range(1, CELLS):
        for side in (-1, 1):
            triangles += leaflet(points, rows[i], rows[i + 1], (i + 0.5) / CELLS, side)
    return points, triangles


def trunk() -> tuple[list, list]:
    points, triangles = [], []
    for j in range(RINGS + 1):
        s = j / RINGS
        radius = 0.105 * (1 - 0.52 * s) * (1 + 0.1 * (j % 2)) + 0.035 * (1 - s) ** 6 if j < RINGS else 0.035
        for k in range(SIDES):
            angle = 2 * math.pi * (k + 0.5 * (j % 2)) / SIDES
            points.append((-0.38 * (1 - s) ** 1.6 + radius * math.cos(angle), HEIGHT * s, radius * math.sin(angle)))
    for j in range(RINGS):
        for k in range(SIDES):
            a, b = j * SIDES + k, j * SIDES + (k + 1) % SIDES
            c, d = a + SIDES, b + SIDES
            triangles += [(a, c, b), (b, c, d)] if j % 2 == 0 else [(a, c, d), (a, d, b)]
    points += [(-0.38, 0, 0), (0, HEIGHT, 0)]
    for k in range(SIDES):
        last = RINGS * SIDES
        triangles += [(last + SIDES, k, (k + 1) % SIDES), (last + SIDES + 1, last + (k + 1) % SIDES, last + k)]
    return points, triangles


# The palm of frames: how far its fronds begin from its axis, and their thickness [m].
ROOT, BLADE = 0.03, 0.006
FRONDS, FROND_BONES, TRUNK_BONES = 8, 7, 6


def crown_place(frond_index: int, place: tuple) -> tuple:
    """A point of a frond, turned around the trunk; every other one is lower and hangs more."""
    x, y, z = place
    x += ROOT
    low = frond_index % 2
    if low:
        droop = math.radians(-14)
        x, y = x * math.cos(droop) - y * math.sin(droop), x * math.sin(droop) + y * math.cos(droop)
    angle = 2 * math.pi * (frond_index + 0.02 * (frond_index % 3)) / FRONDS
    return (x * math.cos(angle) + z * math.sin(angle), HEIGHT + 0.01 - 0.05 * low + y,
            z * math.cos(angle) - x * math.sin(angle))


def thickened(points: list, triangles: list) -> tuple[list, list]:
    """Prisms of the thickness BLADE around a surface, three tets each: nodes and tets. Diagonals go through the node of
    a prism's side with the smaller number, so that neighbours agree."""
    normals = [[0.0, 0.0, 0.0] for _ in points]
    for triangle in triangles:
        a, b, c = (points[i] for i in triangle)
        u, v = [q - p for p, q in zip(a, b)], [q - p for p, q in zip(a, c)]
        n = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
        for i in triangle:
            normals[i] = [p + q / math.hypot(*n) for p, q in zip(normals[i], n)]
    nodes = []
    for side in (-1, 1):
        for point, n in zip(points, normals):
            nodes.append(tuple(p + side * BLADE / 2 * q / math.hypot(*n) for p, q in zip(point, n)))
    count, tets = len(points), []
    for triangle in triangles:
        a, b, c = sorted(triangle)
        tets += [(a, b, c, c + count), (a, b, b + count, c + count), (a, a + count, b + count, c + count)]
    return nodes, tets


def filled_trunk() -> tuple[list, list]:
    """The trunk with a node in the middle of each ring: nodes and tets."""
    points, _ = trunk()
    points = points[:(RINGS + 1) * SIDES]
    first = len(points)
    for j in range(RINGS + 1):
        ring = points[j * SIDES:(j + 1) * SIDES]
        points.append(tuple(sum(p[c] for p in ring) / SIDES for c in range(3)))
    tets = []
    for j in range(RINGS):
        for k in range(SIDES):
            low = sorted((first + j, j * SIDES + k, j * SIDES + (k + 1) % SIDES))
            high = {first + j: first + j + 1}
            for i in low:
                high.setdefault(i, i + SIDES)
            a, b, c = low
            tets += [(a, b, c, high[c]), (a, b, high[b], high[c]), (a, high[a], high[b], high[c])]
    return points, tets


def palm_of_frames() -> tuple[list, list, list]:
    """Nodes and tets of trunk and fronds, which do not touch, and the paths of their frames: those of the fronds begin at
    the top of the trunk."""
    nodes, tets = filled_trunk()
    axis = [(-0.38 * (1 - k / TRUNK_BONES) ** 1.6, HEIGHT * k / TRUNK_BONES, 0.0) for k in range(TRUNK_BONES + 1)]
    paths = [axis]
    points, triangles = frond()
    blade, blade_tets = thickened(points, triangles)
    for index in range(FRONDS):
        first = len(nodes)
        nodes += [crown_place(index, p) for p in blade]
        tets += [tuple(i + first for i in tet) for tet in blade_tets]
        path = [axis[-1]]
        for k in range(1, FROND_BONES + 1):
            x, y, _ = rib(0.06 + 0.94 * (k - 0.5) / (FROND_BONES - 0.5))
            path.append(crown_place(index, (x, y, 0)))
        paths.append(path)
    return nodes, tets, paths


def closed_tube(points: list, sides: int) -> list:
    """Triangles over rings of `sides` points each, from the bottom up; the last two points are the middles of both ends."""
    bottom, top, last = len(points) - 2, len(points) - 1, len(points) - 2 - sides
    triangles = []
    for k in range(sides):
        following = (k + 1) % sides
        for ring in range(0, last, sides):
            a, b = ring + k, ring + following
            triangles += [(a, a + sides, b), (b, a + sides, b + sides)]
        triangles += [(bottom, k, following), (top, last + following, last + k)]
    return triangles


def cone(radius: float = 0.2, height: float = 0.5, sides: int = 24, rounding: float = 0.015) -> tuple[list, list]:
    """Stands on y = 0; its tip is cut off where its radius is `rounding`, and has a low cap."""
    rings = [(radius, 0.0), (radius * 0.55, height * 0.45), (rounding, height * (1 - rounding / radius))]
    points = [(r * math.cos(2 * math.pi * k / sides), y, r * math.sin(2 * math.pi * k / sides))
              for r, y in rings for k in range(sides)]
    points += [(0, 0, 0), (0, rings[-1][1] + rounding / 2, 0)]
    return points, closed_tube(points, sides)


# Of the shirt from its hem to its collar, which ends inside the neck, and of the head from inside the shirt to the
# crown: height, half width, half depth of their sections, which are ellipses, and how far these lie behind the axis [m].
SHIRT = [(-0.34, 0.145, 0.095, 0.0), (-0.26, 0.16, 0.10, 0.0), (-0.18, 0.185, 0.105, 0.0), (-0.125, 0.19, 0.10, 0.0),
         (-0.085, 0.16, 0.085, 0.0), (-0.06, 0.11, 0.07, 0.0), (-0.042, 0.066, 0.062, 0.0), (-0.046, 0.04, 0.04, 0.0)]
HEAD = [(-0.08, 0.04, 0.04, 0.0), (-0.05, 0.052, 0.05, 0.0), (0.0, 0.05, 0.052, 0.0), (0.03, 0.062, 0.07, -0.008),
        (0.07, 0.074, 0.09, -0.01), (0.12, 0.078, 0.096, -0.008), (0.17, 0.072, 0.088, -0.006), (0.205, 0.054, 0.066, -0.004),
        (0.228, 0.027, 0.034, -0.002)]
BUST_SIDES, BUST_FRAMES, BUST_DT = 16, 16, 0.1  # and the time between two frames [s]


def bust(time: float, rings: list, rise: float) -> tuple[list, list]:
    """Closed; the last section ends in a point `rise` above it. The head turns to both sides and nods; the shoulders follow
    a little."""
    def smooth(x: float) -> float:
        x = min(max(x, 0.0), 1.0)
        return x * x * (3 - 2 * x)

    turn = math.radians(42) * (smooth((time - 0.2) / 0.3) - 2 * smooth((time - 0.65) / 0.35) + smooth((time - 1.15) / 0.3))
    nod = math.radians(16) * (smooth((time - 0.3) / 0.3) - smooth((time - 0.9) / 0.3))
    shrug = 0.02 * math.sin(math.pi * smooth((time - 0.5) / 0.9))
    points = []

    def place(x: float, y: float, z: float):
        share = smooth((y + 0.06) / 0.09)  # of the head's motion, from the neck upwards
        a, b = turn * (0.12 + 0.88 * share), nod * share
        y, z = y * math.cos(b) - z * math.sin(b), y * math.sin(b) + z * math.cos(b)
        x, z = x * math.cos(a) + z * math.sin(a), z * math.cos(a) - x * math.sin(a)
        raised = shrug * math.exp(-((y + 0.11) / 0.06) ** 2)
        points.append((x, y + raised, z))

    for y, width, depth, back in rings:
        for k in range(BUST_SIDES):
            angle = 2 * math.pi * k / BUST_SIDES
            place(width * math.cos(angle), y, back + depth * math.sin(angle))
    place(0, rings[0][0] - 0.005, 0)
    place(0, rings[-1][0] + rise, rings[-1][3])
    return points, closed_tube(points, BUST_SIDES)


def head(time: float) -> tuple[list, list]:
    return bust(time, HEAD, 0.008)


def shirt(time: float) -> tuple[list, list]:
    return bust(time, SHIRT, 0.0)


def scalp() -> tuple[list, list]:
    """The part of the head at the start, with the same triangles, on which hair grows: not the face, which is at +z."""
    points, triangles = head(0)

    def grows(corners: tuple) -> bool:
        y, z = (sum(points[i][axis] for i in corners) / 3 for axis in (1, 2))
        return y > 0.155 or (y > 0.05 and z < 0.03)

    kept = [t for t in triangles if grows(t)]
    used = sorted({i for t in kept for i in t})
    number = {i: k for k, i in enumerate(used)}
    return [points[i] for i in used], [tuple(number[i] for i in t) for t in kept]


# A dress form from below: height, half width and half depth of its sections, which are ellipses [m].
FORM = [(0.70, 0.09, 0.07), (0.715, 0.135, 0.105), (0.77, 0.162, 0.125), (0.83, 0.168, 0.128), (0.89, 0.155, 0.118),
        (0.95, 0.13, 0.105), (1.02, 0.104, 0.098), (1.08, 0.11, 0.092), (1.16, 0.132, 0.102), (1.23, 0.148, 0.118),
        (1.30, 0.15, 0.102), (1.36, 0.165, 0.086), (1.40, 0.135, 0.074), (1.425, 0.075, 0.06), (1.46, 0.052, 0.05),
        (1.495, 0.048, 0.046)]
FORM_SIDES = 28


def form() -> tuple[list, list]:
    points = [(width * math.cos(2 * math.pi * k / FORM_SIDES), y, depth * math.sin(2 * math.pi * k / FORM_SIDES))
              for y, width, depth in FORM for k in range(FORM_SIDES)]
    points += [(0, FORM[0][0] - 0.004, 0), (0, FORM[-1][0] + 0.008, 0)]
    return points, closed_tube(points, FORM_SIDES)


# Of the waist: its height and radius; of the skirt: its length along a panel, and edges of its triangles [m]; the angle of
# a panel, which is a sector of a ring.
WAIST, WAIST_RADIUS, SKIRT, SKIRT_EDGE, PANEL = 1.02, 0.112, 0.40, 0.03, math.radians(135)


def skirt() -> tuple[list, list, list, list]:
    """Two panels of the same cut, sewn at both sides, as the cone that they fit: points, texture coordinates [cm], and
    triangles by their points and by their coordinates. Warp runs down the middle of each panel."""
    slope = PANEL / math.pi  # sine of the angle between the cone and its axis
    first = WAIST_RADIUS / slope
    rings = round(SKIRT / SKIRT_EDGE)
    radii = [first + SKIRT * j / rings for j in range(rings + 1)]
    cells = [max(4, round(PANEL * r / SKIRT_EDGE)) for r in radii]  # of a panel
    points, number = [], {}
    for j, (r, n) in enumerate(zip(radii, cells)):
        for k in range(2 * n):
            angle = math.pi * (k / n - 0.5)  # from the middle of the front panel; the panels join at k = 0 and n
            number[j, k] = len(points)
            points.append((slope * r * math.sin(angle), WAIST - (r - first) * math.sqrt(1 - slope * slope),
                           slope * r * math.cos(angle)))
    flat, triangles, flat_triangles = [], [], []
    for panel in range(2):
        rows = []
        for j, (r, n) in enumerate(zip(radii, cells)):
            row = []
            for k in range(n + 1):
                angle = PANEL * (k / n - 0.5)
                row.append((number[j, (panel * n + k) % (2 * n)], len(flat), k / n))
                flat.append((100 * r * math.cos(angle), 100 * r * math.sin(angle) + 160 * panel))
            rows.append(row)
        for low, high in zip(rows, rows[1:]):
            a = b = 0  # the last points of the strip so far
            while a + 1 < len(low) or b + 1 < len(high):
                ahead = b + 1 == len(high) or (a + 1 < len(low) and low[a][2] + low[a + 1][2] < high[b][2] + high[b + 1][2])
                corners = (low[a], high[b], low[a + 1]) if ahead else (low[a], high[b], high[b + 1])
                triangles.append(tuple(c[0] for c in corners))
                flat_triangles.append(tuple(c[1] for c in corners))
                a, b = (a + 1, b) if ahead else (a, b + 1)
    return points, flat, triangles, flat_triangles


def write(name: str, comment: str, mesh: tuple[list, list]):
    points, triangles = mesh
    (FOLDER / name).parent.mkdir(exist_ok=True)
    text = f"# {comment}\n" + "".join(f"v {x:.5f} {y:.5f} {z:.5f}\n" for x, y, z in points)
    (FOLDER / name).write_text(text + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in triangles))


def volume(nodes: list, tet: tuple) -> float:
    a, b, c, d = (nodes[i] for i in tet)
    u, v, w = ([q - p for p, q in zip(a, e)] for e in (b, c, d))
    return (u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0])) / 6


def write_tets(name: str, nodes: list, tets: list):
    """Gmsh's format 2.2."""
    tets = [t if volume(nodes, t) > 0 else (t[0], t[1], t[3], t[2]) for t in tets]
    text = f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{len(nodes)}\n"
    text += "".join(f"{i + 1} {x:.6f} {y:.6f} {z:.6f}\n" for i, (x, y, z) in enumerate(nodes))
    text += f"$EndNodes\n$Elements\n{len(tets)}\n"
    text += "".join(f"{i + 1} 4 2 1 1 {' '.join(str(k + 1) for k in t)}\n" for i, t in enumerate(tets))
    (FOLDER / name).write_text(text + "$EndElements\n")


def write_paths(name: str, comment: str, paths: list):
    places, lines = [], []
    for path in paths:
        numbers = []
        for place in path:
            if place not in places:
                places.append(place)
            numbers.append(places.index(place) + 1)
        lines.append("l " + " ".join(map(str, numbers)) + "\n")
    text = f"# {comment}\n" + "".join(f"v {x:.6f} {y:.6f} {z:.6f}\n" for x, y, z in places)
    (FOLDER / name).write_text(text + "".join(lines))


def write_sewn(name: str, comment: str, mesh: tuple[list, list, list, list]):
    points, flat, triangles, flat_triangles = mesh
    text = f"# {comment}\n" + "".join(f"v {x:.5f} {y:.5f} {z:.5f}\n" for x, y, z in points)
    text += "".join(f"vt {u:.4f} {v:.4f}\n" for u, v in flat)
    for corners, places in zip(triangles, flat_triangles):
        text += "f " + " ".join(f"{a + 1}/{b + 1}" for a, b in zip(corners, places)) + "\n"
    (FOLDER / name).write_text(text)


def main():
    FOLDER.mkdir(exist_ok=True)
    write("palm-frond.obj", "A frond of a palm: a rib with a roof-shaped section, and leaflets on both sides.", frond())
    write("palm-trunk.obj", "The bent trunk of a palm.", trunk())
    nodes, tets, paths = palm_of_frames()
    write_tets("palm-frames.msh", nodes, tets)
    write_paths("palm-frames.obj", "Frames of palm-frames.msh: the trunk, and the fronds from its top.", paths)
    write("cone.obj", "A cone with a blunt tip.", cone())
    write("scalp.obj", "The part of head.obj on which hair grows.", scalp())
    write("dress-form.obj", "A dress form without its stand.", form())
    write_sewn("skirt.obj", "Two panels, whose texture coordinates are their cut in centimetres.", skirt())
    for name, mesh in (("head", head), ("shirt", shirt)):
        write(f"{name}.obj", "Of the scene long-hair, at its start.", mesh(0))
        for k in range(BUST_FRAMES):
            write(f"{name}/{k}.obj", f"{name}.obj after {BUST_DT * (k + 1):.1f} s.", mesh(BUST_DT * (k + 1)))


if __name__ == "__main__":
    main()
