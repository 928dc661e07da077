"""procs: processes that do not outlive the one that started them (Linux)."""
import contextlib
import ctypes
import os
import signal
import time

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_libc = ctypes.CDLL(None, use_errno=True)


class Stopped(BaseException):
    """A signal asked this program to end; not an Exception, so that only clean-up code meets it."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


def stop_on_signals():
    """From now on SIGINT, SIGTERM and SIGHUP raise Stopped in the main thread, once: clean-up is not disturbed."""
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def stop(number, _frame):
        for each in signals:
            signal.signal(each, lambda *_: None)
        raise Stopped(number)

    for each in signals:
        signal.signal(each, stop)


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


def adopt_orphans():
    """What our children leave behind becomes our child, so that end_children() finds it."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name) as stat:
                    if int(stat.read().rpartition(")")[2].split()[1]) == os.getpid():
                        found.append(int(name))
            except (OSError, IndexError):
                pass
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
