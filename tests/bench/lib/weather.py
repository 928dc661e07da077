"""weather: the measurements of ISD records, by the means of the others."""
import argparse

import compare
import figures
import single
from compare import Loaders, Outcome, cpu_target, share_target
from figures import Target


def isd(lab, options):
    """tools/bench isd: loading against the ceiling, reading and encoding alone, and memory."""
    streamed = argparse.Namespace(**{**vars(options), "rows": 5 * options.rows, "rounds": 1})
    parts = [load(lab, options), parse(lab, options), single.memory(lab, streamed, "isd")]
    parts[2].tables[0].on_page(rows=[])
    return Outcome([table for part in parts for table in part.tables],
                   [target for part in parts for target in part.targets])


def load(lab, options):
    with lab.server(options.cache) as server:
        loaders = Loaders(lab, server, options, "isd")
        contenders, left_out = compare.peers(loaders, {
            "mongoimport": {"mongoimport of JSON, 4 workers": lambda: loaders.mongoimport(4)}})
        contenders = {"tipple load, plain": loaders.tipple, "tipple load, .gz": loaders.gzip, **contenders}
        runs, ceiling, notes = compare.against_ceiling(loaders, contenders, options.rounds)
    plain, packed = runs["tipple load, plain"], runs["tipple load, .gz"]
    sizes = [lab.rows(options.rows, "isd").stat().st_size, lab.bson(options.rows, "isd").stat().st_size]
    table = compare.cost_table("Loaders: ISD into a clustered collection on a standalone", runs, [
        "%.0f bytes a record, %.0f bytes a document" % tuple(size / options.rows for size in sizes), *notes, *left_out])
    return Outcome([table, compare.ratio_table(runs, [ceiling, *contenders])], [
        cpu_target("client CPU of a load of isd: at most 1.5 us a record, all in", plain, 1.5e-6),
        cpu_target("client CPU of a load of isd from .gz: at most 1.9 us a record, all in", packed, 1.9e-6),
        share_target("a load of isd reaches 88 % of the replay ceiling or more", plain, runs[ceiling], 0.88)])


def parse(lab, options):
    files = {"generated": (lab.rows(options.rows, "isd"), options.rows),
             "real, repeated": lab.real_weather(options.rows)}
    table, _, speed, generated = single.parse_and_encode(lab, options, "isd", files, "records")
    return Outcome([table], [
        *(Target("parse and encode of isd, %s: above 300 MB/s on one core" % name, each, figures.megabytes, least=300e6)
          for name, each in speed.items()),
        Target("generate isd: above 500,000 records/s", generated, figures.thousands, least=5e5)])
