# shellcheck shell=sh
# What every case in tests/cli may call; TIPPLE_TEST_URI has the path /DATABASE, the case's own.

# The URI of one of its collections.
uri() {
    printf '%s.%s?%s\n' "${TIPPLE_TEST_URI%%\?*}" "$1" "${TIPPLE_TEST_URI#*\?}"
}

# Its documents in _id order, read back without the C driver: canonical extended JSON, one a line.
dump() {
    python3 -m minimongo dump "$(uri "$1")"
}

count() {
    python3 -m minimongo count "$(uri "$1")"
}

# Runs a command whose exit status matters, and says it.
status_of() {
    "$@" && echo "status 0" || echo "status $?"
}
