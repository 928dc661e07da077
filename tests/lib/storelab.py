"""storelab: a server of S3, STS and IAM that checks signatures (moto, in build/venv-store, by tools/test), and what stands next
to a program in a cloud: the metadata service of an instance, and the credentials of a container.

    store = storelab.Store()                         # it ends with this process
    store.put("data", "orders/a.csv", b"...")        # makes the bucket, too
    env = store.user()                               # AWS_ACCESS_KEY_ID and so on of a user who may read all
    env = store.session()                            # the same of a session, with a token
    store.open()                                     # from now on nobody has to sign; close() ends that
    neighbour = storelab.Neighbour(store.session)    # gives out sessions over HTTP, as both kinds of clouds do

TIPPLE_S3_SERVER=s3s-fs puts another server in its place (in build/s3s, by tools/test --nightly), which has files for objects and one
user: no sessions, no public objects, no pages.
"""
import atexit
import contextlib
import datetime
import functools
import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

import live

sys.path.insert(0, str(live.ROOT / "tools/lib"))
import mongods  # noqa: E402
import procs  # noqa: E402

SERVER = live.ROOT / "build/venv-store/bin/moto_server"
FILES = live.ROOT / "build/s3s/bin/s3s-fs"
OF_FILES = os.environ.get("TIPPLE_S3_SERVER") == "s3s-fs"
ALL_OF_S3 = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]})
ANYBODY = json.dumps({"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": "*"}}]})
ROLE = "arn:aws:iam::123456789012:role/reader"
PAGE = 3  # objects of a list


