"""A load: its options, the thread in which it works, what is heard of it, and its result.

A call that waits for a server cannot be interrupted in C. So each load has a thread of its own, which makes all calls that may
wait, in turn; the user's thread waits for events:

    user's thread    Load.push, finish, load() --calls--> worker: tipple_load_push, _push_arrow, _run, _finish, _destroy
                     Load._wait <------------- events --- worker: a call has ended
                                <------------- events --- threads of the library: a line for the log, progress

Whoever waits for an event can be interrupted at once. What is heard is passed on by the user's thread, while it waits: so
handlers of `logging` and the progress function run there, and what they raise ends the load.

A load that is left by an exception (KeyboardInterrupt, or one of the user's) is cancelled, and its worker sees it to its end:
it frees the handle when the library is done, which is when the server has answered or was given up. Until then the next load
into the same collection waits, and then goes on. At exit such loads have GRACE seconds; after that nobody listens to
them any more, and they count as killed, which costs nothing that was loaded.

Only the worker frees a handle; under its lock, because any thread may cancel."""
from __future__ import annotations

import ctypes
import os
import threading
from queue import SimpleQueue

from ._errors import Error, HostError, UsageError, error_of
from ._library import ErrorText, LogFunction, ProgressFunction, library
from ._rows import PIECE, Stream, is_frame, rows_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Union

    Path = Union[str, os.PathLike[str]]
    Progress = Union[bool, Callable[[int, int], object], None]

GRACE = 10  # seconds
_SHOWN = "read", "loaded", "already_there", "rejected", "filtered", "seconds", "rejects", "input_name"


class Result:
    """The object that `--json` prints, key by key: result.loaded, result.bytes_read, ...; docs/automate.md explains them."""
    status: int
    read: int
    loaded: int
    already_there: int
    rejected: int
    filtered: int
    seconds: float
    rejects: str | None  # the reject file
    input_name: str  # of what was pushed: by it the load is completed, compared, and forgotten
    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, figures: dict[str, Any]):
        self.__dict__.update(figures)

    @property
    def ok(self) -> bool:
        """Nothing was rejected, left out or different."""
        return self.status == 0

    def __repr__(self) -> str:
        return "Result(%s)" % ", ".join("%s=%r" % (key, self.__dict__[key]) for key in _SHOWN if key in self.__dict__)


# ---- options ----

def option_texts(name: str, value: Any) -> list[str]:
    """The texts of an option's value: none for None, one for each item of a list."""
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return [text for item in value for text in option_texts(name, item)]
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, (int, float)):
        return [str(value)]
    return [path_text(value, "the option %s" % name)]


def option_name(name: str) -> str:
    """max_rejects: "max-rejects"; with_, which alone would be a word of Python: "with"."""
    return name.rstrip("_").replace("_", "-")


def path_text(value: Any, what: str) -> str:
    text = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(text, str):
        raise UsageError("%s is of the type %s, and not a text or a path" % (what, type(value).__name__))
    return text


def paths(source: Any) -> list[str]:
    return [path_text(one, "an input") for one in (source if isinstance(source, (list, tuple)) else [source])]


def _encoded(text: str, what: str) -> bytes:
    """As os.fsencode, but always UTF-8. Neither failure shows the text, which may hold a password."""
    try:
        encoded = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise UsageError("%s holds a character that is no text: NUL, or half of one" % what)
    return encoded


# ---- the worker ----

_working: set[_Worker] = set()  # those whose loads have begun and not ended
_process = 0  # in which a load has begun


