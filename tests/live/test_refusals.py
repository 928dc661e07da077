"""Commands that are refused, on a standalone: each with its status and what it says, and nothing is written.
needs: standalone; nightly on: replset"""
import gzip
import json
import re
import socket

import livetest
import minimongo as mongo
import neverlost
import refusals
from refusals import INPUTS

GOOD = "k,v\n" + "".join("%d,word %d\n" % (number, number) for number in range(60))


class Unbound(refusals.Case):
    """Into a database that does not exist, and does not exist afterwards."""

    def test_options(self):
        """options that contradict each other, or ask for what there is not"""
        self.write("a.csv!copy-2", INPUTS["b.csv"])
        self.write("in/c.csv", INPUTS["b.csv"])
        self.are_refused("""
            none: load --existing replace a.csv                              => 1 are the data's own
            none: load --existing replace --id k --unsafe a.csv              => 1 not go with --unsafe
            none: load --unsafe --max-rate auto a.csv                        => 1 not wait for
            none: load -f ./rows.yaml --copies 2 --input-name x -            => 1 is a stream
            none: load --copies 2 --id k a.csv                               => 1 _ids of their own
            none: load --copies 2 a.json                                     => 1 _ids of their own
            none: load a.csv a.csv!copy-2                                    => 1 !copy-2 are those of copies
            none: load --input-name x in                                     => 1 names one stream
            none: load --shard-key k a.csv                                   => 1 --shard-key goes with a sharded cluster
            none: load --direct a.csv                                        => 1 --direct goes with a sharded cluster
            none: load --rejects a.csv b.csv                                 => 1 is no reject file
            none: load --id nope a.csv                                       => 1 no field 'nope'
            none: load --filter nope==1 a.csv                                => 1 nope
            none: load --index nope:1 a.csv                                  => 1 no key 'nope'
            none: load --index k:1 --index k:1;unique a.csv                  => 1 have the same name
            none: load --create '{"capped": true, "size": 9}' a.csv          => 1 a capped collection throws
            none: load --create '{"viewOn": "x", "pipeline": []}' a.csv      => 1 would be a view
            none: load --create '{"expireAfterSeconds": 9}' a.csv            => 1 by their age
            none: load --retry a.csv                                         => 1 does not exist
            none: forget a.csv                                               => 1 has no catalog
            """)

    def test_formats(self):
        """formats that inputs do not fit, and inputs that do not fit one another"""
        self.are_refused("""
            none: load -f ./rows.yaml other.csv                              => 5 no column 'k'
            none: load -f ./rows.yaml a.csv other.csv b.csv                  => 5 1 of 3 files does not fit the format rows
            none: load -f bson a.csv                                         => 5 is no BSON
            none: load -f mot a.csv                                          => 5 by the format 'mot'. Nothing was written
            none: load -f mot --dry-run a.csv                                => 5 Nothing was written
            none: load -f json a.csv                                         => 5 is no JSON
            none: load -f ./rows.yaml --type k:text a.csv                    => 1 is for guessing
            none: load -f ./rows.yaml --new-columns add a.csv                => 1 for a format that is guessed
            none: load -f json --new-columns refuse a.json                   => 1 delimited files with a header
            none: load a.csv other.csv                                       => 5 other.csv
            none: load a.csv a.json                                          => 5 a.json
            none: load --type zip:int a.csv                                  => 1 zip
            none: load head.csv                                              => 5 --with header=yes
            """)

    def test_inputs(self):
        """inputs that are missing, cannot be read, or are damaged; all of them are looked at before"""
        with socket.socket(socket.AF_UNIX) as end:
            end.bind("%s/socket" % self.folder)
        (self.folder / "empty").mkdir()
        zipped, packed = livetest.zip_of(("a.csv", INPUTS["a.csv"], 0)), livetest.tar_of(("a.csv", b"k,v\n1,one\n"))
        for name, content in (("cut.zip", zipped[:60]), ("cut.tar", packed[:600]), ("end.tar", packed[:1024]),
                              ("two.tar", livetest.tar_of(("a", b"k,v\n"), ("a", b"k,v\n"))), ("two.zip", zipped + zipped),
                              ("a.lz4", b"\x04\x22\x4d\x18" + b"x" * 99), ("u.csv", "k,v\n1,one\n".encode("utf-32")),
                              ("d/x.bson", mongo.encode({"_id": 1})), ("d/x.metadata.json", '{"options": {"capped": true}}'),
                              ("d/y.bson", mongo.encode({"_id": 1})), ("d/y.metadata.json", json.dumps(
                                  {"indexes": [{"v": 2, "key": {"w": 1}, "name": "mine"}]})),
                              ("d/z.bson", mongo.encode({"_id": 1})), ("d/z.metadata.json", "{")):
            self.write(name, content)
        self.are_refused("""
            none: load missing.csv                                           => 5 no such file
            none: load a.csv missing.csv b.csv                               => 5 1 of 3 files cannot be loaded
            none: load 'missing*.csv'                                        => 5 no file matches
            none: load empty                                                 => 5 no file to read
            none: load socket                                                => 5 nothing can be read
            none: load cut.zip                                               => 5 zip archive is broken
            none: load two.tar                                               => 5 two members of this name
            none: load two.zip                                               => 5 another zip archive stands before
            none: load cut.tar                                               => 5 in the middle of its tar data
            none: load end.tar                                               => 5 zeros that end a tar
            none: load a.lz4                                                 => 5 holds lz4 data
            none: load u.csv                                                 => 5 UTF-32
            none: load gs://bucket/a.csv                                     => 5 URLs of this kind
            none: load d                                                     => 1 one is taken at a time
            none: load d/x.bson                                              => 1 a capped collection throws
            none: load --index v:1;name=mine d/y.bson                        => 1 of the same name, mine
            none: load d/z.bson                                              => 5 metadata of its collection is no JSON
            """)


