"""Servers of the web for tests of URLs: nginx with TLS and ranges, and one whose answers are odd.

    web = weblab.Nginx(folder)      # skips the test where nginx or openssl is missing
    web.put("a.csv", text)
    web.https + "/a.csv"            # with web.environment, which names its authority
    web.https + "/slow/a.csv"       # 2 MB/s a connection; /metered/: 5 MB/s; /whole/: without ranges; /moved/: by a redirect; /down/: to http
    odd = weblab.Odd()              # odd.url + "/FAULT/a.csv", see FAULTS

Both end with the test's process at the latest."""
import atexit
import http.server
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest

CONFIGURATION = """
daemon off; pid %(folder)s/pid; error_log %(folder)s/error.log; worker_processes 1; master_process off;
events { worker_connections 512; }
http {
    log_format with_connection '$connection $request_method $uri $status $body_bytes_sent $http_range';
    access_log %(folder)s/access.log with_connection;
    client_body_temp_path %(folder)s/t; proxy_temp_path %(folder)s/t; fastcgi_temp_path %(folder)s/t;
    uwsgi_temp_path %(folder)s/t; scgi_temp_path %(folder)s/t;
    server {
        listen 127.0.0.1:%(tls)d ssl; listen 127.0.0.1:%(plain)d;
        ssl_certificate %(folder)s/cert.pem; ssl_certificate_key %(folder)s/key.pem; root %(folder)s/www;
        location /slow/ { alias %(folder)s/www/; limit_rate 2m; }
        location /metered/ { alias %(folder)s/www/; limit_rate 5m; }
        location /whole/ { alias %(folder)s/www/; max_ranges 0; }
        location /login/ { alias %(folder)s/www/; auth_basic x; auth_basic_user_file %(folder)s/users; }
        location /moved/ { rewrite ^/moved/(.*)$ https://127.0.0.1:%(tls)d/$1 redirect; }
        location /down/ { rewrite ^/down/(.*)$ http://127.0.0.1:%(plain)d/$1 redirect; }
    }
}
"""


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Nginx:
    def __init__(self):
        program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
        if not program or not shutil.which("openssl"):
            raise unittest.SkipTest("nginx is not here (apt-get install nginx-light)")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tipple-web-"))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        (self.folder / "www").mkdir()
        self.folder.chmod(0o755)
        tls, plain = free_port(), free_port()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2",
                        "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"], cwd=self.folder, check=True,
                       stderr=subprocess.DEVNULL)
        (self.folder / "users").write_text("joe:{PLAIN}canary\n")
        (self.folder / "conf").write_text(CONFIGURATION % {"folder": self.folder, "tls": tls, "plain": plain})
        self.process = subprocess.Popen([program, "-c", str(self.folder / "conf"), "-p", str(self.folder)], stderr=subprocess.DEVNULL)
        atexit.register(self.process.kill)
        self.https, self.http = "https://127.0.0.1:%d" % tls, "http://127.0.0.1:%d" % plain
        self.environment = {"SSL_CERT_FILE": str(self.folder / "cert.pem")}
        for port in (tls, plain):
            wait_for_port(port)

    def put(self, name, text):
        (self.folder / "www" / name).write_bytes(text)

    def requests(self):
        """The lines of its log, which is emptied."""
        log = self.folder / "access.log"
        lines = log.read_text().splitlines()
        log.write_text("")
        return lines


def wait_for_port(port):
    for _ in range(600):
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError("no server on port %d" % port)


# of each path, every third answer but the first is so
FAULTS = ("cut", "busy", "whole", "stall", "plain")


class Odd:
    def __init__(self):
        self.pages, self.counts, self.later = {}, {}, {}
        odd = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                odd.answer(self)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d" % self.server.server_port

    def put(self, name, text, after=None):
        """after: from this answer on its content, ETag and time are others."""
        self.pages[name] = text
        self.later[name] = after

    def answer(self, request):
        _, fault, name = request.path.split("/")
        count = self.counts[request.path] = self.counts.get(request.path, 0) + 1
        body, odd = self.pages[name], fault != "plain" and count % 3 == 2
        changed = self.later[name] is not None and count > self.later[name]
        first, last = request.headers["Range"].removeprefix("bytes=").split("-") if "Range" in request.headers else (0, len(body))
        first, last = int(first), min(int(last) + 1, len(body))
        if fault == "shut" and count == 1:
            request.connection.shutdown(socket.SHUT_RDWR)
            request.close_connection = True
            return
        if fault == "busy" and odd:
            request.send_response(503)
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        if (fault == "whole" and odd) or "Range" not in request.headers:
            first, last = 0, len(body)
            request.send_response(200)
        else:
            request.send_response(206)
            request.send_header("Content-Range", "bytes %d-%d/%d" % (first, last - 1, len(body)))
        request.send_header("Content-Length", str(last - first))
        request.send_header("ETag", '"%d"' % changed)
        request.send_header("Last-Modified", "Mon, 30 Nov 2026 10:00:0%d GMT" % changed)
        request.end_headers()
        short = odd and fault in ("cut", "stall")
        try:
            request.wfile.write(body[first:first + (last - first) // 2 if short else last])
        except OSError:
            return
        if short and fault == "stall":
            request.connection.recv(1)
        request.close_connection = short
