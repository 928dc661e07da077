"""Counts what each room of the house has, and holds it to tools/lib/budgets.txt, whose figures only go down.

  budget.py            print the table; status 1 if a room has more than its line allows
  budget.py --lower    write the figures of today into the file where they are lower

A room is a folder. Code lines are lines of C and C++ that are not blank, not only comment, no #include and no include
guard; for tests, tools and docs all lines count. Words are the phrases of PHRASES: a reader stumbles over them, and each
has a plainer one.
"""
import fnmatch
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "tools/lib/budgets.txt"
FIGURES = "lines", "files", "headers", "words"
CODE = (".c", ".h", ".cc")
COUNTED = {"tests": ("*.c", "*.h", "*.py", "*.sh", "*.case", "*.table", "tests/cli/run", "tests/docs/run"), "docs": ("*.md",),
           "tools": ("*",), "python": ("*.py",)}
LEFT_OUT = "tests/data/*", "tests/fuzz/corpus/*", "tests/bench/data/*"
LITERAL = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.S)
PHRASES = {  # and what to write instead
    r"behind": "after, past, below", r"beside": "next to, besides", r"so many": "N", r"tells?|told": "reports, says",
    r"a look|looks? at": "scan, check, examine", r"a person|somebody|persons?": "the user, a user", r"which it is": "the noun",
    r"also of": "a clause with a verb", r"where there is none": "a clause with a verb", r"but for": "except, except for"}
PHRASE = re.compile(r"(?<![\w_])(?:%s)(?![\w_])" % "|".join(PHRASES), re.I)


def code_lines(text, is_header):
    bare = LITERAL.sub(lambda found: found[0] if found[0][0] in "\"'" else "\n" * found[0].count("\n"), text)
    lines = [line.strip() for line in bare.split("\n")]
    return sum(1 for line in lines if line and not line.startswith("#include") and not (
        is_header and re.match(r"#\s*(ifndef \w+_H|define \w+_H|endif)$", line)))


def files_of(room):
    """The committed files of a room, and new ones; `src/report + src/cli` are one room."""
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard", "--", *room.split("+")], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout.split("\0")
    kinds = COUNTED.get(room.split("/")[0])
    return [name for name in listed if name and (ROOT / name).is_file()
            and not any(fnmatch.fnmatch(name, pattern) for pattern in LEFT_OUT)
            and (any(fnmatch.fnmatch(name, kind) for kind in kinds) if kinds else name.endswith(CODE))]


def figures_of(room):
    names = files_of(room)
    texts = {name: (ROOT / name).read_text(errors="replace") for name in names}
    lines = {name: code_lines(text, name.endswith(".h")) if room.startswith("src") else text.count("\n")
             for name, text in texts.items()}
    return {"lines": sum(lines.values()), "files": len(names), "headers": sum(name.endswith(".h") for name in names),
            "words": sum(len(PHRASE.findall(text)) for name, text in texts.items() if name != "tools/lib/budget.py"),
            "median": int(statistics.median(text.count("\n") for text in texts.values())) if texts else 0}


def budgets():
    for line in FILE.read_text().splitlines():
        if line and not line.startswith("#"):
            *room, lines, files, headers, words = line.split()
            yield "".join(room), dict(zip(FIGURES, map(int, (lines, files, headers, words))))


def table(rows):
    yield "%-32s" % "# room" + "".join("%9s" % figure for figure in FIGURES)
    for room, allowed in rows:
        yield "%-32s" % room + "".join("%9d" % allowed[figure] for figure in FIGURES)


def lower(rows, found):
    head = [line for line in FILE.read_text().splitlines() if line.startswith("#") and not line.startswith("# room")]
    rows = [(room, {figure: min(allowed[figure], found[room][figure]) for figure in FIGURES}) for room, allowed in rows]
    FILE.write_text("\n".join([*head, *table(rows)]) + "\n")


def main():
    rows = list(budgets())
    found = {room: figures_of(room) for room, _ in rows}
    if sys.argv[1:] == ["--lower"]:
        lower(rows, found)
        rows = list(budgets())
    print("\n".join(table((room, found[room]) for room, _ in rows)))
    print("median of a file of src: %d lines" % found["src"]["median"])
    over = ["%s has %d %s; its line allows %d" % (room, found[room][figure], figure, allowed[figure])
            for room, allowed in rows for figure in FIGURES if found[room][figure] > allowed[figure]]
    print("\n".join(over))
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
