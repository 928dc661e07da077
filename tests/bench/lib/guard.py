"""guard: how many instructions a record costs, by valgrind's callgrind. The count hardly depends on what else a machine
does, so it can be compared with what is committed in tests/bench/instructions.json.

Each measurement runs with the rows of tests/bench/data once and several times over; the difference is what records
cost. Load and verify talk to a real server, which runs outside of valgrind."""
import collections
import concurrent.futures
import fcntl
import functools
import gzip
import json
import operator
import os
import pathlib
import platform
import re
import shutil
import subprocess

import callgrind
import growth
import mongods
import procs
import shapes
from figures import Failed, Table

ROOT = pathlib.Path(__file__).resolve().parents[3]
TREE, WORK, DATA = ROOT / "build/release", ROOT / "build/guard", ROOT / "tests/bench/data"
COMMITTED = ROOT / "tests/bench/instructions.json"
SHAPE_BYTES, SHAPE_FEW = 200_000, 100  # of a file of one shape, and the records of the file it is compared with
# Starting under valgrind costs as much as the records do: of shapes that are read by the same code one is counted.
ALIKE = {"doubles of 2 digits", "running text", "booleans", "nulls"}
TIMES, FEW_TIMES = 5, 2  # how often the larger input has the rows; few for emit, which is slow
SECONDS = 900  # for a run that hangs
# Waiting for a server only adds instructions: the least of some turns is nearest to the truth.
TURNS = {"load": 4, "verify": 2}
# Without ERMS: large pieces are copied by "rep movsb" or not, as addresses have it, and that counts as an instruction a
# byte.
STEADY = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-ERMS", "MONGOC_DISABLE_SHM": "1", "LC_ALL": "C.UTF-8"}

Input = collections.namedtuple("Input", "format plain file records")  # file: as it is loaded


# ------------------------------------------------------------------------------------------------ which machine

def _only(pattern, path, what):
    found = re.search(pattern, path.read_text())
    if not found:
        raise Failed("%s does not say %s" % (path.relative_to(ROOT), what))
    return found[1]


def machine():
    """What figures depend on: compiler, driver and architecture."""
    for about in sorted((TREE / "CMakeFiles").glob("*/CMakeCCompiler.cmake")):
        compiler = _only(r'CMAKE_C_COMPILER_ID "(.*)"', about, "what compiles")
        version = _only(r'CMAKE_C_COMPILER_VERSION "(.*)"', about, "what compiles")
    driver = _only(r"MONGOC_VERSION:INTERNAL=(.*)", TREE / "CMakeCache.txt", "which driver there is")
    return "%s %s, driver %s, %s" % ({"GNU": "gcc"}.get(compiler, compiler.lower()), version, driver, _architecture())


def _architecture():
    if platform.machine() != "x86_64":
        return platform.machine()
    flags = re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return "x86_64" if flags and "avx2" in flags[1].split() else "x86_64 without AVX2"


# -------------------------------------------------------------------------------------------------- preparing

def _build():
    generator = [] if (TREE / "CMakeCache.txt").exists() else ["-G", "Ninja"]
    for words in (["cmake", "-S", ROOT, "-B", TREE, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DTIPPLE_WERROR=ON"],
                  ["cmake", "--build", TREE, "--target", "tipple", "-j", str(os.cpu_count() or 1)]):
        done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise Failed("the build failed:\n%s" % done.stdout[-2000:])


def _mot(times):
    head, _, rows = (DATA / "mot.txt").read_bytes().partition(b"\n")
    path = WORK / ("mot-%d.txt" % times)
    path.write_bytes(head + b"\n" + rows * times)
    return Input("mot", path, path, rows.count(b"\n") * times)


def _isd(times):
    """Loaded and verified from .gz: packed files one after the other are a packed file."""
    packed = (DATA / "isd.gz").read_bytes()
    plain, file = WORK / ("isd-%d.txt" % times), WORK / ("isd-%d.gz" % times)
    file.write_bytes(packed * times)
    plain.write_bytes(gzip.decompress(packed) * times)
    return Input("isd", plain, file, plain.read_bytes().count(b"\n"))


# -------------------------------------------------------------------------------------------------- measuring

def _profile(name, words):
    """One run of tipple, counted. Its profile stays in build/guard for who wants to know more."""
    out, log = WORK / (name + ".callgrind"), WORK / (name + ".log")
    out.unlink(missing_ok=True)
    command = ["valgrind", "--quiet", "--tool=callgrind", "--callgrind-out-file=%s" % out, TREE / "tipple", *words]
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(WORK), "TMPDIR": str(WORK), **STEADY}
    with open(log, "wb") as said:
        try:
            done = subprocess.run([str(word) for word in command], cwd=WORK, env=environment, timeout=SECONDS,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                                  preexec_fn=procs.tied_to_parent())
        except subprocess.TimeoutExpired:
            raise Failed("%s did not end in %d s" % (name, SECONDS)) from None
    if done.returncode != 0 or not out.exists():
        raise Failed("%s ended with status %d: %s" % (name, done.returncode,
                                                      log.read_text(errors="replace").strip()[-500:]))
    try:
        return callgrind.read(out, _of_pieces)
    except ValueError as wrong:
        raise Failed("%s: %s" % (out.relative_to(ROOT), wrong)) from None


