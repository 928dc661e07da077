"""Documents that were deleted after they were loaded: --reload-missing finds and loads their records.  needs: none"""
import minimongo as mongo
import neverlost
from livetest import rows


class Missing(neverlost.Case):
    def refused(self, sentence, *words, **more):
        before = self.there(*more.values())
        self.load(*words, status=1, **more)
        self.assertIn(sentence, self.stderr)
        self.assertEqual(before, self.there(*more.values()))

    def delete(self, share, collection="results"):
        """Deletes this share of the documents, by chance; how many."""
        ids = [mongo.decode(raw)["_id"] for raw in self.client.find(self.database, collection, raw=True)]
        gone = self.draw.sample(ids, int(len(ids) * share))
        for at in range(0, len(gone), 1000):
            self.client.command(self.database, {"delete": collection, "deletes": [
                {"q": {"_id": {"$in": gone[at:at + 1000]}}, "limit": 0}]})
        return len(gone)

    def test_deleted(self):
        """of plain and compressed inputs of several blocks; the ordinary command does not look for them, nor for inputs
        that are not named"""
        texts = self.inputs({"a.csv": rows(9000, 1), "b.csv.gz": rows(9000, 2)})
        self.load(*texts)
        self.assertEqual(0, self.load("--reload-missing", *texts)["loaded"])
        self.complete(texts)
        gone = self.delete(0.3)
        self.assertEqual(0, self.load(*texts)["read"])
        said = self.load("--reload-missing", *texts)
        self.assertEqual((18000, gone, 18000 - gone), tuple(said[key] for key in ("read", "loaded", "already_there")))
        self.complete(texts)
        if self.key == "_id":
            self.delete(1)
            self.assertEqual(9000, self.load("--reload-missing", "b.csv.gz")["loaded"])
            self.exact({"b.csv.gz": texts["b.csv.gz"]})

    def test_all_deleted(self):
        """an empty collection with a catalog is refused, and filled"""
        texts = self.inputs({"a.csv": rows(3000, 1)})
        self.load(*texts)
        self.delete(1)
        self.refused("--drop, or load it once more with --reload-missing", *texts)
        self.assertEqual(3000, self.load("--reload-missing", *texts)["loaded"])
        self.complete(texts)

    def test_interrupted(self):
        """killed again and again, beside another one of the same"""
        texts = self.inputs({"a.csv": rows(9000, 1), "b.csv.gz": rows(9000, 2)})
        self.load(*texts)
        self.delete(0.6)
        for _ in range(3):
            other = self.start("-b", "100", "--reload-missing", *texts)
            self.interrupted(self.draw.randint(1, 3000), "-b", "100", "--reload-missing", *texts)
            self.ended(other)
            self.exact(texts)
            self.delete(0.6)
        for _ in range(3):
            self.interrupted(self.draw.randint(1, 3000), "-b", "100", "--reload-missing", *texts)
        self.load("--reload-missing", *texts)
        self.complete(texts)

    def test_rejects(self):
        """what was rejected is rejected again, and answered by the fix that a person has loaded, or open if that is gone"""
        broken, whole = rows(3000, 1, bad={7, 2000}), rows(3000, 1)
        self.inputs({"a.csv": broken})
        self.load("a.csv", "--rejects", "rejects", status=2)
        kept = (self.folder / "rejects").read_bytes()
        for before, after in zip(broken.split(b"\n"), whole.split(b"\n")):
            if before != after:
                kept = kept.replace(b"\n" + before + b"\n", b"\n" + after + b"\n")
        self.write("fixed", kept)
        self.load("--retry", "fixed")
        self.exact({"a.csv": whole})
        said = self.load("--reload-missing", "a.csv")
        self.assertEqual((3000, 0, 0), tuple(said[key] for key in ("already_there", "rejected", "open_rejects")))
        self.delete(1)
        said = self.load("--reload-missing", "a.csv", status=2)
        self.assertEqual((2998, 2, 2), tuple(said[key] for key in ("loaded", "rejected", "open_rejects")))
        self.load("--retry", "fixed")
        self.exact({"a.csv": whole})
        self.refused("give --reload-missing with the inputs first", "--retry", "fixed", "--reload-missing")

    def test_keys(self):
        """whose _ids are the data's own; not where records replace documents"""
        text = "k,v\n" + "".join("n%d,%d\n" % (number, number * 7) for number in range(5000))
        self.write("own.csv", text)
        for existing in ("reject", "keep", "replace"):
            with self.subTest(existing):
                own = "own_%s" % existing
                words = ("--id", "k", "--existing", existing, "own.csv")
                self.format = None
                self.load(*words, collection=own)
                gone = self.delete(0.5, own)
                if existing == "replace":
                    self.refused("would replace newer documents", "--reload-missing", *words, collection=own)
                    continue
                self.assertEqual(gone, self.load("--reload-missing", *words, collection=own)["loaded"])
                self.assertEqual(5000, self.there(own))


if __name__ == "__main__":
    neverlost.main()
