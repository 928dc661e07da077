"""JSON of every shape: loads that end, are killed, meet a file that was cut off, and rejects that are fixed. What is in
the collection is compared with Python's reading of the same text.  needs: standalone"""
import bz2
import io
import json
import random
import tarfile

import livetest

SHAPES = ("lines", "pretty", "array", "one after the other")


def made(count, seed=1):
    """Objects with what looks like the end of one in their texts."""
    draw = random.Random(seed)
    return [{"k": i, "name": "n%d é" % draw.randrange(10**6), "v": draw.random() * 100 - 50,
             "tags": ["a}", "b\"{", {"x": [i % 7, [], {}]}], "note": "line\nend " * draw.randrange(4),
             "ok": i % 2 == 0, "none": None, "big": draw.randrange(2**62)} for i in range(count)]


def written(objects, shape):
    indent = {"pretty": 2, "array": 1}.get(shape)
    texts = [json.dumps(each, indent=indent if i % 3 else None, ensure_ascii=i % 2 == 0)
             for i, each in enumerate(objects)]
    if shape == "array":
        return "[" + ",\n".join(texts) + "]\n"
    return ("" if shape == "one after the other" else "\n").join(texts) + "\n"


class Json(livetest.Case):
    format = "json"

    def holds_objects(self, objects, *names):
        """These and no others; and the loader's own proof says the same."""
        found = self.documents()
        for each in found:
            del each["_id"]
        self.assertEqual(sorted(objects, key=lambda each: each["k"]), sorted(found, key=lambda each: each["k"]))
        said = self.verified(*names)
        self.assertEqual(len(objects), said["documents"])

    def test_shapes(self):
        """lines, objects over several lines, an array, one after the other: all of it, and once"""
        for shape in SHAPES:
            with self.subTest(shape=shape):
                self.client.drop_database(self.database)
                objects = made(1000)
                self.write("a.json", written(objects, shape))
                self.assertEqual(1000, self.load("a.json")["loaded"])
                self.holds_objects(objects, "a.json")
                self.assertEqual(0, self.load("a.json")["read"])

    def test_arrays_within_an_array(self):
        """an element that is an array is a reject, with or without a line end after it; fixed, it is an object"""
        for end in (b"", b"\n"):
            with self.subTest(end=end):
                self.client.drop_database(self.database)
                (self.folder / (self.database + ".results.rejects")).unlink(missing_ok=True)
                self.write("a.json", b'[{"k": 0}, [{"k": 8}], {"k": 1},\n[{"k": 9}]]' + end)
                said = self.load("a.json", status=2)
                self.assertEqual((2, 2), (said["loaded"], said["rejected"]))
                self.assertRegex(self.stderr, r"a\.json:1:12 .*object(.*\n)*.*a\.json:2:1 .*object")
                kept = (self.folder / (self.database + ".results.rejects")).read_text()
                self.load("--retry", self.database + ".results.rejects", status=2)
                self.assertEqual(2, self.client.count(self.database, "results"))
                self.write("fixed", kept.replace('[{"k": 8}]', '{"k": 2}').replace('[{"k": 9}]', '{"k": 3}'))
                self.assertEqual(2, self.load("--retry", "fixed")["loaded"])
                self.holds_objects([{"k": k} for k in range(4)], "a.json")

    def test_in_tar(self):
        """a member of a tar of which bzip2 has left next to nothing"""
        text = b"".join(b'{"k": %d, "s": "%s"}\n' % (i, b"a" * 100000) for i in range(400))
        packed = bz2.compress(text)
        self.assertGreater(len(text), len(packed) * 32768)
        with tarfile.open(self.folder / "a.tar", "w") as tar:
            entry = tarfile.TarInfo("a.json.bz2")
            entry.size = len(packed)
            tar.addfile(entry, io.BytesIO(packed))
        self.assertEqual(400, self.load("a.tar")["loaded"])


if __name__ == "__main__":
    livetest.main()
