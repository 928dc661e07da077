"""tools/compare: it finds each kind of difference between two programs, and no difference if there is none."""
import importlib.machinery
import importlib.util
import os
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

import minimongo as mongo

ROOT = pathlib.Path(os.environ.get("TIPPLE_ROOT") or pathlib.Path(__file__).resolve().parents[2])
sys.path.insert(0, str(ROOT / "tools/lib"))
loader = importlib.machinery.SourceFileLoader("compare_builds", str(ROOT / "tools/compare"))
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare_builds", loader))
loader.exec_module(tool)
Question = tool.compared.Question

# What a program does, as lines of sh: a reader of three inputs.
SAME = {"documents": "cat documents", "guess": "echo '  - {name: a, type: int}'; echo '# by tipple 1'",
        "json": """echo '{"read": 5, "seconds": 0.1, "list": [{"n": 1}]}'""",
        "records": "echo 'tipple: warning: rejected in/a.csv:3:5 (offset 8): no good' >&2; echo 1; exit 2"}
DOCUMENTS = [{"_id": mongo.Int64(number), "a": number, "b": {"c": "x"}} for number in range(3)]


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, name, documents=DOCUMENTS, **other):
        (self.folder / (name + ".documents")).write_bytes(b"".join(map(mongo.encode, documents)))
        lines = {**SAME, "documents": "cat %s" % (self.folder / (name + ".documents")), **other}
        path = self.folder / name
        path.write_text("#!/bin/sh\ncase $1 in\n%s\nesac\n" % "\n".join(
            "%s) %s ;;" % (kind, line) for kind, line in lines.items()))
        path.chmod(0o755)
        return str(path)

    def compared(self, allowed="", questions=None, only=None, **other):
        """(exit status, the differences found) of the usual program and of one with something else."""
        (self.folder / "allowed").write_text(allowed)
        report = tool.Report(self.folder / "allowed")
        builds = [self.program("old"), self.program("new", **other)]
        options = types.SimpleNamespace(builds=builds, only=only, servers=False)
        asked = questions or [Question("%s/1" % kind, [kind], kind) for kind in SAME]
        with mock.patch.object(tool.compared, "questions", lambda new: asked), mock.patch("builtins.print"):
            return tool.compare(options, report), sorted(report.found)

    def test_same(self):
        self.assertEqual((0, []), self.compared())
        self.assertEqual((0, []), self.compared(
            guess="echo '  - {name: a, type: int}'; echo '# by tipple 2'",  # comments and times may differ, and sentences
            json=SAME["json"].replace("0.1", "0.2"), records=SAME["records"].replace("no good", "bad")))

    def test_each_kind(self):
        first, second, third = DOCUMENTS
        changed, numbered = [first, {**second, "b": {"c": 5}}, third], [{**first, "_id": mongo.Int64(7)}, second, third]
        short = {key: value for key, value in third.items() if key != "b"}
        for found, other in (
                (("documents", "str -> int"), {"documents": changed}),
                (("documents", "_id: another Int64"), {"documents": numbered}),
                (("documents", "fewer"), {"documents": [first, second]}),
                (("documents", "a field is missing"), {"documents": [first, second, short]}),
                (("guess", "other, type"), {"guess": SAME["guess"].replace("int", "text")}),
                (("json", "read: another value"), {"json": SAME["json"].replace("5", "6")}),
                (("json", "list.N.n: missing"), {"json": SAME["json"].replace('"n": 1', "")}),
                (("places", "other"), {"records": SAME["records"].replace("3:5", "4:5")}),
                (("places", "more"), {"records": "echo in/a.csv:9 >&2;" + SAME["records"]}),
                (("records", "other"), {"records": SAME["records"].replace("echo 1", "echo 2")}),
                (("status", "2 -> 1"), {"records": SAME["records"].replace("exit 2", "exit 1")}),
                (("stderr", "silence -> a sentence"), {"guess": SAME["guess"] + "; echo warning >&2"})):
            with self.subTest(found):
                self.assertEqual((1, [found]), self.compared(**other))

    def test_allowed(self):
        entry = "[%s]\nkind = status\nwhat = 2 -> 1\ninput = %s/.*\nwhy = It is meant.\n"
        other = {"records": SAME["records"].replace("exit 2", "exit 1")}
        self.assertEqual((0, []), self.compared(entry % ("meant", "records"), **other))
        self.assertEqual((1, []), self.compared(entry % ("meant", "records")))  # took nothing
        self.assertEqual((0, []), self.compared(entry % ("meant", "load")))  # only --servers can meet it
        self.assertEqual((1, [("status", "2 -> 1")]), self.compared(entry % ("meant", "load"), **other))


if __name__ == "__main__":
    unittest.main()
