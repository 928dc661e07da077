"""lab: what the tests of the module share: it as `pip install --target` lays it, from the build, and programs that use it."""
import os
import pathlib
import shutil
import subprocess
import sys

import live

CMAKE, BUILD = os.environ.get("TIPPLE_CMAKE", "cmake"), os.environ.get("TIPPLE_BUILD", str(live.ROOT / "build/release"))
MODULE = pathlib.Path.cwd() / "installed"
VENV = live.ROOT / "build/venv/bin/python3"  # with requirements.txt, by tools/test


def install():
    """Lays it into MODULE, from where this process imports it, too."""
    shutil.rmtree(MODULE, ignore_errors=True)
    subprocess.run([CMAKE, "--install", BUILD, "--component", "python", "--prefix", str(MODULE)], check=True, stdout=subprocess.DEVNULL)
    sys.path.insert(0, str(MODULE))


def begin(program, *words, python=(sys.executable, "-S"), **environment):
    """A Python of its own with this program, in which tipple can be imported."""
    return subprocess.Popen([*map(str, python), "-W", "error", "-c", program, *map(str, words)], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(MODULE), **environment})


def python(program, *words, stdin="", **more):
    """What such a program prints; its stderr is empty."""
    process = begin(program, *words, **more)
    out, said = process.communicate(stdin, timeout=live.LONG)
    if process.returncode or said:
        raise AssertionError("status %d\n%s\n%s" % (process.returncode, out, said))
    return out
