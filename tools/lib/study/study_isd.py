"""The weather of a century, 2014: threads by batch, the load, the index after it, and the questions; one server and shards."""
import os
import time

from meter import costs_table
from workplace import collection, count, empty_page_cache, say, time_of

TARGET = "study.weather"
PUBLISHED = {"one server": (10.33 * 3600, 7.66 * 3600), "cluster": (3.15 * 3600, 300)}  # the load and the index, seconds


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


def matrix(place, uri, threads, batches, paths, *words):
    """Nothing where there are too few records for trials of two seconds."""
    if place.choose(False, True, True):
        return {}
    said = place.run("tune", "-f", "isd-study", "--uri", uri, "--json", "--threads", ",".join(map(str, threads)), "--batch",
                     ",".join(map(str, batches)), "--budget", "4m", *words, *paths)
    return {(one["threads"], one["batch"]): one for one in said["settings"]}


def tell_matrix(place, name, found, threads, batches, cell, published):
    if not found:
        place.tell("Left out: a trial takes two seconds, and these records take less.")
        place.tell()
        return
    known = {key: one for key, one in found.items() if one["docs_per_second"]}
    rates = {key: one["docs_per_second"] for key, one in known.items()}
    place.table(["threads, batch", *map(str, batches)],
                [[number, *(count(round(rates[number, batch])) if (number, batch) in rates else "-" for batch in batches)]
                 for number in threads])
    place.plot("Documents a second by threads and batch, %s" % name, list(threads),
               {"batch of %d" % batch: [rates.get((number, batch)) for number in threads] for batch in batches}, "documents/s")
    best = max(rates, key=rates.get)
    place.tell("The sweet spot here: %d x %d, %s documents/s. Published: %s, %s documents/s%s.", *best, count(round(rates[best])),
               "%d x %d" % cell, published,
               "; that setting is %.2f of the best here" % (rates[cell] / rates[best]) if cell in rates else "")
    place.tell()
    shown = dict.fromkeys([best, *([cell] if cell in known else []), min(known), max(known)])
    place.tell("What limits them: cores that servers and loaders kept busy, of %d, and how busy the host was.", os.cpu_count())
    place.tell()
    place.table(["threads x batch", "servers", "loaders", "host busy", "CPU of the loader, µs a document", "limited by"],
                [["%d x %d" % key, *(shown_figure(known[key][name], form) for name, form in (
                    ("server_cores", "%.2f"), ("client_cores", "%.2f"), ("host_busy", "%.2f"), ("client_cpu_us_per_doc", "%.1f"))),
                  known[key]["limited_by"] or "-"] for key in shown])


def shown_figure(value, form):
    return "-" if value is None else form % value


def reload(place, uri, paths, *words):
    """The drill of a reload: drops, makes, loads, indexes, verifies."""
    with place.meter() as cost:
        said = place.run("drill", "-f", "isd-study", "--uri", uri, "--drop", TARGET, "--index", "ts:1,st:1", "--no-predict",
                         "--json", *words, *paths)
    drill = said["drills"][0]
    return {one["phase"]: one["seconds"] for one in drill["phases"]}, drill["seconds"], drill["load"]["loaded"], cost


def index_from_disk(place):
    """The index of data that no memory holds: it is made once more by a server with the least cache, just started."""
    server = place.restart_server(cache="256M")
    with place.client(server) as client:
        client.command("study", {"dropIndexes": "weather", "index": "*"})
        client.command("admin", {"fsync": 1})
        empty_page_cache()
        began = time.monotonic()
        with place.meter() as cost:
            client.command("study", {"createIndexes": "weather", "indexes": [{"key": {"ts": 1, "st": 1}, "name": "ts_1_st_1"}]})
        return time.monotonic() - began, cost


