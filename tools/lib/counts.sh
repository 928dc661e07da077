# shellcheck shell=bash disable=SC2154
# What tools/test needs besides steps.sh: steps that are tests, counted; the last line printed is "N passed, N failed".
# To be sourced after steps.sh.

passed=0 failed=0 skipped=0 failures=''
calm=() # what tests are run by: nothing, setarch -R
began=$EPOCHREALTIME
at_once=8 # on two cores, too: tests wait for servers most of the time

# Of a ctest log: only what failed.
log_that_tells() {
    if grep -q '^Test project' "$1"; then
        grep -vE '^ +Start +[0-9]+: |Passed +[0-9.]+ sec$' "$1" | tail -n 300
    else
        tail -n 40 "$1"
    fi
}

# Of a ctest log: the last lines of each test that failed.
ends_of_failures() {
    awk 'function show(  i) {
             for (i = n > 25 ? n - 25 : 0; failed && i < n; i++) print last[i % 25]
             n = failed = 0
         }
         /^ *[0-9]+\/[0-9]+ Test +#/ { show(); failed = !/ Passed |\*\*\*Skipped/; if (failed) print }
         /^ok  |^ +seed [0-9]|^ +#[0-9]+ 0x|^ +Start +[0-9]+: |^ *[0-9]+\/[0-9]+ Test +#|^#[0-9]+\t/ { next }
         /% tests passed/ { show() }
         failed && NF { last[n++ % 25] = substr($0, 1, 300) }
         END { show() }' "$1"
}

# check TITLE COMMAND...: a step that is one test.
check() {
    if step "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

# must TITLE COMMAND...: a step that is no test, and without which the rest cannot run.
must() {
    step "$@" || { failed=$((failed + 1)) && return 1; }
}

# tests TITLE TREE CTEST_OPTION...: runs tests of a build and counts them.
tests() {
    local title=$1 tree=build/$2 status=0
    shift 2
    step "$title" "${calm[@]}" ctest --test-dir "$tree" -j "$at_once" --output-on-failure --no-tests=error "$@" ||
        status=$?
    count "$tree" "$status"
    if ((status != 0)); then failures+="$title"$'\n'"$(ends_of_failures "$log")"$'\n'; fi
}

# skip NAME: counts a test that was skipped. With CI=true that is a failure, unless tests/skips.txt begins a line with it.
skip() {
    if [[ ${CI:-} != true ]] || cut -d ' ' -f 1 tests/skips.txt | grep -qxF -- "$1"; then
        skipped=$((skipped + 1))
    else
        failed=$((failed + 1))
        failures+="$1 was skipped, and tests/skips.txt does not allow that"$'\n'
    fi
}

# The golden cases are one test of ctest, but count one by one; the servers' start and stop are no tests.
count() {
    local tree=$1 status=$2 n_passed n_failed name cases n_cases_passed n_cases_failed
    local rows='^ *[0-9]+/[0-9]+ Test +#[0-9]+: '
    while read -r name; do skip "$name"; done < <(sed -nE "s|$rows([^ ]+) .*[*]{3}Skipped.*|\1|p" "$log")
    n_passed=$(grep -E "$rows.* Passed +[0-9.]+ sec" "$log" | grep -cvE '#[0-9]+: (server\.|cli[. ])' || true)
    n_failed=$(grep -E "$rows" "$log" | grep -cvE ' Passed +[0-9.]+ sec|\*\*\*Skipped|#[0-9]+: cli[. ]' || true)
    if grep -qE "$rows""cli[. ]" "$log"; then
        cases=$(awk '/^[0-9]+\/[0-9]+ Test: / { if (cli && !found) failed++; cli = $3 ~ /^cli/; found = 0 }
                     cli && /^[0-9]+ passed, [0-9]+ failed$/ { passed += $1; failed += $3; found = 1 }
                     END { if (cli && !found) failed++; print passed + 0, "passed,", failed + 0, "failed" }' "$tree/Testing/Temporary/LastTest.log")
        read -r n_cases_passed _ n_cases_failed _ <<<"$cases"
        n_passed=$((n_passed + n_cases_passed)) n_failed=$((n_failed + n_cases_failed))
    fi
    if ((status != 0 && n_failed == 0)); then n_failed=1; fi
    passed=$((passed + n_passed)) failed=$((failed + n_failed))
}

result() {
    times >"$LOGS/cpu" # minutes and seconds; in $() it would know only the children of that subshell
    printf '%s' "${failures:+
how the tests that failed ended:
$failures}"
    minutes_of_steps
    tr 'ms,' '  .' <"$LOGS/cpu" | awk -v took="$(seconds_since "$began")" '{ cpu += 60 * ($1 + $3) + $2 + $4 }
        END { printf "in %s; %.0f s of CPU, user and system, except by shared servers\n", took, cpu }'
    printf '%d passed, %d failed' "$passed" "$failed"
    if ((skipped)); then printf ', %d skipped' "$skipped"; fi
    printf '\n'
    ((failed == 0)) || exit 1
}
