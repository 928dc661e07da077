"""The build backend of pyproject.toml: scikit-build-core, and before it one sentence where tipple cannot be built or run."""
import os
import sys


def _refusal():
    """What is wrong with this Python, or None."""
    if sys.platform != "linux":
        return "tipple runs on Linux, and not on %s; on other systems take a container (docs/install.md)" % sys.platform
    if sys.implementation.name != "cpython":
        return "tipple needs CPython 3.9 or newer, and this is %s" % sys.implementation.name
    try:
        os.confstr("CS_GNU_LIBC_VERSION")
    except ValueError:
        return "tipple needs glibc, and this Python has another libc, such as musl; take an image of Debian (docs/install.md)"
    return None


if _refusal():
    sys.exit("tipple: " + _refusal())

from scikit_build_core import build as _build  # noqa: E402

globals().update({name: hook for name, hook in vars(_build).items() if "build_" in name or name.startswith("prepare_metadata")})
