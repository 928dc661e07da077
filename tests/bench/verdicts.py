#!/usr/bin/env python3
"""Does `tipple query --against` say what is true? The same query against itself (A/A), and against one that reads 1.5 times
as many documents (A/B), many times over, on this host as it is. The busier the better: nothing here wants a quiet one.

    tools/server run -- tests/bench/verdicts.py [--same 100] [--slower 40] [--rounds 10] [--duration 10s] [--out FILE]

Prints how many comparisons of medians and of 99th percentiles were judged, and what they said. FILE gets a line of JSON for
each of them: kind, figure, verdict, ratio, low, high, why it was not judged, and whether it was disturbed.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
SUITE = "suite: %s\nqueries:\n  - {name: sum, pipeline: [{$limit: %d}, {$group: {_id: null, n: {$sum: $fieldInt1}}}]}\n"
DOCUMENTS, SLOWER = 8000, 1.5  # long enough that this, and not the turns of busy CPUs, is what the times are


def tipple(*words, **more):
    program = os.environ.get("TIPPLE", ROOT / "build/release/tipple")
    return subprocess.run([program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, **more).stdout


def prepare(folder, uri):
    tipple("generate", "ycsb", "--rows", "20k", "--text-bytes", "20", "-o", folder / "rows.json", stderr=subprocess.DEVNULL)
    tipple("load", "-q", "--drop", "--yes", "-f", "ycsb", "--uri", uri, folder / "rows.json")
    for name, documents in ("same", DOCUMENTS), ("slower", int(DOCUMENTS * SLOWER)):
        (folder / (name + ".yaml")).write_text(SUITE % (name, documents))


def compare(folder, uri, kind, options):
    """`slower` is asked, and `same` is its baseline."""
    said = json.loads(tipple("query", "--suite", "./%s.yaml" % kind, "--against", "./same.yaml", "--uri", uri, "--repeats",
                             str(options.rounds), "--duration", options.duration, "--json", "-q", cwd=folder))
    one, = said["queries"]
    compared = one["compared"]
    for figure in "p50", "p99":
        between = compared[figure + "_between"] or {"low": None, "high": None}
        yield {"kind": kind, "figure": figure, "verdict": compared[figure + "_verdict"], "ratio": compared[figure + "_ratio"],
               **between, "unjudged": compared[figure + "_unjudged"], "disturbed": compared["disturbed"], "n": one["n"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--same", type=int, default=100)
    parser.add_argument("--slower", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--duration", default="10s")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(os.devnull))
    options = parser.parse_args()
    uri = os.environ["TIPPLE_TEST_URI"].replace("/?", "/verdicts.rows?")
    kinds = ["same"] * options.same + ["slower"] * options.slower
    found = collections.Counter()
    with tempfile.TemporaryDirectory() as folder, open(options.out, "a", encoding="utf-8") as out:
        folder = pathlib.Path(folder)
        prepare(folder, uri)
        for number, kind in enumerate(kinds):
            for one in compare(folder, uri, kind, options):
                found[kind, one["figure"], one["verdict"]] += 1
                out.write(json.dumps(one) + "\n")
                out.flush()
            print("\r%d of %d" % (number + 1, len(kinds)), end="", file=sys.stderr)
    print(file=sys.stderr)
    print("| compared | figure | judged | slower | faster | undecided |\n|---|---|---|---|---|---|")
    for kind in dict.fromkeys(kinds):
        for figure in "p50", "p99":
            counts = [found[kind, figure, verdict] for verdict in ("slower", "faster", "undecided")]
            print("| %s | %s | %d of %d | %d | %d | %d |" % (kind, figure, sum(counts), kinds.count(kind), *counts))


main()
