"""framing: a table in memory, loaded by tipple from Python, next to what its users write today."""
import json
import os

import figures
from compare import Outcome, cost_table, every, interleave
from figures import Failed, Target
from lab import BENCH, COLLECTION, DATABASE, SOURCES, quietly

FEW, MANY = 5, 200  # columns


def framing(lab, options):
    """tools/bench frames: five columns, and 200 with a 20th of the rows. Each way is a process of its own; what counts is its call."""
    module = BENCH / "module"
    lab.target("tipple_shared")
    quietly(["cmake", "--install", BENCH, "--component", "python", "--prefix", module], "install the module")
    python = lab.python("frames", "requirements-frames.txt")
    os.environ["PYTHONPATH"] = str(module)

    with lab.server(options.cache) as server:
        def once(way, columns):
            rows = options.rows * (8 if way == "encode" else 1) if columns == FEW else max(100, options.rows // 20)
            if way not in ("verify", "encode"):
                server.fresh()
            run = lab.run([python, SOURCES / "frame_loader.py", way, server.namespace_uri, DATABASE, COLLECTION, rows, columns], rows, server)
            said = json.loads(run.output.splitlines()[-1])
            run.seconds, run.client_cpu = said["seconds"], said["cpu_seconds"]
            if way != "encode" and server.count() != rows:
                raise Failed("%s: %d of %d documents are there" % (way, server.count(), rows))
            return run
        ways = {"tipple.load": "load", "tipple.verify": "verify", "encoding alone": "encode",
                "pymongoarrow.write": "pymongoarrow", "pandas insert_many": "pandas"}
        runs, reasons = interleave(options.rounds, {name: lambda way=way: once(way, FEW) for name, way in ways.items()})
        wide, more = interleave(options.rounds, {name + ", wide": lambda way=way: once(way, MANY) for name, way in ways.items()
                                                 if way in ("load", "pymongoarrow")})
    runs.update(wide)
    table = cost_table("Frames, from Python", runs, [
        "%s rows of %d columns of pyarrow (pandas: of its own frame); wide: %d columns, a 20th of the rows; the call alone, without imports" % (
            figures.thousands(options.rows), FEW, MANY), figures.others_note(every(runs)), *reasons, *more])
    table.on_page(["documents/s", "client CPU, us/doc", "peak memory, MiB"])
    load, write = runs["tipple.load"], runs["pymongoarrow.write"]

    def rates(first, second):
        return figures.of_pairs(first, second, lambda a, b: a.rate / b.rate)
    return Outcome([table], [
        Target("tipple.load: at most a tenth of the client CPU of pymongoarrow.write",
               figures.of_pairs(load, write, lambda a, b: a.client_cpu / b.client_cpu), figures.percent, most=0.1),
        Target("tipple.load: at least 5 times the rows a second of pymongoarrow.write (4 on a busy host)", rates(load, write), figures.times, least=5),
        Target("tipple.load: at least 8 times the rows a second of pandas insert_many (6 on a busy host)",
               rates(load, runs["pandas insert_many"]), figures.times, least=8),
        Target("tipple.load, wide: at least 4 times the rows a second of pymongoarrow.write",
               rates(runs["tipple.load, wide"], runs["pymongoarrow.write, wide"]), figures.times, least=4),
        Target("tipple.verify: at least 0.7 of the rows a second of the load", rates(runs["tipple.verify"], load), figures.times, least=0.7),
        Target("encoding: at most 60 ns of CPU a row",
               figures.of_runs(runs["encoding alone"], lambda run: run.client_each), figures.nano, most=60e-9)])
