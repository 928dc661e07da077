"""What is installed: the command, its man pages, and a library that a stranger's program is built with, by pkg-config."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import unittest

CMAKE, BUILD, COMPILER = sys.argv[1:4]
SOURCE = pathlib.Path(__file__).with_name("use.c")


def run(*words, **more):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, **more)
    if done.returncode:
        raise AssertionError("%s: status %d\n%s%s" % (words[0], done.returncode, done.stdout, done.stderr))
    return done.stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.prefix = pathlib.Path.cwd() / "a prefix"
        shutil.rmtree(cls.prefix, ignore_errors=True)
        run(CMAKE, "--install", BUILD, "--prefix", cls.prefix)

    def test_command(self):
        self.assertRegex(run(self.prefix / "bin/tipple", "--version"), r"^tipple [0-9]+\.[0-9]+\.[0-9]+\n$")
        pages = {page.name: page.read_text() for page in self.pages()}
        self.assertEqual(set(run(self.prefix / "bin/tipple", "help", "--man-list").split()), set(pages))
        for name, text in pages.items():
            self.assertTrue(text.startswith(".TH TIPPLE"), name)

    def test_completion(self):
        for shell, path in (("bash", "bash-completion/completions/tipple"), ("zsh", "zsh/site-functions/_tipple"),
                            ("fish", "fish/vendor_completions.d/tipple.fish")):
            script = (self.prefix / "share" / path).read_text()
            self.assertEqual(run(self.prefix / "bin/tipple", "completion", shell), script)

    def pages(self):
        return sorted(self.prefix.glob("share/man/man[15]/*"))

    def flags(self):
        found, = self.prefix.glob("lib/**/tipple.pc")
        return run("pkg-config", "--cflags", "--libs", "tipple", env={**os.environ, "PKG_CONFIG_PATH": str(found.parent)})

    def test_library(self):
        flags = self.flags()
        self.assertIn("-ltipple", flags)
        run(COMPILER, "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", SOURCE, "-o", "use", *shlex.split(flags))
        self.check_use()

    def check_use(self):
        said = run("./use").splitlines()
        self.assertEqual("2: a document", said[0])
        self.assertRegex(said[1], "^3: .*field")
        self.assertEqual(2, len(said))

    def test_names(self):
        """Of all names of the library only those of its header are in the way of a host's own."""
        library, = self.prefix.glob("lib/**/libtipple.a")
        header = (self.prefix / "include/tipple/tipple.h").read_text()
        promised = set(re.findall(r"^TIPPLE_API [^;(]*?(\w+)\(", header, re.MULTILINE))
        self.assertIn("tipple_load", promised)
        listed = run("nm", "-P", "-g", "--defined-only", library)
        self.assertEqual(promised, {line.split()[0] for line in listed.splitlines() if line and not line.endswith(":")})

    def test_host_with_names_of_its_own(self):
        """Functions of the host that are called as inner ones of the library are not called by it, nor in its way."""
        own = pathlib.Path("own.c")
        own.write_text("long format_open(const char *path, int mode);\nvoid log_error(const char *text);\n"
                       "int log_warn;\nlong format_open(const char *path, int mode) { return path[mode] * 0; }\n"
                       "void log_error(const char *text) { *(volatile char *)0 = *text; }\n")
        run(COMPILER, "-std=c99", SOURCE, own, "-o", "use", *shlex.split(self.flags()))
        self.check_use()

    @unittest.skipUnless(shutil.which("c++"), "there is no C++ compiler")
    def test_library_in_cplusplus(self):
        run("c++", "-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", SOURCE, "-x", "none",
            "-o", "use", *shlex.split(self.flags()))
        self.check_use()

    def test_all_that_is_installed_is_built_with_the_command(self):
        """The guide builds `--target tipple` alone, and installs that."""
        if not (pathlib.Path(BUILD) / "build.ninja").exists():
            self.skipTest("not built with ninja")
        commands = run("ninja", "-C", BUILD, "-t", "commands", "tipple")
        for page in self.pages():
            self.assertIn(page.name, commands)
        self.assertIn("libtipple.a", commands)


unittest.main(argv=sys.argv[:1])
