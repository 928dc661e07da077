"""Mutants: files of blocks, one changed line each, for tools/mutants and tools/simulate.

    file: src/catalog/store/store_mongo.c
    old: a whole line, without its indentation
    new: what stands there instead
    brings: what goes wrong then
    by: box.load                    (tools/mutants) the tests that see it
    quick: yes                      (tools/simulate) every run of the tests tries it

An empty line stands between two blocks; a line that begins with # is a comment."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Mutant:
    def __init__(self, number, fields):
        self.number, self.path = number, ROOT / fields["file"]
        self.old, self.new, self.brings = fields["old"], fields["new"], fields["brings"]
        self.by, self.quick = fields.get("by", "").split(), fields.get("quick") == "yes"

    def text(self):
        """The file with the one line changed; None: the line is not there exactly once."""
        lines = self.path.read_text().split("\n")
        at = [i for i, line in enumerate(lines) if line.strip() == self.old]
        if len(at) != 1 or self.old == self.new:
            return None
        indent = lines[at[0]][: len(lines[at[0]]) - len(lines[at[0]].lstrip())]
        lines[at[0]] = indent + self.new
        return "\n".join(lines)


def read(path):
    found, fields = [], {}
    for line in path.read_text().splitlines() + [""]:
        if line.startswith("#"):
            continue
        if not line.strip():
            if fields:
                found.append(Mutant(len(found) + 1, fields))
            fields = {}
            continue
        name, _, value = line.partition(":")
        fields[name] = value.strip()
    return found
