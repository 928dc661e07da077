#!/usr/bin/env python3
"""Generated rows of every release against an independent reader of what the published files allow."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RELEASES = ["2013", "2016", "2017-first", "2017", "2020", "2021", "2023", "2024"]
ROWS = "60000" if os.environ.get("TIPPLE_NIGHTLY") == "1" else "15000"


def main():
    tipple = os.environ["TIPPLE"]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for release in RELEASES:
            path = os.path.join(folder, release)
            subprocess.run([tipple, "generate", "mot", "--rows", ROWS, "--seed", "7", "--release", release, "-o", path],
                           check=True)
            done = subprocess.run([sys.executable, os.path.join(HERE, "mot_rows_check.py"), path, "--release", release,
                                   "--rows", ROWS], capture_output=True, text=True)
            passed += done.returncode == 0
            failed += done.returncode != 0
            if done.returncode:
                print(f"release {release}:\n{done.stdout}{done.stderr}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
