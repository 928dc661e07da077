"""tipple load --copies N: each input is loaded N times, as if there were N equal files; each copy has `_id`s of its own.
needs: standalone; nightly on: replset"""
import os
import re

import livetest
from livetest import rows


class Copies(livetest.Case):
    def test_rejects(self):
        """each copy's reject is counted and kept, and is fixed by itself"""
        text = rows(100, bad={7})
        self.write("a.csv", text)
        said = self.load("a.csv", "--copies", 2, status=2)
        self.assertEqual((200, 198, 2), (said["read"], said["loaded"], said["rejected"]))
        with open(os.path.join(self.folder, "%s.results.rejects" % self.database), "rb") as file:
            kept = file.read()
        self.assertEqual(2, len(re.findall(rb"(?m)^#@\w+ offset=", kept)))
        bad, good = text.splitlines()[8], rows(100).splitlines()[8]
        self.write("fixed", kept.replace(bad, good))
        self.assertEqual(2, self.load("--retry", "fixed")["loaded"])
        self.assertEqual(200, self.client.count(self.database, "results"))
        self.assertEqual(0, self.load("a.csv", "--copies", 2)["read"])
        self.verified("a.csv", "--copies", "2", "--retry", "fixed")


if __name__ == "__main__":
    livetest.main()
