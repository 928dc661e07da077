"""The tests of a build by their names: what ctest knows, and each golden case as cli.NAME.

  testnames.py TREE --list [WORD ...]    a line each: its name and its file; of those that have such a word in their
                                         name, their file or the names of their parts
  testnames.py TREE [--no-server] NAME ...
                                         what is needed to run those tests (without those that need a server), a line each:
                                         build TARGET, server, test NAME (of ctest), case NAME (of tests/cli/run)

A NAME is a test's name, with or without what stands before it (unit., live.standalone.test_), or its file; if there is
no such test, a kind of tests (fuzz), or a regular expression.
"""
import collections
import difflib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEFORE = re.compile(r"^(?:(?:unit|fuzz|sim|fault|oracle|cli|live)[.])?(?:(?:standalone|replset)[.])?(?:test_)?")
PARTS = re.compile(r"^\s*(?:cmocka_unit_test\w*\((\w+)|def (test_\w+)\()", re.M)
KINDS = ("cli", "fault", "fuzz", "live", "oracle", "sim", "unit")
Test = collections.namedtuple("Test", "name path programs server")  # path: its source, below ROOT; programs: of cmake

RULES = (  # how a name begins, the file, what cmake has to build
    ("unit.", "tests/unit/test_{}.c", "test_{}"),
    ("unit.", "tests/unit/test_{}.py", "tipple"),
    ("unit.box.", "tests/live/{}.c", "live_{} box_run"),
    ("package", "tests/package/test_package.py", "tipple"),
    ("docs", "tests/docs/run", "tipple labrouter"),
    ("sim.", "tests/sim", "simulate"),
    ("fuzz.", "tests/fuzz/fuzz_{}.c", "fuzz_{}"),
    ("live.", "tests/live/{}.c", "live_{} tipple"),
    ("live.", "tests/live/{}.py", "tipple labrouter report_page"),
    ("fault.", "tests/fault/test_{}.py", "tipple labrouter fault_shim tipple_faulty"),
    ("oracle.", "tests/oracle/test_{}.py", "tipple"),
)


class Unknown(Exception):
    pass


def of_name(name):
    """A test of ctest, after the rules of tests/CMakeLists.txt, which names tests by their files."""
    own = name.rpartition(".")[2]
    for begins, source, programs in RULES:
        if name.startswith(begins) and (ROOT / source.format(own)).exists():
            return Test(name, source.format(own), tuple(each.format(own) for each in programs.split()),
                        begins in ("live.", "fault."))
    return Test(name, "tests", ("all",), True)


def golden():
    """The golden cases."""
    cases = sorted((ROOT / "tests/cli/cases").glob("*.case"))
    return [Test("cli." + path.stem, str(path.relative_to(ROOT)), ("tipple",), "\n# needs: " in "\n" + path.read_text())
            for path in cases]


def of_build(tree):
    """What ctest knows there, without the servers' start and stop, and the golden cases in place of the test of all. Read
    from the file that ctest reads: ctest itself would begin its log anew, be it in the middle of a run."""
    listed = (pathlib.Path(tree) / "tests/CTestTestfile.cmake").read_text()
    names = re.findall(r'^add_test\((?:\[=*\[|")?([^\s"\]]+)', listed, re.M)
    return sorted([of_name(name) for name in names if name != "cli" and not name.startswith("server.")] + golden())


def short(name):
    return BEFORE.sub("", name)


def parts_with(test, word):
    """The parts of a test that have this word in their name."""
    if pathlib.Path(test.path).suffix not in (".c", ".py"):
        return []
    return [name for name in map("".join, PARTS.findall((ROOT / test.path).read_text())) if word.lower() in name]


def nearest(tests, name):
    """What somebody may have meant by a name that no test has, as the pieces of a sentence."""
    names = {}
    for test in tests:
        names.setdefault(short(test.name), test.name)
        names[test.name] = test.name
    near = dict.fromkeys(names[each] for each in difflib.get_close_matches(short(name), names, 5, 0.6))
    with_part = {test.path: "%s has %s" % (test.name, part) for test in tests for part in parts_with(test, name)[:1]}
    return ["did you mean %s?" % ", ".join(near)] * bool(near) + list(with_part.values())[:4]


def matching(tests, name):
    """The tests that are meant by a name; Unknown says what else there is."""
    path = str(pathlib.Path(name)).replace(str(ROOT) + "/", "")
    if name in KINDS:
        return [test for test in tests if test.name.startswith(name + ".")]
    wanted = [test for test in tests if name == test.name] or \
        [test for test in tests if name == short(test.name) or path == test.path]
    if wanted:
        return wanted
    try:
        wanted = [test for test in tests if re.search(name, test.name)]
    except re.error as error:
        raise Unknown("%s is no test, and no regular expression (%s); tools/test --list has all names" % (name, error))
    if wanted:
        return wanted
    raise Unknown("; ".join(["there is no test %s" % name, *nearest(tests, name), "tools/test --list has all names"]))


def unite(tests, names):
    """The tests of all these names, each once."""
    return sorted({test.name: test for name in names for test in matching(tests, name)}.values())


def plan(tests):
    """What is needed to run these tests, as lines."""
    tests = list(tests)
    lines = ["build " + each for each in sorted({program for test in tests for program in test.programs})]
    lines += ["server"] * any(test.server for test in tests)
    return lines + [("case " + test.name[4:]) if test.name.startswith("cli.") else "test " + test.name for test in tests]


def main(tree, *words):
    tests = of_build(tree)
    try:
        if words[:1] == ("--list",):
            for test in tests:
                if all(word in test.name + " " + test.path or parts_with(test, word) for word in words[1:]):
                    print("%-45s %s" % (test.name, test.path))
        elif words[:1] == ("--no-server",):
            print("\n".join(plan(test for test in unite(tests, words[1:]) if not test.server)))
        else:
            print("\n".join(plan(unite(tests, words))))
    except Unknown as error:
        print("tools/test: %s" % error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
