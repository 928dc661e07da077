#!/usr/bin/env python3
"""Servers that the tests of one run of ctest share. The first test that needs a server starts it. Their data is in
memory where there are 4 GiB of it free.

  pool.py up --dir DIR                      make the run's folder in memory, with DIR as a link to it
  pool.py down --dir DIR                    stop the servers, remove the folder
  pool.py exec [--dir DIR] SERVER COMMAND...
                                            run COMMAND in a scratch folder of its own; the server's URI is in
                                            TIPPLE_TEST_URI, its kind in TIPPLE_TEST_KIND, its name in TIPPLE_TEST_SERVER

SERVER is a name of SERVERS, or none. The servers end with the process that has called `up`, at the latest. Without
--dir the servers belong to the command alone and end with it.
"""
import argparse
import atexit
import contextlib
import fcntl
import functools
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/lib"))
import clusterdir  # noqa: E402
import clusters  # noqa: E402
import mongods  # noqa: E402
import procs  # noqa: E402

TEST_COMMANDS = ("--setParameter", "enableTestCommands=1")
SERVERS = {  # options of mongods.start, or of clusters.start where there are shards
    "standalone": {"extra": TEST_COMMANDS},
    "standalone-auth": {"auth": True},
    "replset": {"replset": 1, "extra": TEST_COMMANDS},
    "replset-auth": {"replset": 1, "auth": True},
    "replset3": {"replset": 3, "steady": True},
    "cluster": {"shards": 2, "routers": 2},
    "cluster-auth": {"shards": 2, "routers": 1, "auth": True},
}
MEMORY = pathlib.Path("/dev/shm")
ENOUGH = 4 << 30  # free bytes; with less, the data is in the build's folder


def running(folder):
    """The state of the server in this folder, or None."""
    state = clusterdir.read_state(folder)
    return (state if clusterdir.running(state) and state["uri"] else None) if state else mongods.running(folder)


def start(folder, options, tied=False):
    """Starts a server or a cluster; returns its state."""
    try:
        if "shards" in options:
            return clusters.start(folder, tied=tied, **options)
        more = ("--wiredTigerEngineConfigString", clusters.JOURNAL, *options.get("extra", ()))
        return mongods.start(folder, tied=tied, **{**options, "extra": more})
    except mongods.Error as error:
        if "no labrouter" in str(error):  # where it cannot be built
            raise unittest.SkipTest(str(error)) from error
        raise


def cpu_seconds(member):
    with contextlib.suppress(OSError), open("/proc/%d/stat" % member["pid"]) as stat:
        return sum(map(int, stat.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def stop(folder):
    if clusterdir.read_state(folder):
        clusters.stop(folder, gently=False)
    else:
        mongods.stop(folder, gently=False)


def get(name):
    """The state of a shared server, which is started unless it runs. Without a pool the server ends with this process."""
    pool = os.environ.get("TIPPLE_POOL")
    if not pool:
        return own(**SERVERS[name])
    folder = pathlib.Path(pool).resolve(strict=True) / name
    with open("%s.lock" % folder, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return {"kind": "cluster", **(running(folder) or start(folder, SERVERS[name]))}


@functools.cache
def own(**options):
    """The state of a server with these options that ends with this process; the same one each time."""
    folder = tempfile.mkdtemp(prefix="own-", dir=os.getcwd())
    atexit.register(shutil.rmtree, folder, True)
    atexit.register(stop, folder)
    return {"kind": "cluster", **start(folder, options, tied=True)}


def up(options):
    down(options)
    with contextlib.suppress(OSError):
        room = os.statvfs(MEMORY)
        if room.f_bavail * room.f_frsize >= ENOUGH and os.access(MEMORY, os.W_OK):
            options.dir.symlink_to(tempfile.mkdtemp(prefix="tipple-%d-" % os.getppid(), dir=MEMORY))
    options.dir.mkdir(exist_ok=True)
    subprocess.Popen([sys.executable, __file__, "watch", "--dir", options.dir.resolve(), "--owner", str(os.getppid())],
                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    print(options.dir.resolve())


def watch(options):
    if procs.outlive(options.owner, options.dir.exists):
        down(options)


def down(options):
    folder = options.dir.resolve()
    for lock in folder.glob("*.lock"):
        with open(lock) as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # a start that is under way ends first
            state = running(lock.with_suffix(""))
            if state:
                print("%s: CPU time %.1f s" % (lock.stem, sum(map(cpu_seconds, state["members"]))))
                stop(lock.with_suffix(""))
    shutil.rmtree(folder, ignore_errors=True)
    if options.dir.is_symlink():
        options.dir.unlink()


def execute(options):
    procs.stop_on_signals()
    environment = dict(os.environ)
    if options.dir:
        environment["TIPPLE_POOL"] = os.environ["TIPPLE_POOL"] = str(options.dir)
    command = [os.path.abspath(word) if os.path.exists(word) else word for word in options.command]
    scratch = tempfile.mkdtemp(prefix="test-", dir=options.dir or os.environ.get("TMPDIR"))
    os.chdir(scratch)
    environment["TMPDIR"] = scratch
    try:
        if options.server != "none":
            state = get(options.server)
            environment.update(TIPPLE_TEST_URI=state["uri"], TIPPLE_TEST_KIND=state["kind"], TIPPLE_TEST_SERVER=options.server)
        child = subprocess.Popen(command, env=environment, preexec_fn=procs.tied_to_parent(procs.signal.SIGTERM))
        status, used = child.wait(), resource.getrusage(resource.RUSAGE_CHILDREN)
        print("        CPU time without shared servers: %.1f s" % (used.ru_utime + used.ru_stime), flush=True)
        sys.exit(status if status >= 0 else 128 - status)
    except unittest.SkipTest as skipped:
        print("skipped %s: %s" % (" ".join(options.command), skipped))
        sys.exit(77)
    except procs.Stopped as stopped:
        procs.end_children()
        procs.end_by(stopped.number)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, function in (("up", up), ("down", down), ("watch", watch), ("exec", execute)):
        command = commands.add_parser(name)
        command.set_defaults(function=function)
        command.add_argument("--dir", type=lambda text: pathlib.Path(text).absolute(), required=name != "exec")
        if name == "watch":
            command.add_argument("--owner", type=int, required=True)
        if name == "exec":
            command.add_argument("server", choices=(*SERVERS, "none"))
            command.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    options.function(options)


if __name__ == "__main__":
    main()
