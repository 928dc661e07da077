"""Rows that a program has: frames, by the C interface of Arrow, and dicts, by pymongo's bson.

A frame is whatever has `__arrow_c_stream__`; no class is asked for. The stream is read by the library, also in the worker of a
load, so what a generator does for a frame happens in that thread. Dicts are made by the user's own thread, because what they are
made from may belong to it."""
from __future__ import annotations

import ctypes
import os

from ._errors import HostError, InputError, UsageError, error_of
from ._library import ErrorText, library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

OF_FRAMES, OF_DICTS = {"format": "arrow1"}, {"format": "bson"}  # what their documents are loaded and compared with
PIECE = 256 << 10  # bytes: documents are collected to pieces of this size


def is_frame(source: Any) -> bool:
    return hasattr(source, "__arrow_c_stream__")


def is_path(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike))


class Stream:
    """The rows of a frame, as an argument of a function of the library, which takes them over. Whoever holds this holds the capsule,
    in which the structure lies that the function reads."""

    def __init__(self, frame: Any):
        try:
            self.capsule = frame.__arrow_c_stream__()
            pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
                ("PyCapsule_GetPointer", ctypes.pythonapi))  # of our own: others may use pythonapi with other types
            self._as_parameter_ = pointer(self.capsule, b"arrow_array_stream")
        except Exception as problem:
            raise InputError("the frame (%s) gives no rows: %s" % (_kind(frame), problem)) from problem


def rows_of(source: Any) -> tuple[dict[str, str], Iterator[Any]] | None:
    """The frames or documents that a source is made of, with the options that they need. None: it is paths."""
    if is_path(source) or (isinstance(source, (list, tuple)) and all(map(is_path, source))):
        return None
    if is_frame(source):
        return OF_FRAMES, iter([source])
    rows = iter(()) if _is_no_source(source) else iter(source)
    for first in rows:
        if is_frame(first):
            return OF_FRAMES, _frames(first, rows)
        if _is_dict(first):
            return OF_DICTS, _documents(first, rows)
        raise UsageError(_refusal(source, first))
    if _is_no_source(source):
        raise UsageError(_refusal(source, source))
    return OF_DICTS, rows


def pieces(rows: Iterable[Any], how: dict[str, str]) -> Iterator[Any]:
    """The same documents as bytes, without a load. A piece is there until the next one."""
    for part in rows:
        if is_frame(part):
            yield from _encoded(Stream(part), how)
        else:
            yield part


def _encoded(stream: Stream, how: dict[str, str]) -> Iterator[Any]:
    error, data, size = ErrorText(), ctypes.c_void_p(), ctypes.c_size_t()

    def good(result: Any) -> Any:
        if not result or result == -1:
            raise error_of(error.status, error.text.decode(errors="replace"))
        return result
    opened = good(library().tipple_arrow_open(stream, error))
    try:
        for option, value in how.items():
            good(library().tipple_arrow_set(opened, option.encode(), value.encode(), error))
        while more := library().tipple_arrow_next(opened, ctypes.byref(data), ctypes.byref(size), error):
            good(more)
            yield (ctypes.c_char * size.value).from_address(data.value or 0)
    finally:
        library().tipple_arrow_close(opened)


def _frames(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    for number, frame in enumerate(rest, 2):
        if not is_frame(frame):
            raise InputError("batch %d is of the type %s, which has no __arrow_c_stream__" % (number, _kind(frame)))
        yield frame


def _documents(first: Any, rest: Iterator[Any]) -> Iterator[bytes]:
    try:
        from bson import encode
    except ImportError:
        raise HostError("dicts become documents by the module bson of pymongo, which is not installed: pip install pymongo") from None
    import itertools
    piece = bytearray()
    for number, row in enumerate(itertools.chain([first], rest), 1):
        if not _is_dict(row):
            raise InputError("row %d is of the type %s, and not a dict" % (number, _kind(row)))
        try:
            piece += encode(row)
        except Exception as problem:
            raise InputError("row %d cannot be a document: %s" % (number, problem)) from problem
        if len(piece) >= PIECE:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


def _is_dict(row: Any) -> bool:
    from collections.abc import Mapping
    return isinstance(row, Mapping)


def _is_no_source(source: Any) -> bool:
    """A dict is one row, and a frame without the interface would give its names of columns."""
    return _is_dict(source) or not hasattr(source, "__iter__") or hasattr(source, "columns")


def _kind(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else "%s.%s" % (kind.__module__.partition(".")[0], kind.__name__)


def _refusal(source: Any, item: Any) -> str:
    if type(source).__name__ == "LazyFrame":
        return "a LazyFrame has no rows yet: call .collect() first"
    if hasattr(source, "columns"):
        return ("%s has no __arrow_c_stream__, by which rows are read: pandas has it from 2.2 on, polars from 1.3 on; of an older "
                "pandas, give pyarrow.Table.from_pandas(frame)" % _kind(source))
    return ("an input is of the type %s, and not a path, a frame (which has __arrow_c_stream__), or an iterable of dicts or of frames"
            % _kind(item))
