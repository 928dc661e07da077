# shellcheck shell=bash
# What tools/quickstart, tools/test and others share: steps that are announced, timed, logged, and ended with all they
# started. To be sourced by bash; the caller then stands in the project's folder.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
LOGS=$ROOT/build/logs
CORES=$(nproc 2>/dev/null || echo 2)
cd "$ROOT" || exit 1
mkdir -p "$LOGS"
export PYTHONDONTWRITEBYTECODE=1

job=       # the process group of the command that runs now
stopped=   # the signal that ended us
at_exit=() # functions that the caller wants called, whatever happens
titles=()  # the steps so far,
took=()    # and their microseconds

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# take_lock [FILE]: one at a time; two would build in the same folders.
# shellcheck disable=SC2120
take_lock() {
    exec 9>>"$ROOT/${1:-build/lock}"
    flock -n 9 || die "another tools/test or tools/quickstart is at work in $ROOT; wait for it to end"
}

# Runs a command as a process group of its own, without a stdin.
in_group() {
    local status=0
    set -m
    "$@" </dev/null 9>&- &
    job=$!
    set +m
    wait "$job" || status=$?
    job=
    return "$status"
}

end_group() {
    [[ -n $job ]] || return 0
    local turn
    kill -TERM -- "-$job" 2>/dev/null || return 0
    for ((turn = 0; turn < 150; turn++)); do
        kill -0 -- "-$job" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL -- "-$job" 2>/dev/null || true
}

on_exit() {
    local status=$? each
    trap '' INT TERM HUP
    end_group
    for each in "${at_exit[@]}"; do "$each" "$status" || true; done
    if [[ -n $stopped ]]; then # end by the signal itself, so that loops in a shell stop too
        trap - "$stopped"
        kill "-$stopped" $$
    fi
}

trap on_exit EXIT
for each in INT TERM HUP; do
    # shellcheck disable=SC2064
    trap "stopped=$each; exit 1" "$each"
done

# step TITLE COMMAND...: announces it, runs it, says how long it took. Its output goes to a log; after a failure the
# part of the log that shows why (log_that_tells) is printed. What lasts longer prints a line every eight seconds.
step() {
    local title=$1 status=0 from=$EPOCHREALTIME ticker
    shift
    log=$LOGS/$(printf "%.99s" "${title//[^A-Za-z0-9]/-}").log
    printf '==> %s\n' "$title"
    : >"$log"
    tick "$log" "$from" 9>&- &
    ticker=$!
    in_group "$@" >"$log" 2>&1 || status=$?
    kill "$ticker" 2>/dev/null || true
    wait "$ticker" 2>/dev/null || true
    titles+=("$title") took+=("$(microseconds_since "$from")")
    if ((status == 0)); then
        printf '    %-60s %s%s\n' "$title" "${well:-}" "$(seconds_since "$from")"
    else
        printf '    %s FAILED after %s; the whole log is %s\n' "$title" "$(seconds_since "$from")" "${log#"$ROOT/"}"
        log_that_tells "$log"
    fi
    return "$status"
}

# tick LOG FROM: how long it takes so far, and the last line of the log.
tick() {
    local last
    trap - EXIT
    while sleep 8 >/dev/null 2>&1; do # the caller waits for whoever holds its output
        last=$(tail -c 300 "$1" | tr '\r' '\n' | sed '/^ *$/d' | tail -n 1)
        printf '    %s  %.90s\n' "$(seconds_since "$2")" "$last"
    done
}

log_that_tells() {
    tail -n 60 "$1"
}

microseconds_since() {
    printf '%d' $((${EPOCHREALTIME/[.,]/} - ${1/[.,]/}))
}

seconds_since() {
    local us
    us=$(microseconds_since "$1")
    printf '%d.%d s' $((us / 1000000)) $((us / 100000 % 10))
}

# A table of all steps: how many minutes each took.
minutes_of_steps() {
    local i tenths
    ((${#titles[@]})) || return 0
    printf '\n%-60s minutes\n' "step"
    for i in "${!titles[@]}"; do
        tenths=$(((took[i] + 3000000) / 6000000))
        printf '%-60s %5d.%d\n' "${titles[i]}" $((tenths / 10)) $((tenths % 10))
    done
}

# packages GROUP...: installs what is missing of tools/lib/packages, or says what to install.
packages() {
    local wanted=()
    missing_packages "$@"
    ((${#wanted[@]})) || return 0
    ((EUID == 0)) || die "these packages are missing; install them, then start this again:
    sudo apt-get install -y --no-install-recommends ${wanted[*]}"
    step "packages: ${#wanted[@]} to install" install_packages "${wanted[@]}"
}

# welcome_packages GROUP WITHOUT: the same, but optional: the run goes on without them, and WITHOUT says what is left out.
welcome_packages() {
    local wanted=()
    missing_packages "$1"
    ((${#wanted[@]})) || return 0
    if ((EUID == 0)) && timeout 300 bash -c "$(declare -f install_packages)"'; install_packages "$@"' - "${wanted[@]}" \
        >"$LOGS/packages-$1.log" 2>&1 </dev/null; then
        printf '==> installed besides: %s\n' "${wanted[*]}"
    else
        printf '==> not there: %s; %s\n' "${wanted[*]}" "$2"
    fi
}

# Also by the name that a package of another name provides: libcurl4t64 is libcurl4.
installed_packages() {
    dpkg-query -W -f '${db:Status-Status} ${Package}, ${Provides}\n' | sed -n 's/^installed //p' | tr ',' '\n' |
        sed 's/^ *//; s/[ (].*//'
}

# Appends the missing packages of these groups to wanted.
missing_packages() {
    command -v dpkg-query >/dev/null || return 0 # not a Debian: cmake will say what it misses
    local group package installed
    installed=$(installed_packages)
    while read -r group package; do
        if [[ " $* " == *" $group "* ]] &&
            ! grep -qxF "$package" <<<"$installed"; then
            wanted+=("$package")
        fi
    done <"$ROOT/tools/lib/packages"
}

install_packages() {
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y --no-install-recommends "$@" || { apt-get update && apt-get install -y --no-install-recommends "$@"; }
}

# build_tree NAME CMAKE_OPTION...: configures and builds build/NAME; TARGETS names what is built, if it is not everything.
build_tree() {
    local tree=$ROOT/build/$1 targets
    shift
    read -ra targets <<<"${TARGETS:-all}"
    cmake -S "$ROOT" -B "$tree" -G Ninja "$@" && cmake --build "$tree" --target "${targets[@]}" -j "$CORES"
}

# copy_committed FOLDER: what is committed, into a new folder.
copy_committed() {
    rm -rf --one-file-system "$1"
    mkdir -p "$1"
    git archive HEAD | tar -x -C "$1"
}

find_mongod() {
    TIPPLE_MONGOD=$(tools/server find) && export TIPPLE_MONGOD
}
