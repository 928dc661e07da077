"""tipple: bulk data into MongoDB.

    import tipple

    tipple.load("orders.csv", "mongodb://127.0.0.1/shop.orders")          # paths, patterns, or a list of them
    with tipple.Load(uri, name="orders of May") as load:    # or what your program makes
        load.push(b"id,item\\n1,ink\\n")
    tipple.load(frame, uri, name="orders of June")          # pyarrow, polars, pandas, duckdb; dicts
    tipple.verify("orders.csv", uri).ok
    tipple.run("status", uri=uri).stdout                                  # the command, for all else

docs/python.md is the page for users. The module is made of five chapters:

    _library.py   the shared library next to this file, by ctypes: one row for each function of tipple.h that is used here
    _rows.py      frames and dicts: what they are, and their rows as documents
    _load.py      a load: its options, the thread in which it works, what is heard of it, its result
    _command.py   the command of the same version: where it is; verify, parse and run start it
    _errors.py    tipple.Error and its kinds, by exit status

Nothing is loaded or started by the import, and nothing of PyPI is needed; it has 30 ms.
"""
from ._command import binary, parse, run, verify
from ._errors import Cancelled, Error, HostError, InputError, ServerError, TooManyRejected, UsageError
from ._load import Load, Result, load

__version__: str
__all__ = ["Cancelled", "Error", "HostError", "InputError", "Load", "Result", "ServerError", "TooManyRejected",
           "UsageError", "binary", "load", "parse", "run", "verify"]
for _kind in (Cancelled, Error, HostError, InputError, Load, Result, ServerError, TooManyRejected, UsageError):
    _kind.__module__ = __name__  # as users write them, and tracebacks show them


def __getattr__(name: str) -> str:
    if name == "__version__":
        from ._library import version
        return version()
    raise AttributeError("module 'tipple' has no attribute %r" % name)
