"""tools/plan: what it computes, against figures worked out by hand."""
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(os.environ.get("TIPPLE_ROOT") or pathlib.Path(__file__).resolve().parents[2])


def plan(*words):
    done = subprocess.run([sys.executable, str(ROOT / "tools/plan"), *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


class Plan(unittest.TestCase):
    maxDiff = None

    def test_cluster(self):
        """A terabyte into 10 shards of 2 copies on 20 servers. By hand:

        loaders          1e9 / 2e6 a second = 500 s             its network     1e12 B / 1.25e9 B/s = 800 s
        routers          1e9 / 1e6 a second = 1000 s            servers         1e8 of each shard / 5e4 a second = 2000 s
        servers' network 1e11 B / 1.25e9 B/s = 80 s             disks           1e11 B x (0.44 + 2.5 x 0.44) / 1e8 B/s = 1540 s
        index            1e8 x 1.4 us = 140 s, and 2e9 entries of 37 + 13 B = 100 GB
        snappy           2 x 0.44 TB and 100 GB: 980 GB, 49 GB a server; 5 of 200 GB hold them, for 10 an hour
        none             2 x 1.09 TB: 2280 GB in all, 12 servers; its disks take 1e11 B x (1.09 + 1.1) / 1e8 B/s = 2190 s
        zlib, zstd       720 and 700 GB in all, 4 servers
        cost             20 servers x 2 x 2140 s / 3600 s = 23.78
        The load is 0.035 s longer, since chunks are placed first."""
        status, out, err = plan(*"""--documents 1g --bytes 1kB --shards 10 --copies 2 --rate loader=2m --rate routers=1m --rate server=50k
            --network 10G --disk 100MB --disk-size 200GB --price 2 --index 37""".split())
        self.assertEqual((0, ""), (status, err))
        self.assertEqual("""\
1,000,000,000 documents of 1 kB: 1 TB of BSON
shards: 10, copies: 2, servers: 20, loaders: 1

what could limit the load  alone  for half the time
loaders                     8:20
loaders' network           13:20
routers                    16:40  1.0 times as fast
servers                    33:20  2.0 times as fast
servers' network            80 s
servers' disks             25:40  1.5 times as fast

load: 33:20, 499,991 documents/s, limited by servers
index with keys of 37 bytes: 2:20

compressor     data  indexes  a server   load  servers needed  an hour   a year
none        2.18 TB   100 GB    114 GB  36:30              12    24.00  210,384
snappy       880 GB   100 GB     49 GB  33:20               5    10.00   87,660
zlib         620 GB   100 GB     36 GB  33:20               4     8.00   70,128
zstd         600 GB   100 GB     35 GB  33:20               4     8.00   70,128

cost of the load and its indexes: 23.78
""", out)

    def test_costs(self):
        """Without rates, CPU: (1.7 + 1000 x 0.0038) us of the server and (0.11 + 1000 x 0.00074) us of the loader, on 8 cores;
        zlib adds 3.8 + 1000 x 0.0074. A ratio of one's own is the only line of the storage table."""
        words = "--documents 80m --bytes 1k".split()
        _, out, _ = plan(*words)
        for line in ("loaders                    8.5 s", "servers                     55 s  2.0 times as fast",
                     "zlib        24.8 GB      0 B   24.8 GB  2:47               1", "load: 55 s, 1,454,545 documents/s, limited by servers"):
            self.assertIn(line + "\n", out)
        self.assertIn("\n--ratio     20 GB      0 B     20 GB  55 s               1\n", plan(*words, "--ratio", ".25")[1])
        self.assertIn("\nservers                    63.5 s", plan(*words, "--loaders", "0")[1])

    def test_studies(self):
        """1000 TB in machines of 24, 6.4 and 46 TB; 8 of 216 shards on the fullest of 27 servers, of 844 MB/s"""
        status, out, _ = plan("--studies")
        self.assertEqual(0, status)
        for cells in ("24 96 1.5 15.63 42 656.46", "6.4 300 1.2 6.82 157 1,070.74", "46 2.5 2.5 4.60 22 101.20",
                      "216 12 h 53 min 24 h 1,601 3,000 $", "160 2 h 10 min 2 h 2,373 2,200 $"):
            self.assertIn(cells, " ".join(out.split()))

    def test_mistakes(self):
        for words, says in (("--documents 1m", "--documents and --bytes"), ("--documents x --bytes 9", "'x' is no amount"),
                            ("--documents 1m --bytes 9 --servers 2", "no more than the 1 members"),
                            ("--documents 1m --bytes 9 --copies 3 --servers 2", "a server of its own"),
                            ("--documents 1m --bytes 9 --rate disk=5", "'disk=5' is no rate"), ("--documents 1m --bytes 9 --shards 0", "'0'")):
            status, out, err = plan(*words.split())
            self.assertEqual((2, ""), (status, out), words)
            self.assertIn(says, err)


if __name__ == "__main__":
    unittest.main()
