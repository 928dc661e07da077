"""What differs from a commit, for tools/check.

  changed.py --files [BASE]    BASE itself, and the files that differ from it: committed, not committed yet, and new ones
  changed.py --lines BASE      the lines of src that differ, as clang-tidy takes them (--line-filter)

BASE: a commit; without one, the commit at which this branch left origin/main (or main).
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def base_of(named=None):
    if named:
        found = git("rev-parse", "--verify", "--quiet", named + "^{commit}")
        if found.returncode:
            sys.exit("there is no commit %s; name one, as in: tools/check --base HEAD~3" % named)
        return found.stdout.strip()
    for branch in ("origin/main", "main"):
        found = git("merge-base", "HEAD", branch)
        if found.returncode == 0:
            return found.stdout.strip()
    sys.exit("there is neither origin/main nor main here; name a commit, as in: tools/check --base HEAD~3")


def changed_files(base):
    """Deleted files are left out."""
    listed = git("diff", "--name-only", "--no-renames", base).stdout + git("ls-files", "--others", "--exclude-standard").stdout
    return [path for path in sorted(set(listed.splitlines())) if (ROOT / path).is_file()]


def changed_lines(difference):
    """[{name, lines}] of the output of git diff --unified=0."""
    found = []
    for name, begin, count in re.findall(r"^\+\+\+ b/(.*)$|^@@ \S+ \+(\d+)(?:,(\d+))? @@", difference, re.M):
        if name:
            found.append({"name": name, "lines": []})
        elif count != "0":
            found[-1]["lines"].append([int(begin), int(begin) + int(count or 1) - 1])
    return [each for each in found if each["lines"]]


def main(what, base=None):
    base = base_of(base)
    if what == "--lines":
        print(json.dumps(changed_lines(git("diff", "--unified=0", "--find-renames", base, "--", "src").stdout)))
    else:
        print("\n".join([base] + changed_files(base)))


if __name__ == "__main__":
    main(*sys.argv[1:])
