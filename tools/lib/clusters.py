"""clusters: a sharded cluster on this host, in one folder: a config server, shards (replica sets) and routers.

A member is a replica set's, named c0, s0 or s1.2 (the third of shard s1), or a router, named r0; its data are in
DIR/NAME, its log is DIR/NAME.log. What state_of() gives says of each where it is and how it was started.

Routers are real ones where there is a mongos; else tools/labrouter, and what a mongos does to form a cluster is
done by the config server's own commands.
"""
import contextlib
import os
import pathlib
import secrets
import shutil
import signal

import clusterdir
import mongods
import procs
from clusterdir import UP_SECONDS, alive, running, state_of
from mongods import Error, minimongo

USER = "root"
SYSTEM = "__system"  # what members call themselves; its password is the key file, before there is any user
CONFIG_CACHE = 64 << 20  # enough for any cluster of one host
JOURNAL = "log=(file_max=8MB,prealloc=false)"  # 100 MB each, and as much in advance, otherwise
DEFAULTS = {"shards": 2, "replicas": 1, "routers": 1, "cache": "256M", "compressor": None, "auth": False, "tls": False,
            "oplog": 256, "router": "auto", "extra": []}
FIXED = ("shards", "replicas", "auth", "tls")  # for the life of a cluster
ANSWER_SECONDS = 20  # a host that is busy may take a while


# ----------------------------------------------------------------------------------------------------- members

def address(member):
    return "127.0.0.1:%d" % member["port"]


def _of_set(state, name):
    return [member for member in state["members"] if member["set"] == name]


def _sets(state):
    return list(dict.fromkeys(member["set"] for member in state["members"] if member["set"]))


def _routers(state):
    return [member for member in state["members"] if member["role"] == "router"]


def _ca(state):
    return pathlib.Path(state["folder"]) / "ca.pem" if state["settings"]["tls"] else None


def password(state, user=USER):
    file = "keyfile" if user == SYSTEM else "password"
    return (pathlib.Path(state["folder"]) / file).read_text().strip()


def uri(state, members, user=USER, **options):
    """Of routers, or of a replica set; the user counts with --auth only."""
    if members[0]["set"] and "directConnection" not in options:
        options["replicaSet"] = members[0]["set"]
    login = None
    if user and state["settings"]["auth"]:
        login = (user, password(state, user))
        if user == SYSTEM:
            options["authSource"] = "local"
    return mongods.uri(list(map(address, members)), login, _ca(state), **options)


def client(state, members, user=USER):
    """Connected to the primary of a replica set, or to a router."""
    return minimongo.Client(uri(state, members, user), timeout=UP_SECONDS)


def hello(state, member, timeout=ANSWER_SECONDS):
    """What this very member says, or {} when it says nothing in time."""
    if not alive(member) or procs.paused(member["pid"]):
        return {}
    try:
        with minimongo.Client(uri(state, [member], None, directConnection="true"), timeout=timeout) as one:
            return one.command("admin", {"hello": 1})
    except (OSError, minimongo.Error):
        return {}


def select(state, names):
    """The members that these names mean: s1.0 is one, s1 is all of that shard, s1.primary its primary."""
    found = []
    for name in names:
        stem, _, part = name.partition(".")
        members = [member for member in state["members"] if member["name"] == name or
                   (member["set"] == stem and part in ("", "primary"))]
        if members and part == "primary":
            members = [member for member in members if hello(state, member).get("isWritablePrimary")]
            if not members:
                raise Error("%s has no primary now" % stem)
        if not members:
            raise Error("there is no member %s; there are %s"
                        % (name, ", ".join(member["name"] for member in state["members"])))
        found += [member for member in members if member not in found]
    return found


# ------------------------------------------------------------------------------------------------------- start

def start(folder, say=lambda text: None, fresh=False, tied=False, run=None, **wanted):
    """Starts a cluster, or the one that was stopped here, and waits until all of it can be used; gives its state.
    `wanted`: see DEFAULTS. `fresh`: what is here ends, and its data go. `tied`: its processes die with this one. `run`:
    it goes on with this run, else begins one (state["run"]). When it fails, what it has started is ended, and what it
    has made is removed."""
    folder = pathlib.Path(folder).absolute()
    made_folder = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    if not clusterdir.read_state(folder) and any(file.name != "lock" for file in folder.iterdir()):
        raise Error("%s is not empty, and no cluster is in it: give --dir a new folder" % folder)
    with clusterdir.locked(folder):
        try:
            return _start_here(folder, clusterdir.Watch(say), fresh, tied, run or secrets.token_hex(8), wanted)
        except BaseException:
            if made_folder:
                shutil.rmtree(folder, ignore_errors=True)
            raise


