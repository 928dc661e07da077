# shellcheck shell=sh
# fuzz.sh PROGRAM CORPUS: one libFuzzer target for FUZZ_SECONDS (60), with the words of NAME.dict beside the corpora,
# where there is one. What it finds stays in the working folder.
set -eu
mkdir -p found
corpus=$2
[ -d "$corpus" ] || corpus=
dictionary=$(dirname "$2")/../$(basename "$2").dict
[ -f "$dictionary" ] || dictionary=
# libFuzzer's own exit status for a crash is 77, which says "skipped" to ctest.
exec "$1" -error_exitcode=1 -max_total_time="${FUZZ_SECONDS:-60}" -timeout=120 -print_final_stats=1 \
    ${dictionary:+"-dict=$dictionary"} found ${corpus:+"$corpus"}