class Bound(refusals.Case):
    """Into a collection that has been loaded, otherwise than it was."""

    def test_bound(self):
        """other formats and options than the collection was loaded with, and inputs that are not what was loaded"""
        for name in ("day.csv", "twin.csv"):
            self.write(name, INPUTS["a.csv"])
        self.fill("rows", "-f", "./rows.yaml", "a.csv", "day.csv")
        self.fill("guessed", "a.csv", "twin.csv")
        self.fill("filtered", "--filter", "k==1", "a.csv")
        self.fill("own", "--id", "k", "a.csv")
        self.write("day.csv", INPUTS["b.csv"])
        self.write("bad.csv", "k,v\n1\n2\n")
        (self.folder / "old").mkdir()
        (self.folder / "twin.csv").rename(self.folder / "old/twin.csv")
        self.write("twin.csv", "k,v\n9,nine\n")
        self.fill("guessed", "twin.csv", "old/twin.csv")
        self.are_refused("""
            rows: load b.csv                                                 => 1 --format is missing
            rows: load -f ./others.yaml b.csv                                => 1 with --format rows, not others
            rows: load -f ./texts.yaml b.csv                                 => 1 the format 'rows' has changed
            rows: load -f ./rows.yaml --filter k==1 b.csv                    => 1 loaded without --filter
            rows: load -f ./rows.yaml --id k b.csv                           => 1 loaded without --id
            rows: load -f ./rows.yaml --append --drop --yes b.csv            => 1 --append keeps
            rows: load -f ./rows.yaml --reload-missing --drop --yes b.csv    => 1 that --drop would drop
            rows: load -f ./rows.yaml --reload-missing --reload-changed a.csv => 1 give one of them
            rows: load -f ./rows.yaml --input-name a.csv b.csv               => 1 two kinds of inputs
            rows: load -f ./rows.yaml --drop b.csv                           => 1 --drop destroys
            rows: load -f ./rows.yaml --drop --yes bad.csv                   => 5 Nothing was dropped
            rows: load -f ./rows.yaml --drop --yes other.csv                 => 5 does not fit the format rows
            rows: load -f ./rows.yaml --drop --yes b.csv other.csv           => 5 1 of 2 files does not fit the format rows
            rows: load -f ./rows.yaml --drop --yes missing.csv               => 5 no such file
            rows: load -f ./rows.yaml --drop --yes --filter nope==1 b.csv    => 1 nope
            rows: load -f ./rows.yaml --drop --yes --index k:up b.csv        => 1 is no index
            rows: load -f ./rows.yaml --drop --yes --direct b.csv            => 1 --direct goes with a sharded cluster
            rows: load -f ./rows.yaml --drop --yes --create '{"capped": true}' b.csv => 1 a capped collection throws
            rows: load -f ./rows.yaml day.csv                                => 5 day.csv has changed
            rows: load -f ./rows.yaml b.csv day.csv                          => 5 day.csv has changed
            rows: forget --delete --yes b.csv                                => 1 is not in the catalog
            rows: forget a.csv                                               => 1 documents of a.csv are in the collection
            guessed: load -f ./texts.yaml b.csv                              => 1 guessed, not with --format rows
            guessed: load other.csv                                          => 5 another kind of file
            guessed: load --new-columns refuse more.csv                      => 5 no column for extra
            guessed: load --type k:text b.csv                                => 1 --type
            guessed: load --type zip:int b.csv                               => 1 neither the format that is kept
            guessed: forget --delete --yes twin.csv                          => 1 could be meant by
            filtered: load --filter k==2 b.csv                               => 1 with --filter 'k==1', not 'k==2'
            own: load --id v b.csv                                           => 1 with --id k, not v
            own: load --existing replace b.csv                               => 1 --existing reject, not replace
            own: load --copies 2 a.csv                                       => 1 _ids of their own
            own: load nokey.csv                                              => 5 which --id, the filter
            own: forget --delete --yes a.csv                                 => 1 remove them yourself
            own: where 5                                                     => 1 nothing of a place
            """)

    def test_replacing(self):
        """--existing replace: other modes, and records that are older than what is there"""
        texts = [GOOD, GOOD.replace("word", "other"), GOOD.replace("word", "third")]
        for name, text in zip(("g.csv", "h.csv", "i.csv"), texts):
            self.write(name, text)
        self.fill("newest", "--id", "k", "--existing", "replace", "g.csv", "h.csv", "i.csv")
        self.fill("half", "--id", "k", "--existing", "replace", "--limit", "9", "g.csv")
        self.fill("begun", "--id", "k", "--existing", "replace", "b.csv")
        self.write("copy.csv", GOOD)
        self.write("more.csv", GOOD + "70,seventy\n")
        self.write("part.csv", GOOD[:300])
        self.write("g.csv.gz", gzip.compress(GOOD.encode()))
        self.write("h.csv", texts[1] + "70,seventy\n")
        self.are_refused("""
            newest: load --existing keep a.csv                               => 1 --existing replace, not keep
            newest: load --unsafe a.csv                                      => 1 not go with --unsafe
            newest: load copy.csv                                            => 1 copy.csv has
            newest: load more.csv                                            => 1 more.csv begins
            newest: load part.csv                                            => 1 part.csv is the beginning of g.csv
            newest: load g.csv.gz                                            => 1 may be, packed
            newest: load h.csv                                               => 1 i.csv, which comes after it
            half: load i.csv                                                 => 1 g.csv comes before i.csv
            begun: load g.csv i.csv copy.csv                                 => 1 i.csv comes between
            begun: load g.csv i.csv more.csv                                 => 1 i.csv comes between
            """)

    def test_beside_another(self):
        """while another load lives, which replaces documents and waits for its stream"""
        neverlost.shorten_lease(self.uri("busy"), 2)
        load = self.start_held("-f", "./rows.yaml", "--id", "k", "--existing", "replace", "--uri", self.uri("busy"))
        self.assertTrue(livetest.wait_for(lambda: [file for file in self.files("busy") if file["pieces"][0]["owner"]]))
        self.are_refused("""
            busy: load -f ./rows.yaml b.csv                                  => 1 one load at a time
            busy: forget stdin#0                                             => 1 is being loaded
            """)
        load.communicate(b"k,v\n5,five\n", livetest.LONG)
        self.assertEqual((0, 1), (load.returncode, self.client.count(self.database, "busy")))

    def test_retry(self):
        """--retry of what is no reject file any more, or none of this collection"""
        bad = GOOD + "odd\n61,good\nwrong\n"
        for name in ("bad", "again"):
            self.write(name + ".csv", bad)
            neverlost.shorten_lease(self.uri(name), 1)
            self.fill(name, name + ".csv", "--rejects", name, status=2)
        self.write("again.csv", GOOD)
        self.fill("again", "--reload-changed", "again.csv")
        self.fill("other", "b.csv")
        self.client.insert(self.database, "foreign", [{"_id": 5}])
        text = (self.folder / "bad").read_bytes()
        mark, last = text.index(b"\n#@") + 1, text.rindex(b"\nwrong") + 1
        for name, content in (
                ("wide", text.decode().encode("utf-16")), ("packed", gzip.compress(text)),
                ("damaged", re.sub(rb" offset=\d+", b"", text, count=1)),
                ("far", re.sub(rb" offset=\d+", b" offset=99999999999", text)), ("above", text[mark:] + text[:mark]),
                ("two", text[:last] + b"62,good\n" + text[last:])):
            self.write(name, content)
        self.are_refused("""
            bad: load --retry missing                                        => 1 missing cannot be read
            bad: load --retry a.csv                                          => 1 not a reject file
            bad: load --retry /dev/null                                      => 1 or a device
            bad: load --retry wide                                           => 1 is UTF-16
            bad: load --retry packed                                         => 1 is compressed
            bad: load --retry damaged                                        => 1 was changed
            bad: load --retry far                                            => 1 offset 99999999999 is outside of bad.csv
            bad: load --retry above                                          => 1 above:1: this #@ line stands above
            bad: load --retry two                                            => 1 more than one record
            bad: load --retry bad --reload-missing                           => 1 reads no input
            bad: load bad                                                    => 1 is a reject file of tipple, no data
            again: load --retry again                                        => 1 no such record of again.csv is rejected
            other: load --retry bad                                          => 1 bad.csv is not in the catalog
            foreign: load --retry bad                                        => 1 has no catalog
            missing: load --retry bad                                        => 1 does not exist
            """)


