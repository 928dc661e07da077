"""Pushes rows that a program makes, by ctypes: nothing but the installed library is needed.

    python3 push.py mongodb://127.0.0.1/shop.rows 1000
"""
import ctypes
import sys


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 1600)]


class Result(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in
                ("read", "loaded", "already_there", "rejected", "filtered", "open_rejects", "records_skipped",
                 "files_skipped")] + [
                    ("seconds", ctypes.c_double), ("status", ctypes.c_int), ("sentence", ctypes.c_char_p),
                    ("rejects", ctypes.c_char_p), ("format", ctypes.c_char_p)]


Progress = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)
library = ctypes.CDLL("libtipple.so.0")
ERROR, LOAD = ctypes.POINTER(Error), ctypes.c_void_p
for name, result, arguments in (
        ("new", LOAD, [ctypes.c_char_p, ERROR]),
        ("set", ctypes.c_bool, [LOAD, ctypes.c_char_p, ctypes.c_char_p, ERROR]),
        ("on_progress", ctypes.c_bool, [LOAD, Progress, ctypes.c_void_p, ERROR]),
        ("push", ctypes.c_bool, [LOAD, ctypes.c_char_p, ctypes.c_size_t, ERROR]),
        ("finish", ctypes.c_bool, [LOAD, ERROR]),
        ("result", ctypes.POINTER(Result), [LOAD]),
        ("destroy", None, [LOAD])):
    function = getattr(library, "tipple_load_" + name)
    function.restype, function.argtypes = result, arguments


@Progress  # a name that lives as long as the load: ctypes keeps no callback alive
def show(_context, documents, size):
    print("%d documents, %d bytes" % (documents, size), file=sys.stderr)


def main(uri, count):
    error = Error()
    load = library.tipple_load_new(uri.encode(), error)
    ok = (load and library.tipple_load_set(load, b"input-name", b"rows up to %d" % count, error)
          and library.tipple_load_on_progress(load, show, None, error)
          and library.tipple_load_push(load, b"number,word\n", 12, error))
    for number in range(count):
        row = b"%d,w%d\n" % (number, number)
        ok = ok and library.tipple_load_push(load, row, len(row), error)
    if ok and library.tipple_load_finish(load, error):
        result = library.tipple_load_result(load).contents
        print("loaded %d, rejected %d, there before %d" % (result.loaded, result.rejected, result.records_skipped))
    else:
        print(error.text.decode(), file=sys.stderr)
    library.tipple_load_destroy(load)
    return error.status


if len(sys.argv) != 3 or not sys.argv[2].isdigit():
    sys.exit("usage: python3 push.py URI NUMBER, such as mongodb://127.0.0.1/shop.rows 1000")
sys.exit(main(sys.argv[1], int(sys.argv[2])))
