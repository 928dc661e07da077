"""What the tests of the slow readers have in common: where tipple is, how to run it, and what it says of rejects."""
import csv
import io
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(os.environ.get("TIPPLE_ROOT") or pathlib.Path(__file__).resolve().parents[2])
TIPPLE = os.environ.get("TIPPLE") or str(ROOT / "build/release/tipple")
NIGHTLY = os.environ.get("TIPPLE_NIGHTLY") == "1"  # tools/test --nightly: all of it
REJECTED = re.compile(r"rejected (.*):(\d+):(\d+) \(offset (\d+)\): .")


def generated(kind, *arguments):
    status, out, err = tipple("generate", kind, *arguments)
    assert status == 0, err
    return out


def rows_behind(header, data):
    """Of made-up files without quotes."""
    first, *rows = csv.reader(io.StringIO(data.decode("ascii")), quoting=csv.QUOTE_NONE)
    assert first == header, first
    return rows


def tipple(*arguments, data=None):
    done = subprocess.run([TIPPLE, *map(str, arguments)], input=data, capture_output=True, timeout=900)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")