class Target(refusals.Case):
    def on_header(self, name, change):
        self.client.command(self.database, {"update": name + ".tipple.files", "updates": [
            {"q": {"_id": "catalog"}, "u": change}]})

    def remove(self, name, which):
        self.client.command(self.database, {"delete": name, "deletes": [{"q": which, "limit": 0}]})

    def test_targets(self):
        """what is no plain collection, holds documents of others, or is not what its catalog says"""
        for name in ("base", "gone", "theirs", "remade", "emptied", "damaged", "lost", "layout", "odd", "dropping"):
            self.fill(name, "a.csv")
        self.fill("known", "-f", "./rows.yaml", "head.csv")
        for name, more in (("view", {"viewOn": "base", "pipeline": []}), ("capped", {"capped": True, "size": 4096}),
                           ("series", {"timeseries": {"timeField": "t"}})):
            self.client.command(self.database, {"create": name, **more})
        for name in ("gone", "theirs", "remade"):
            self.client.command(self.database, {"drop": name})
        self.client.command(self.database, {"create": "remade"})
        for name in ("foreign", "known", "theirs"):
            self.client.insert(self.database, name, [{"_id": (1 << 20) + 5}])
        self.remove("emptied", {})
        self.remove("damaged.tipple.files", {"_id": "catalog"})
        self.remove("lost.tipple.files", {"_id": {"$ne": "catalog"}})
        self.on_header("layout", {"$set": {"layout": 1}})
        self.on_header("odd", {"$set": {"layout": 4}, "$unset": {"nextOrdinal": 1}})
        self.on_header("dropping", {"$set": {"dropping": mongo.ObjectId(b"tipple is it")}})
        self.are_refused("""
            view: load a.csv                                                 => 1 is a view
            view: load --drop --yes a.csv                                    => 1 is a view
            capped: load a.csv                                               => 1 is a capped collection
            series: load a.csv                                               => 1 is a time series
            foreign: load a.csv                                              => 1 did not load (it has no catalog)
            foreign: load --dry-run a.csv                                    => 1 did not load (it has no catalog)
            known: load -f ./rows.yaml a.csv                                 => 1 did not load (its catalog knows of none)
            known: load -f ./rows.yaml --append a.csv                        => 1 one of the _ids that this load would give
            gone: load b.csv                                                 => 1 is gone
            theirs: load b.csv                                               => 1 --same-collection
            theirs: forget --delete --yes a.csv                              => 1 not the collection
            theirs: status                                                   => 0 not the collection
            remade: load b.csv                                               => 1 --same-collection
            emptied: load b.csv                                              => 1 what was loaded was removed
            damaged: load b.csv                                              => 1 its header was removed
            damaged: status                                                  => 1 its header was removed
            damaged: verify b.csv                                            => 1 its header was removed
            damaged: forget b.csv                                            => 1 its header was removed
            lost: load b.csv                                                 => 1 entries of their inputs
            dropping: load b.csv                                             => 1 is dropping
            layout: load b.csv                                               => 1 in another layout
            layout: status                                                   => 1 in another layout
            layout: verify a.csv                                             => 1 in another layout
            layout: forget a.csv                                             => 1 in another layout
            layout: where 1                                                  => 1 in another layout
            odd: load --drop --yes b.csv                                     => 1 that this one cannot change
            """)
        for name in ("damaged", "layout"):
            self.fill(name, "b.csv", "--drop", "--yes")
            self.assertEqual(["b.csv"], [file["path"] for file in self.files(name)])


class Reader(refusals.Case):
    server = "standalone-auth"

    def test_reader(self):
        """a user who may only read"""
        self.fill("guessed", "a.csv")
        self.user({"role": "read", "db": self.database})
        self.who = self.database
        self.are_refused("""
            none: load a.csv                                                 => 1 may not
            guessed: load b.csv                                              => 1 may not
            guessed: load --drop --yes b.csv                                 => 1 may not
            guessed: forget --delete --yes a.csv                             => 1 may not
            """)


if __name__ == "__main__":
    livetest.main()
