"""minimongo: a small MongoDB client of its own, so that tests can read collections back without the C driver.

BSON, OP_MSG over a socket or TLS, SCRAM-SHA-256 and cursors, with the standard library only. One Client is one
connection to one server (the primary, of a replica set) and belongs to one thread.

    client = Client("mongodb://127.0.0.1:27017/?replicaSet=rs0")
    client.command("admin", {"ping": 1})
    for document in client.find("mot", "results", {"k": "FORD"}): ...
    for raw in client.find("mot", "results", raw=True): ...          # BSON bytes as the server keeps them

What Python has a type for is that type; what it has not, or what it would blur, has a class here: an int64 is an
Int64 (an int), a date is a Date (an int, milliseconds), so that decode and encode give the same bytes back.
"""
import base64
import binascii
import datetime
import decimal
import hashlib
import hmac
import json
import os
import socket
import ssl
import struct
import time
import urllib.parse


class Error(Exception):
    """Anything that went wrong; the text is a sentence."""


class CommandError(Error):
    """A command that the server refused."""

    def __init__(self, reply, name):
        self.reply = reply
        self.code = reply.get("code", 0)
        super().__init__("%s: %s (code %s)" % (name, reply.get("errmsg", reply), self.code))


# ---------------------------------------------------------------------------------------------------- types

class Int64(int):
    pass


class Date(int):
    """Milliseconds since 1970, UTC."""

    def iso(self):
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=self)
        return moment.isoformat(timespec="milliseconds") + "Z"


class Timestamp(int):
    """Seconds << 32 | increment."""


class ObjectId(bytes):
    pass


class Decimal128(bytes):
    """The 16 bytes as they are; str() prints the number."""

    def __str__(self):
        high, low = struct.unpack("<QQ", self)[::-1]
        sign = high >> 63
        if (high >> 58) & 31 == 31:
            return "NaN"
        if (high >> 58) & 31 == 30:
            return "-Infinity" if sign else "Infinity"
        if (high >> 61) & 3 == 3:  # a coefficient beyond 34 digits counts as zero
            exponent, coefficient = (high >> 47) & 0x3FFF, 0
        else:
            exponent, coefficient = (high >> 49) & 0x3FFF, (high & ((1 << 49) - 1)) << 64 | low
        if coefficient >= 10**34:
            coefficient = 0
        digits = tuple(int(digit) for digit in str(coefficient))
        return str(decimal.Decimal((sign, digits, exponent - 6176)))

    @classmethod
    def parse(cls, text):
        number = decimal.Decimal(text)
        sign, digits, exponent = number.as_tuple()
        if number.is_nan():
            high, low = 31 << 58, 0
        elif number.is_infinite():
            high, low = 30 << 58, 0
        else:
            coefficient = int("".join(map(str, digits)))
            high, low = (exponent + 6176) << 49 | coefficient >> 64, coefficient & (1 << 64) - 1
        return cls(struct.pack("<QQ", low, high | sign << 63))


class Binary(bytes):
    """Bytes with a BSON subtype, 0 unless given."""
    subtype = 0

    def __new__(cls, data, subtype=0):
        binary = super().__new__(cls, data)
        if subtype:
            binary.subtype = subtype
        return binary

    def __eq__(self, other):
        return bytes.__eq__(self, other) and self.subtype == getattr(other, "subtype", 0)

    def __ne__(self, other):
        return not self == other

    __hash__ = bytes.__hash__


class Regex(tuple):
    """(pattern, options)"""


class Code(str):
    pass


class Symbol(str):
    pass


class DBPointer(tuple):
    """(namespace, 12 bytes)"""


class _Named:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


MinKey, MaxKey, Undefined = _Named("MinKey"), _Named("MaxKey"), _Named("Undefined")


# --------------------------------------------------------------------------------------------------- decode

_int32 = struct.Struct("<i").unpack_from
_int64 = struct.Struct("<q").unpack_from
_uint64 = struct.Struct("<Q").unpack_from
_double = struct.Struct("<d").unpack_from


def decode(data, at=0, raw_documents_in=()):
    """The document at data[at:] as a dict in its own order. The arrays named in raw_documents_in come back as
    lists of bytes. A key that is there twice is an error: a dict would hide it."""
    return _decode_document(data, at, raw_documents_in)[0]


