"""The house is as docs/internals/design.md draws it: each folder of src has a row in its table, and includes only what stands above."""
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_MODULES = 16  # in one folder; more, and it has two ideas


def rows():
    """The folders of the table, in its order, each with the file to read first."""
    for line in (ROOT / "docs/internals/design.md").read_text().splitlines():
        if line.startswith("| `src/"):
            cells = line.split("|")
            yield re.findall(r"`(src/[^`]+)`", cells[1]), re.findall(r"`([^`]+)`", cells[3])


def sources():
    return sorted(path for path in (ROOT / "src").rglob("*") if path.suffix in (".c", ".cc", ".h"))


def folder(path):
    return path.parent.relative_to(ROOT).as_posix()


class House(unittest.TestCase):
    def setUp(self):
        self.place = {name: at for at, (names, _) in enumerate(rows()) for name in names}

    def place_of(self, path):
        name = path.relative_to(ROOT).as_posix()
        return self.place.get(name, self.place.get(folder(path)))

    def test_rows(self):
        for path in sources():
            self.assertIsNotNone(self.place_of(path), "no row for %s" % folder(path))
        for name in self.place:
            self.assertTrue((ROOT / name).exists(), name)

    def test_first_files(self):
        for names, firsts in rows():
            for first in firsts:
                self.assertTrue(any((ROOT / name / first).exists() for name in names), "%s: %s" % (names, first))

    def test_only_what_stands_above(self):
        for path in sources():
            for name in re.findall(r'#include "([^"]+)"', path.read_text()):
                used = ROOT / "src" / name
                if used.exists():
                    self.assertLessEqual(self.place_of(used), self.place_of(path), "%s includes %s" % (path, name))

    def test_where_it_is_decided(self):
        """of the table in CONTRIBUTING.md: the functions stand where it says"""
        table = re.findall(r"^\| [^|]+ \| `(\w+)` \| `(src/[^`]+)` \|$", (ROOT / "CONTRIBUTING.md").read_text(), re.M)
        self.assertEqual(10, len(table))
        for function, path in table:
            self.assertRegex((ROOT / path).read_text(), r"(?m)^\w[^;\n]*\b%s\(" % function)

    def test_no_folder_with_two_ideas(self):
        modules = {}
        for path in sources():
            modules.setdefault(folder(path), set()).add(path.stem)
        for name, found in modules.items():
            self.assertLessEqual(len(found), MOST_MODULES, name)

    def test_nothing_else_at_the_top(self):
        """what a trial leaves in the top folder is soon committed"""
        try:
            listed = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("this is no repository, or there is no git")
        self.assertEqual({".clang-format", ".clang-tidy", ".gitignore", "CHANGELOG.md", "CMakeLists.txt", "CONTRIBUTING.md",
                          "LICENSE", "README.md", "pyproject.toml"},
                         {name for name in listed.splitlines() if "/" not in name})

    def test_options_apart(self):
        """a name that no option has would be a check that is never made"""
        rows, named = 0, re.compile(r'OPTION\(\s*"([a-z-]+)"')
        shared = named.findall("".join((ROOT / "src" / name).read_text() for name in (
            "cli/options/options.c", "load/spec/load_options.c")))
        for path in (ROOT / "src/cli").glob("cmd_*.c"):
            text = path.read_text()
            known = set(shared + named.findall(text) + ["uri"])
            table = text.partition("apart_t apart[] = {")[2].partition("};")[0]
            for option, others in re.findall(r'\{"([a-z-]+)",\s*"([^"]*)"', table):
                rows += 1
                self.assertLessEqual({option, *others.split()}, known, path.name)
        self.assertGreater(rows, 12)

    def test_headings(self):
        """an option under a heading that options.c does not list would be on no page, and would not be known"""
        headings = [re.findall(r"#define (GROUP_\w+)", (ROOT / "src" / name).read_text()) for name in (
            "cli/options/cli.h", "load/spec/load_options.h")]
        listed = (ROOT / "src/cli/options/options.c").read_text().partition("groups[] = {")[2].partition("};")[0]
        self.assertEqual(sorted(sum(headings, [])), sorted(re.findall(r"GROUP_\w+", listed)))

    def test_one_decimal_point(self):
        """a program in German has set a comma, and uses the library"""
        self.assertEqual([], [path for path in sources() if re.search(r"\bstrto(f|d|ld)\(", path.read_text())])


if __name__ == "__main__":
    unittest.main()
