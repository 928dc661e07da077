# shellcheck shell=bash
# Whether what is committed makes the same bytes anywhere, at any time. To be sourced by tools/package.

make_same() {
    local folder one=build/same/one another=build/same/another/deeper/folder
    packages build package static
    for folder in "$one" "$another"; do copy_committed "$folder"; done
    for folder in "$one" "$another"; do
        must "same: made in $folder" make_in "$folder"
    done
    must "same: compared" diff {"$one","$another"}/build/packages/SHA256SUMS
    cat "$one/build/packages/SHA256SUMS"
}

# The second one is made with other settings, too.
make_in() {
    if [[ $1 == */another/* ]]; then
        export TZ=Pacific/Auckland LC_ALL=C
        umask 077
    fi
    unset CMAKE_C_COMPILER_LAUNCHER
    "$1/tools/package" deb tarball
}
