"""What is installed: the command, its man pages, and a library that strangers' programs in C and C++ use, by
pkg-config or by CMake. Those that load need a server (TIPPLE_TEST_URI)."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import unittest

import minimongo

CMAKE, BUILD, COMPILER = sys.argv[1:4]
SOURCE = pathlib.Path(__file__).with_name("use.c")
EXAMPLES = SOURCE.parents[2] / "examples"
URI = os.environ.get("TIPPLE_TEST_URI")


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
        cls.folder = next(cls.prefix.glob("lib/**/libtipple.a")).parent
        cls.header = (cls.prefix / "include/tipple/tipple.h").read_text()
        cls.promised = set(re.findall(r"^TIPPLE_API [^;(]*?(\w+)\(", cls.header, re.MULTILINE))
        cls.with_library = {**os.environ, "LD_LIBRARY_PATH": str(cls.folder)}

    def test_command(self):
        version = run(self.prefix / "bin/tipple", "--version").splitlines()
        self.assertRegex(version[0], r"^tipple [0-9]+\.[0-9]+\.[0-9]+$")
        self.assertRegex(version[1], r"^libmongoc [0-9]+\.[0-9]+\.[0-9]+")
        self.assertRegex(version[2], r"^reads isal [0-9.]+, zstd [0-9.]+, lzma [0-9.]+, bzip2 [0-9.]+, writes zlib [0-9.]+$")
        pages = {page.name: page.read_text() for page in self.pages()}
        commands = re.findall(r"(?m)^  ([a-z]+)  ", run(self.prefix / "bin/tipple", "help"))
        self.assertEqual({"tipple.1", "tipple-formats.5", "tipple-suites.5", *("tipple-%s.1" % name for name in commands)}, set(pages))
        for name, text in pages.items():
            self.assertTrue(text.startswith(".TH TIPPLE"), name)

    def test_completion(self):
        for shell, path in (("bash", "bash-completion/completions/tipple"), ("zsh", "zsh/site-functions/_tipple"),
                            ("fish", "fish/vendor_completions.d/tipple.fish")):
            script = (self.prefix / "share" / path).read_text()
            self.assertEqual(run(self.prefix / "bin/tipple", "completion", shell), script)

    def configured(self, folder, *words):
        shutil.rmtree(folder, ignore_errors=True)
        return run(CMAKE, "-S", SOURCE.parents[2], "-B", folder, "-G", "Ninja", "-DCMAKE_C_COMPILER=" + COMPILER, *words)

    def test_without_python(self):
        """The command needs none: without it only the tests are left out, and that is said."""
        said = self.configured("without python", "-DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON")
        self.assertIn("the tests are left out", said)
        self.assertFalse(pathlib.Path("without python/tests").exists())

    @unittest.skipUnless(os.environ.get("TIPPLE_NIGHTLY") == "1", "only with TIPPLE_NIGHTLY=1")
    def test_without_cmocka(self):
        """tools/quickstart installs none: what needs it is left out, and all else is there."""
        hidden = pathlib.Path("pkg-config without cmocka")
        hidden.write_text("""#!/bin/sh