def _start_here(folder, watch, fresh, tied, run, wanted):
    before = clusterdir.read_state(folder)
    settings = _settings(folder, None if fresh else before, wanted)
    programs = find_programs(settings)
    if fresh and before:
        _stop_all(before, gently=False)
        clusterdir.remove(folder)
        before = None
    if running(before):
        raise Error("a cluster is running in %s (%d of its %d members); stop it with: tools/cluster down --dir %s"
                    % (folder, len(running(before)), len(before["members"]), folder))
    state = {"folder": str(folder), "settings": settings, "uri": None, "run": run, "members": []}
    try:
        _start_all(folder, state, before, programs, watch, tied)
    except BaseException:
        clusterdir.end(state["members"], signal.SIGKILL)
        if before:
            clusterdir.write_state(folder, before)
        else:
            clusterdir.remove(folder)
        raise
    watch.step("the cluster is up")
    return state


def _settings(folder, before, wanted):
    wanted = {key: value for key, value in wanted.items() if value is not None}
    settings = {**DEFAULTS, **(before["settings"] if before else {}), **wanted}
    mongods.size(settings["cache"])
    for key in FIXED if before else ():
        if settings[key] != before["settings"][key]:
            raise Error("the cluster in %s was made with %s %s, which cannot be changed; take another folder, or "
                        "--fresh" % (folder, key, before["settings"][key]))
    return settings


def _start_all(folder, state, before, programs, watch, tied):
    settings, members = state["settings"], state["members"]
    mongod, kind, router = programs
    ports = {member["name"]: member["port"] for member in before["members"]} if before else {}
    secret = _secrets(folder, settings)
    several = settings["replicas"] > 1
    for role, set_name, name in [("config", "cfg", "c0")] + [
            ("shard", "s%d" % shard, "s%d.%d" % (shard, number) if several else "s%d" % shard)
            for shard in range(settings["shards"]) for number in range(settings["replicas"])]:
        command = _mongod_command(folder, settings, mongod, role, set_name, name) + secret
        members.append(_member(name, role, set_name, "mongod", command, ports.get(name)))
    watch.step("starting %d mongods" % len(members))
    clusterdir.launch(folder, state, members, watch, tied, fixed=ports)
    watch.step("making %d replica sets" % len(_sets(state)))
    for name in _sets(state):
        _make_set(state, name)
    if settings["routers"]:
        watch.step("starting %d routers (%s)" % (settings["routers"], kind))
        for number in range(settings["routers"]):
            name = "r%d" % number
            command = ROUTER_COMMANDS[kind](folder, state, router, number)
            members.append(_member(name, "router", None, kind, command, ports.get(name)))
        clusterdir.launch(folder, state, _routers(state), watch, tied, fixed=ports)
    watch.step("adding the shards")
    _add_shards(state, by_mongos=kind == "mongos")
    if several:
        watch.step("waiting for the secondaries")
        for name in _sets(state):
            with client(state, _of_set(state, name)) as primary:
                mongods.wait_for_members(primary)
    for member in _routers(state):
        _check_router(state, member)
    state["uri"] = uri(state, _routers(state) or _of_set(state, "cfg"))
    clusterdir.write_state(folder, state)
    procs.write_secret(folder / "uri", state["uri"] + "\n")


def find_programs(settings):
    """The path of a mongod, the kind of the router (mongos, or the lab's own: labrouter), and its path."""
    mongod = mongods.find()
    return mongod, *(_find_router(settings["router"], mongod) if settings["routers"] else (None, None))


def _find_router(wanted, mongod):
    if wanted in ("auto", "mongos"):
        found = mongods.named_in("TIPPLE_MONGOS") or shutil.which("mongos") or \
            shutil.which(os.path.join(os.path.dirname(mongod), "mongos"))
        if found:
            return "mongos", found
        if wanted == "mongos":
            raise Error("there is no mongos in TIPPLE_MONGOS, on PATH, or next to %s" % mongod)
    named = mongods.named_in("TIPPLE_LABROUTER")
    built = sorted([path for pattern in ("*/labrouter", "*/tools/labrouter") for path in mongods.BUILD.glob(pattern)
                    if path.is_file()], key=lambda path: path.stat().st_mtime)
    if not named and not built:
        raise Error("there is no mongos, and no labrouter in build/: build it (cmake --build build/release --target "
                    "labrouter), or name one in TIPPLE_LABROUTER or TIPPLE_MONGOS, or take --routers 0")
    return "labrouter", named or str(built[-1])


