"""The weather of a century, 2015: threads by batch, the load, the index after it, and the questions; one server and shards."""
import os

from workplace import collection, count, ratio, say, shown, time_of

ARTICLE = ("The weather of a century: the load and the index", "\"Weather of the Century: Part 3\", Avery, 3 March"
           " 2015, https://www.mongodb.com/blog/post/weather-century-part-3",
           "With which threads and batches is a century of weather loaded fastest, how long does the index take after the load, and what"
           " can be asked?")
TARGET = "study.weather"
SECONDS = {"one server": (10.33 * 3600, 7.66 * 3600), "cluster": (3.15 * 3600, 300)}  # published: the load and the index
CELLS = {"one server": (8, 100), "cluster": (144, 200)}  # published: the best threads and batch


def swing(answers):
    most = answers[0]
    return "%.1f degrees, from %.1f to %.1f: %s on %s" % (most["swing"], most["low"], most["high"], most["st"],
                                                          most["day"]["$date"][:10])


def snow(answers):
    return "Yes, in %s reports, %s to %s" % (count(answers[0]["reports"]), answers[0]["first"]["$date"][:10],
                                             answers[0]["last"]["$date"][:10])


def clouds(answers):
    return "%.1f %% of what was seen of it, deviation %.1f %%; %s hours, each of which saw %.1f of 648 boxes of 10 degrees" % (
        100 * answers[0]["mean"], 100 * answers[0]["deviation"], count(answers[0]["hours"]), answers[0]["boxes"])


QUESTIONS = [("What was the biggest one-day swing in history?", "swing", (), swing, "none"),
             ("How much of the globe is covered with clouds at any given time, and with what deviation?", "clouds-over-time", (),
              clouds, "There is no report of clouds"),
             ("Has it ever snowed in Miami?", "snow", ("--param", "station=u722020"), snow,
              "There is no such report")]


def note_matrix(place, side, name, uri, paths, threads, batches, *words):
    """Which threads and batch are best."""
    known, cell = place.published("weather")[side], CELLS[side]
    if place.choose(False, True, True):
        place.leave_out(["%s by threads and batch (published best %s, %s documents/s), since these records are too few"
                         " for trials of two seconds" % (name, known["threads x batch"], known["peak"])])
        return
    say("%s: threads by batch", name)
    with place.meter("tune, %s" % side) as cost:
        said = place.run("tune", "-f", "isd-study", "--uri", uri, "--json", "--threads", ",".join(map(str, threads)), "--batch",
                         ",".join(map(str, batches)), "--budget", "4m", *words, *paths)
        cost.number = sum(one["documents"] or 0 for one in said["settings"]) or 1
    rates = {(one["threads"], one["batch"]): one["docs_per_second"] for one in said["settings"]}
    place.note("%s, documents a second by threads and batch (-: too few batches a thread, or no room in four minutes):", name.capitalize())
    place.table(["threads", *map(str, batches)],
                [[number, *(shown(rates.get((number, batch)), "%.0f") for batch in batches)] for number in threads])
    place.plot("Documents a second by threads and batch, %s" % name, list(threads),
               {"batch of %d" % batch: [rates.get((number, batch)) for number in threads] for batch in batches}, "documents/s")
    best = said["best"]
    if not best:
        place.note("No best setting: %s.", said["uncompared"])
        return
    others = sum(one["state"] == "close" and one != best for one in said["settings"])
    place.note("Best here: %d x %d, %s documents/s%s%s. Published: %s, %s documents/s; that setting has %s of the best here.",
               best["threads"], best["batch"], count(round(best["docs_per_second"])),
               ", not distinguishable from %d other settings" % others if others else "", "" if said["settled"] else "; not settled",
               known["threads x batch"], known["peak"], ratio(rates.get(cell), best["docs_per_second"]))