case "$*" in *cmocka*) exit 1 ;; esac
exec pkg-config "$@"
""")
        hidden.chmod(0o755)
        said = self.configured("without cmocka", "-DPKG_CONFIG_EXECUTABLE=" + str(hidden.absolute()))
        self.assertIn("cmocka is not installed", said)
        self.assertTrue(pathlib.Path("without cmocka/tests").exists())

    def pages(self):
        return sorted(self.prefix.glob("share/man/man[15]/*"))

    def flags(self, *more):
        found = self.folder / "pkgconfig"
        return shlex.split(run("pkg-config", "--cflags", "--libs", *more, "tipple",
                               env={**os.environ, "PKG_CONFIG_PATH": str(found)}))

    def bson_of_driver(self):
        """From driver 2 on it has another name."""
        return "bson2" if "mongoc2" in (self.folder / "pkgconfig/tipple.pc").read_text() else "libbson-1.0"

    def static_flags(self):
        """The archive itself, so that the shared library next to it is not taken."""
        return [str(self.folder / "libtipple.a") if flag == "-ltipple" else flag for flag in self.flags("--static")]

    def test_library(self):
        for flags in (self.flags(), self.static_flags()):
            run(COMPILER, "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", SOURCE, "-o", "use", *flags)
            self.check_use()

    def check_use(self, program="./use"):
        said = run(program, env=self.with_library).splitlines()
        self.assertEqual("2: a document", said[0])
        self.assertRegex(said[1], "^3: .*field")
        self.assertEqual(2, len(said))

    def test_names(self):
        """Of all names of both libraries only those of the header are in the way of a host's own."""
        self.assertIn("tipple_load_push", self.promised)
        for library, dynamic in ((self.folder / "libtipple.a", ()), (self.folder / "libtipple.so", ("-D",))):
            listed = run("nm", *dynamic, "-P", "-g", "--defined-only", library)
            self.assertEqual(self.promised,
                             {line.split()[0] for line in listed.splitlines() if line and not line.endswith(":")})

    def test_list_of_symbols(self):
        """What the shared library exports is written down, with the version since which: programs may count on it. Who adds
        a function adds a line; where one is lost, TIPPLE_SOVERSION is one more."""
        first, *lines = (EXAMPLES.parent / "package/symbols").read_text().splitlines()
        soname = re.search(r"soname: \[(.*?)\]", run("readelf", "-d", self.folder / "libtipple.so")).group(1)
        self.assertEqual([soname, "libtipple" + soname[-1]], first.split()[:2])
        listed = [re.fullmatch(r" (\w+)@Base (\d+\.\d+\.\d+)", line) for line in lines if line.startswith(" ")]
        self.assertEqual(sorted(self.promised), [each.group(1) for each in listed])
        version = re.match(r"tipple (\S+)", run(self.prefix / "bin/tipple", "--version")).group(1)
        for each in listed:
            self.assertLessEqual([int(n) for n in each.group(2).split(".")], [int(n) for n in version.split(".")])

    def test_version(self):
        """One version, that of the list of changes, is the same wherever a version stands."""
        version = re.search(r"^## (\S+) \(", (EXAMPLES.parent / "CHANGELOG.md").read_text(), re.MULTILINE).group(1)
        self.assertEqual("tipple " + version, run(self.prefix / "bin/tipple", "--version").splitlines()[0])
        self.assertRegex((self.folder / "pkgconfig/tipple.pc").read_text(), "(?m)^Version: %s$" % re.escape(version))
        self.assertIn('set(PACKAGE_VERSION "%s")' % version,
                      (self.folder / "cmake/tipple/tipple-config-version.cmake").read_text())
        self.assertTrue((self.folder / ("libtipple.so." + version)).is_file())

    def test_soname(self):
        self.assertIn("soname: [libtipple.so.0]", run("readelf", "-d", self.folder / "libtipple.so"))
        self.assertTrue((self.folder / "libtipple.so.0").exists())

    def test_host_with_names_of_its_own(self):
        """Functions of the host that are called as inner ones of the library are not called by it, nor in its way."""
        own = pathlib.Path("own.c")
        own.write_text("long format_open(const char *path, int mode);\nvoid log_error(const char *text);\n"
                       "int log_warn;\nlong format_open(const char *path, int mode) { return path[mode] * 0; }\n"
                       "void log_error(const char *text) { *(volatile char *)0 = *text; }\n")
        for flags in (self.flags(), self.static_flags()):
            run(COMPILER, "-std=c99", SOURCE, own, "-rdynamic", "-o", "use", *flags)
            self.check_use()

    @unittest.skipUnless(shutil.which("c++"), "there is no C++ compiler")
    def test_library_in_cplusplus(self):
        run("c++", "-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", SOURCE, "-x", "none",
            "-o", "use", *self.flags())
        self.check_use()

    def test_cmake_package(self):
        folder = pathlib.Path("with cmake")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.18)\nproject(use LANGUAGES C)\n"
            "find_package(tipple 0.2 REQUIRED COMPONENTS static)\nadd_executable(shared \"%s\")\n"
            "target_link_libraries(shared tipple::tipple)\nadd_executable(static \"%s\")\n"
            "target_link_libraries(static tipple::static)\n" % (SOURCE, SOURCE))
        run(CMAKE, "-G", "Ninja", "-S", folder, "-B", folder / "build", "-DCMAKE_C_COMPILER=" + COMPILER,
            "-DCMAKE_PREFIX_PATH=%s" % self.prefix)
        run(CMAKE, "--build", folder / "build")
        for name in ("shared", "static"):
            self.check_use(folder / "build" / name)
        self.assertIn("libtipple.so.0", run("readelf", "-d", folder / "build/shared"))
        self.assertNotIn("libtipple", run("readelf", "-d", folder / "build/static"))

    def test_python(self):
        """By ctypes, from the shared library alone."""
        code = "import ctypes; l = ctypes.CDLL('libtipple.so.0'); l.tipple_version.restype = ctypes.c_char_p; " \
               "print(l.tipple_version().decode(), end='')"
        self.assertEqual(run(self.prefix / "bin/tipple", "--version"),
                         run(sys.executable, "-c", code, env=self.with_library))

    def test_unloading(self):
        """After dlclose, too, the threads of a load's connections can come to their end."""
        run(sys.executable, "-c", """if True:
            import _ctypes, ctypes, time
            library = ctypes.CDLL("libtipple.so.0")
            library.tipple_load_new.restype = ctypes.c_void_p
            load = ctypes.c_void_p(library.tipple_load_new(b"mongodb://127.0.0.1:1/a.b", None))
            for option, value in ((b"input-name", b"rows"), (b"patience", b"0s")):
                assert library.tipple_load_set(load, option, value, None)
            library.tipple_load_push(load, b"a,b\\n1,2\\n", 8, None)
            library.tipple_load_finish(load, None)
            library.tipple_load_destroy(load)
            _ctypes.dlclose(library._handle)
            time.sleep(2)""", env=self.with_library)

    def examples(self):
        """Built, as words to run."""
        run(COMPILER, "-Wall", "-Wextra", "-Werror", EXAMPLES / "push.c", "-o", "push", *self.flags())
        yield "push", ["./push"]
        if shutil.which("c++"):
            run("c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", EXAMPLES / "documents.cpp", "-o", "documents",
                *self.flags(self.bson_of_driver()))
            yield "documents", ["./documents"]

    @unittest.skipUnless(URI, "TIPPLE_TEST_URI is not set")
    def test_page(self):
        """The smallest program of docs/library.md prints what the page says."""
        page = (EXAMPLES.parent / "docs/library.md").read_text()
        program = re.search(r"\n\n(    #include <stdio.h>\n.*?\n    \}\n)", page, re.DOTALL).group(1)
        uri, collection = "mongodb://127.0.0.1/shop.from_c", "tipple_page_%d.orders" % os.getpid()
        self.assertIn(uri, program)
        base, _, query = URI.partition("/?")
        client = minimongo.Client(URI)
        self.addCleanup(client.close)
        self.addCleanup(client.drop_database, collection.split(".")[0])
        pathlib.Path("small.c").write_text(program.replace(uri, "%s/%s?%s" % (base, collection, query)))
        run(COMPILER, "-Wall", "-Wextra", "-Werror", "small.c", "-o", "small", *self.flags())
        for printed in re.search(r"prints `(.*?)`, and when it is run again `(.*?)`", page).groups():
            self.assertEqual(printed + "\n", run("./small", env=self.with_library))

    @unittest.skipUnless(URI, "TIPPLE_TEST_URI is not set")
    def test_examples(self):
        base, _, query = URI.partition("/?")
        client = minimongo.Client(URI)
        self.addCleanup(client.close)
        self.addCleanup(client.drop_database, "tipple_package_%d" % os.getpid())
        rows = "name,born\n" + "".join("n%d,18%02d-01-01\n" % (i, i % 100) for i in range(1000))
        for name, words in self.examples():
            uri = "%s/tipple_package_%d.%s?%s" % (base, os.getpid(), name, query)
            for again in range(2):
                printed = run(*words, uri, *(["rows"] if name == "push" else ["1000"]), env=self.with_library,
                           input=rows if name == "push" else None)
                self.assertRegex(printed, "loaded %d\\b" % (0 if again else 1000), name)
                if name != "push":
                    self.assertRegex(printed, "there before %d\n" % (1000 if again else 0), name)
        self.assertNotEqual(0, subprocess.run(["./push", "mongodb://127.0.0.1:1/a.b?serverSelectionTimeoutMS=100", "x"],
                                              env=self.with_library, input="", capture_output=True).returncode)

    def test_all_that_is_installed_is_built_with_the_command(self):
        """The guide builds `--target tipple` alone, and installs that."""
        if not (pathlib.Path(BUILD) / "build.ninja").exists():
            self.skipTest("not built with ninja")
        commands = run("ninja", "-C", BUILD, "-t", "commands", "tipple")
        for page in self.pages():
            self.assertIn(page.name, commands + "tipple-formats.5 tipple-suites.5")  # these are written by hand
        self.assertIn("libtipple.a", commands)
        self.assertIn("libtipple.so.0", commands)


unittest.main(argv=sys.argv[:1] + sys.argv[4:])
