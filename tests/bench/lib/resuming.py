"""resuming: what a load costs that finds half of its records in the collection, and none of them called done."""
import json
import os

import figures
import minimongo
from compare import Loaders, Outcome, cost_table, every, interleave
from figures import Failed, Target
from lab import COLLECTION, DATABASE


def resume(lab, options):
    """tools/bench resume: half of the documents are taken away, and the catalog is changed to say that nothing is sure."""
    with lab.server(options.cache) as server:
        loaders = Loaders(lab, server, options)
        runs, reasons = interleave(options.rounds, {
            "load of all": lambda: loaders.tipple(),
            "the same, half is there": lambda: resumed(lab, loaders, options.rows)})
    whole, half = runs["load of all"], runs["the same, half is there"]
    table = cost_table("A load that reads back what is there", runs, [
        "%s rows; the second run finds the first half of them, and no block that is recorded as done" %
        figures.thousands(options.rows), figures.others_note(every(runs)), *reasons])
    return Outcome([table], [
        Target("resuming, half is there and none recorded as done: at most 1.0 us of client CPU a record that is there",
               figures.of_pairs(half, whole, lambda a, b: (a.client_cpu - b.client_cpu / 2) / (options.rows / 2)),
               figures.micro, most=1e-6)])


def resumed(lab, loaders, rows):
    """After a load of all: the upper half of the documents is deleted, and the catalog speaks of another collection."""
    client = loaders.server.client
    middle = client.find(DATABASE, COLLECTION, projection={"_id": 1}, sort={"_id": 1}, skip=rows // 2, limit=1)
    first_gone = next(iter(middle))["_id"]
    client.command(DATABASE, {"delete": COLLECTION, "deletes": [{"q": {"_id": {"$gte": first_gone}}, "limit": 0}]})
    client.command(DATABASE, {"update": COLLECTION + ".tipple.files", "updates": [
        {"q": {"_id": "catalog"}, "u": {"$set": {"uuid": minimongo.Binary(os.urandom(16), 4)}}}]})
    loaders.server.settle()
    run = lab.run([*loaders.load_words(lab.rows(rows, loaders.format)), "--same-collection"], rows, loaders.server)
    said = json.loads(run.output)
    if (said["already_there"], said["loaded"]) != (rows // 2, rows - rows // 2):
        raise Failed("%d were there and %d were loaded" % (said["already_there"], said["loaded"]))
    return loaders.arrived(run, rows)
