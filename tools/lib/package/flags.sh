# shellcheck shell=bash
# A build for others. To be sourced by the parts of tools/package.

# build_for_others TREE CMAKE_OPTION...: into build/TREE, with the flags of Debian's own packages.
build_for_others() {
    local tree=$1 flags
    shift
    flags=$(DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-buildflags --export=sh)
    (
        eval "$flags"
        rm -rf "build/$tree"
        unset CFLAGS_FOR_BUILD
        build_tree "$tree" -DCMAKE_BUILD_TYPE=Release -DTIPPLE_TESTS=OFF -DCMAKE_INSTALL_PREFIX=/usr \
            "-DCMAKE_C_FLAGS=$CFLAGS $CPPFLAGS" "-DCMAKE_CXX_FLAGS=$CXXFLAGS $CPPFLAGS" \
            "-DCMAKE_EXE_LINKER_FLAGS=$LDFLAGS" "-DCMAKE_SHARED_LINKER_FLAGS=$LDFLAGS" "$@"
    )
}

# What is made for several Debians has names that differ by this.
number_of_debian() {
    local VERSION_ID=''
    # shellcheck source=/dev/null
    source /etc/os-release
    echo "${VERSION_ID:-0}"
}

# sums: of what is in build/packages now.
sums() {
    rm -f "$OUT/SHA256SUMS"
    (cd "$OUT" && find . -maxdepth 1 -type f -printf '%f\n' | LC_ALL=C sort | xargs -r sha256sum >../SHA256SUMS && mv ../SHA256SUMS .)
}