def load(place, name, uri, paths, *words):
    """The load and the index after it, and that all of it is there."""
    say("%s: loading", name)
    with place.meter("load, %s" % name) as cost:
        said = place.load("isd-study", uri, paths, "--drop", "--yes", "--index", "ts:1,st:1", *words)
        cost.number = said["loaded"]
    place.run("verify", "-f", "isd-study", "--uri", uri, "-q", "--json", *paths)
    index = said["indexes"][0]["seconds"]
    return said["loaded"], said["seconds"] - index, index


def note_loads(place, loads):
    """loads: {name: ("one server", "cluster" or None, (documents, seconds, seconds of the index))}. Both sides of the ratio of
    shards and one server write a journal, which shards cannot be without; the article's had none."""
    rows, ratios, total = [], [], {}
    for name, (side, (documents, seconds, index)) in loads.items():
        known = place.published("weather").get(side, {})
        rows.append([name, count(round(documents / seconds)), known.get("sustained", "-"), time_of(seconds), known.get("load", "-"),
                     time_of(index), known.get("index", "-")])
        if name != "one server, no journal":
            total[side or "one server"] = documents / (seconds + index), 1 / sum(SECONDS[side or "one server"])
        if side:
            ratios.append(["index by load, %s" % name, "%.3f" % (index / seconds), "%.3f" % (SECONDS[side][1] / SECONDS[side][0])])
    place.note("The load, and the index {ts: 1, st: 1} after it:")
    place.table(["", "documents/s", "published", "load", "published", "index", "published"], rows, together=2)
    place.note("What carries over:")
    ratios.append(["documents/s with the index, shards by one server, journal", *(ratio(total["cluster"][at], total["one server"][at]) for at in (0, 1))])
    place.table(["ratio", "here", "published"], ratios)
    return ratios


def ask(place, uri):
    place.note("The article's questions; it gives no answers:")
    for question, query, words, spell, nothing in QUESTIONS:
        one = place.query("isd", uri, query, "--repeats", place.choose(3, 1, 1), *words, report=query)["queries"][0]
        place.note("%s %s (%.0f ms).", question, nothing if one["nothing_found"] else spell(one["result"]), one["mean_ms"])


def run(place):
    records = place.documents(1_500_000, 60_000, 3_000)
    paths = place.made("isd", "--rows", str(records), "--stations", place.choose("500", "100", "20"))
    place.note("%s made-up reports, stored as format isd-study. Published: 2.5 billion, on one server of 32 CPUs"
               " and 251 GB and on a hundred shards of 8 CPUs and 61 GB, MongoDB 2.6 without a journal.",
               count(records))
    shards, loads = place.choose(4, 2, 2), {}
    with place.server(cache="1G", extra=("--nojournal",)) as server:
        loads["one server, no journal"] = "one server", load(place, "one server, no journal", collection(server, TARGET), paths, "--unsafe")
    with place.server(cache="1G") as server:
        uri = collection(server, TARGET)
        note_matrix(place, "one server", "one server", uri, paths, (1, 2, 4, 8, 16), (100, 200, 1000))
        loads["one server, journal"] = None, load(place, "one server, journal", uri, paths)
        say("one server: asking")
        ask(place, uri)
    name = "%d shards, journal" % shards
    with place.cluster(shards, "512M", routers=2) as up:
        uri = collection(up(fresh=True), TARGET)
        note_matrix(place, "cluster", "%d shards, hashed on st, through two routers" % shards, uri, paths, (8, 16, 144), (100, 200, 1000),
                    "--shard-key", "st:hashed")
        loads[name] = "cluster", load(place, name, uri, paths, "--shard-key", "st:hashed")
    ratios = note_loads(place, loads)
    place.note("What differs here: servers, routers and loaders share %d CPUs and one disk, and data and index fit into"
               " memory; the article's one server had sixteen times as many data as memory. Shards are replica sets,"
               " which cannot be without a journal today. Made-up stations each have years of their own, so an hour sees the sky"
               " above one or two of them; published files (--data) have many. The article's picture of how the data grow is not made.",
               os.cpu_count())
    place.conclude("On one server without a journal the index takes %s of the load's time (published %s). The shards have %s of the"
                   " rate of one server, both with a journal (published %s, both without).", *ratios[0][1:], *ratios[-1][1:])
