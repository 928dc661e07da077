"""Documents that were deleted after they were loaded: --reload-missing finds and loads their records.
needs: none; nightly on: standalone replset cluster; nightly: loads are killed at random moments"""
import minimongo as mongo
import neverlost
from livetest import rows


class Missing(neverlost.Case):
    server, key = "cluster", "k:hashed"

    def refused(self, sentence, *words, collection="results", **more):
        before = self.there(collection)
        self.load(*words, status=1, collection=collection, **more)
        self.assertIn(sentence, self.stderr)
        self.assertEqual(before, self.there(collection))

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

    def test_interrupted(self):
        """killed again and again, next to another one of the same"""
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
        """what was rejected is rejected again, and answered by the fix that a user has loaded, or open if that is gone"""
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

    def test_keys(self):
        """whose _ids are the data's own; not where several inputs may have one of them"""
        text = "k,v\n" + "".join("n%d,%d\n" % (number, number * 7) for number in range(5000))
        self.write("own.csv", text)
        self.format = None
        for existing in ("reject", "keep", "replace"):
            with self.subTest(existing):
                own = "own_%s" % existing
                words = ("--id", "k", "--existing", existing, "own.csv")
                self.load(*words, collection=own)
                gone = self.delete(0.5, own)
                if existing != "reject":
                    self.refused("another one's place", "--reload-missing", *words, collection=own)
                    continue
                self.assertEqual(gone, self.load("--reload-missing", *words, collection=own)["loaded"])
                self.assertEqual(5000, self.there(own))

    def test_other_inputs(self):
        """what was not loaded, or is not as it was, is refused: nothing is there twice, and nothing of another content"""
        text = rows(9000, 1)
        self.inputs({"a.csv": text})
        self.load("a.csv")
        self.load("--input-name", "s", "-", stdin=rows(100, 2))
        gone = self.delete(0.3)
        self.inputs({"b.csv": text})
        self.refused("b.csv is not in", "--reload-missing", "a.csv", "b.csv")
        self.refused("is a stream", "--reload-missing", "--input-name", "s", "-", stdin=rows(90, 2))
        middle = text.index(b"\n", len(text) // 2) + 1
        changed = text[:middle] + text[middle:].replace(b"|FIESTA|", b"|FIASTA|", 1)
        self.assertNotEqual(text, changed)
        self.inputs({"a.csv": changed})
        self.load("--reload-missing", "a.csv", status=5)
        self.assertEqual(9100 - gone, self.there())
        self.inputs({"a.csv": text})
        self.load("--reload-missing", "a.csv")
        self.assertGreaterEqual(self.there(), 9000)
        self.verified("a.csv", count=9000)


if __name__ == "__main__":
    neverlost.main()