def _member(name, role, set_name, program, command, port):
    return {"name": name, "role": role, "set": set_name, "program": program, "port": port or 0, "pid": 0, "birth": 0,
            "command": command}


def _mongod_command(folder, settings, mongod, role, set_name, name):
    wanted = CONFIG_CACHE if role == "config" else mongods.size(settings["cache"])
    engine = [JOURNAL]
    if wanted < mongods.LEAST_CACHE:
        engine.append("cache_size=%d" % wanted)
    command = [mongod, "--configsvr" if role == "config" else "--shardsvr", "--replSet", set_name,
               "--bind_ip", "127.0.0.1", "--nounixsocket", "--logappend",
               "--dbpath", str(folder / name), "--logpath", str(folder / (name + ".log")),
               "--oplogSize", str(settings["oplog"]),
               "--wiredTigerCacheSizeGB", mongods.cache_option(max(wanted, mongods.LEAST_CACHE)),
               "--wiredTigerEngineConfigString", ",".join(engine),
               "--setParameter", "diagnosticDataCollectionEnabled=false",
               "--setParameter", "shutdownTimeoutMillisForSignaledShutdown=100"]
    if role != "config":  # a chunk that comes back finds its place clean
        command += ["--setParameter", "orphanCleanupDelaySecs=0"]
    if settings["compressor"]:
        command += ["--wiredTigerCollectionBlockCompressor", settings["compressor"]]
    return command + settings["extra"]


def _secrets(folder, settings):
    """Makes keys, certificates and the password; gives the options that every member has for them."""
    options = []
    if settings["auth"]:
        options += ["--keyFile", mongods.key_file(folder)]
        if not (folder / "password").exists():
            procs.write_secret(folder / "password", secrets.token_hex(16) + "\n")
    if settings["tls"]:
        options += mongods.tls_options(folder)
    return options


def _mongos_command(folder, state, program, number):
    name = "r%d" % number
    config = ",".join(map(address, _of_set(state, "cfg")))
    return [program, "--configdb", "cfg/" + config, "--bind_ip", "127.0.0.1", "--nounixsocket", "--logappend",
            "--logpath", str(folder / (name + ".log")),
            "--setParameter", "diagnosticDataCollectionEnabled=false",
            "--setParameter", "mongosShutdownTimeoutMillisForSignaledShutdown=100"] \
        + _secrets(folder, state["settings"])


def labrouter_command(folder, state, program, number):
    """Each router works through all shards; they differ in the one they begin with."""
    shards = [member for member in state["members"] if member["role"] == "shard"]
    turn = number * state["settings"]["replicas"] % len(shards)
    command = [program, "--via", ",".join(map(address, shards[turn:] + shards[:turn])),
               "--config", ",".join(map(address, _of_set(state, "cfg")))]
    if state["settings"]["auth"]:
        command += ["--user", SYSTEM, "--password-file", mongods.key_file(folder)]
    if state["settings"]["tls"]:
        command += ["--tls-ca", str(_ca(state)), "--tls-cert", str(folder / "server.pem")]
    return command


ROUTER_COMMANDS = {"mongos": _mongos_command, "labrouter": labrouter_command}


# ----------------------------------------------------------------------------------- what makes them a cluster

def _make_set(state, name):
    """Initiates a replica set, if that was not done before, makes its first member the primary, and creates the
    user: on the config server, where a mongos looks it up, and on each shard, where labrouter does and who connects
    there directly."""
    members = _of_set(state, name)
    more = {"configsvr": True} if name == "cfg" else {}
    with minimongo.Client(uri(state, members[:1], SYSTEM, directConnection="true")) as first:
        mongods.initiate(first, list(map(address, members)), name, **more)
    with client(state, members, SYSTEM) as primary:
        if state["settings"]["auth"]:
            mongods.create_user(primary, USER, password(state))


