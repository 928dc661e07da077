"""tipple query: documents, parameters and answers that are large.  needs: standalone; nightly on: replset"""
import json
import os

import livetest

LARGE = 4100000  # bytes: one answer keeps no more than 4 MiB


class Large(livetest.Case):
    def setUp(self):
        super().setUp()
        self.client.insert(self.database, "results", [{"_id": 1, "x": "a" * LARGE}])

    def suite(self, *queries, head=""):
        lines = "".join("  - %s\n" % json.dumps(query) for query in queries)
        self.write("x.yaml", "suite: x\n%squeries:\n%s" % (head, lines))

    def query(self, *words, status=0):
        return self.tipple("query", "--suite", "./x.yaml", "--uri", self.uri(), *words, status=status)


class Drawn(Large):
    def draw(self, gives, *pipeline):
        self.suite({"name": "q", "draw": {"gives": gives, "pipeline": list(pipeline)},
                    "find": {"filter": {"_id": {"$param": gives[0]}}, "limit": 1}})

    def test_given_only(self):
        """of drawn documents only what `gives` names is kept: all of them are drawn, however large they are"""
        self.draw(["i"], {"$project": {"x": 1, "i": {"$literal": [0, 1, 2]}}}, {"$unwind": "$i"})
        said = json.loads(self.query("--json", "--count", 200, "-n", 1, "--warmup", 0).stdout)["queries"][0]
        self.assertEqual(200, said["n"])
        self.assertGreater(said["returned"], 40)  # of 0, 1 and 2 only one is there
        self.assertGreater(said["empty"], 80)

    def test_too_large(self):
        """what is drawn and does not fit is refused, before anything is sent"""
        self.draw(["x"], {"$group": {"_id": None, "x": {"$push": "$$ROOT"}}}, {"$set": {"x": ["$x", "$x"]}})
        for words in [], ["--explain"]:
            self.assertIn("more than 4 MB", self.query(*words, status=1).stderr)


class Answers(Large):
    @livetest.nightly
    def test_beyond(self):
        """what goes beyond 64 MB of all answers together is not kept: the first ones are, and all have a digest"""
        self.suite({"name": "q", "each": {"n": list(range(17))},
                    "pipeline": [{"$set": {"n": {"$param": "n"}}}]})
        measured = json.loads(self.query("--json", "-n", 1, "--warmup", 0).stdout)["queries"]
        self.assertEqual([True] * 16 + [False], [each["result_complete"] for each in measured])
        self.assertEqual([1] * 16 + [0], [len(each["result"]) for each in measured])
        self.assertEqual(17, len({each["digest"] for each in measured}))


class Parameters(Large):
    def refused(self, *queries, head=""):
        self.suite(*queries, head=head)
        return self.query("--explain", status=1).stderr

    def many(self, name, count):
        return [{"$param": name}] * count

    def test_one(self):
        """what a parameter makes of a value, or of a request, is refused above 16 MB, with its place"""
        head = "params: {p: %s}\n" % ("x" * 100000)
        pipeline = [{"$limit": 1}]
        words = "more than 16 MB"
        self.assertIn(words, self.refused({"name": "q", "each": {"a": {"x": self.many("p", 10)},
                                                                 "b": {"x": self.many("a", 20)}},
                                           "pipeline": pipeline}, head=head))
        self.assertIn(words, self.refused({"name": "q", "each": {"a": {"x": self.many("p", 10)}},
                                           "pipeline": pipeline + [{"$set": {"x": self.many("a", 20)}}]}, head=head))

    def test_all(self):
        """so are all requests together above 256 MB"""
        head = "params: {p: %s}\n" % ("x" * 100000)
        self.assertIn("more than 256 MB",
                      self.refused({"name": "q", "each": {"n": list(range(30))},
                                    "pipeline": [{"$set": {"x": self.many("p", 100)}}]}, head=head))


if __name__ == "__main__":
    os.environ.pop("TIPPLE_URI", None)
    livetest.main()
