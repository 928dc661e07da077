"""The command of the same version, which was installed with the module. The URI goes to it in TIPPLE_URI, because the
arguments of a process can be read by every user of the host."""
from __future__ import annotations

import os

from ._errors import HostError, UsageError, error_of
from ._load import Result, option_name, option_texts, path_text, paths
from ._rows import pieces, rows_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from subprocess import CompletedProcess, Popen
    from typing import Any

_ENDED_WELL = 0, 2, 6, 7  # the work was done; rejected records, missed bounds and differences are results


def binary() -> str:
    """The path of the command: in the folder `bin` of this folder (pip install --target) or of one of the four that it is in,
    lib/python3.x/site-packages among them (a venv, --user, --prefix). Never one of the PATH, which may be another version."""
    folder, looked = os.path.dirname(os.path.abspath(__file__)), []
    for _ in range(4):
        folder = os.path.dirname(folder)
        path = os.path.join(folder, "bin", "tipple")
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
        looked.append(path)
    raise HostError("the command of tipple is not next to its module (looked for %s): install tipple again" % ", ".join(looked))


def run(*words: Any, uri: str | None = None, input: bytes | None = None) -> CompletedProcess[str]:
    """Runs the command and returns what it printed: run("status", uri=uri).stdout. `--uri` among the words is the same as
    uri=. Lines of stderr go to the log. A failure is an Error; statuses 2, 6 and 7 are results (.returncode).
    input: its stdin, which otherwise is that of this process where a word is "-"."""
    process, line = _start(words, uri, input is not None)
    try:
        out, said = process.communicate(input)
    except BaseException:
        process.terminate()  # it ends by itself, as a load does
        raise
    _end(process, said.decode(errors="replace"))
    import subprocess
    return subprocess.CompletedProcess(line, process.returncode, out.decode(errors="surrogateescape"),
                                       said.decode(errors="replace"))


def verify(source: Any, uri: str, *, name: str | None = None, **options: Any) -> Result:
    """Compares the collection with the inputs that were loaded: verify(...).ok; the rest is what `tipple verify --json` prints.
    Rows are made again, and compared with what was loaded by this name; nulls and on_bad_value are to be the same as then."""
    import json
    options["input_name"] = name or options.get("input_name")
    rows = rows_of(source)
    if not rows:
        return Result(json.loads(run("verify", "--json", *_option_words(options), "--", *paths(source), uri=uri).stdout))
    if not options["input_name"]:
        raise UsageError("rows are compared with what was loaded by a name: give name=, which the result of the load has as input_name")
    how = {option_name(option): options.pop(option) for option in ("nulls", "on_bad_value") if option in options}
    return Result(json.loads(_feed(["verify", "--json", *_option_words({**rows[0], **options}), "-"], uri, pieces(rows[1], how))))


def parse(source: Any, *, raw: bool = False, **options: Any) -> Iterator[Any]:
    """The documents of inputs, without a server: dicts, by pymongo's bson, or with raw=True the bytes of each."""
    decode: Any = bytes
    if not raw:
        try:
            from bson import decode
        except ImportError:
            raise HostError("dicts are made by the module bson of pymongo, which is not installed: pip install pymongo, or "
                            "take raw=True for the bytes of each document") from None
    return _parse(["parse", "--emit=bson", *_option_words(options), "--", *paths(source)], decode)


def _feed(words: list[str], uri: str, given: Iterator[Any]) -> bytes:
    """What the command prints at its end, which reads from stdin what is given."""
    import tempfile
    with tempfile.TemporaryFile() as said:
        process, _ = _start(words, uri, True, said)
        into: Any = process.stdin
        try:
            try:
                for piece in given:
                    into.write(piece)
            except BrokenPipeError:  # it has ended, and says why
                pass
            out, _ = process.communicate()
        except BaseException:
            process.kill()  # before its input ends, which it would take for a whole one
            process.communicate()
            raise
        said.seek(0)
        _end(process, said.read().decode(errors="replace"))
    return out


def _parse(words: list[str], decode: Any) -> Iterator[Any]:
    import tempfile
    with tempfile.TemporaryFile() as said:
        process, _ = _start(words, None, False, said)
        out: Any = process.stdout
        try:
            while head := out.read(4):
                yield decode(head + out.read(int.from_bytes(head, "little") - 4))
            process.wait()
        finally:
            process.kill()  # nobody wants the rest
            process.wait()
            out.close()
        said.seek(0)
        _end(process, said.read().decode(errors="replace"))


# ---- the process ----

def _option_words(options: dict[str, Any]) -> list[str]:
    """A switch of the command stands alone."""
    words = []
    for name, value in options.items():
        if value is True:
            words.append("--" + option_name(name))
        elif value is not False:
            words += ["--%s=%s" % (option_name(name), text) for text in option_texts(name, value)]
    return words


def _start(given: Any, uri: str | None, has_input: bool, said: Any = None) -> tuple[Popen[bytes], list[str]]:
    import re
    import subprocess
    words = []
    for word in (rest := iter([path_text(word, "a word of the command") for word in given])):
        if word == "--uri":
            uri = next(rest, "")
        elif word.startswith("--uri="):
            uri = word[len("--uri="):]
        else:
            words.append(word)
    if any(re.search(r"mongodb(\+srv)?:.*@", word) for word in words):
        raise UsageError("a word of the command looks like a URI with a login, which others could see: give it as uri=")
    stdin = None if "-" in words else subprocess.DEVNULL  # nobody would see a question
    if has_input:
        stdin = subprocess.PIPE
    environment = {**os.environ, **({} if uri is None else {"TIPPLE_URI": path_text(uri, "the URI")})}
    line = [binary(), *words]
    try:
        return subprocess.Popen(line, env=environment, stdin=stdin, stdout=subprocess.PIPE,
                                stderr=said or subprocess.PIPE, bufsize=1 << 20), line
    except (OSError, ValueError) as problem:
        raise HostError("the command of tipple cannot be started: %s" % problem) from None


def _end(process: Popen[bytes], said: str) -> None:
    """What the command said goes to the log; how it failed is raised."""
    import logging
    sentences = []
    for line in filter(None, said.splitlines()):
        words = line.partition("tipple: ")[2] if line.startswith("tipple: ") else line
        if words.startswith("warning: "):
            logging.getLogger("tipple").warning("%s", words[len("warning: "):])
        elif words != line:
            sentences.append(words)
        else:
            logging.getLogger("tipple").info("%s", line)
    if process.returncode not in _ENDED_WELL:
        status = process.returncode if process.returncode > 0 else 128 - process.returncode
        raise error_of(status, " ".join(sentences) or "tipple ended with the status %d and said nothing" % status)
