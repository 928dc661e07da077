# shellcheck shell=bash disable=SC2154,SC2034
# Some of the tests: tools/test NAME..., --list, --changed, --coverage. To be sourced by tools/test behind counts.sh.

some() {
    local programs=() names=() cases=() steps=() needs_server=no plan=''
    again=no # whoever asks for a test wants to see how it fails
    case $1 in
    --list) list_tests "${@:2}" ;;
    --coverage)
        (($# == 1)) || die "--coverage stands alone; see tools/test --help"
        coverage
        ;;
    --changed)
        (($# <= 2)) || die "--changed takes one commit; see tools/test --help"
        changed_tests "${@:2}"
        ;;
    *) named_tests "$@" ;;
    esac
}

# A build that ninja knows; if there is one, only what is new in it is looked for.
configured() {
    if [[ -e build/release/build.ninja ]]; then
        cmake --build build/release --target build.ninja >"$LOGS/configure.log" 2>&1 && return
        tail -n 40 "$LOGS/configure.log"
        die "the build cannot be made; the lines above say why"
    fi
    packages build test || exit 1
    step "release: configure" cmake -S . -B build/release -G Ninja -DCMAKE_BUILD_TYPE=Release -DTIPPLE_WERROR=ON || exit 1
}

list_tests() {
    if [[ ! -e build/release/build.ninja ]]; then
        take_lock
        configured >&2
    fi
    python3 tools/lib/testnames.py build/release --list "$@"
}

named_tests() {
    take_lock
    configured
    plan=$(python3 tools/lib/testnames.py build/release "$@") || exit 2
    run_plan release
    brief_result
}

changed_tests() {
    take_lock
    python3 tools/lib/changed.py --files "$@" >/dev/null || exit 2 # there is such a commit
    configured
    if [[ -e build/release/.ninja_deps ]]; then
        must "build: the library and the command" build_programs release tipple || brief_result
    else # what a program holds is known once it was built
        must "build: everything, this once" build_programs release all || brief_result
    fi
    plan=$(python3 tools/lib/changed.py build/release "$@") || exit 2
    [[ -n $plan ]] || { echo "no test can see what differs" && return; }
    sed -n 's/^say /  /p' <<<"$plan"
    run_plan release "$@"
    brief_result
}

# run_plan TREE [BASE]: does what the lines of plan say.
run_plan() {
    read_plan
    if ((${#steps[@]})); then check "source: ${steps[*]}" tools/check ${2:+--base "$2"} "${steps[@]}"; fi
    if ((${#programs[@]})); then
        must "build: $(few programs "${programs[@]}")" build_programs "$1" "${programs[@]}" || brief_result
    fi
    if [[ $needs_server == yes ]]; then
        must "mongod" tools/server find || brief_result
        TIPPLE_MONGOD=$(tail -n 1 "$log")
        export TIPPLE_MONGOD
    fi
    if ((${#names[@]})); then
        tests "$(few tests "${names[@]}")" "$1" -R "^($(printf '%s\n' "${names[@]//./[.]}" | paste -sd'|'))\$"
    fi
    if ((${#cases[@]})); then run_cases "build/$1/tipple" "${cases[@]}"; fi
}

read_plan() {
    local word rest
    while read -r word rest; do
        case $word in
        build) programs+=("$rest") ;;
        server) needs_server=yes ;;
        test) names+=("$rest") ;;
        case) cases+=("$rest") ;;
        check) steps+=("$rest") ;;
        esac
    done <<<"$plan"
}

# few WHAT NAME...: one name, or how many of what.
few() {
    if (($# == 2)); then echo "$2"; else echo "$(($# - 1)) $1: $2 ..."; fi
}

build_programs() {
    cmake --build "build/$1" --target "${@:2}" -j "$CORES"
}

run_cases() {
    local n_passed n_failed
    step "golden: $(few cases "${@:2}")" tests/cli/run --tipple "$1" "${@:2}" || true
    read -r n_passed _ n_failed _ < <(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" || echo "0 passed, 1 failed")
    passed=$((passed + n_passed)) failed=$((failed + n_failed))
}

# Without the table of steps, and without what was shown above.
brief_result() {
    titles=() failures=''
    result
    exit
}

coverage() {
    take_lock
    packages build test || exit 1
    must "coverage: configure" cmake -S . -B build/coverage -G Ninja -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug \
        "-DCMAKE_C_FLAGS=-O0 --coverage -fprofile-update=atomic" || brief_result
    plan=$(python3 tools/lib/testnames.py build/coverage --no-server unit sim.kept cli) || exit 2
    find build/coverage -name '*.gcda' -delete
    run_plan coverage
    check "simulator: random worlds" build/coverage/tests/simulate --seconds 20
    local reached=0
    python3 tools/lib/coverage.py build/coverage || reached=1
    ((failed == 0)) || brief_result
    exit "$reached"
}
