"""dumplab: archives as mongodump writes them, of documents that are given.

    python3 -m dumplab shop.orders=orders.bson shop.items=items.bson shop.v:view > d.archive
"""
import struct
import sys

import minimongo

MAGIC, END = bytes.fromhex("6de29981"), b"\xff" * 4


def crc64_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0xC96C5795D7870F42 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = crc64_table()


def crc64(data):
    crc = 2**64 - 1
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 2**64 - 1
    return minimongo.Int64(crc - 2**64 if crc >= 2**63 else crc)


def listed(name, metadata="", kind="collection"):
    database, collection = name.split(".", 1)
    return minimongo.encode({"db": database, "collection": collection, "metadata": metadata, "size": 0, "type": kind})


def header(name, ends=False, crc=0):
    database, collection = name.split(".", 1)
    return minimongo.encode({"db": database, "collection": collection, "EOF": ends, "CRC": minimongo.Int64(crc)})


def archive(collections, metadata=None, others=None, step=7):
    """Blocks of all collections by turns, `step` documents each; collections: {name: [BSON]}; others: {name: kind}, which have
    no documents, and an end of their own."""
    out = [MAGIC, minimongo.encode({"concurrent_collections": 4, "version": "0.1", "server_version": "7.0.0",
                                    "tool_version": "100.9.0"})]
    out += [listed(name, (metadata or {}).get(name, "")) for name in collections]
    out += [listed(name, kind=kind) for name, kind in (others or {}).items()] + [END]
    most = max(map(len, collections.values()))
    for at in range(0, most + step, step):
        for name, texts in collections.items():
            if texts[at:at + step]:
                out += [header(name), *texts[at:at + step], END]
            elif at - step < len(texts) or (at == 0 and not texts):
                out += [header(name, True, crc64(b"".join(texts))), END]
    for name, kind in (others or {}).items():
        out += [header(name.replace(".", ".system.buckets.", 1) if kind == "timeseries" else name, True), END]
    return b"".join(out)


def split(data):
    """The documents of a BSON text."""
    at, out = 0, []
    while at < len(data):
        length = struct.unpack_from("<i", data, at)[0]
        out.append(data[at:at + length])
        at += length
    return out


def main(words):
    collections, others = {}, {}
    for word in words:
        name, _, path = word.partition("=")
        if path:
            with open(path, "rb") as file:
                collections[name] = split(file.read())
        else:
            name, _, kind = word.partition(":")
            others[name] = kind
    sys.stdout.buffer.write(archive(collections, others=others, step=2))


if __name__ == "__main__":
    main(sys.argv[1:])
