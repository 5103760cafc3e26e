#!/usr/bin/env python3
"""films.py: its films are made, small, and shown by docs/manual.md; its scripts have lines that the window knows."""
import pathlib
import re
import tempfile
import unittest

import films


class Films(unittest.TestCase):
    def test_every_film_is_kept_small_and_shown(self):
        page = (films.ROOT / "docs/manual.md").read_text()
        files = {name: f"{name}.png" if make().still else f"{name}.webp" for name, make in films.MAKERS.items()}
        self.assertEqual({path.name for path in films.FILMS.iterdir()}, set(files.values()))
        for name, file in files.items():
            data = (films.FILMS / file).read_bytes()
            self.assertLessEqual(len(data), films.LARGEST, name)
            if file.endswith(".png"):
                self.assertEqual(data[1:4], b"PNG", name)
            else:
                self.assertEqual((data[:4], data[8:12]), (b"RIFF", b"WEBP"), name)
                self.assertIn(b"ANIM", data[:64], f"{name} does not move")
            self.assertEqual(page.count(f"](manual/{file})"), 1, name)

    def test_scripts_have_known_lines_and_pictures(self):
        page = (films.ROOT / "docs/manual.md").read_text()
        actions = set(re.findall(r"\| `(\w+)` \|$", page, re.MULTILINE))
        self.assertIn("screenshot", actions)
        for name, make in films.MAKERS.items():
            film = make()
            self.assertTrue((films.ROOT / f"assets/scenes/{film.scene}.toml").exists(), name)
            self.assertIn("screenshot", film.lines, name)
            for line in film.lines:
                word = line.split()[0]
                self.assertTrue(word in actions or re.fullmatch(r"steps \d+|rewind \d+|set [a-z_]+=[\d.]+", line), f"{name}: {line}")
            width, height, left, top = film.crop
            self.assertTrue(0 <= left and left + width <= films.SCREEN[0] and 0 <= top and top + height <= films.SCREEN[1], name)

    def test_pictures_are_in_the_order_of_their_numbers(self):
        with tempfile.TemporaryDirectory() as folder:
            for number in (10, 9, 1, 2):
                (pathlib.Path(folder) / f"stickslip-card-house-{number}.png").write_text("")
            self.assertEqual([path.stem[-2:].strip("-") for path in films.pictures(pathlib.Path(folder))], ["1", "2", "9", "10"])


if __name__ == "__main__":
    unittest.main(verbosity=0)
