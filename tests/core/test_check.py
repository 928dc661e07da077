"""tools/check: what it finds wrong, and that it says what to do; and that nothing is wrong in the pages of this tree."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import budget
import prose
from prose import ROOT

PAGE = """# One page

See [there](#two-words---more), [here](other.md#a-thing-1) and [elsewhere](https://example.com/#x).

## Two words: `--more`

    [code](nowhere.md)

```
[fenced](nowhere.md)
```
`[quoted](nowhere.md)`, `src/NAME.c`, `src/here`, `src/*.c`
"""
OTHER = "# A thing\n\n## A thing\n"


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for name, text in (("page.md", PAGE), ("other.md", OTHER), ("src/here.c", "")):
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).write_text(text)

    def wrong(self, text):
        page = self.root / "page.md"
        page.write_text(PAGE + text)
        prose.anchors.cache_clear()
        return [what for _, what in prose.wrong_in_page(page, self.root)]

    def test_right(self):
        self.assertEqual([], self.wrong(""))

    def test_wrong(self):
        for text, said in (("[x](gone.md)", "there is no gone.md"), ("[x](#gone)", "page.md has no heading #gone"),
                           ("[x](other.md#a-thing-2)", "other.md has no heading #a-thing-2"),
                           ("[x](src/gone.c)", "there is no src/gone.c"), ("`src/gone.c`", "there is no src/gone.c"),
                           ("`src/*.yaml`", "there is no src/*.yaml"), ("`tools/gone`", "there is no tools/gone"),
                           ("| a | %s|" % ("b " * 61), "a cell of the table has 61 words; more than 60 are paragraphs")):
            with self.subTest(text):
                self.assertEqual([said], self.wrong(text))

    def test_source(self):
        source = self.root / "src/here.c"
        source.write_text('puts("see docs/guide.md#gone");\nputs("see docs/guide.md");\n')
        (self.root / "docs").mkdir()
        self.assertEqual([1, 2], [line for line, _ in prose.wrong_in_source(source, self.root)])
        (self.root / "docs/guide.md").write_text("# Guide\n")
        prose.anchors.cache_clear()
        source.write_text('#include "gone/x.h"\n/* here.h, see gone/x.h\nputs("see docs/guide.md#gone");\n')
        self.assertEqual([(2, "there is no gone/x.h"), (3, "docs/guide.md has no heading #gone")],
                         list(prose.wrong_in_source(source, self.root)))
        source.write_text('puts("see docs/guide.md#gone");\n')
        self.assertEqual([(1, "docs/guide.md has no heading #gone")], list(prose.wrong_in_source(source, self.root)))

    def test_this_tree(self):
        """every link of the pages here leads somewhere, and every file that they name is there"""
        wrong = ["%s:%d: %s" % (path.name, line, what) for path in prose.pages_and_sources() if path.suffix == ".md"
                 for line, what in prose.wrong_in_page(path)]
        self.assertEqual([], wrong)
        self.assertGreater(len(prose.pages_and_sources()), 100)


class Subjects(unittest.TestCase):
    def test_right(self):
        for subject in ("Add a format", "Let a reader see it", "Say, in one place, what is wrong", "Refuse UTF-16 by name",
                        "Pass what is there on", "Focus on one", "Need no clock", "Bring the table up to date",
                        "Guess nothing", "Discuss it", "Name the UUID"):
            self.assertIsNone(prose.wrong_subject(subject), subject)

    def test_wrong(self):
        for subject in ("Added a format", "Adds a format", "Adding a format", "add a format", "Add a format.", "WIP",
                        "A format", "The format is new", "fixup! Add a format", "Fixes", "Add " + "x" * 120, "sim: follow"):
            self.assertIsNotNone(prose.wrong_subject(subject), subject)


class Budget(unittest.TestCase):
    def test_code_lines(self):
        text = '/* one\n * two */\n#ifndef A_H\n#define A_H\n#include "b.h"\n\nint a; // three\nchar *b = "/*"; /* four\n */\n#endif\n'
        self.assertEqual(2, budget.code_lines(text, True))
        self.assertEqual(5, budget.code_lines(text, False))

    def test_words(self):
        self.assertEqual(["behind", "tells", "so many"],
                         budget.PHRASE.findall("what stands behind it tells so many; behind_it, retells, but form"))

    def test_a_room_that_grew(self):
        """the least that any room may have now is what it has"""
        for room, allowed in budget.budgets():
            self.assertTrue(budget.files_of(room), room)
            self.assertGreater(min(allowed["lines"], allowed["files"]), 0)


def run(folder, *words):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(list(map(str, words)), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=200, env=environment)


class Whole(unittest.TestCase):
    def test_words_of_the_command(self):
        for words, said in ((["nonsense"], "there is no step nonsense; see tools/check --help"),
                            (["--base"], "--base needs a commit")):
            done = run(ROOT, ROOT / "tools/check", *words)
            self.assertEqual((1, True), (done.returncode, said in done.stdout), done.stdout)

    STEPS = (("format", "clang-format", "src/a.c", "int  f( void ) {return 1;}\n", "run: clang-format -i src/a.c"),
             ("shell", "shellcheck", "tools/new", "#!/bin/sh\nrm $1\n", "correct what stands above; where it is meant so"),
             ("words", "codespell", "docs/b.md", "We recieve it.\n", "one that is right goes into tools/lib/words.txt"),
             ("links", "python3", "docs/c.md", "[x](gone.md)\n", "let these lead to what is there now"))

    PARTS = {"changed.py", "packages", "prose.py", "steps.sh", "words.txt"}

    @unittest.skipUnless(shutil.which("git"), "there is no git")
    def test_each_step_can_fail(self):
        """in a tree of its own: all is well; then something is wrong for each step, which says what to do"""
        steps = [each for each in self.STEPS if shutil.which(each[1])]
        names = [each[0] for each in steps] + ["commits"]
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            shutil.copy(ROOT / ".clang-format", root)
            shutil.copytree(ROOT / "tools/lib", root / "tools/lib", ignore=lambda _, names: set(names) - self.PARTS)
            shutil.copy(ROOT / "tools/check", root / "tools")
            for part in (".ci", "docs", "include", "python", "src", "tests"):
                (root / part).mkdir()
            (root / "README.md").write_text("# Here\n")
            (root / ".gitignore").write_text("/build/\n__pycache__/\n")

            def commit(subject):
                run(root, "git", "add", "-A")
                done = run(root, "git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", subject)
                self.assertEqual(0, done.returncode, done.stdout)

            self.assertEqual(0, run(root, "git", "init", "-q", "-b", "main").returncode)
            commit("Begin")
            run(root, "git", "checkout", "-qb", "new")
            done = run(root, "tools/check", *names)
            self.assertEqual(0, done.returncode, done.stdout)
            for _, _, file, text, _ in steps:
                (root / file).write_text(text)
            commit("Added what is wrong")
            for words in (names, ["--all", *names]):
                done = run(root, "tools/check", *words)
                self.assertEqual(1, done.returncode, done.stdout)
                for name, _, _, _, said in [*steps, ("commits", "", "", "", "write these subjects anew: git rebase -i")]:
                    self.assertIn(said, done.stdout)
                    self.assertRegex(done.stdout, r"(?m)^ +%s FAILED" % name)
            done = run(root, "tools/check", "--base", "HEAD", "format")
            self.assertIn("==> format                                             ok, nothing to check", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
