"""clusterdir: the folder of a cluster: its description, its lock, and the processes that the description names.

DIR/cluster.json says what was asked for, and of each member its name, command, port and process. A process is only
ever signalled when /proc says that it still is the one we started. Whoever starts or ends something holds the lock.
"""
import contextlib
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import procs
from mongods import ADDRESS_IN_USE, STOP_SECONDS, Error, free_port, is_free

UP_SECONDS = 300


def read_state(folder):
    folder = pathlib.Path(folder).absolute()
    try:
        return {**json.loads((folder / "cluster.json").read_text()), "folder": str(folder)}
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:
        raise Error("%s/cluster.json is damaged (%s)" % (folder, error)) from None


def state_of(folder):
    state = read_state(folder)
    if not state:
        raise Error("there is no cluster in %s; make one with: tools/cluster up --dir %s" % (folder, folder))
    return state


def write_state(folder, state):
    part = folder / "cluster.part"
    procs.write_secret(part, json.dumps(state, indent=1) + "\n")  # the URI has a password
    part.rename(folder / "cluster.json")


def alive(member):
    return bool(member["pid"]) and procs.birth(member["pid"]) == member["birth"]


def running(state):
    return [member for member in state["members"] if alive(member)] if state else []


@contextlib.contextmanager
def locked(folder, patience=0.0):
    """Nobody else starts or ends the cluster meanwhile."""
    with open(folder / "lock", "a") as lock:
        deadline = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Error("another tools/cluster is at work in %s; wait for it to end" % folder) from None
            time.sleep(0.05)
        yield


class Watch:
    """Says what is being done and how long it took, and ends waiting that takes too long."""

    def __init__(self, say):
        self.say, self.began = say, time.monotonic()

    def step(self, text):
        self.say("%5.1f s  %s" % (time.monotonic() - self.began, text))
        self.deadline = time.monotonic() + UP_SECONDS

    def wait(self, what, seconds=0.02):
        if time.monotonic() > self.deadline:
            raise Error("waited %d seconds for %s" % (UP_SECONDS, what))
        time.sleep(seconds)


# --------------------------------------------------------------------------------------------------- processes

def launch(folder, state, members, watch, tied=False, fixed=()):
    """Starts members side by side and waits until each listens. Those in `fixed` keep their port; for the others
    another one is tried when another process takes it first."""
    waiting = {}
    for member in members:
        member["port"] = member["port"] or _port(state)
        waiting[member["name"]] = (member, _spawn(folder, state, member, tied))
    tries = 0
    while waiting:
        for member, process in list(waiting.values()):
            status = process.poll()
            if status is None:
                if procs.listens(process.pid, member["port"]):
                    del waiting[member["name"]]
                continue
            taken = status == ADDRESS_IN_USE or not is_free(member["port"])
            if taken and member["name"] in fixed:
                raise Error("port %d of %s is in use by another program, and the cluster knows it by this port: free it"
                            % (member["port"], member["name"]))
            if not taken or tries == 10:
                raise Error("%s ended at once with status %d: %s"
                            % (member["name"], status, last_words(folder, member)))
            tries += 1
            member["port"] = _port(state)
            waiting[member["name"]] = (member, _spawn(folder, state, member, tied))
        if waiting:
            watch.wait("%s to listen" % ", ".join(sorted(waiting)), 0.05)


def _spawn(folder, state, member, tied):
    if member["program"] == "mongod":
        (folder / member["name"]).mkdir(exist_ok=True)
    with open(folder / (member["name"] + ".out"), "wb") as out, procs.undisturbed():
        process = subprocess.Popen([*member["command"], "--port", str(member["port"])],
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                   start_new_session=True, cwd=folder,
                                   preexec_fn=procs.tied_to_parent() if tied else None)
        member.update(pid=process.pid, birth=procs.birth(process.pid) or 0)
        write_state(folder, state)  # before it is up, so that `down` finds it whatever happens to us
    return process


def last_words(folder, member):
    """What a process that ended said: on its output, or as the last error of its log."""
    said = (folder / (member["name"] + ".out")).read_text(errors="replace").strip().splitlines()[:1]
    log = folder / (member["name"] + ".log")
    if not said and log.exists():
        for line in log.read_text(errors="replace").splitlines()[-200:]:
            with contextlib.suppress(ValueError):
                entry = json.loads(line)
                if entry.get("s") in ("E", "F"):
                    said = [entry["msg"] + " " + json.dumps(entry.get("attr", {}))]
                    break
    return " ".join(said)[:500] or "nothing was said"


def _port(state):
    return free_port({member["port"] for member in state["members"]})


def end(members, number, seconds=STOP_SECONDS):
    """Signals the members and waits for them; the rest of them is given."""
    for member in members:
        for each in (number, signal.SIGCONT):  # one that is paused would not notice
            if alive(member):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(member["pid"], each)
    deadline = time.monotonic() + seconds
    while any(map(alive, members)) and time.monotonic() < deadline:
        time.sleep(0.02)
    for member in members:
        with contextlib.suppress(ChildProcessError):  # ours to reap only if we started it
            if member["pid"] and not alive(member):
                os.waitpid(member["pid"], os.WNOHANG)
    return [member for member in members if alive(member)]


def remove(folder):
    """What the cluster has written, and nothing else."""
    ours = re.compile(r"(c0|r\d+|s\d+(\.\d+)?)(\.log.*|\.out)?|cluster\.(json|part)|keyfile|password|uri|names\.cnf"
                      r"|(ca|server)\.(key|pem|srl|csr|crt)")
    for path in folder.iterdir():
        if ours.fullmatch(path.name):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
