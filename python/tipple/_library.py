"""The shared library of the same version, which lies next to this file. It is loaded by the first call that needs it, once.

ctypes lets other threads run while a call waits. A function that can fail takes an ErrorText as its last argument."""
from __future__ import annotations

import ctypes
import os

from ._errors import HostError


class ErrorText(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 1600)]


_ERROR, _LOAD, _ROWS, _TEXT = ctypes.POINTER(ErrorText), ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p
LogFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)
ProgressFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)
_FUNCTIONS = {
    "tipple_version": (_TEXT, []),
    "tipple_load_new": (_LOAD, [_TEXT, _ERROR]),
    "tipple_load_set": (ctypes.c_bool, [_LOAD, _TEXT, _TEXT, _ERROR]),
    "tipple_load_on_log": (ctypes.c_bool, [_LOAD, LogFunction, ctypes.c_void_p, _ERROR]),
    "tipple_load_on_progress": (ctypes.c_bool, [_LOAD, ProgressFunction, ctypes.c_void_p, _ERROR]),
    "tipple_load_run": (ctypes.c_bool, [_LOAD, _ERROR]),
    "tipple_load_push": (ctypes.c_bool, [_LOAD, ctypes.c_void_p, ctypes.c_size_t, _ERROR]),
    "tipple_load_push_arrow": (ctypes.c_bool, [_LOAD, ctypes.c_void_p, _ERROR]),
    "tipple_load_finish": (ctypes.c_bool, [_LOAD, _ERROR]),
    "tipple_load_cancel": (None, [_LOAD]),
    "tipple_load_json": (_TEXT, [_LOAD]),
    "tipple_load_destroy": (None, [_LOAD]),
    "tipple_arrow_open": (_ROWS, [ctypes.c_void_p, _ERROR]),
    "tipple_arrow_set": (ctypes.c_bool, [_ROWS, _TEXT, _TEXT, _ERROR]),
    "tipple_arrow_next": (ctypes.c_int, [_ROWS, ctypes.c_void_p, ctypes.c_void_p, _ERROR]),
    "tipple_arrow_close": (None, [_ROWS]),
}
_loaded: ctypes.CDLL | None = None


def library() -> ctypes.CDLL:
    global _loaded
    if _loaded is None:
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libtipple.so")
        try:
            opened = ctypes.CDLL(path)
        except OSError as problem:
            raise HostError("the library of tipple cannot be loaded (%s): install tipple again" % problem) from None
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(opened, name)
            function.restype, function.argtypes = result, arguments
        _loaded = opened
    return _loaded


def version() -> str:
    """"0.2.0", as CMake has it."""
    return str(library().tipple_version(), "ascii").split()[1]
