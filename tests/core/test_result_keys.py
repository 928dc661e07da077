"""Each key that a command's --json prints is named in docs/, and test_result.c says how each figure is shown."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# what result_put and its like put: AS_TEXT("name", ...), OF(struct, name)
KEY = re.compile(r'\b(?:AS_[A-Z_]+\(|BSON_APPEND_\w+\(\w+, )"(?=\w+")|\bOF\(\w+, (?=\w+\))')
NAMED = re.compile(r'`"?(\w+)"?`|"(\w+)"')
SHORT = re.compile(r"`(\w+_)\.\.\.`")  # `scan_disk_...`: all that begin so
FIGURE = re.compile(r'\b(?:AS_(?:COUNT|NUMBER|SECONDS|COUNT_IF)\(\s*"([^"]+)"|OF\(\w+, (\w+)\))')
NO_FIGURES = set("""appended budget_spent clustered collection compressor configuration direct disturbed ended file filter finished
    format keys limited_by memory name namespace obstacle question reads reason settled why with""".split())  # flags and texts
COMMANDS = ("load", "verify", "query", "tune", "drill", "status", "where")


def files():
    return sorted([ROOT / "src/report/load_figures.c", *(ROOT / "src/cli").rglob("*.c")])


def keys(text):
    return [re.match(r"\w+", text[found.end():])[0] for found in KEY.finditer(text)]


class Keys(unittest.TestCase):
    def setUp(self):
        self.pages = "\n".join(path.read_text() for path in sorted((ROOT / "docs").rglob("*.md")))
        self.named = {one or other for one, other in NAMED.findall(self.pages)}
        self.begun = tuple(SHORT.findall(self.pages))

    def test_keys(self):
        for path in files():
            for key in keys(path.read_text()):
                with self.subTest(file=path.name, key=key):
                    self.assertTrue(key in self.named or key.startswith(self.begun), "%s is not named in docs/" % key)

    def test_commands(self):
        """This test sees keys of all commands that print some."""
        texts = {path.stem: path.read_text() for path in files()}
        for command in COMMANDS:
            self.assertTrue(keys(texts["load_figures" if command == "load" else "cmd_" + command]), command)

    def test_units(self):
        """The table `units` of test_result.c has every figure of every command, and no other."""
        table = (ROOT / "tests/core/test_result.c").read_text().partition("} units[] = {")[2].partition("\n};")[0]
        shown = {key for text in re.findall(r'"([^"]*)"', table) if text[0] not in "+3" for key in text.split()}
        had = {one or other for path in files() for one, other in FIGURE.findall(path.read_text())}
        self.assertEqual(had - NO_FIGURES, shown)


if __name__ == "__main__":
    unittest.main()
