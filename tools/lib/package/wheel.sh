# shellcheck shell=bash
# The release wheel: tipple for glibc 2.28, with all other libraries inside. To be sourced by tools/package.

# shellcheck source=tools/lib/package/flags.sh
source tools/lib/package/flags.sh
ARCH=${WHEEL_ARCH:-$(uname -m)}
WHEEL=$ROOT/build/wheel-$ARCH

make_wheel() {
    packages build package python wheel
    take_lock
    [[ $ARCH =~ ^(x86_64|aarch64)$ ]] || die "there is no wheel for $ARCH: --arch x86_64 or aarch64"
    must "wheel: libraries for $ARCH" tools/lib/package/wheel-libraries "$ARCH"
    must "wheel: build" build_wheel
    must "wheel: gate" gate_wheel
    rm -f "$OUT"/tipple-*_"$ARCH".whl
    cp "$WHEEL"/wheels/*.whl "$OUT"
    sums
    (cd "$OUT" && sha256sum ./*.whl)
}

# By scikit-build-core, as pip install . does it, yet for another host.
build_wheel() {
    local python=$ROOT/build/wheel-tools/venv/bin/python3 define set=()
    local link="-s -rtlib=none $WHEEL/lib/libbuiltins.a" # no archive of zig's own: see make_builtins
    rm -rf "$WHEEL/wheels" "$WHEEL/tipple"
    for define in CMAKE_SYSTEM_NAME=Linux "CMAKE_SYSTEM_PROCESSOR=$ARCH" "CMAKE_AR=$WHEEL/bin/ar" "CMAKE_RANLIB=$WHEEL/bin/ranlib" \
        "CMAKE_FIND_ROOT_PATH=$WHEEL" CMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY CMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY \
        CMAKE_C_FLAGS=-fomit-frame-pointer "CMAKE_EXE_LINKER_FLAGS=$link" "CMAKE_SHARED_LINKER_FLAGS=$link" \
        "TIPPLE_LICENSES=$WHEEL/licenses" "TIPPLE_LIBCURL=$WHEEL/lib/libcurl.a;$WHEEL/lib/libssl.a;$WHEEL/lib/libcrypto.a"; do
        set+=(-C "cmake.define.$define")
    done
    CC=$WHEEL/bin/cc CXX=$WHEEL/bin/c++ PKG_CONFIG_LIBDIR=$WHEEL/lib/pkgconfig ZIG_GLOBAL_CACHE_DIR=$ROOT/build/wheel-tools/zig \
        CMAKE_BUILD_PARALLEL_LEVEL=$CORES "$python" -m pip wheel --no-build-isolation --no-deps --no-index -v -w "$WHEEL/wheels" \
        -C "build-dir=$WHEEL/tipple" -C install.strip=false "${set[@]}" .
    "$python" -m wheel tags --remove --python-tag py3 --abi-tag none --platform-tag "manylinux_2_28_$ARCH" "$WHEEL"/wheels/*.whl
}

# What a host must have is glibc 2.28, whose own functions are used, and what a process with the module sees is the library's own
# names.
gate_wheel() {
    local tree=$WHEEL/unpacked file newest foreign
    rm -rf "$tree"
    python3 -m zipfile -e "$WHEEL"/wheels/*.whl "$tree" || die "there is no wheel in $WHEEL/wheels, or it cannot be read"
    for file in "$tree"/tipple/libtipple.so "$tree"/tipple-*.data/scripts/tipple; do
        newest=$(readelf -V "$file" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
        [[ -n $newest ]] || die "$file is not there, or is no program"
        [[ $(printf '%s\n' "$newest" GLIBC_2.28 | sort -V | tail -n 1) == GLIBC_2.28 ]] || die "$file needs $newest"
        foreign=$(readelf -d "$file" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
            grep -Ev '^(libc|libm|libdl|librt|libpthread|libresolv|ld-linux-.*)[.]so[.][0-9]$' || true)
        [[ -z $foreign ]] || die "$file needs a library that is not of glibc: ${foreign//$'\n'/ }"
        readelf -W --dyn-syms "$file" | grep 'UND memcpy@' >/dev/null ||
            die "$file has a memcpy of its own, which is slower than that of glibc"
        echo "$file: $newest, $(stat -c %s "$file") bytes"
    done
    foreign=$(readelf -W --dyn-syms "$tree/tipple/libtipple.so" | awk '$7 ~ /^[0-9]+$/ && $5 != "LOCAL" {print $8}' | grep -v '^tipple_' || true)
    [[ -z $foreign ]] || die "libtipple.so exports more than tipple_*: ${foreign//$'\n'/ }"
    [[ -e $(echo "$tree"/tipple-*.dist-info/licenses/libraries/openssl) ]] || die "the wheel lacks the licences of its libraries"
}
