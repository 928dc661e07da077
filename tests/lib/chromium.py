"""chromium: a browser without a window, for pages of our own. Spoken to through pipes, so nothing listens anywhere.

    with chromium.Browser(folder) as browser:
        page = browser.open(path, width=360, height=800, scheme="dark")
        page.value("document.title")
        page.screenshot(folder / "page.png")
        page.close()

A page keeps what the browser said of it: `requests` (URLs), `said` (console messages, errors, violations of its
policy). `missing(folder)` says why there is no browser that shows even an empty page, or None.

    python3 tests/lib/chromium.py PAGE.html FILE.png WIDTH HEIGHT    # the picture of a page, for docs/images
"""
import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
WORDS = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run", "--mute-audio",
         "--no-default-browser-check", "--disable-extensions", "--disable-background-networking", "--disable-sync",
         "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb",
         "--password-store=basic", "--use-mock-keychain", "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-quic",
         # on a host that is slow the browser would take itself for stuck, and end
         "--in-process-gpu", "--disable-gpu-watchdog", "--disable-hang-monitor", "--disable-breakpad", "about:blank")
# the browser reads from 3 and writes to 4
LAUNCHER = ("import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
            "os.execv(sys.argv[3], sys.argv[3:])")


def find():
    given = os.environ.get("TIPPLE_CHROMIUM")
    return given or next((found for found in map(shutil.which, NAMES) if found), None)


def missing(folder):
    if not find():
        return "there is no browser: install the package chromium, or set TIPPLE_CHROMIUM"
    empty = pathlib.Path(folder) / "empty.html"
    empty.write_text("<!doctype html><title>empty</title>")
    try:
        with Browser(folder) as browser:
            page = browser.open(empty)
            return None if page.value("document.title") == "empty" else "the browser shows nothing"
    except (Failed, OSError) as failed:
        return "there is no browser that works: %s" % failed
    finally:
        empty.unlink()


class Failed(Exception):
    """The browser refused, or was not heard of in time."""


class Ended(Failed):
    """The browser is no more, with the last that it wrote."""


class Browser:
    def __init__(self, folder, seconds=300):
        self.seconds, self.number, self.answers, self.pages, self.rest = seconds, 0, {}, {}, b""
        self.profile, self.log = pathlib.Path(folder) / "browser", pathlib.Path(folder) / "browser.log"
        (theirs_in, self.out), (self.into, theirs_out) = os.pipe(), os.pipe()
        high = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (theirs_in, theirs_out)]
        os.close(theirs_in)
        os.close(theirs_out)
        words = [find(), *WORDS[:-1], "--user-data-dir=%s" % self.profile, WORDS[-1]]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([sys.executable, "-c", LAUNCHER, *map(str, high), *words], pass_fds=high,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                                            env={**os.environ, "HOME": str(self.profile)})
        for end in high:
            os.close(end)

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()

    def close(self):
        """Asks it to end; after a while it is killed with whatever it started, which is all in one session."""
        try:
            self.call("Browser.close")
            self.process.wait(30)
        except (Failed, OSError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        for end in (self.out, self.into):
            os.close(end)
        shutil.rmtree(self.profile, ignore_errors=True)

    def ended(self):
        return Ended("the browser ended: %s" % self.log.read_text(errors="replace")[-2000:])

    # ---- messages: JSON, each ends with a NUL

    def read(self, deadline):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.into], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise Failed("the browser said nothing for %d s" % self.seconds)
            got = os.read(self.into, 1 << 20)
            if not got:
                raise self.ended()
            self.rest += got
        message, _, self.rest = self.rest.partition(b"\0")
        message = json.loads(message)
        if "id" in message:
            self.answers[message["id"]] = message
        elif message.get("sessionId") in self.pages:
            self.pages[message["sessionId"]].take(message["method"], message["params"])

    def call(self, method, session=None, **params):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        data = json.dumps(message).encode() + b"\0"
        try:
            while data:
                data = data[os.write(self.out, data):]
        except BrokenPipeError:
            raise self.ended() from None
        self.until(lambda: number in self.answers)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise Failed("%s: %s" % (method, answer["error"]["message"]))
        return answer["result"]

    def until(self, condition):
        deadline = time.monotonic() + self.seconds
        while not condition():
            self.read(deadline)

    def open(self, path, **looks):
        return Page(self, path, **looks)


class Page:
    def __init__(self, browser, path, width=1280, height=900, scheme="light", media="", scale=1):
        self.browser, self.requests, self.said, self.loaded = browser, [], [], set()
        self.url = pathlib.Path(path).resolve().as_uri()
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        self.look(width, height, scheme, media, scale)
        loader = self.call("Page.navigate", url=self.url)["loaderId"]  # the empty page before it may come late
        browser.until(lambda: loader in self.loaded)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def take(self, method, params):
        if method == "Page.lifecycleEvent" and params["name"] == "load":
            self.loaded.add(params["loaderId"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.consoleAPICalled":
            self.said.append("%s: %s" % (params["type"], params["args"]))
        elif method == "Runtime.exceptionThrown":
            self.said.append(str(params["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.said.append("%(source)s %(level)s: %(text)s" % params["entry"])

    def look(self, width, height=900, scheme="light", media="", scale=1):
        self.width, self.height = width, height
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def value(self, expression):
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in done:
            raise Failed("%s: %s" % (expression, done["exceptionDetails"]))
        return done["result"].get("value")

    def screenshot(self, path=None, scale=1):
        """What is on the screen, perhaps smaller."""
        clip = {"x": 0, "y": 0, "width": self.width, "height": self.height, "scale": scale}
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png", clip=clip)["data"])
        if path:
            pathlib.Path(path).write_bytes(data)
        return data

    def pdf(self, path=None):
        data = base64.b64decode(self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"])
        if path:
            pathlib.Path(path).write_bytes(data)
        return data

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
        self.browser.pages.pop(self.session, None)


def colours(png):
    """How many pixels there are of each colour in a PNG of 8 bits a channel."""
    at, data, head = 8, b"", None
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        head = struct.unpack(">IIBBBBB", body) if kind == b"IHDR" else head
        data += body if kind == b"IDAT" else b""
        at += 12 + length
    width, height, depth, colour, _, _, interlaced = head
    assert (depth, interlaced) == (8, 0) and colour in (2, 6)
    step = 3 if colour == 2 else 4
    data, stride, before, counts = zlib.decompress(data), width * step, bytes(width * step), {}
    for y in range(height):
        line = unfilter(data[y * (stride + 1)], data[y * (stride + 1) + 1:(y + 1) * (stride + 1)], before, step)
        for x in range(0, stride, step):
            counts[line[x:x + 3]] = counts.get(line[x:x + 3], 0) + 1
        before = line
    return counts


def unfilter(kind, line, before, step):
    line = bytearray(line)
    for i in range(len(line)) if kind else ():
        left, up = line[i - step] if i >= step else 0, before[i]
        corner = before[i - step] if i >= step else 0
        if kind == 4:
            guess = left + up - corner
            distances = abs(guess - left), abs(guess - up), abs(guess - corner)
            add = (left, up, corner)[distances.index(min(distances))]
        else:
            add = (left, up, (left + up) // 2)[kind - 1]
        line[i] = line[i] + add & 255
    return bytes(line)


def main(page, picture, width, height):
    with tempfile.TemporaryDirectory() as folder, Browser(folder) as browser:
        browser.open(page, width=int(width), height=int(height)).screenshot(picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
