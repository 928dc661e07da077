"""Files of `tipple generate ycsb` by several loaders into one collection: every document byte for byte as Python makes it
of the files, and `tipple verify`. What the records of each kind say is checked by tests/oracle, and queries on them by
test_query_suites.py.
needs: standalone; nightly on: replset; quick: yes"""
import json

import livetest
import minimongo as mongo


class Generated(livetest.Case):
    format = "ycsb"

    def test_ranges(self):
        """loaders with a range each, side by side, make the documents of one file: a kilobyte each"""
        names = ["%d.json" % first for first in range(0, 2000, 500)]
        for name in names:
            self.tipple("generate", "ycsb", "--rows", "500", "--first", name[:-5], "-q", "-o", name)
        self.tipple("generate", "ycsb", "--rows", "2k", "-q", "-o", "all.json")
        whole = (self.folder / "all.json").read_bytes()
        self.assertEqual(whole, b"".join((self.folder / name).read_bytes() for name in names))
        loaders = [self.start(name) for name in names]
        for loader in loaders:
            self.assertEqual(0, loader.wait(livetest.LONG), loader.args)
        documents = [json.loads(line) for line in whole.decode("ascii").splitlines()]
        self.holds({document["_id"]: mongo.encode({**document, "_id": mongo.Int64(document["_id"])})
                    for document in documents})
        said = self.verified(*names)
        self.assertEqual((0, 2000), (said["status"], said["documents"]))


if __name__ == "__main__":
    livetest.main()
