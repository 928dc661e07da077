"""What pip makes of the source tree, with the libraries of this system: in a venv, from a wheel in other places, and from an sdist. It
builds, so it takes minutes.  needs: none; labels: nightly"""
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import unittest
import zipfile

import live

HERE = pathlib.Path.cwd()
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")}
if shutil.which("ccache"):
    ENVIRONMENT.update(CMAKE_C_COMPILER_LAUNCHER="ccache", CMAKE_CXX_COMPILER_LAUNCHER="ccache")
ASKED = "import tipple; print(tipple.__version__, tipple.binary(), len(list(tipple.parse('a.csv', raw=True))))"
PARTS = {"__init__.py", "__main__.py", "_command.py", "_errors.py", "_library.py", "_load.py", "_rows.py", "libtipple.so", "py.typed"}


def run(*words, cwd=HERE, missing=None, **environment):
    """missing: what this host lacks if it fails; then the whole test is skipped."""
    done = subprocess.run(list(map(str, words)), cwd=cwd, env={**ENVIRONMENT, **environment}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode and missing:
        print("%s\nskipped: %s" % (done.stdout[-1000:], missing))
        sys.exit(77)
    if done.returncode:
        raise AssertionError("%s: status %d\n%s" % (words, done.returncode, done.stdout[-3000:]))
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        (HERE / "a.csv").write_text("id,item\n1,ink\n")
        run(sys.executable, "-m", "venv", "--clear", "venv", missing="this Python makes no venv (apt-get install python3-venv)")
        cls.python = HERE / "venv/bin/python3"
        run(cls.python, "-m", "pip", "install", "scikit-build-core", missing="scikit-build-core cannot be had from a registry")
        run(cls.python, "-m", "pip", "install", live.ROOT)
        run(cls.python, "-m", "pip", "wheel", "--no-deps", "-w", "wheels", live.ROOT)
        cls.wheel = next(HERE.glob("wheels/tipple-*-py3-none-linux_*.whl"))

    def asks(self, python, binary, **environment):
        version, found, documents = run(python, "-c", ASKED, **environment).split()
        self.assertEqual((str(binary), "1"), (found, documents))
        self.assertEqual("tipple %s" % version, run(binary, "--version").splitlines()[0])
        self.assertEqual(b"\x7fELF", binary.read_bytes()[:4])
        return version

    def test_venv(self):
        version = self.asks(self.python, HERE / "venv/bin/tipple")
        self.assertIn("Version: %s\n" % version, run(self.python, "-m", "pip", "show", "tipple"))

    def test_places(self):
        pip = [self.python, "-m", "pip", "install", "--no-index", "--no-deps", "--ignore-installed", self.wheel]
        run(*pip, "--target", HERE / "target")
        self.asks(sys.executable, HERE / "target/bin/tipple", PYTHONPATH=str(HERE / "target"))
        run(*pip, "--prefix", HERE / "prefix")
        (module,) = (HERE / "prefix").glob("lib*/python3*/site-packages")
        self.asks(sys.executable, HERE / "prefix/bin/tipple", PYTHONPATH=str(module))
        run(sys.executable, *pip[1:], "--user", PYTHONUSERBASE=str(HERE / "user"), PIP_BREAK_SYSTEM_PACKAGES="1")
        self.asks(sys.executable, HERE / "user/bin/tipple", PYTHONUSERBASE=str(HERE / "user"))

    def names(self, wheel):
        with zipfile.ZipFile(wheel) as opened:
            return set(opened.namelist())

    def test_sdist(self):
        """all that a build needs, and no more; it makes the same wheel"""
        run(self.python, "-c", "import sys; sys.path.insert(0, 'python'); import backend; backend.build_sdist(sys.argv[1])", HERE / "sdist",
            cwd=live.ROOT)
        with tarfile.open(next(HERE.glob("sdist/*.tar.gz"))) as archive:
            names = archive.getnames()
            archive.extractall(HERE / "unpacked")
        top = names[0].partition("/")[0]
        self.assertEqual({"CHANGELOG.md", "CMakeLists.txt", "LICENSE", "PKG-INFO", "README.md", "include", "package", "pyproject.toml", "python", "src"},
                         {name.split("/")[1] for name in names if name.startswith(top + "/")})
        run(self.python, "-m", "pip", "wheel", "--no-deps", "-w", "again", HERE / "unpacked" / top)
        self.assertEqual(self.names(self.wheel), self.names(next(HERE.glob("again/*.whl"))))
        self.assertEqual(PARTS, {name.partition("/")[2] for name in self.names(self.wheel) if name.startswith("tipple/")})

    def test_gate(self):
        """of tools/package wheel: with the libraries of this system it is no wheel for others"""
        gate = "set -e; source tools/lib/steps.sh; source tools/lib/package/wheel.sh; WHEEL=$1; gate_wheel"
        done = subprocess.run(["bash", "-c", gate, "-", str(HERE)], cwd=live.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertNotEqual(0, done.returncode)
        self.assertRegex(done.stdout, "needs (GLIBC_2[.]|a library that is not of glibc)")


if __name__ == "__main__":
    unittest.main()
