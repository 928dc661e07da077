"""Reads from secondaries, 2018: 95th and 99th percentile of finds by _id, alone and beside a load."""
import time

from workplace import count, say

MODES = ("primary", "secondary", "nearest")


def catch_up(client):
    """Seconds until every secondary has what the primary has now."""
    began = time.monotonic()
    wanted = None
    while True:
        members = client.command("admin", {"replSetGetStatus": 1})["members"]
        done = [int(member["optime"]["ts"]) for member in members if member["stateStr"] == "SECONDARY"]
        wanted = wanted or max(int(member["optime"]["ts"]) for member in members)
        if min(done) >= wanted or time.monotonic() - began > 60:
            return time.monotonic() - began
        time.sleep(0.01)


def ask(place, uri, clients, seconds, more, report):
    said = place.query("ycsb", uri, "by-id", "--repeats", 2, "--clients", ",".join(map(str, clients)),
                       "--read-preference", ",".join(MODES), "--duration", "%ds" % seconds, *more, report=report)
    return {(one["clients"], one["reads"]): one for one in said["queries"]}


def run(place):
    documents = place.documents(300_000, 30_000, 2_000)
    clients = place.choose((8, 16, 32, 64), (8, 16, 32, 64), (2, 4))
    seconds = place.choose(20, 5, 1)
    paths = place.made("ycsb", "--documents", str(documents))
    more = place.made("ycsb", "--documents", str(4 * documents), "--first", str(documents))
    published = place.published("secondary reads")
    with place.server(replset=3, steady=True) as server:
        head, _, options = server.partition("/?")
        uri = "%s/study.ycsb?%s" % (head, options)
        say("loading %s documents", count(documents))
        place.load("ycsb", uri, paths)
        say("asking, alone")
        alone = ask(place, uri, clients, seconds, (), "alone")
        say("asking, beside a load")
        load = "%s load -f ycsb --uri '%s/study.more?%s' -q --max-rate 5k %s" % (place.tipple, head, options, more[0])
        beside = ask(place, uri, clients, seconds, ("--while", load), "beside")
        with place.client(server) as client:
            lag = catch_up(client)
    place.tell("A replica set of three on %s, whose CPUs its members and the readers share, so secondaries cannot be faster"
               " than the primary here; %s documents, one by its _id at a time; beside: a load of 5,000 documents a second."
               " Milliseconds. Published: 95th percentile of reads from a secondary beside writes, before 4.0 (off) and with"
               " 4.0 (on); no server of today has the feature off.", place.host(), count(documents))
    place.tell()
    for share in ("p95", "p99"):
        rows = []
        for number in clients:
            row = [number]
            for found in (alone, beside):
                for mode in MODES:
                    value = found[number, mode]["%s_ms" % share]
                    row.append("-" if value is None else "%.3g" % value)
            if share == "p95":
                row += [published[state].get(str(number), "-") for state in ("Feature off", "Feature on")]
            rows.append(row)
        place.tell("%s percentile:", {"p95": "95th", "p99": "99th"}[share])
        place.tell()
        place.table(["clients", *("%s, %s" % (mode, when) for when in ("alone", "beside") for mode in MODES),
                     *(["published off", "published on"] if share == "p95" else [])], rows)
    place.tell("Replication lag when the load was stopped: the last secondary had everything %.2f s later.", lag)