def _decode_document(data, at, raw_in=()):
    end = at + _int32(data, at)[0] - 1
    at += 4
    document, count = {}, 0
    while at < end:
        kind = data[at]
        stop = data.index(0, at)
        key = data[at + 1:stop].decode()
        at = stop + 1
        if kind == 0x02:
            size = _int32(data, at)[0]
            document[key] = data[at + 4:at + 3 + size].decode()
            at += 4 + size
        elif kind == 0x10:
            document[key] = _int32(data, at)[0]
            at += 4
        elif kind == 0x12:
            document[key] = Int64(_int64(data, at)[0])
            at += 8
        elif kind == 0x09:
            document[key] = Date(_int64(data, at)[0])
            at += 8
        elif kind == 0x01:
            document[key] = _double(data, at)[0]
            at += 8
        elif kind == 0x03:
            document[key], at = _decode_document(data, at, raw_in)
        elif kind == 0x04:
            if key in raw_in:
                document[key], at = _raw_documents(data, at)
            else:
                array, at = _decode_document(data, at)
                document[key] = list(array.values())
        else:
            document[key], at = _decode_rare(data, at, kind, key)
        count += 1
    if at != end or data[end] != 0:
        raise Error("a BSON document does not end where its length says")
    if len(document) != count:
        raise Error("a BSON document has a key twice: %s" % ", ".join(document))
    return document, end + 1


def _decode_rare(data, at, kind, key):
    if kind == 0x08:
        return data[at] == 1, at + 1
    if kind == 0x0A:
        return None, at
    if kind == 0x07:
        return ObjectId(data[at:at + 12]), at + 12
    if kind == 0x05:
        size = _int32(data, at)[0]
        return Binary(data[at + 5:at + 5 + size], data[at + 4]), at + 5 + size
    if kind == 0x11:
        return Timestamp(_uint64(data, at)[0]), at + 8
    if kind == 0x13:
        return Decimal128(data[at:at + 16]), at + 16
    if kind == 0x0B:
        middle = data.index(0, at)
        end = data.index(0, middle + 1)
        return Regex((data[at:middle].decode(), data[middle + 1:end].decode())), end + 1
    if kind == 0x0C:
        size = _int32(data, at)[0]
        after = at + 4 + size
        return DBPointer((data[at + 4:after - 1].decode(), data[after:after + 12])), after + 12
    if kind in (0x0D, 0x0E):
        size = _int32(data, at)[0]
        return (Code if kind == 0x0D else Symbol)(data[at + 4:at + 3 + size].decode()), at + 4 + size
    if kind in (0x06, 0x7F, 0xFF):
        return {0x06: Undefined, 0x7F: MaxKey, 0xFF: MinKey}[kind], at
    raise Error("BSON type 0x%02x of field %r is not known here" % (kind, key))


def _raw_documents(data, at):
    end = at + _int32(data, at)[0]
    at += 4
    documents = []
    while at < end - 1:
        at = data.index(0, at + 1) + 1
        size = _int32(data, at)[0]
        documents.append(bytes(data[at:at + size]))
        at += size
    return documents, end


# --------------------------------------------------------------------------------------------------- encode

def encode(document):
    """BSON bytes of a dict. A plain int is an int32 where it fits."""
    parts = []
    for key, value in document.items():
        name = key.encode()
        if b"\0" in name:
            raise Error("a BSON key cannot hold NUL: %r" % key)
        kind, payload = _encode_value(value)
        parts += (kind, name, b"\0", payload)
    body = b"".join(parts)
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def _encode_text(text):
    data = text.encode() + b"\0"
    return struct.pack("<i", len(data)) + data


def _encode_int(value):
    if -2**31 <= value < 2**31:
        return b"\x10", struct.pack("<i", value)
    return b"\x12", struct.pack("<q", value)


