"""What can be wrong with words that no compiler reads.

  prose.py links [FILE ...]      pages whose links lead nowhere, or that name files of the source that are not there; of all
                                 pages (README.md, docs/**/*.md) if none is named. Source may name pages, too.
  prose.py commits BASE          subjects of commits since BASE that do not say what the commit does

Status 1 if something is wrong; each line says what and where.
"""
import functools
import glob
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:src|tests|tools|include)/[\w./*-]+|docs/[\w/-]+\.md)`")  # without placeholders: NAME
MODULE = re.compile(r"`((?!build/)[a-z_]+(?:/[a-z_]+)+(?:[.][ch])?)`")  # of src, in docs/internals
HEADER = re.compile(r"\b((?:[a-z_]+/)+[a-z_0-9]+[.]h)\b")  # in comments
PAGE = re.compile(r"\bdocs/[\w/-]+\.md(?:#[\w-]+)?")
LONGEST = 120
MOST_WORDS = 60  # in a cell of a table
NO_ORDER = re.compile(r"(An?|The|Th[ai]s|It|One|Two|No|What|How|When|Some|All|Each|WIP|fixup!|squash!|\w+ed|\w+ing|\w+[^siu]s)$")
ORDERS = {"Embed", "Shed", "Need", "Feed", "Speed", "Seed", "Exceed", "Proceed", "Succeed", "Bring"}


def outside_code(text):
    """Lines with their numbers, without blocks between ``` and without what is indented as code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def anchor(heading):
    """As GitHub makes it of a heading."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


@functools.lru_cache(None)
def anchors(path):
    found, times = set(), {}
    for _, line in outside_code(path.read_text()):
        heading = re.match(r"#+ +(.*?) *#*$", line)
        if heading:
            name = anchor(heading[1])
            number = times.get(name, 0)
            times[name] = number + 1
            found.add("%s-%d" % (name, number) if number else name)
    return found


def wrong_target(path, target, root=ROOT):
    """What is wrong with a link on the page path, or None."""
    name, _, place = target.partition("#")
    if re.match(r"[a-z]+:", name):
        return None
    there = (path.parent / name).resolve() if name else path
    if not there.exists():
        return "there is no %s" % name
    if place and there.suffix == ".md" and place not in anchors(there):
        return "%s has no heading #%s" % (there.relative_to(root), place)
    return None


def is_there(named, folders):
    return any(glob.glob(str(folder / named) + end) for folder in folders for end in ("", ".c", ".h"))


def wrong_in_page(path, root=ROOT):
    for number, line in outside_code(path.read_text()):
        for cell in re.split(r"(?<!\\)\|", line)[1:-1] if line.startswith("|") else ():
            if len(cell.split()) > MOST_WORDS:
                yield number, "a cell of the table has %d words; more than %d are paragraphs" % (len(cell.split()), MOST_WORDS)
        plain = re.sub(r"`[^`]*`", "", line)
        for target in LINK.findall(plain):
            wrong = wrong_target(path, target, root)
            if wrong:
                yield number, wrong
        for named in PATH.findall(line) + (MODULE.findall(line) if path.parent.name == "internals" else []):
            if not re.search(r"NAME|TARGET", named) and not is_there(named, (root, root / "src")):
                yield number, "there is no %s" % named


def wrong_in_source(path, root=ROOT):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        for named in PAGE.findall(line):
            wrong = wrong_target(root / "README.md", named, root)
            if wrong:
                yield number, wrong
        for named in [] if line.startswith("#") else HEADER.findall(line):
            if not is_there(named, (root / "src", path.parent)):
                yield number, "there is no %s" % named


def pages_and_sources(root=ROOT):
    pages = sorted([*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("tests/*.md")])
    return pages + sorted(path for path in root.glob("src/**/*") if path.suffix in (".c", ".cc", ".h", ".yaml"))


def links(files):
    count = 0
    for path in [(ROOT / name).resolve() for name in files] or pages_and_sources():
        for number, wrong in wrong_in_page(path) if path.suffix == ".md" else wrong_in_source(path):
            print("%s:%d: %s" % (path.relative_to(ROOT), number, wrong))
            count += 1
    return count


def wrong_subject(subject):
    """What is wrong with the subject of a commit, or None."""
    first = subject.partition(" ")[0].rstrip(",:")
    if len(subject) > LONGEST:
        return "is longer than %d characters" % LONGEST
    if subject.endswith("."):
        return "ends with a full stop"
    if not subject[:1].isupper():
        return "does not begin with a capital letter"
    if NO_ORDER.match(first) and first not in ORDERS:
        return "begins with %s: say what the commit does, as an order: Add, Let, Refuse, Say ..." % first
    return None


def commits(base):
    said = subprocess.run(["git", "-C", str(ROOT), "log", "--no-merges", "--format=%h %s", base + "..HEAD"],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    count = 0
    for line in said.splitlines():
        name, _, subject = line.partition(" ")
        wrong = wrong_subject(subject)
        if wrong:
            print("%s: \"%s\" %s" % (name, subject, wrong))
            count += 1
    return count


if __name__ == "__main__":
    what = {"links": lambda words: links(words), "commits": lambda words: commits(*words)}[sys.argv[1]]
    sys.exit(1 if what(sys.argv[2:]) else 0)