class _Worker:
    def __init__(self, uri: str, name: str | None, hears_progress: bool):
        """The load is made here; the thread is started by the first call that may wait."""
        self.uri, self.name, self.caller = uri, name, threading.get_ident()
        self.calls: SimpleQueue[Any] = SimpleQueue()
        self.events: SimpleQueue[Any] = SimpleQueue()
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.begun = self.left = False
        self.thread: threading.Thread | None = None
        error = ErrorText()
        self.handle = library().tipple_load_new(_encoded(uri, "the URI"), error)
        if not self.handle:
            raise error_of(error.status, error.text.decode(errors="replace"))
        put = self.events.put  # called by threads of the library
        self.hear = LogFunction(lambda _, level, line: put(("log", level, line)))
        self.on_progress = ProgressFunction(lambda _, documents, size: put(("progress", documents, size)))
        library().tipple_load_on_log(self.handle, self.hear, None, error)
        if hears_progress:
            library().tipple_load_on_progress(self.handle, self.on_progress, None, error)

    def set(self, name: str, text: str) -> None:
        error = ErrorText()
        if not library().tipple_load_set(self.handle, _encoded(name, "an option's name"),
                                         _encoded(text, "the option %s" % name), error):
            sentence = error.text.decode(errors="replace")
            if sentence.startswith("there is no option"):
                sentence += " (tipple.run(\"load\", ...) takes all options of the command)"
            raise error_of(error.status, sentence)

    def call(self, function: str, *arguments: Any) -> None:
        """Hands a call over. Its end is an event "ended", with the error or None, and the load's JSON if it has ended."""
        if not self.begun:
            self._begin()
        self.calls.put((function, arguments))

    def _begin(self) -> None:
        global _process
        if _process not in (0, os.getpid()):
            raise UsageError("this process is a child of one that has begun a load: start it by spawn, not by fork")
        for other in list(_working):
            if other.uri == self.uri and other.left:
                other.ended.wait()
            elif other.uri == self.uri and self.name and other.name == self.name and other.caller == self.caller:
                raise UsageError("this thread is loading '%s' already: finish that load first" % self.name)
        if not _process:
            import atexit
            atexit.register(_end_all)
        _process = os.getpid()
        self.thread = threading.Thread(target=self._work, name="tipple", daemon=True)
        try:
            self.thread.start()
        except RuntimeError as problem:
            raise HostError("no thread can be made for the load: %s" % problem) from None
        self.begun = True
        _working.add(self)

    def _work(self) -> None:
        for function, arguments in iter(self.calls.get, None):
            error = ErrorText()
            ok = getattr(library(), function)(self.handle, *arguments, error)
            json_text = library().tipple_load_json(self.handle)
            self.events.put(("ended", None if ok else (error.status, error.text.decode(errors="replace")), json_text))
        self._free()

    def _free(self) -> None:
        """Waits for the end of a load that was left in the middle."""
        self.silence()
        with self.lock:
            handle, self.handle = self.handle, None
        library().tipple_load_destroy(handle)
        _working.discard(self)
        self.ended.set()

    def cancel(self) -> None:
        with self.lock:
            if self.handle:
                library().tipple_load_cancel(self.handle)

    def leave(self) -> None:
        """The load ends by itself from here; nobody calls again."""
        if self.left or (self.begun and _process != os.getpid()):
            return
        self.left = True
        if self.begun:
            self.cancel()
            self.calls.put(None)
        else:
            self._free()

    def silence(self) -> None:
        """A thread of the library must not call an interpreter that is gone."""
        with self.lock:
            if self.handle:
                library().tipple_load_on_log(self.handle, LogFunction(), None, None)
                library().tipple_load_on_progress(self.handle, ProgressFunction(), None, None)


def _end_all() -> None:
    import time
    if _process != os.getpid():
        return
    workers, until = list(_working), time.monotonic() + GRACE
    try:
        for worker in workers:
            worker.leave()
        for worker in workers:
            worker.ended.wait(max(0, until - time.monotonic()))
    finally:  # also where Ctrl-C ends the wait
        for worker in workers:
            worker.silence()


# ---- the load ----

class _Line:
    """progress=True: one line on stderr."""
    shown = False

    def __call__(self, documents: int, size: int) -> None:
        import sys
        sys.stderr.write("\r{:,} documents, {:,.1f} MB read ".format(documents, size / 1e6))
        sys.stderr.flush()
        self.shown = True

    def end(self) -> None:
        import sys
        if self.shown:
            sys.stderr.write("\n")
        self.shown = False


