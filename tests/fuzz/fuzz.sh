# shellcheck shell=sh
# fuzz.sh PROGRAM CORPUS: one libFuzzer target for FUZZ_SECONDS (20). What it finds stays in the working folder.
set -eu
mkdir -p found
corpus=$2
[ -d "$corpus" ] || corpus=
exec "$1" -max_total_time="${FUZZ_SECONDS:-20}" -timeout=10 -print_final_stats=1 found ${corpus:+"$corpus"}
