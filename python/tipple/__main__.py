"""python -m tipple: becomes the command."""
import os
import sys

from ._command import binary
from ._errors import Error

try:
    os.execv(binary(), ["tipple", *sys.argv[1:]])
except Error as error:
    sys.exit("tipple: %s" % error)