def start(answers, *command, **environment):
    """A server that ends with this process; returns it when it answers."""
    process = subprocess.Popen(command, preexec_fn=procs.tied_to_parent(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env={**os.environ, **environment})
    atexit.register(process.wait)
    atexit.register(process.kill)
    until = time.monotonic() + live.LONG
    while True:
        with contextlib.suppress(OSError):
            answers()
            return process
        if process.poll() is not None or time.monotonic() > until:
            raise AssertionError("%s does not start: status %s" % (command[0], process.returncode))
        time.sleep(0.1)


class Files:
    """s3s-fs."""

    def __init__(self):
        if not FILES.exists():
            raise unittest.SkipTest("build/s3s is not there; tools/test --nightly makes it where cargo is, as build/logs/s3s.log says")
        port, self.folder = mongods.free_port(), pathlib.Path(tempfile.mkdtemp(prefix="tipple-store-"))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        self.url = "http://127.0.0.1:%d" % port
        self.opened = contextlib.nullcontext
        self.process = start(lambda: socket.create_connection(("127.0.0.1", port)).close(), FILES, "--host", "127.0.0.1", "--port", str(port),
              "--access-key", "AKIAFILES", "--secret-key", "s3cret/+", self.folder)

    @staticmethod
    def keeps(key):
        """It has no keys with empty parts, and says that the keys of a list are encoded when they are not."""
        return not any(part in key for part in ("//", "+", "%"))

    def put(self, bucket, key, content):
        path = self.folder / bucket / key
        (path if key.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not key.endswith("/"):
            path.write_bytes(content)

    def user(self):
        return {"AWS_ACCESS_KEY_ID": "AKIAFILES", "AWS_SECRET_ACCESS_KEY": "s3cret/+"}

    session = user


class Moto:
    def __init__(self):
        if not SERVER.exists():
            raise unittest.SkipTest("build/venv-store is not there; tools/test makes it, as build/logs/venv-store.log says")
        self.port = mongods.free_port()
        self.url = "http://127.0.0.1:%d" % self.port
        self.buckets = set()
        start(lambda: self.ask("GET", "/moto-api/"), SERVER, "-H", "127.0.0.1", "-p", str(self.port),
              MOTO_S3_DEFAULT_MAX_KEYS=str(PAGE), INITIAL_NO_AUTH_ACTION_COUNT="0")
        with self.opened():
            for action, more in (("CreateUser", {}), ("PutUserPolicy", {"PolicyName": "all", "PolicyDocument": ALL_OF_S3})):
                self.call("iam", Action=action, UserName="reader", **more)
            self.call("iam", Action="CreateRole", RoleName="reader", AssumeRolePolicyDocument=ANYBODY)
            self.call("iam", Action="PutRolePolicy", RoleName="reader", PolicyName="all", PolicyDocument=ALL_OF_S3)

    def ask(self, method, path, body=None, service="s3", kind="application/octet-stream", **headers):
        """One request; while the server is open, nothing of its signature counts but the service."""
        request = urllib.request.Request(self.url + path, data=body, method=method, headers={
            "Content-Type": kind, "Authorization": "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/%s/aws4_request, "
            "SignedHeaders=host, Signature=0" % service, **headers})
        with urllib.request.urlopen(request, timeout=live.LONG) as answer:
            return answer.read().decode()

    def call(self, service, **form):
        """An action of IAM or STS; its answer's elements by their names."""
        answer = self.ask("POST", "/", urllib.parse.urlencode(form).encode(), service, "application/x-www-form-urlencoded")
        return dict(re.findall(r"<(\w+)>([^<]*)</", answer))

    @staticmethod
    def keeps(_key):
        return True

    def open(self):
        self.ask("POST", "/moto-api/reset-auth", b"1000000000")

    def close(self):
        self.ask("POST", "/moto-api/reset-auth", b"0")

    @contextlib.contextmanager
    def opened(self):
        self.open()
        yield
        self.close()

    def put(self, bucket, key, content, **headers):
        with self.opened():
            if bucket not in self.buckets:
                self.ask("PUT", "/" + bucket)
                self.buckets.add(bucket)
            self.ask("PUT", "/%s/%s" % (bucket, urllib.parse.quote(key)), content, **headers)

    def environment(self, answer, **more):
        names = {"AWS_ACCESS_KEY_ID": "AccessKeyId", "AWS_SECRET_ACCESS_KEY": "SecretAccessKey",
                 "AWS_SESSION_TOKEN": "SessionToken"}
        return {**{name: answer[key] for name, key in names.items() if key in answer}, **more}

    @functools.cache
    def user(self):  # who may have two keys only
        with self.opened():
            return self.environment(self.call("iam", Action="CreateAccessKey", UserName="reader"))

    def session(self):
        with self.opened():
            return self.environment(self.call("sts", Action="AssumeRole", Version="2011-06-15", RoleArn=ROLE,
                                              RoleSessionName="reader"))


Store = Files if OF_FILES else Moto


class Neighbour:
    """Gives out what `session` returns, with an end after `seconds`: at /container to whoever has the token "let me in"; and as
    version 2 of an instance's metadata service does, to whoever has a token of it. asked: the paths."""

    def __init__(self, session, seconds=3600):
        self.asked = []
        neighbour = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def answer(self, status, text=""):
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def keys(self):
                env = session()
                ends = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
                self.answer(200, json.dumps({
                    "Code": "Success", "AccessKeyId": env["AWS_ACCESS_KEY_ID"], "Token": env["AWS_SESSION_TOKEN"],
                    "SecretAccessKey": env["AWS_SECRET_ACCESS_KEY"], "Expiration": ends.strftime("%Y-%m-%dT%H:%M:%SZ")}))

            def do_PUT(self):
                neighbour.asked.append(self.path)
                known = self.path == "/latest/api/token" and self.headers["X-aws-ec2-metadata-token-ttl-seconds"]
                self.answer(*((200, "instance's token") if known else (400,)))

            def do_GET(self):
                neighbour.asked.append(self.path)
                folder = "/latest/meta-data/iam/security-credentials/"
                if self.path == "/container":
                    return self.keys() if self.headers["Authorization"] == "let me in" else self.answer(401)
                if self.headers["X-aws-ec2-metadata-token"] != "instance's token":
                    return self.answer(401)
                if self.path == folder:
                    return self.answer(200, "reader")
                return self.keys() if self.path == folder + "reader" else self.answer(404)

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.end = server.shutdown
