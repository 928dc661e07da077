"""tools/check: what it finds wrong, and that it says what to do; and that nothing is wrong in the pages of this tree."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import prose
from prose import ROOT


class Links(unittest.TestCase):
    def test_this_tree(self):
        """every link of the pages here leads somewhere, and every file that they name is there"""
        wrong = ["%s:%d: %s" % (path.name, line, what) for path in prose.pages_and_sources() if path.suffix == ".md"
                 for line, what in prose.wrong_in_page(path)]
        self.assertEqual([], wrong)
        self.assertGreater(len(prose.pages_and_sources()), 100)


def run(folder, *words):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(list(map(str, words)), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=200, env=environment)


def can_check(step, program):
    """Another clang-format than the one that tools/check names checks nothing."""
    if not shutil.which(program):
        return False
    return step != "format" or "version 14." in run(ROOT, program, "--version").stdout


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
        steps = [each for each in self.STEPS if can_check(*each[:2])]
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
            for name in {"format", "words"}.intersection(names):
                done = run(root, "tools/check", "--base", "HEAD", name)
                self.assertIn("==> %-50s ok, nothing to check" % name, done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
