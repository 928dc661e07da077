"""coverage.py TREE: how many lines of src were run in a build with gcc --coverage, by folder; status 1 where they are
fewer than the goals. A line of a header, or of a file that is part of several programs, was run if any of them ran it."""
import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOALS = {"base": 85, "input": 85, "format": 85, "catalog": 85, "load": 85, "verify": 85}  # percent of a folder's lines
GOAL_OF_ALL = 60
AT_ONCE = 50  # files that gcov is given


def notes(tree):
    """What the compiler has written down of each object that is made of a file of src, if that file is still there."""
    tree = pathlib.Path(tree).resolve()
    found = [(path, ("/" + str(path.relative_to(tree))).partition("/src/")[2]) for path in tree.rglob("*.gcno")]
    return sorted(str(path) for path, source in found if source and (ROOT / "src" / source[:-len(".gcno")]).is_file())


def read(report, lines):
    """Adds what gcov says of one object: {file below src: {line: how often}}."""
    folder = pathlib.Path(report["current_working_directory"])
    for each in report["files"]:
        path = (folder / each["file"]).resolve()
        if (ROOT / "src") in path.parents:
            known = lines[str(path.relative_to(ROOT / "src"))]
            for line in each["lines"]:
                known[line["line_number"]] = max(known.get(line["line_number"], 0), line["count"])


def measure(tree):
    lines, paths = collections.defaultdict(dict), notes(tree)
    for i in range(0, len(paths), AT_ONCE):
        said = subprocess.run(["gcov", "--json-format", "--stdout", *paths[i:i + AT_ONCE]], cwd=tree, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True, text=True).stdout
        for report in said.splitlines():
            read(json.loads(report), lines)
    return lines


def by_folder(lines):
    """{folder: (lines run, lines)} of the folders of src."""
    sums = collections.defaultdict(lambda: (0, 0))
    for path, known in lines.items():
        folder = path.partition("/")[0]
        run, count = sums[folder]
        sums[folder] = (run + sum(1 for times in known.values() if times), count + len(known))
    return dict(sums)


def share(run, count):
    return 100 * run / count if count else 0.0


def judge(sums):
    """[(name, run, count, goal or None)], all of src at the end."""
    rows = [(name, *sums[name], GOALS.get(name)) for name in sorted(sums)]
    rows += [(name, 0, 0, GOALS[name]) for name in sorted(set(GOALS) - set(sums))]
    return rows + [("all of src", sum(row[1] for row in rows), sum(row[2] for row in rows), GOAL_OF_ALL)]


def least(lines, folder, count=3):
    """The files of a folder of which most lines were not run."""
    missing = [(sum(1 for times in known.values() if not times), path) for path, known in lines.items()
               if folder == "all of src" or path.startswith(folder + "/")]
    return ", ".join("%s %d" % (path, number) for number, path in sorted(missing, reverse=True)[:count])


def main(tree):
    lines = measure(tree)
    rows, short = judge(by_folder(lines)), 0
    print("\n%-12s %8s %8s %8s   %s" % ("src/", "lines", "run", "%", "goal"))
    for name, run, count, goal in rows:
        print("%-12s %8d %8d %8.1f   %s" % (name, count, run, share(run, count), goal or ""))
    for name, run, count, goal in rows:
        if goal and share(run, count) < goal:
            short += 1
            print("%s is under %d %%: %d lines more; the most are not run in %s"
                  % (name, goal, -(-goal * count // 100) - run, least(lines, name)))
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
