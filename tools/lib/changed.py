"""What differs from a commit, and which tests can see it.

  changed.py --files [BASE]    BASE itself, and the files that differ from it: committed, not committed yet, and new ones
  changed.py --lines BASE      the lines of src that differ, as clang-tidy takes them (--line-filter)
  changed.py TREE [BASE]       for tools/test --changed, a line each: say WHY: TESTS, check STEP (of tools/check), and what
                               is needed to run the tests (see testnames.py)

BASE: a commit; what origin/main (or main) and this branch have in common, if it is not given. TREE: a build, whose
programs are asked what they hold.
"""
import json
import pathlib
import re
import subprocess
import sys

import linked
import testnames
from testnames import ROOT

TABLE = ROOT / "tools/lib/folders.txt"
IMPORTS = re.compile(r"^\s*(?:from (\w+) import|import ([\w, ]+))", re.M)
SHOWN = 12  # names in a line


class NoBase(Exception):
    pass


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def base_of(told=None):
    if told:
        found = git("rev-parse", "--verify", "--quiet", told + "^{commit}")
        if found.returncode:
            raise NoBase("there is no commit %s; name one, as in: tools/test --changed HEAD~3" % told)
        return found.stdout.strip()
    for branch in ("origin/main", "main"):
        found = git("merge-base", "HEAD", branch)
        if found.returncode == 0:
            return found.stdout.strip()
    raise NoBase("there is neither origin/main nor main here; name a commit, as in: tools/test --changed HEAD~3")


def changed_files(base):
    """Also those that are gone."""
    said = git("diff", "--name-only", "--no-renames", base).stdout + git("ls-files", "--others", "--exclude-standard").stdout
    return sorted(set(said.splitlines()))


def difference(base):
    """In src; of a file that was moved, only what differs in it."""
    return git("diff", "--unified=0", "--find-renames", base, "--", "src").stdout


def changed_lines(said):
    """[{name, lines}] of what git diff --unified=0 says."""
    found = []
    for name, begin, count in re.findall(r"^\+\+\+ b/(.*)$|^@@ \S+ \+(\d+)(?:,(\d+))? @@", said, re.M):
        if name:
            found.append({"name": name, "lines": []})
        elif count != "0":
            found[-1]["lines"].append([int(begin), int(begin) + int(count or 1) - 1])
    return [each for each in found if each["lines"]]


def row_of(path, table):
    """(folder, words) of the longest line of the table that fits a file, or none."""
    fits = [each for each in table if path == each or path.startswith(each + "/")]
    return (max(fits, key=len), table[max(fits, key=len)]) if fits else (None, [])


def read_table(text):
    rows = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {row[0]: row[1:] for row in rows}


def one_kind(tests):
    """Of a live test that goes with a standalone and with a replica set, the one with the standalone."""
    names = {test.name for test in tests}
    return [test for test in tests if test.name.replace("replset", "standalone") not in names - {test.name}]


def itself(path, tests):
    """The tests that a file is, or whose inputs it is."""
    corpus = re.match(r"tests/fuzz/corpus/(\w+)/", path)
    return [test for test in tests if test.path == path or (corpus and test.name == "fuzz." + corpus[1])]


def importers(path, tests, texts):
    """The tests whose program imports this Python module, be it by another one. texts: {path: text} of all programs."""
    found, waiting = set(), [path]
    while waiting:
        name = pathlib.Path(waiting.pop()).stem
        for each, text in texts.items():
            words = {word for one, more in IMPORTS.findall(text) for word in re.split(r"[, ]+", one + more)}
            if each not in found and name in words:
                found.add(each)
                waiting.append(each)
    return one_kind([test for test in tests if test.path in found])


def by_words(words, tests):
    return one_kind([test for test in tests if any(re.search(word, test.name) for word in words)])


def compiled(path, tree):
    """What is compiled of a file: the built-in ones are one C file a folder."""
    kind = re.match(r"src/builtin/(formats|suites|styles)/", path)
    return "%s/generated/builtin_%s.c" % (tree, kind[1]) if kind else str(ROOT / path)


def holds_code(test):
    """Is its program, which needs no server, made of the code itself?"""
    return test.name.startswith("sim.") or (test.name.startswith("unit.") and test.path.endswith(".c"))


def choose(files, tests, table, holding, texts):
    """[(why, tests, steps of tools/check)] of the files that differ; a test stands once, behind the first reason."""
    programs = {}
    for test in tests:
        if holds_code(test):
            for program in test.programs:
                programs.setdefault(program, []).append(test)
    groups = {}
    for path in files:
        groups.setdefault("they were changed", []).extend(itself(path, tests))
        held = [test for program in sorted(holding(path)) for test in programs.get(program, [])]
        groups.setdefault("their programs hold %s" % path, []).extend(held)
        if path.endswith(".py"):
            groups.setdefault("they import %s" % path, []).extend(importers(path, tests, texts))
    for path in files:
        folder, words = row_of(path, table)
        if folder and not itself(path, tests):
            steps = [word[len("check:"):] for word in words if word.startswith("check:")]
            rest = [word for word in words if not word.startswith("check:")]
            groups.setdefault("they see %s from outside (tools/lib/folders.txt)" % folder, []).extend(steps + by_words(rest, tests))
    seen, chosen = set(), []
    for why, found in groups.items():
        new = [each for each in dict.fromkeys(found) if each not in seen]
        seen |= set(new)
        if new:
            chosen.append((why, [each for each in new if not isinstance(each, str)],
                           [each for each in new if isinstance(each, str)]))
    return chosen


def sentence(why, tests, steps):
    names = ["tools/check " + step for step in steps] + [test.name for test in tests]
    more = ", and %d more" % (len(names) - SHOWN) if len(names) > SHOWN else ""
    return "say %s: %s%s" % (why, ", ".join(names[:SHOWN]), more)


def main(tree, base=None):
    base = base_of(base)
    if tree == "--lines":
        print(json.dumps(changed_lines(difference(base))))
        return
    files = changed_files(base)
    if tree == "--files":
        print("\n".join([base] + [path for path in files if (ROOT / path).is_file()]))
        return
    tree = str(pathlib.Path(tree).resolve())
    tests = testnames.of_build(tree)
    build = linked.Build(tree, sorted({each for test in tests if holds_code(test) for each in test.programs}))
    texts = {str(path.relative_to(ROOT)): path.read_text() for folder in ("tests", "tools")
             for path in (ROOT / folder).rglob("*.py")}
    chosen = choose(files, tests, read_table(TABLE.read_text()),
                    lambda path: build.holding(compiled(path, tree)), texts)
    for each in chosen:
        print(sentence(*each))
    steps = [step for _, _, found in chosen for step in found]
    print("\n".join(["check " + step for step in steps] + testnames.plan(sorted(t for _, found, _ in chosen for t in found))))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except NoBase as error:
        sys.exit("tools/test: %s" % error)
