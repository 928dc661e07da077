"""callgrind: what a program executed, function by function, out of a file that valgrind --tool=callgrind writes."""
import collections
import re

# What a compiler adds to the name of a function of which it made several, a library for a version of it, and callgrind
# where it calls itself.
_VARIANT = re.compile(r"(\.(part|isra|constprop|cold)(\.\d+)?|'\d+|@.*)+$")
_NAMED = re.compile(r"c?(?:ob|f[iel]|fn)=\((\d+)\)(?: (.*))?")
_WITHOUT_NAME = re.compile(r"0x[0-9a-f]+$|\?\?\?$")
_VERSION = re.compile(r"\.so[.0-9]*$")


class _Places:
    """Where the functions are that a profile speaks of. A name is written out once and then goes by its number."""

    def __init__(self):
        self.names = {"ob": {}, "fl": {}, "fn": {}}
        self.object = self.file = self.called_object = self.called_file = None

    def named(self, kind, line):
        """The full name that a line gives, and whether it is new."""
        number, name = _NAMED.match(line).groups()
        known = self.names[kind]
        new = name is not None and number not in known
        if new:
            known[number] = name.strip()
        return number, known[number], new

    def function(self, line, called):
        number, name, new = self.named("fn", line)
        if new:
            name = _plain(name, (called and self.called_object) or self.object, (called and self.called_file) or self.file)
            self.names["fn"][number] = name
        self.called_object = self.called_file = None
        return name


def _plain(name, library, file):
    """FUNCTION, or FUNCTION (FILE) where the file is known and says more."""
    library = _VERSION.sub("", (library or "").rpartition("/")[2])
    if _WITHOUT_NAME.match(name):
        return "(in %s)" % library
    name, file = _VARIANT.sub("", name), (file or "").rpartition("/")[2]
    return "%s (%s)" % (name, file) if file.endswith((".c", ".cc", ".h")) else name


def instructions(lines, forgiven=lambda caller, called: False):
    """A Counter of the instructions of each function, without those of what it called. Functions of a library that
    has no names for them are one: (in libbson-1.0). Calls that are forgiven do not count: only for functions that call
    no others. ValueError where the functions do not add up to what the profile says."""
    places, counts, function, called, total, left_out = _Places(), collections.Counter(), None, None, None, 0
    is_call = False  # the line after calls= has what the call cost, which the called function has, too
    for line in lines:
        first = line[:1]
        if first.isdigit() or first in ("+", "-", "*"):
            cost = int(line.split()[1])
            if not is_call:
                counts[function] += cost
            elif forgiven(function, called):
                counts[called] -= cost
                left_out += cost
            is_call = False
        elif line.startswith("calls="):
            is_call = True
        elif line.startswith("ob="):
            places.object = places.named("ob", line)[1]
        elif line.startswith(("fl=", "fi=", "fe=")):
            places.file = places.named("fl", line)[1]
        elif line.startswith("cob="):
            places.called_object = places.named("ob", line)[1]
        elif line.startswith(("cfi=", "cfl=")):
            places.called_file = places.named("fl", line)[1]
        elif line.startswith("fn="):
            function = places.function(line, called=False)
        elif line.startswith("cfn="):
            called = places.function(line, called=True)
        elif line.startswith("totals:"):
            total = int(line.split()[1])
    if total is None or sum(counts.values()) + left_out != total:
        raise ValueError("functions have %d instructions, the profile %s" % (sum(counts.values()) + left_out, total))
    return counts


def read(path, forgiven):
    with open(path, errors="replace") as lines:
        return instructions(lines, forgiven)
