# shellcheck shell=sh
# fuzz.sh PROGRAM CORPUS: one libFuzzer target over its corpus; with FUZZ_SECONDS it searches for that long, with the words
# of NAME.dict next to the corpora, where that file exists. The inputs that it finds stay in the working folder.
set -eu
mkdir -p found
[ -d "$2" ] || { echo "$2 is not there" >&2 && exit 1; }
dictionary=$(dirname "$2")/../$(basename "$2").dict
[ -f "$dictionary" ] || dictionary=
if [ -n "${FUZZ_SECONDS:-}" ]; then
    how="-max_total_time=$FUZZ_SECONDS -print_final_stats=1"
else
    how=-runs=0
    rm -f found/* # of a search before: each run is the same run
fi
# libFuzzer's own exit status for a crash is 77, which says "skipped" to ctest.
# shellcheck disable=SC2086
exec "$1" -error_exitcode=1 $how -timeout=120 ${dictionary:+"-dict=$dictionary"} found "$2"
