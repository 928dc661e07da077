"""The weather of a century, 2014: threads by batch, the load, the index after it, and the questions; one server and shards."""
from workplace import count, say, time_of


def swing(answers):
    most = answers[0]
    return "%.1f degrees, from %.1f to %.1f: %s on %s" % (most["swing"], most["low"], most["high"], most["st"],
                                                          most["day"]["$date"][:10])


def snow(answers):
    return "yes, in %s reports, %s to %s" % (count(answers[0]["reports"]), answers[0]["first"]["$date"][:10],
                                             answers[0]["last"]["$date"][:10])


def places(answers):
    return "at %d stations" % len(answers)


def clouds(answers):
    return "%.1f %% of what was seen of it, deviation %.1f %%; %s hours, each of which saw %.1f of 648 boxes of 10 degrees" % (
        100 * answers[0]["mean"], 100 * answers[0]["deviation"], count(answers[0]["hours"]), answers[0]["boxes"])


# the last one has no published counterpart: it shows that the third finds snow where there is some
QUESTIONS = [("What was the biggest one-day swing in history?", "swing", (), swing, "no"),
             ("How much of the globe is covered with clouds at any given time, and with what deviation?", "clouds-over-time", (),
              clouds, "no report of clouds is there"),
             ("Has it ever snowed in Miami?", "snow", ("--param", "station=u722020"), snow,
              "no such report is there; made-up data have no station in Miami"),
             ("Where has it ever snowed?", "snow-by-station", (), places, "nowhere")]


def matrix(place, uri, threads, batches, sample, paths, *words):
    said = place.run("tune", "-f", "isd-study", "--uri", uri, "--json", "--threads", ",".join(map(str, threads)), "--batch",
                     ",".join(map(str, batches)), "--sample", sample, "--budget", place.choose("4m", "40s", "15s"), *words,
                     *paths)
    return {(one["threads"], one["batch"]): one for one in said["settings"]}


def tell_matrix(place, found, threads, batches, cell, published):
    rows = [[number, *("-" if (number, batch) not in found or found[number, batch]["docs_per_second"] is None
                       else count(round(found[number, batch]["docs_per_second"])) for batch in batches)]
            for number in threads]
    place.table(["threads, batch", *map(str, batches)], rows)
    known = {key: one["docs_per_second"] for key, one in found.items() if one["docs_per_second"]}
    best = max(known, key=known.get)
    place.tell("Best here: %d x %d, %s documents/s. Published: %s, %s documents/s%s.", *best, count(round(known[best])),
               "%d x %d" % cell, published,
               "; that setting is %.2f of the best here" % (known[cell] / known[best]) if cell in known else "")
    place.tell()


def load(place, uri, paths, *words):
    loaded = place.load("isd-study", uri, paths, "--index", "ts:1,st:1", *words)
    index = loaded["indexes"][0]["seconds"] if loaded.get("indexes") else None
    return loaded, index


def ask(place, uri, name):
    rows = []
    for question, query, words, tell, nothing in QUESTIONS:
        said = place.query("isd", uri, query, "--repeats", place.choose(3, 1, 1), *words, report="%s-%s" % (name, query))
        one = said["queries"][0]
        rows.append([question, nothing if one["nothing_found"] else tell(one["result"]), "%.0f ms" % one["mean_ms"]])
    place.table(["question", "answer", "time"], rows, left=2)


def run(place):
    records = place.documents(1_500_000, 60_000, 3_000)
    paths = place.made("isd", "--records", str(records), "--stations", place.choose("500", "100", "20"))
    sample = max(500, min(records // 4, 100_000))
    one, many = (place.published("weather")[name] for name in ("one server", "cluster"))
    place.tell("%s made-up reports on %s, stored as format isd-study. Published: 2.5 billion, on one server of 32 CPUs and 251 GB"
               " and on a hundred shards of 8 CPUs and 61 GB, MongoDB 2.6 without a journal, which no server of today can be.",
               count(records), place.host())
    place.tell()
    with place.server(cache="1G") as server:
        uri = server.partition("/?")[0] + "/study.weather"
        threads, batches = place.choose(((1, 2, 4, 8, 16), (100, 200, 1000)), ((2, 8), (100, 1000)), ((2, 8), (100, 200)))
        say("one server: threads by batch")
        place.tell("One server, documents a second:")
        place.tell()
        tell_matrix(place, matrix(place, uri, threads, batches, sample, paths), threads, batches, (8, 100), one["peak"])
        say("one server: loading")
        first, first_index = load(place, uri, paths)
        say("one server: asking")
        place.tell("The article's questions, of the documents of the study, without an index:")
        place.tell()
        ask(place, uri, "one")
    shards = place.choose(4, 2, 2)
    with place.cluster(shards, "512M", routers=2) as up:
        server = up(fresh=True)
        head, _, options = server.partition("/?")
        uri = "%s/study.weather?%s" % (head.rstrip("/"), options)
        threads, batches = place.choose(((8, 16, 144), (200, 1000)), ((8, 16), (200,)), ((2, 4), (200,)))
        say("%d shards: threads by batch", shards)
        place.tell("%d shards, hashed on st, through two routers, documents a second:", shards)
        place.tell()
        tell_matrix(place, matrix(place, uri, threads, batches, sample, paths, "--shard-key", "st:hashed"), threads, batches,
                    (144, 200), many["peak"])
        say("%d shards: loading", shards)
        second, second_index = load(place, uri, paths, "--shard-key", "st:hashed")
    rows = []
    for name, said, index, published in (("one server", first, first_index, one),
                                         ("%d shards" % shards, second, second_index, many)):
        rows.append([name, count(round(said["loaded"] / said["seconds"])), published["sustained"], time_of(said["seconds"]),
                     "%s + %s" % (published["load"], published["index"]), time_of(index), published["index"]])
    place.tell("The whole load, and the index {ts: 1, st: 1} behind it:")
    place.tell()
    place.table(["", "documents/s", "published", "load and index", "published", "index", "published"], rows)
