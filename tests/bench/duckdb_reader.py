"""duckdb_reader.py FILE: DuckDB's own guess and reader on one thread. Prints a line of JSON: its CPU, and how many values
there are by column: to count them is the least that makes it read and convert every one."""
import json
import resource
import sys

import duckdb


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


connection = duckdb.connect(config={"threads": 1})
connection.execute("SET enable_progress_bar = false")
reader = "read_csv" if sys.argv[1].endswith(".csv") else "read_json"
before = cpu()
counts = connection.execute("SELECT count(*), count(COLUMNS(*)) FROM %s(?)" % reader, [sys.argv[1]]).fetchone()
print(json.dumps({"cpu_seconds": cpu() - before, "version": duckdb.__version__, "counts": counts}))
