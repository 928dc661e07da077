"""The tests of S3 once more, with a server of another kind that checks signatures, too.  needs: standalone; nightly: another server"""
import os

os.environ["TIPPLE_S3_SERVER"] = "s3s-fs"
import livetest  # noqa: E402
from test_s3 import S3, setUpModule  # noqa: E402, F401

if __name__ == "__main__":
    livetest.main()
