#!/usr/bin/env python3
"""Tests of tests/group.sh on a made-up test program: a crash fails its test by name and hides no other."""
import pathlib
import subprocess
import tempfile
import textwrap
import unittest

GROUP = pathlib.Path(__file__).resolve().parents[1] / "tests/group.sh"
# Takes a filter of whole names, as GoogleTest does. The name of a test says how it ends.
PROGRAM = textwrap.dedent("""\
    #!/usr/bin/env bash
    filter=${1#--gtest_filter=}
    excluded=:${filter#*-}:
    [[ $filter == *-* ]] || excluded=
    IFS=: read -ra names <<<"${filter%%-*}"
    code=0
    for name in "${names[@]}"; do
      [[ $excluded != *:$name:* ]] || continue
      echo "left over of the last test[ RUN      ] $name"
      case $name in
        *Crashes*) kill -SEGV $$ ;;
        *Exits*) exit 0 ;;
        *Fails*) code=1; echo "[  FAILED  ] $name" ;;
        *) echo "[       OK ] $name" ;;
      esac
    done
    echo "[==========] some tests ran."
    exit $code
    """)


class Group(unittest.TestCase):
    def run_group(self, names: str, program: str = PROGRAM) -> tuple[int, list[str]]:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "program"
            path.write_text(program)
            path.chmod(0o755)
            result = subprocess.run([GROUP, path, names], capture_output=True, text=True, timeout=60)
            return result.returncode, [line for line in result.stdout.splitlines() if "OK ]" in line or "FAILED" in line]

    def test_good_ones(self):
        self.assertEqual(self.run_group("A.A:A.B"), (0, ["[       OK ] A.A", "[       OK ] A.B"]))

    def test_a_failure(self):
        self.assertEqual(self.run_group("A.Fails:A.B"), (1, ["[  FAILED  ] A.Fails", "[       OK ] A.B"]))

    def test_the_rest_runs_after_a_crash(self):
        code, lines = self.run_group("A.A:A.Crashes:A.B:A.Exits:A.Fails:A.C")
        self.assertEqual(code, 1)
        self.assertEqual(lines, ["[       OK ] A.A", "[  FAILED  ] A.Crashes: it ended the process, exit code 139",
                                 "[       OK ] A.B", "[  FAILED  ] A.Exits: it ended the process, exit code 0",
                                 "[  FAILED  ] A.Fails", "[       OK ] A.C"])

    def test_a_crash_of_the_last(self):
        self.assertEqual(self.run_group("A.Crashes")[0], 1)

    def test_a_program_that_does_not_start(self):
        self.assertEqual(self.run_group("A.A", "#!/bin/sh\nexit 3\n")[0], 1)


if __name__ == "__main__":
    unittest.main(verbosity=0)