def _of_pieces(caller, called):
    """What the driver copies while it takes in a reply: more or less, as the reply comes in many pieces or in few."""
    return caller.startswith("mongoc_stream_readv") and "memcpy" in called


def _words(task, input, uri, turn):
    """The command line of a measurement. Each load has a collection of its own."""
    target = ["--uri", uri.replace("/?", "/guard.%s_%d_%d?" % (input.format, input.records, turn)), "--threads", "1"]
    return {"parse": ["parse", "-f", input.format, "--emit", "none", input.plain],
            "encode": ["parse", "-f", input.format, "--emit", "bson", "--ids", input.plain],
            "emit": ["parse", "-f", input.format, "--emit", "raw", input.plain],
            "load": ["load", "-f", input.format, *target, input.file],
            "verify": ["verify", "-f", input.format, *target, input.file]}[task]


def _least(task, input, uri):
    """The least of some turns, function by function."""
    name = "%s-%s-%d" % (task, input.format, input.records)
    turns = [_profile(name, _words(task, input, uri, turn)) for turn in range(TURNS.get(task, 1))]
    return functools.reduce(operator.and_, turns)  # of Counters: the smaller count of each


def _parse_shape(name, records):
    """One run over a file of this shape, by the format that its guess has kept."""
    path, words = WORK / shapes.file_name(name, records), ["-f", "json"]
    shapes.write(path, name, records)
    if path.suffix == ".csv":
        words = ["-f", path.with_suffix(".yaml")]
        with open(words[1], "wb") as kept:
            subprocess.run([TREE / "tipple", "formats", "--guess", path], stdout=kept, check=True)
    return _profile("parse-" + path.stem, ["parse", *words, "--emit", "none", path])


def _shapes(say, pool):
    """Titles to figures. What a program does once is taken of a small file of the first shape of its kind."""
    kinds = {name: bool(head) for name, (head, _) in shapes.SHAPES.items() if name not in ALIKE}
    first = {kind: name for name, kind in reversed(kinds.items())}
    few = {kind: pool.submit(_parse_shape, name, SHAPE_FEW) for kind, name in first.items()}
    many = {name: pool.submit(_parse_shape, name, shapes.records_of(name, SHAPE_BYTES)) for name in kinds}
    measured = {}
    for name, kind in kinds.items():
        say("  parse %s", name)
        records = shapes.records_of(name, SHAPE_BYTES) - SHAPE_FEW
        measured["parse " + name] = growth.figures(growth.a_record(few[kind].result(), many[name].result(), records))
    return measured


def _of_file(task, sizes, uri=""):
    """The title and the figures of one task with one kind of input."""
    small, large = sizes[1], sizes[FEW_TIMES if task == "emit" else TIMES]
    profile = growth.a_record(_least(task, small, uri), _least(task, large, uri), large.records - small.records)
    return "%s %s" % (task, small.format), growth.figures(profile)


def _measure(say):
    """Titles to figures. What asks no server runs next to each other."""
    inputs = [{times: make(times) for times in (1, FEW_TIMES, TIMES)} for make in (_mot, _isd)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = [pool.submit(_of_file, task, sizes) for task in ("parse", "encode", "emit") for sizes in inputs]
        measured = _shapes(say, pool)
        say("  parse, encode and emit of mot and isd")
        measured.update(each.result() for each in waiting)
    server = WORK / "server"
    mongods.clear(server)
    try:
        uri = mongods.start(server, tied=True)["uri"]
        for task in ("load", "verify"):
            for sizes in inputs:
                say("  %s %s", task, sizes[1].format)
                measured.update([_of_file(task, sizes, uri)])
    finally:
        mongods.clear(server)
    return measured


# ---------------------------------------------------------------------------------------------------- telling

def committed():
    """Machines to titles to figures."""
    return json.loads(COMMITTED.read_text()) if COMMITTED.exists() else {}


def table(was, now):
    """What was measured next to what is committed."""
    drawn = Table("Instructions a record", ["", "committed", "measured", "change"])
    for title, figures in now.items():
        before = was.get(title)
        drawn.add(title, "%.1f" % before["total"] if before else "-", "%.1f" % figures["total"],
                  "%+.2f %%" % ((growth.ratio(before, figures) - 1) * 100) if before else "-")
    return drawn


def check(say, write):
    """The exit status: 1 when something grew."""
    if not shutil.which("valgrind"):
        raise Failed("valgrind is missing; install it (Debian: valgrind)")
    WORK.mkdir(parents=True, exist_ok=True)
    with open(WORK / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failed("another tools/bench --check is at work here") from None
        _build()
        here, machines = machine(), committed()
        if here not in machines and not write:
            print("not compared: no figures of this machine (%s) are committed" % here)
            return 0
        say("instructions a record (%s)", here)
        measured = _measure(say)
    print(table(machines.get(here, {}), measured).text())
    if write:
        COMMITTED.write_text(json.dumps({**machines, here: measured}, indent=1) + "\n")
        print("\nwritten: %s" % COMMITTED.relative_to(ROOT))
        return 0
    complaints, remarks = growth.judge(machines[here], measured)
    for lines in [*([remark] for remark in remarks), *complaints]:
        print("\n" + "\n".join(lines))
    if complaints:
        print("\nMore on a function: callgrind_annotate build/guard/TASK-FORMAT-RECORDS.callgrind\n"
              "Where it must be so: tools/bench --check --write, and a commit of its own that says why")
    return 1 if complaints else 0