def _encode_moment(value):
    if value.tzinfo is None:
        raise Error("a datetime needs a time zone")
    since = value - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return b"\x09", struct.pack("<q", since // datetime.timedelta(milliseconds=1))


_ENCODERS = {
    str: lambda value: (b"\x02", _encode_text(value)),
    int: _encode_int,
    Int64: lambda value: (b"\x12", struct.pack("<q", value)),
    float: lambda value: (b"\x01", struct.pack("<d", value)),
    bool: lambda value: (b"\x08", b"\1" if value else b"\0"),
    type(None): lambda value: (b"\x0A", b""),
    dict: lambda value: (b"\x03", encode(value)),
    list: lambda value: (b"\x04", encode({str(index): item for index, item in enumerate(value)})),
    Date: lambda value: (b"\x09", struct.pack("<q", value)),
    datetime.datetime: _encode_moment,
    Timestamp: lambda value: (b"\x11", struct.pack("<Q", value)),
    ObjectId: lambda value: (b"\x07", value),
    Decimal128: lambda value: (b"\x13", value),
    Binary: lambda value: (b"\x05", struct.pack("<iB", len(value), value.subtype) + value),
    bytes: lambda value: (b"\x05", struct.pack("<iB", len(value), 0) + value),
    Regex: lambda value: (b"\x0B", b"\0".join(part.encode() for part in value) + b"\0"),
    Code: lambda value: (b"\x0D", _encode_text(value)),
    Symbol: lambda value: (b"\x0E", _encode_text(value)),
    DBPointer: lambda value: (b"\x0C", _encode_text(value[0]) + value[1]),
    _Named: lambda value: ({"MinKey": b"\xFF", "MaxKey": b"\x7F", "Undefined": b"\x06"}[value.name], b""),
}


def _encode_value(value):
    try:
        return _ENCODERS[type(value)](value)
    except KeyError:
        raise Error("no BSON type for %r" % (value,)) from None


# ---------------------------------------------------------------------------------------- extended JSON

def extended(value):
    """The value as canonical extended JSON, in Python's dicts, lists and strings."""
    encoder = _EXTENDED.get(type(value))
    if encoder is None:
        raise Error("no extended JSON for %r" % (value,))
    return encoder(value)


def extended_line(document):
    """The document as one line of canonical extended JSON."""
    return json.dumps(extended(document), ensure_ascii=False)


def relaxed(value):
    """The same with plain numbers, for people."""
    if isinstance(value, dict):
        return {key: relaxed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [relaxed(item) for item in value]
    return value if type(value) in (int, Int64, float) else extended(value)


def _extended_double(value):
    if value != value:
        return {"$numberDouble": "NaN"}
    if value in (float("inf"), float("-inf")):
        return {"$numberDouble": "Infinity" if value > 0 else "-Infinity"}
    return {"$numberDouble": repr(value)}


_EXTENDED = {
    str: lambda value: value,
    bool: lambda value: value,
    type(None): lambda value: value,
    int: lambda value: {"$numberInt" if -2**31 <= value < 2**31 else "$numberLong": str(value)},
    Int64: lambda value: {"$numberLong": str(int(value))},
    float: _extended_double,
    dict: lambda value: {key: extended(item) for key, item in value.items()},
    list: lambda value: [extended(item) for item in value],
    Date: lambda value: {"$date": {"$numberLong": str(int(value))}},
    Timestamp: lambda value: {"$timestamp": {"t": value >> 32, "i": value & 0xFFFFFFFF}},
    ObjectId: lambda value: {"$oid": value.hex()},
    Decimal128: lambda value: {"$numberDecimal": str(value)},
    Binary: lambda value: {"$binary": {"base64": base64.b64encode(value).decode(),
                                       "subType": "%02x" % value.subtype}},
    bytes: lambda value: extended(Binary(value)),
    Regex: lambda value: {"$regularExpression": {"pattern": value[0], "options": value[1]}},
    Code: lambda value: {"$code": str(value)},
    Symbol: lambda value: {"$symbol": str(value)},
    _Named: lambda value: {"$minKey": 1} if value is MinKey else
    {"$maxKey": 1} if value is MaxKey else {"$undefined": True},
}


def parse_extended(text):
    """The document that a line of extended JSON (canonical or relaxed) describes, so that encode() of it can be
    compared with the bytes of a collection."""
    return json.loads(text, object_pairs_hook=_from_pairs, parse_int=_plain_int)


def _plain_int(text):
    value = int(text)
    return value if -2**31 <= value < 2**31 else Int64(value)


def _parse_date(value):
    if isinstance(value, int):
        return Date(value)
    moment = datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
    return Date((moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc))
                // datetime.timedelta(milliseconds=1))


_PARSERS = {
    "$numberInt": int,
    "$numberLong": Int64,
    "$numberDouble": float,
    "$numberDecimal": Decimal128.parse,
    "$date": _parse_date,
    "$oid": lambda value: ObjectId(binascii.unhexlify(value)),
    "$timestamp": lambda value: Timestamp(value["t"] << 32 | value["i"]),
    "$binary": lambda value: Binary(base64.b64decode(value["base64"]), int(value["subType"], 16)),
    "$regularExpression": lambda value: Regex((value["pattern"], value["options"])),
    "$code": Code,
    "$symbol": Symbol,
    "$minKey": lambda value: MinKey,
    "$maxKey": lambda value: MaxKey,
    "$undefined": lambda value: Undefined,
}


def _from_pairs(pairs):
    if len(pairs) == 1 and pairs[0][0] in _PARSERS:
        return _PARSERS[pairs[0][0]](pairs[0][1])
    document = dict(pairs)
    if len(document) != len(pairs):
        raise Error("a JSON object has a key twice: %s" % ", ".join(key for key, _ in pairs))
    return document


# --------------------------------------------------------------------------------------------------- client

# What a member says that is not the primary, or not any more: nothing was done.
NOT_THE_PRIMARY = {91, 189, 10107, 11600, 11602, 13435, 13436}
HARMLESS_TWICE = {"aggregate", "count", "dbHash", "dropDatabase", "find", "hello", "listCollections", "serverStatus"}


class Client:
    follows = 0  # seconds in which a command that met an election is sent again, to the new primary

    def __init__(self, uri, timeout=300):
        """Connects to the server, or to the primary when the URI names a replica set. `timeout` bounds, in
        seconds, both the search for a primary and each reply."""
        target = urllib.parse.urlsplit(uri)
        if target.scheme != "mongodb":
            raise Error("not a mongodb:// URI: %s" % target.scheme)
        userinfo, _, hosts = target.netloc.rpartition("@")
        user, _, password = userinfo.partition(":")
        self.user, self.password = urllib.parse.unquote(user), urllib.parse.unquote(password)
        self.options = {key.lower(): value for key, value in urllib.parse.parse_qsl(target.query)}
        self.database = target.path.strip("/").partition(".")[0]
        self.timeout = timeout
        self.socket, self.request = None, 0
        addresses = []
        for host in hosts.split(","):
            name, _, port = host.partition(":")
            addresses.append((name, int(port or 27017)))
        self.addresses = addresses
        self._begin()

    def _begin(self):
        self._connect_to_one_of(self.addresses)
        if self.user:
            self._log_in()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.socket:
            self.socket.close()
            self.socket = None

    def command(self, database, command, raw_documents_in=()):
        """The reply as a dict; CommandError when it is not ok. Write errors are in the reply."""
        deadline = time.monotonic() + self.follows
        while True:
            try:
                reply = decode(self._exchange({**command, "$db": database}), raw_documents_in=raw_documents_in)
                if reply.get("ok") == 1:
                    return reply
                failure, again = CommandError(reply, next(iter(command))), reply.get("code") in NOT_THE_PRIMARY
            except (OSError, Error) as lost:
                failure, again = lost, next(iter(command)) in HARMLESS_TWICE
            if not again or time.monotonic() >= deadline:
                raise failure
            self.close()
            time.sleep(0.2)
            self._begin()

    def find(self, database, collection, filter=None, raw=False, **more):
        """Each document as a dict, or as bytes with raw=True; `more` goes into the find command (sort={...})."""
        return self._cursor(database, collection, {"find": collection, "filter": filter or {}, **more}, raw)

    def aggregate(self, database, collection, pipeline, raw=False, **more):
        return self._cursor(database, collection,
                            {"aggregate": collection, "pipeline": pipeline, "cursor": {}, **more}, raw)

    def count(self, database, collection, filter=None):
        """Counted by reading, not from the collection's metadata."""
        for group in self.aggregate(database, collection, [{"$match": filter or {}}, {"$count": "n"}]):
            return group["n"]
        return 0

    def insert(self, database, collection, documents, ordered=True, **more):
        reply = self.command(database, {"insert": collection, "ordered": ordered, "documents": list(documents),
                                        **more})
        for error in reply.get("writeErrors", []) or [reply.get("writeConcernError")]:
            if error:
                raise CommandError({**error, "reply": reply}, "insert")
        return reply["n"]

    def drop_database(self, database):
        self.command(database, {"dropDatabase": 1})

    # ------------------------------------------------------------------------------------------ the inside

    def _connect_to_one_of(self, addresses):
        """A replica set is asked for its primary; a lone server is taken as it is."""
        of_set = self.options.get("replicaset")
        deadline = time.monotonic() + self.timeout
        seen = "nothing answered"
        while True:
            for address in list(addresses):
                try:
                    self._connect(address)
                    hello = self.command("admin", {"hello": 1})
                except (OSError, Error) as error:
                    seen = "%s:%d: %s" % (*address, error)
                    self.close()
                    continue
                if not of_set or hello.get("isWritablePrimary"):
                    return
                seen = "no primary of %s (%s:%d said %s)" % (of_set, *address, hello.get("setName"))
                self.close()
                for host in [hello.get("primary", "")] + hello.get("hosts", []):
                    name, _, port = host.partition(":")
                    if port and (name, int(port)) not in addresses:
                        addresses.append((name, int(port)))
            if time.monotonic() > deadline or not of_set:
                raise Error("could not connect: %s" % seen)
            time.sleep(0.1)

    def _connect(self, address):
        self.socket = socket.create_connection(address, timeout=self.timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.options.get("tls", self.options.get("ssl")) == "true":
            context = ssl.create_default_context(cafile=self.options.get("tlscafile"))
            if self.options.get("tlsinsecure", self.options.get("tlsallowinvalidcertificates")) == "true":
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            if self.options.get("tlscertificatekeyfile"):
                context.load_cert_chain(self.options["tlscertificatekeyfile"])
            self.socket = context.wrap_socket(self.socket, server_hostname=address[0])

    def _exchange(self, document):
        body = encode(document)
        self.request += 1
        self.socket.sendall(struct.pack("<iiiiIB", 21 + len(body), self.request, 0, 2013, 0, 0) + body)
        size, _, answers, opcode, flags, section = struct.unpack("<iiiiIB", self._receive(21))
        if answers != self.request or opcode != 2013 or section != 0 or flags & ~1:
            raise Error("the server's answer is not a plain OP_MSG")
        body = self._receive(size - 21)
        return body[:-4] if flags & 1 else body  # a checksum may follow; TCP has one of its own

    def _receive(self, size):
        data = bytearray(size)
        view, got = memoryview(data), 0
        while got < size:
            n = self.socket.recv_into(view[got:])
            if n == 0:
                raise Error("the server closed the connection")
            got += n
        return bytes(data)

    def _cursor(self, database, collection, command, raw):
        raw_in = ("firstBatch", "nextBatch") if raw else ()
        cursor = self.command(database, command, raw_in)["cursor"]
        yield from cursor["firstBatch"]
        while cursor["id"]:
            cursor = self.command(database, {"getMore": cursor["id"], "collection": collection,
                                             "batchSize": 100000}, raw_in)["cursor"]
            yield from cursor["nextBatch"]

    def _log_in(self):
        """SCRAM-SHA-256 (RFC 7677); passwords in ASCII, so SASLprep has nothing to do."""
        source = self.options.get("authsource") or self.database or "admin"
        nonce = base64.b64encode(os.urandom(18)).decode()
        name = self.user.replace("=", "=3D").replace(",", "=2C")
        first = "n=%s,r=%s" % (name, nonce)
        reply = self.command(source, {"saslStart": 1, "mechanism": "SCRAM-SHA-256",
                                      "payload": ("n,," + first).encode()})
        challenge = reply["payload"].decode()
        fields = dict(field.split("=", 1) for field in challenge.split(","))
        if not fields["r"].startswith(nonce):
            raise Error("the server's login challenge is not an answer to ours")
        salted = hashlib.pbkdf2_hmac("sha256", self.password.encode(), base64.b64decode(fields["s"]),
                                     int(fields["i"]))

        def sign(key, message):
            return hmac.new(key, message.encode(), hashlib.sha256).digest()

        final = "c=biws,r=" + fields["r"]
        signed = ",".join((first, challenge, final))
        key = sign(salted, "Client Key")
        signature = sign(hashlib.sha256(key).digest(), signed)
        proof = base64.b64encode(bytes(a ^ b for a, b in zip(key, signature))).decode()
        reply = self.command(source, {"saslContinue": 1, "conversationId": reply["conversationId"],
                                      "payload": (final + ",p=" + proof).encode()})
        proof_of_server = base64.b64encode(sign(sign(salted, "Server Key"), signed)).decode()
        if reply["payload"].decode() != "v=" + proof_of_server:
            raise Error("the server does not know the password either")
        while not reply["done"]:
            reply = self.command(source, {"saslContinue": 1, "conversationId": reply["conversationId"],
                                          "payload": b""})


# -------------------------------------------------------------------------------------------------- as a program

def main(words):
    """python3 minimongo.py dump|count|aggregate URI/DATABASE.COLLECTION [FILTER or PIPELINE as JSON]

    dump prints the documents in _id order as canonical extended JSON, aggregate its results as relaxed JSON."""
    if len(words) not in (2, 3) or words[0] not in ("dump", "count", "aggregate"):
        raise Error(main.__doc__)
    database, _, collection = urllib.parse.urlsplit(words[1]).path.strip("/").partition(".")
    argument = parse_extended(words[2]) if len(words) == 3 else {}
    with Client(words[1]) as client:
        if words[0] == "count":
            print(client.count(database, collection, argument))
        elif words[0] == "dump":
            for document in client.find(database, collection, argument, sort={"_id": 1}):
                print(extended_line(document))
        else:
            for document in client.aggregate(database, collection, argument):
                print(json.dumps(relaxed(document), ensure_ascii=False))


if __name__ == "__main__":
    import signal
    import sys
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... dump URI | head` ends quietly
    try:
        main(sys.argv[1:])
    except Error as problem:
        sys.exit("minimongo: %s" % problem)
