"""The program calls no function of the driver that fails in one of the versions that it is built with, or ends the process where a
reply is not as it should be."""
import os
import subprocess
import unittest

# why each is left alone
BROKEN = {
    "mongoc_collection_aggregate": "1.30.4-1+deb13u3 of Debian 13 takes the collection's full name for the database's",
}


class Driver(unittest.TestCase):
    def test_functions(self):
        """nothing that is broken somewhere is called"""
        listed = subprocess.run(["nm", "-D", "--undefined-only", os.environ["TIPPLE"]], stdout=subprocess.PIPE, check=True)
        called = {line.split()[-1].split("@")[0] for line in listed.stdout.decode().splitlines()}
        self.assertIn("mongoc_client_read_command_with_opts", called)
        self.assertEqual([], ["%s: %s" % (name, BROKEN[name]) for name in sorted(called & set(BROKEN))])
        # they take what a server says of a cursor for true; command_cursor_* of src/server/server.h is in their place
        self.assertEqual([], sorted(name for name in called if name.startswith("mongoc_cursor_")))


if __name__ == "__main__":
    unittest.main(verbosity=2)
