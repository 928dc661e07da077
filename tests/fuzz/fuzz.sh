# shellcheck shell=sh
# fuzz.sh PROGRAM CORPUS: one libFuzzer target for FUZZ_SECONDS (20). What it finds stays in the working folder.
set -eu
mkdir -p found
corpus=$2
[ -d "$corpus" ] || corpus=
# libFuzzer's own exit status for a crash is 77, which says "skipped" to ctest.
exec "$1" -error_exitcode=1 -max_total_time="${FUZZ_SECONDS:-20}" -timeout=10 -print_final_stats=1 found ${corpus:+"$corpus"}
