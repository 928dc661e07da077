"""mongotools: the real mongodump and mongorestore, built once from their pinned module into build/mongotools."""
import fcntl
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/mongotools"


def program(name):
    """Its path; None where there is no Go, or it cannot be fetched."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / name
    with open(FOLDER / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists() and shutil.which("go"):
            go = FOLDER / "go"
            environment = {**os.environ, "GOPATH": str(go), "GOCACHE": str(go / "cache"), "CGO_ENABLED": "0",
                           "GOFLAGS": "-modcacherw -mod=readonly -buildvcs=false", "GOTOOLCHAIN": "local",
                           "GOWORK": "off"}
            with open(FOLDER / (name + ".log"), "wb") as log:
                subprocess.run(["go", "build", "-trimpath", "-o", path,
                                "github.com/mongodb/mongo-tools/%s/main" % name], check=False, env=environment,
                               cwd=ROOT / "tests/bench/mongoimport", stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    return path if path.exists() else None