def tell_reloads(place, reloads, cold):
    rows, ratios, total = [], [], {}
    for name, (phases, seconds, documents, _), key in reloads:
        published = place.published("weather")[key]
        rate = documents / phases["load"]
        total[key] = documents / (phases["load"] + phases["indexes"]), 1 / sum(PUBLISHED[key])
        rows.append([name, count(round(rate)), published["sustained"], time_of(phases["load"]), published["load"],
                     time_of(phases["indexes"]), published["index"], time_of(seconds), "%s + %s" % (published["load"], published["index"])])
        load, index = PUBLISHED[key]
        ratios.append(["the index's time by the load's, %s" % name, "%.3f" % (phases["indexes"] / phases["load"]), "%.3f" % (index / load)])
        if key == "one server":
            ratios.append(["the same, data read from disk, 256 MB of cache", "%.3f" % (cold[0] / phases["load"]), "%.3f" % (index / load)])
    place.tell("The drill of a reload (`tipple drill`): the load, the index {ts: 1, st: 1} behind it, and all of it; published are the load and"
               " the index.")
    place.tell()
    place.table(["", "documents/s", "published", "load", "published", "index", "published", "whole drill", "published"], rows)
    one, many = total["one server"], total["cluster"]
    ratios.append(["load and index: the shards' rate by the one server's", "%.2f" % (many[0] / one[0]), "%.2f" % (many[1] / one[1])])
    place.tell("What carries over:")
    place.tell()
    place.table(["ratio", "here", "published"], ratios)
    place.tell("Who had the CPUs during the drill (seconds of CPU), and what the servers read from disk:")
    place.tell()
    costs_table(place, [*((name, documents, cost) for name, (_, _, documents, cost), _ in reloads),
                        ("one server, the index from disk", reloads[0][1][2], cold[1])])


def ask(place, uri, name):
    rows = []
    for question, query, words, tell, nothing in QUESTIONS:
        said = place.query("isd", uri, query, "--repeats", place.choose(3, 1, 1), *words, report="%s-%s" % (name, query))
        one = said["queries"][0]
        rows.append([question, nothing if one["nothing_found"] else tell(one["result"]), "%.0f ms" % one["mean_ms"]])
    place.table(["question", "answer", "time"], rows, left=2)


def run(place):
    records = place.documents(1_500_000, 60_000, 3_000)
    paths = place.made("isd", "--rows", str(records), "--stations", place.choose("500", "100", "20"))
    one, many = (place.published("weather")[name] for name in ("one server", "cluster"))
    place.tell("%s made-up reports on %s, stored as format isd-study. Published: 2.5 billion, on one server of 32 CPUs and 251 GB"
               " and on a hundred shards of 8 CPUs and 61 GB, MongoDB 2.6 without a journal, which no server of today can be.",
               count(records), place.host())
    place.tell()
    with place.server(cache="1G") as server:
        uri = collection(server, TARGET)
        threads, batches = place.choose(((1, 2, 4, 8, 16), (100, 200, 1000)), ((2, 8), (100, 1000)), ((2, 8), (100, 200)))
        say("one server: threads by batch")
        place.tell("One server, documents a second:")
        place.tell()
        tell_matrix(place, "one server", matrix(place, uri, threads, batches, paths), threads, batches, (8, 100), one["peak"])
        say("one server: the drill")
        first = reload(place, uri, paths)
        say("one server: asking")
        place.tell("The article's questions, of the documents of the study; it gives no answers:")
        place.tell()
        ask(place, uri, "one")
        cold = index_from_disk(place)
    shards = place.choose(4, 2, 2)
    name = "%d shards" % shards
    with place.cluster(shards, "512M", routers=2) as up:
        uri = collection(up(fresh=True), TARGET)
        threads, batches = place.choose(((8, 16, 144), (100, 200, 1000)), ((8, 16), (200,)), ((2, 4), (200,)))
        say("%s: threads by batch", name)
        place.tell("%s, hashed on st, through two routers, documents a second:", name)
        place.tell()
        tell_matrix(place, name, matrix(place, uri, threads, batches, paths, "--shard-key", "st:hashed"), threads, batches,
                    (144, 200), many["peak"])
        say("%s: the drill", name)
        second = reload(place, uri, paths, "--shard-key", "st:hashed")
    tell_reloads(place, [("one server", first, "one server"), (name, second, "cluster")], cold)
    place.tell("What differs on this host: servers, routers and loaders share %d CPUs and one disk, and data and index fit into memory; the"
               " study's one server had sixteen times as many data as memory.", os.cpu_count())
