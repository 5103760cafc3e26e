#!/usr/bin/env python3
"""gallery.py: a program that is not built is a message and a failure, and nothing is written."""
import contextlib
import io
import pathlib
import tempfile
import unittest
from unittest import mock

import gallery


class Gallery(unittest.TestCase):
    def test_a_program_that_is_not_built_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            missing, page = pathlib.Path(folder, "stickslip"), pathlib.Path(folder, "page.md")
            for what in (["--check"], ["--page"], []):
                errors = io.StringIO()
                with mock.patch("sys.argv", ["gallery.py", "--program", str(missing), *what]), mock.patch.object(gallery, "PAGE", page), \
                        contextlib.redirect_stderr(errors):
                    self.assertEqual(gallery.main(), 1, what)
                self.assertIn(f"{missing} is not built", errors.getvalue())
                self.assertFalse(page.exists(), what)


if __name__ == "__main__":
    unittest.main()