def _add_shards(state, by_mongos):
    """Again does no harm, so that a cluster whose making was cut off is completed by the next start."""
    if by_mongos:
        command, there, more = "addShard", _routers(state)[:1], {}
    else:
        command, there, more = "_configsvrAddShard", _of_set(state, "cfg"), {"writeConcern": {"w": "majority"}}
    with client(state, there, USER if by_mongos else SYSTEM) as one:
        for name in _sets(state)[1:]:
            seeds = ",".join(map(address, _of_set(state, name)))
            one.command("admin", {command: "%s/%s" % (name, seeds), "name": name, **more})


def _check_router(state, member):
    with client(state, [member]) as router:
        known = len(router.command("admin", {"listShards": 1})["shards"])
    if known != state["settings"]["shards"]:
        raise Error("router %s knows %d shards instead of %d" % (member["name"], known, state["settings"]["shards"]))


# ------------------------------------------------------------------------------------------------ what it does

def stop(folder, gently=True, only=None):
    """Ends all members. Gives how many there were. `only`: those of this run."""
    state_of(folder)
    folder = pathlib.Path(folder).absolute()
    with clusterdir.locked(folder, patience=clusterdir.STOP_SECONDS):
        state = state_of(folder)
        return _stop_all(state, gently) if only in (None, state.get("run")) else 0


def _stop_all(state, gently):
    were = running(state)
    for role in ("router", "shard", "config"):
        left = [member for member in were if member["role"] == role]
        if gently:
            left = clusterdir.end(left, signal.SIGTERM)
        left = clusterdir.end(left, signal.SIGKILL)
        if left:
            raise Error("%s cannot be ended (process %d)" % (left[0]["name"], left[0]["pid"]))
    return len(were)


def restart(folder, say=lambda text: None, tied=False, **wanted):
    """Ends all members in an orderly way and starts them again, on the same run; `wanted`: settings to change."""
    run = state_of(folder).get("run")
    stop(folder)
    return start(folder, say=say, tied=tied, run=run, **wanted)


def send(folder, names, number):
    """Signals members: SIGKILL and SIGTERM end them and are waited for, SIGSTOP pauses, SIGCONT goes on."""
    state = state_of(folder)
    members = select(state, names)
    for member in members:
        if not alive(member):
            raise Error("%s is not running" % member["name"])
    if number in (signal.SIGKILL, signal.SIGTERM):
        left = clusterdir.end(members, number)
        if left:
            raise Error("%s has not ended within %d seconds" % (left[0]["name"], clusterdir.STOP_SECONDS))
    else:
        for member in members:
            os.kill(member["pid"], number)
    return [member["name"] for member in members]


def start_members(folder, names, say=lambda text: None, tied=False):
    """Starts members that were ended, as they were, and waits until each answers as a primary or a secondary."""
    state_of(folder)
    folder = pathlib.Path(folder).absolute()
    with clusterdir.locked(folder, patience=UP_SECONDS):
        state = state_of(folder)
        members = select(state, names)
        for member in members:
            if alive(member):
                raise Error("%s is running" % member["name"])
        watch = clusterdir.Watch(say)
        watch.step("starting %s" % ", ".join(member["name"] for member in members))
        try:
            clusterdir.launch(folder, state, members, watch, tied, fixed=[member["name"] for member in members])
            for member in members:
                while not _useful(hello(state, member)):
                    watch.wait("%s to become a primary or a secondary" % member["name"], 0.1)
                    if not alive(member):
                        raise Error("%s has ended: %s" % (member["name"], clusterdir.last_words(folder, member)))
        except BaseException:
            clusterdir.end(members, signal.SIGKILL)
            raise
        watch.step("%s can be used" % ", ".join(member["name"] for member in members))


def _useful(said):
    return said.get("isWritablePrimary") or said.get("secondary")


def describe(state):
    """A dict for each member: what status prints."""
    return [{"name": member["name"], "role": member["role"], "set": member["set"], "address": address(member),
             "program": member["program"], "pid": member["pid"] if alive(member) else None,
             **_condition(state, member),
             "bytes": _disk_use(pathlib.Path(state["folder"]) / member["name"])} for member in state["members"]]


def _condition(state, member):
    if not alive(member):
        return {"process": "stopped", "state": None}
    if procs.paused(member["pid"]):
        return {"process": "paused", "state": None}
    said = hello(state, member)
    return {"process": "running",
            "state": "router" if said.get("msg") == "isdbgrid" else "primary" if said.get("isWritablePrimary") else
            "secondary" if said.get("secondary") else "other" if said else "no answer"}


def _disk_use(folder):
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # gone meanwhile
                total += os.lstat(os.path.join(path, name)).st_blocks * 512
    return total
