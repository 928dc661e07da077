"""What a build's programs are made of: which of them hold a source file. Asked of ninja (which object was made of which
files, and of which a program) and of nm (what is linked out of the library because something needs it)."""
import collections
import os
import subprocess

LIBRARY = "libtipple.a"


def said(tree, *command):
    return subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def objects_of_files(text, tree):
    """{file: objects that were made of it, or with it as a header}, of what `ninja -t deps` says."""
    made, current = collections.defaultdict(set), None
    for line in text.splitlines():
        if line.startswith("    "):
            made[os.path.normpath(os.path.join(tree, line.strip()))].add(current)
        elif ": #deps " in line:
            current = line.partition(": #deps ")[0]
    return made


def objects_of_programs(text):
    """{program: its own objects}, of what `ninja -t query PROGRAM...` says."""
    own, current, inputs = collections.defaultdict(list), None, False
    for line in text.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            current = line[:-1]
        elif line.startswith("  ") and not line.startswith("    "):
            inputs = line.startswith("  input:")
        elif inputs and line.endswith(".o"):
            own[current].append(line.split()[-1])
    return own


def needs_of_objects(text):
    """{object: objects that have what it misses}, of what `nm -A -P` says of all of them."""
    where, missing = {}, collections.defaultdict(set)
    for line in text.splitlines():
        place, symbol, kind = line.split()[:3]
        if kind in "Uw":
            missing[place.rstrip(":")].add(symbol)
        elif kind.isupper():
            where.setdefault(symbol, place.rstrip(":"))
    return {each: {where[symbol] for symbol in symbols if symbol in where} for each, symbols in missing.items()}


def reachable(first, needs):
    """These objects and all that are linked because of them."""
    held, waiting = set(first), list(first)
    while waiting:
        more = needs.get(waiting.pop(), set()) - held
        held |= more
        waiting += more
    return held


class Build:
    """A build tree, as it is; a program of tests/ that was never built holds nothing."""

    def __init__(self, tree, programs):
        self.made = objects_of_files(said(tree, "ninja", "-t", "deps"), tree)
        own = objects_of_programs(said(tree, "ninja", "-t", "query", LIBRARY,
                                        *("tests/" + name for name in programs)))
        library = [each for each in own[LIBRARY] if os.path.exists(os.path.join(tree, each))]
        others = sorted({each for name in programs for each in own["tests/" + name] if os.path.exists(os.path.join(tree, each))})
        from_library = needs_of_objects(said(tree, "nm", "-A", "-P", *library, *others)) if library else {}
        inside = set(library)
        needs = {each: found & inside for each, found in from_library.items()}
        self.held = {name: reachable(own["tests/" + name], needs) for name in programs}

    def holding(self, path):
        """The programs that hold this file (an absolute path), be it as a header."""
        objects = self.made.get(path, set())
        return {name for name, held in self.held.items() if held & objects}
