"""procs: processes that do not outlive the one that started them (Linux)."""
import contextlib
import ctypes
import os
import select
import signal
import time

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_libc = ctypes.CDLL(None, use_errno=True)


class Stopped(BaseException):
    """A signal asked this program to end; not an Exception, so that only clean-up code meets it."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


def stop_on_signals():
    """From now on SIGINT, SIGTERM and SIGHUP raise Stopped in the main thread, once: clean-up is not disturbed."""
    def stop(number, _frame):
        for each in _ENDING:
            signal.signal(each, lambda *_: None)
        raise Stopped(number)

    for each in _ENDING:
        signal.signal(each, stop)


@contextlib.contextmanager
def undisturbed():
    """Who asks this program to end meanwhile is heard afterwards."""
    heard = []
    before = {each: signal.signal(each, lambda number, _: heard.append(number)) for each in _ENDING}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        if heard:
            os.kill(os.getpid(), heard[0])


def end_by(number):
    """Ends this process by the signal itself, so that loops in a shell stop too."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def tied_to_parent(number=signal.SIGKILL):
    """A preexec_fn: the child gets this signal when its parent dies, however it dies."""
    parent = os.getpid()

    def tie():
        _libc.prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent:  # it died before the call
            os._exit(1)
    return tie


def outlive(pid, still_wanted):
    """Waits for the end of this process. False: nobody wants to know any more."""
    try:
        owner = select.poll()
        owner.register(os.pidfd_open(pid), select.POLLIN)
        while still_wanted():
            if owner.poll(500):
                return True
    except ProcessLookupError:
        return True
    return False


def birth(pid):
    """When this process began, in clock ticks since boot: together with it, an id means one process only. None when it
    has ended, even if nobody has waited for it yet."""
    fields = _stat(pid)
    return int(fields[19]) if fields and (fields[0] not in "ZX" or _has_threads(pid)) else None


def paused(pid):
    fields = _stat(pid)
    return bool(fields) and fields[0] == "T"


def listens(pid, port):
    """Does this very process listen on the port? Another one's answer there would prove nothing."""
    sockets = set()
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc/%d/fd" % pid):
            with contextlib.suppress(OSError):
                sockets.add(os.readlink("/proc/%d/fd/%s" % (pid, name)))
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError), open("/proc/net/" + table) as lines:
            for line in lines:
                words = line.split()
                if words[3] == "0A" and int(words[1].rpartition(":")[2], 16) == port \
                        and "socket:[%s]" % words[9] in sockets:
                    return True
    return False


def _has_threads(pid):
    """Besides its first one, which may have ended before them: they still hold its ports."""
    try:
        return len(os.listdir("/proc/%d/task" % pid)) > 1
    except OSError:
        return False


def _stat(pid):
    """The fields of /proc/PID/stat from the state on."""
    try:
        with open("/proc/%d/stat" % pid) as stat:
            return stat.read().rpartition(")")[2].split()
    except OSError:
        return None


def adopt_orphans():
    """What our children leave becomes our child, so that end_children() finds it."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            fields = _stat(int(name))
            if fields and int(fields[1]) == os.getpid():
                found.append(int(name))
    return found


def end_children(patience=5.0, keep=()):
    """Ends every child, and whoever they leave to us: SIGTERM, then SIGKILL when the patience (seconds) is over."""
    asked, deadline = set(), time.monotonic() + patience
    while True:
        left = [pid for pid in children() if pid not in keep]
        if not left:
            return
        late = time.monotonic() > deadline
        for pid in left:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):  # another thread may reap its own
                if late or pid not in asked:
                    os.kill(pid, signal.SIGKILL if late else signal.SIGTERM)
                    asked.add(pid)
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.02)


def write_secret(path, text):
    """For this user's eyes only, from its first byte on."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(text)
