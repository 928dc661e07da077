"""refusals: commands that are refused, as tables of rows. A row that is refused has changed nothing.

    COLLECTION: COMMAND WORD ... => STATUS WORDS OF THE SENTENCE

COLLECTION is one that the test has arranged; `none` is one of a database that does not exist.
"""
import re
import shlex

import live
import livetest

ROW = re.compile(r"(\w+): (\w+) (.*?) *=> (\d) (.+)")
ROWS = "format: rows\nrecord: {delimiter: [\",\"], header: yes}\nfields: [{name: k, type: %s}, {name: v}]\n"
INPUTS = {
    "a.csv": "k,v\n1,one\n2,two\n3,three\n", "b.csv": "k,v\n4,four\n", "head.csv": "k,v\n", "nokey.csv": "u,v\n1,one\n",
    "other.csv": "x,y,z\n1,2,3\n", "more.csv": "k,v,extra\n7,seven,x\n", "a.json": '{"_id": 1, "v": 1}\n',
    "rows.yaml": ROWS % "int", "texts.yaml": ROWS % "text", "others.yaml": (ROWS % "int").replace("rows", "others", 1)}


class Case(livetest.Case):
    """`who`: the user who runs the commands, if it is not the tests' own."""
    format = who = None

    def setUp(self):
        super().setUp()
        self.client.drop_database(self.database + "_0")
        self.addCleanup(self.client.drop_database, self.database + "_0")
        for name, text in INPUTS.items():
            self.write(name, text)

    def uri(self, collection="results"):
        uri = super().uri(collection).replace(self.database + ".none", self.database + "_0.none")
        return live.as_user(uri, self.who) if self.who else uri

    def fill(self, collection, *words, status=0):
        """A load that is not refused."""
        self.tipple("load", "-q", "--uri", self.uri(collection), *words, status=status)

    def admin(self, **command):
        return self.client.command("admin", command)

    def listed(self):
        return self.client.command(self.database, {"listCollections": 1})["cursor"]["firstBatch"]

    def everything(self):
        """Databases, and of this test's own the collections with their options, indexes and documents; of a cluster also what
        its config database says of it. Of runs (NAME.tipple.loads) only those that were not refused."""
        ours, listed = {"$regex": "^" + self.database}, self.listed()
        indexed = [entry["name"] for entry in listed if entry["type"] == "collection"]
        runs = [name for name in indexed if name.endswith(".tipple.loads")]
        there = {name: what for name, what in super().everything().items() if name not in runs}
        return {
            "databases": self.admin(listDatabases=1, nameOnly=True, filter={"name": ours})["databases"], "documents": there,
            "options": {entry["name"]: (entry["type"], entry["options"]) for entry in listed},
            "indexes": {name: self.client.command(self.database, {"listIndexes": name})["cursor"]["firstBatch"]
                        for name in indexed},
            "runs": {name: [run["_id"] for run in self.documents(name) if run.get("status") in (None, 0, 2)] for name in runs},
            "config": self.placement(ours) if live.KIND == "cluster" else None}

    def placement(self, ours):
        places = {name: list(self.client.find("config", name, filter={key: ours}, sort={"_id": 1}))
                  for name, key in (("databases", "_id"), ("collections", "_id"), ("tags", "ns"))}
        uuids = [entry["uuid"] for entry in places["collections"]]
        places["chunks"] = list(self.client.find("config", "chunks", filter={"uuid": {"$in": uuids}}, sort={"_id": 1}))
        places["zones"] = [(shard["_id"], tag) for shard in self.client.find("config", "shards", sort={"_id": 1})
                           for tag in shard.get("tags", []) if self.database in tag]
        return places

    def are_refused(self, table):
        before = self.everything()
        for line in table.strip().splitlines():
            collection, command, words, status, says = ROW.fullmatch(line.strip()).groups()
            with self.subTest(line.strip()):
                done = self.tipple(command, "--uri", self.uri(collection), *shlex.split(words), status=None)
                then, before = before, self.everything()
                self.assertEqual(int(status), done.returncode, done.stderr)
                self.assertIn(says, done.stderr)
                self.assertEqual(then, before, "something was written")