class Load:
    """One load of what a program makes:

        with tipple.Load(uri, name="orders of May") as load:
            load.push(b"id,item\\n1,ink\\n")
        print(load.result)

    name: by which the stream is known. To complete a load that did not end well, make it again with the same name, and push the same bytes
    or frames again. For frames a name is drawn where none is given; the result and each exception have it.
    progress: a function of (documents, bytes read), or True for a line on stderr. options: those of
    tipple_load_set in tipple.h, with _ for -. A load belongs to one thread at a time; any may cancel it."""

    def __init__(self, uri: str, *, name: str | None = None, progress: Progress = None, **options: Any):
        self.result: Result | None = None  # after a good end
        self._failed: Exception | None = None
        self._progress = _Line() if progress is True else progress or None
        self._buffer, self._waits = bytearray(), False
        self._name, self._drawn = name or options.get("input_name"), False
        self._worker = _Worker(path_text(uri, "the URI"), name, self._progress is not None)
        self._guarded(self._set_all, {**options, "input_name": self._name})

    def push(self, data: Any) -> None:
        """A frame, with all of its rows; or the next bytes of a stream: text of the format, also compressed, in pieces of any size.
        That it returns says only that they were taken."""
        self._must_go_on()
        if is_frame(data):
            self._guarded(self._push_frame, data)
            return
        self._buffer += data
        if len(self._buffer) >= PIECE:
            self._guarded(self._push_buffer)

    def finish(self) -> Result:
        """Waits until everything is loaded. Only this says that it is; the end of a `with` calls it."""
        if self.result is None:
            self._guarded(self._push_buffer)
            self._guarded(self._call, "tipple_load_finish")
        assert self.result is not None
        return self.result

    def cancel(self) -> None:
        """From any thread: the load ends with tipple.Cancelled, in the thread that waits for it."""
        self._worker.cancel()

    def __enter__(self) -> Load:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.finish()
        else:
            self._leave()

    def __del__(self) -> None:
        if "_worker" in self.__dict__:
            self._worker.leave()

    def _set_all(self, options: dict[str, Any]) -> None:
        for name, value in options.items():
            for text in option_texts(name, value):
                self._worker.set(option_name(name), text)

    def _must_go_on(self) -> None:
        if self._worker.thread is threading.current_thread():  # it asks a generator for rows
            raise UsageError("rows that a load takes can neither push into this load nor finish it")
        if self._worker.left:
            raise self._failed or UsageError("this load has ended; begin another one")

    def _guarded(self, work: Callable[..., None], *arguments: Any) -> None:
        """Whatever is raised, the load is over for its user."""
        self._must_go_on()
        try:
            work(*arguments)
        except BaseException as problem:
            self._leave()
            if self._drawn:
                self._say_name(problem)
            raise

    def _leave(self) -> None:
        self._worker.leave()
        if isinstance(self._progress, _Line):
            self._progress.end()

    def _draw_name(self) -> None:
        """As the library does, but known here also when an exception comes."""
        if not self._name:
            self._name, self._drawn = "frame-%016d" % (int.from_bytes(os.urandom(8), "big") % 10**16), True
            self._worker.set("input-name", self._name)

    def _say_name(self, problem: BaseException) -> None:
        self._drawn = False  # once
        said = "the name of this load is '%s'" % self._name
        if isinstance(problem, Error):
            problem.sentence = "%s (%s)" % (problem.sentence, said)
        elif hasattr(problem, "add_note"):  # Python 3.11
            problem.add_note("tipple: " + said)
        else:
            import logging
            logging.getLogger("tipple").warning("%s", said)

    def _push_all(self, rows: Iterable[Any]) -> None:
        self._draw_name()
        for part in rows:
            self.push(part)
        self.finish()

    def _push_frame(self, frame: Any) -> None:
        """Waits until it was read, for it may be changed after that."""
        self._draw_name()
        stream = Stream(frame)
        self._push_buffer()
        self._hand_over("tipple_load_push_arrow", stream)
        self._wait()

    def _push_buffer(self) -> None:
        self._wait()
        if self._buffer:
            data, self._buffer = self._buffer, bytearray()
            self._hand_over("tipple_load_push", (ctypes.c_char * len(data)).from_buffer(data), len(data))

    def _call(self, function: str) -> None:
        """The last call of a load."""
        self._wait()
        self._hand_over(function)
        self._wait()
        self._leave()

    def _hand_over(self, function: str, *arguments: Any) -> None:
        self._worker.call(function, *arguments)
        self._waits = True

    def _wait(self) -> None:
        """Until the call that was handed over has ended; what is heard meanwhile is passed on."""
        while self._waits:
            event, *what = self._worker.events.get()
            if event == "log":
                import logging
                level = {1: logging.WARNING, 2: logging.INFO}.get(what[0], logging.DEBUG)
                logging.getLogger("tipple").log(level, "%s", what[1].decode(errors="replace"))
            elif event == "progress" and self._progress:
                self._progress(*what)
            elif event == "ended":
                self._waits = False
                self._take_end(*what)

    def _take_end(self, failed: tuple[int, str] | None, json_text: bytes | None) -> None:
        import json
        result = Result(json.loads(json_text)) if json_text else None
        if result and self._name:
            result.input_name = self._name
        if failed:
            self._failed = error_of(*failed, result)
            raise self._failed
        self.result = result


def load(source: Any, uri: str, *, name: str | None = None, progress: Progress = None, **options: Any) -> Result:
    """Loads files: a path, a pattern, or a list of them. Or rows: a frame (pyarrow, polars, pandas, duckdb, whatever has
    __arrow_c_stream__), an iterable of frames, or of dicts. The same call again completes what is missing, and loads nothing
    twice; of rows, with the same name. The rest is as for Load. Rejected records are no failure: result.rejected, result.rejects."""
    rows = rows_of(source)
    if rows:
        one = Load(uri, name=name, progress=progress, **{**rows[0], **options})
        one._guarded(one._push_all, rows[1])
    else:
        one = Load(uri, name=name, progress=progress, **options, input=paths(source))
        one._guarded(one._call, "tipple_load_run")
    assert one.result is not None
    return one.result
