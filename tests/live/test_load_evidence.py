"""What counts as loaded, where replies are lost, hide something, or speak of the server and not of documents.
needs: standalone; locks: failpoints"""
import gzip
import threading

import livetest
import minimongo as mongo
import relay
from livetest import Books, rows


class Replies:
    """A rule for relays: script(number, message) is asked for each insert of data, from 0 on, and again for its reply."""

    def __init__(self, question=lambda number, message: relay.PASS, reply=lambda number, message: relay.PASS):
        self.question, self.reply, self.count, self.met = question, reply, 0, 0

    def __call__(self, message):
        if message.command != "insert" or message.books:
            return relay.PASS
        if message.reply:
            verdict = self.reply(self.count - 1, message)
        else:
            self.inserted = message.inserted
            self.count += 1
            verdict = self.question(self.count - 1, message)
        self.met += verdict != relay.PASS
        return verdict


def refusals(message, code, places, count):
    """The reply that `places` of `count` documents were refused with a code, and the others taken."""
    return relay.answer(message, {"n": count - len(places), "ok": 1.0, "writeErrors": [
        {"index": place, "code": code, "errmsg": "words of %d" % code} for place in places]})


class Evidence(livetest.Case):
    def through(self, rule, *words, **more):
        with relay.Relays([self.state["members"][0]["port"]], rule) as relays:
            return self.load(*words, "-j", 1, "-b", 100, "--uri", relays.rename(self.uri()), **more)

    def test_lost_replies_and_damaged_data(self):
        """what damaged data had given is not taken for ours because a reply was lost"""
        text = rows(3000)
        packed = gzip.compress(text, 0)
        at = packed.index(b"|FIESTA|", len(packed) // 2)
        self.write("a.gz", packed[:at] + b"|FIASTA|" + packed[at + 8:])
        self.load("a.gz", status=5)
        self.write("a.gz", packed)
        rule = Replies(reply=lambda number, _: relay.PASS if number % 2 else relay.CUT)
        counts = self.through(rule, "a.gz", status=2)
        self.assertEqual((3000, 0, 2999, 1), tuple(counts[part] for part in livetest.PARTS[:4]))
        self.assertRegex(self.stderr, "another document")

    def test_lost_replies_and_strangers(self):
        """a stranger's document under one of our ids is found out, also when replies are lost"""
        first, text = rows(400), rows(3000, 2)
        self.write("0.csv", first)
        self.load("0.csv")
        books = Books().plain("0.csv", first).plain("a.csv", text)
        places = books.files[1].places
        numbers = sorted(books.files[1].documents, key=lambda number: places[number][0])
        strangers = [{"_id": mongo.Int64(number), "theirs": True} for number in (numbers[10], numbers[150])]
        self.client.insert(self.database, "results", strangers)
        self.write("a.csv", text)
        rule = Replies(reply=lambda number, _: relay.CUT if number in (0, 2, 5) else relay.PASS)
        counts = self.through(rule, "a.csv", status=2)
        self.assertEqual((3000, 2998, 0, 2), tuple(counts[part] for part in livetest.PARTS[:4]))
        self.holds(books, extra={document["_id"]: mongo.encode(document) for document in strangers})

    def test_made_meanwhile(self):
        """another load makes the collection after this one has looked for it: it is not said to be gone"""
        texts = {"a.csv": rows(10), "b.csv": rows(20, 2)}
        for name, text in texts.items():
            self.write(name, text)
        looked, held, made = (threading.Event() for _ in range(3))

        def rule(message):
            if not message.reply and message.command == "listCollections":
                looked.set()
            if not message.reply and message.command == "find" and message.books and looked.is_set() and not made.is_set():
                held.set()
                return made
            return relay.PASS
        with relay.Relays([self.state["members"][0]["port"]], rule) as relays:
            load = self.start("a.csv", "--uri", relays.rename(self.uri()))
            self.assertTrue(held.wait(livetest.LONG))
            self.load("b.csv")
            made.set()
            load.communicate(timeout=livetest.LONG)
            self.assertEqual(0, load.returncode)
        self.assertEqual(30, self.client.count(self.database, "results"))

    def test_no_cursor(self):
        """a reply without a cursor's name, or with one that is no text, for which the driver would end the process, is told"""
        self.write("a.csv", rows(30))
        self.load("a.csv")
        for name in (b"\2nz\0", b"\x0dns\0"):
            rule = lambda message, name=name: message.raw.replace(b"\2ns\0", name) \
                if message.reply and (message.command, message.collection) == ("aggregate", "results") else relay.PASS
            with relay.Relays([self.state["members"][0]["port"]], rule) as relays:
                done = self.tipple("query", "--uri", relays.rename(self.uri()), "[{$count: n}]", status=4)
            self.assertIn("no cursor", done.stderr)

    def test_hidden_concern(self):
        """a reply of duplicates only, after one with a write concern error: nothing counts that is not read back"""
        text = rows(900)
        self.write("a.csv", text)

        def question(number, message):
            return relay.without(message, range(message.inserted)) if number < 3 else relay.PASS

        def reply(number, message):
            if number == 0:
                return relay.answer(message, {"n": rule.inserted, "ok": 1.0, "writeConcernError": {
                    "code": 64, "errmsg": "waiting for replication timed out"}})
            if number < 3:
                return relay.answer(message, {"n": 0, "ok": 1.0, "writeErrors": [
                    {"index": place, "code": 11000, "errmsg": "E11000 duplicate key", "keyPattern": {"_id": 1}}
                    for place in range(rule.inserted)]})
            return relay.PASS
        rule = Replies(question, reply)
        counts = self.through(rule, "a.csv")
        self.assertEqual((900, 900), (counts["read"], counts["loaded"]))
        self.holds(Books().plain("a.csv", text))

    def test_codes_of_servers(self):
        """codes that speak of a router or a shard, for all documents of a batch or some: nothing is a reject for them"""
        text = rows(2000)
        self.write("a.csv", text)
        for code in (82, 247, 332, 319, 175, 237, 43, 225, 1, 146, 4711):
            for step in (1, 2):
                places = range(0, 100, step)

                def question(number, message):
                    return relay.without(message, places) if number in (0, 9) else relay.PASS

                def reply(number, message):
                    return refusals(message, code, places, 100) if number in (0, 9) else relay.PASS
                rule = Replies(question, reply)
                with self.subTest(code=code, step=step):
                    self.client.drop_database(self.database)
                    counts = self.through(rule, "a.csv")
                    self.assertEqual((2000, 2000, 2), (counts["read"], counts["loaded"], counts["retries"]))
                    self.holds(Books().plain("a.csv", text))

    def test_commands_that_fail(self):
        """the same codes as the whole command's, of an insert and of what is read back"""
        text = rows(3000)
        self.write("a.csv", text)
        for code in (82, 43, 175, 332, 4711, 2, 121):
            for command in ("insert", "find"):
                with self.subTest(code=code, command=command):
                    if command == "find" and code not in (82, 43, 175):
                        continue
                    self.client.drop_database(self.database)
                    self.load("a.csv", "--limit", 1500)
                    self.client.command("admin", {"configureFailPoint": "failCommand", "mode": {"times": 2}, "data": {
                        "failCommands": [command], "namespace": self.database + ".results", "errorCode": code}})
                    counts = self.load("a.csv")
                    self.assertEqual((3000, 1500, 1500), (counts["read"], counts["loaded"], counts["already_there"]))
                    self.holds(Books().plain("a.csv", text))

    def test_one_document_again_and_again(self):
        """a code that nobody knows, for one document and no other: status 4 that names it; --reject-code makes it a reject"""
        text = rows(500)
        self.write("a.csv", text)
        poison = Books().plain("a.csv", text).files[0]
        number = sorted(poison.documents)[57]
        raw = poison.documents[number]

        def question(_, message):
            documents = list(message.documents())
            rule.place = documents.index(raw) if raw in documents else None
            return relay.without(message, {rule.place}) if rule.place is not None else relay.PASS

        def reply(_, message):
            return relay.PASS if rule.place is None else refusals(message, 4711, [rule.place], rule.inserted)
        rule = Replies(question, reply)
        self.through(rule, "a.csv", "--patience", "1h", status=4)
        self.assertRegex(self.stderr, r"a.csv:%d: .*again and again.*code 4711.*--reject-code 4711" % (57 + 2))
        counts = self.through(rule, "a.csv", "--reject-code", "16", "--reject-code", "4711", status=2)
        self.assertEqual(1, counts["rejected"])
        self.assertEqual(499, self.client.count(self.database, "results"))
        self.refused("of the server", "a.csv", "--reject-code", "112")
        self.refused("not the number", "a.csv", "--reject-code", "many")

    def test_reply_that_does_not_add_up(self):
        """an n that is too small: all of the batch is looked for, and none counted twice"""
        text = rows(900)
        self.write("a.csv", text)

        def reply(number, message):
            return relay.answer(message, {"n": rule.inserted - 1, "ok": 1.0}) if number in (1, 4) else relay.PASS
        rule = Replies(reply=reply)
        counts = self.through(rule, "a.csv")
        self.assertEqual((900, 900, 2), (counts["read"], counts["loaded"], counts["retries"]))
        self.holds(Books().plain("a.csv", text))

    def test_counted_where_it_ends(self):
        """a write error that ends the load: what the same reply acknowledges is counted"""
        self.write("a.csv", rows(2000))
        rule = Replies(reply=lambda number, message: refusals(message, 13, (3, 7), 100) if number == 4 else relay.PASS)
        counts = self.through(rule, "a.csv", status=4)
        self.assertEqual((498, 498), (counts["read"], counts["loaded"]))
        self.assertRegex(self.stderr, "words of 13")

    def test_refused_by_a_validator(self):
        """one document in five refused: a share of rejects is a share, not "the first 100 records were all rejected\""""
        text = rows(3000)
        self.write("a.csv", text)
        refused = [number for number, line in enumerate(text.splitlines()[1:]) if b"|FORD|" in line]
        self.assertGreater(len(refused), 300)
        self.client.command(self.database, {"create": "results", "validator": {"k": {"$ne": "FORD"}}})
        counts = self.load("a.csv", "-j", 1, "--max-rejects", "50%", status=2)
        self.assertEqual((3000, 3000 - len(refused), len(refused)), (counts["read"], counts["loaded"], counts["rejected"]))

    def test_dropped_meanwhile(self):
        """a collection that is dropped in the middle is not made anew by the next insert"""
        self.write("a.csv", rows(2000))

        def reply(number, _):
            if number == 4:
                self.client.command(self.database, {"drop": "results"})
            return relay.PASS
        self.through(Replies(reply=reply), "a.csv", status=4)
        self.assertRegex(self.stderr, "was dropped.*while")
        self.assertEqual(0, self.client.count(self.database, "results"))


if __name__ == "__main__":
    livetest.main()
