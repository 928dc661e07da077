# shellcheck shell=bash
# A tarball that runs where it is unpacked: the command linked with archives, both libraries, pages and documents. To be
# sourced by tools/package.
# shellcheck source=tools/lib/package/flags.sh
source tools/lib/package/flags.sh

make_tarball() {
    packages build package static
    take_lock
    must "tarball: build" build_for_others tarball -DTIPPLE_ARCHIVES=ON -DCMAKE_INSTALL_LIBDIR=lib
    must "tarball: pack" pack_tarball
    sums
    tell_linked
    (cd "$OUT" && sha256sum ./*.tar.gz)
}

# It fits the Debian that it is made on, and later ones: its name says which.
pack_tarball() {
    local tree=build/tarball package name docs
    name=tipple-$(sed -n 's/^project(tipple VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)-debian$(number_of_debian)-$(uname -m)
    docs=$tree/root/$name/share/doc/tipple
    rm -rf "$tree/root" "$OUT"/*.tar.gz
    cmake --install "$tree" --strip --prefix "$tree/root/$name"
    strip --strip-debug "$tree/root/$name/lib/libtipple.a"
    mkdir -p "$docs/licenses"
    cp -r README.md CHANGELOG.md LICENSE docs examples "$docs"
    while read -r package; do
        cp -L "/usr/share/doc/$package/copyright" "$docs/licenses/$package"
    done < <(packages_of "$(archives)")
    tar -C "$tree/root" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
        -c "$name" | gzip -9n >"$OUT/$name.tar.gz"
}

# The archives of which something is in the command: its linker's map begins with them.
archives() {
    sed -n '/^Discarded input sections/q; s/^\(\/.*[.]a\)(.*/\1/p' build/tarball/tipple.map | sort -u | xargs -n 1 realpath
}

# packages_of FILES: the packages that they are in, each once.
packages_of() {
    xargs dpkg -S <<<"$1" | sed 's/:.*//' | LC_ALL=C sort -u
}

# What is linked how, with a reason for each library that stays the host's.
tell_linked() {
    local name path package
    echo "linked with archives of: $(packages_of "$(archives)" | xargs)"
    echo "stays dynamic:"
    while read -r name path; do
        package=$(packages_of "$path" 2>/dev/null || packages_of "/usr$path") # /lib is a link, but some packages still say it
        printf '  %-18s %-10s %s\n' "$name" "$package" "$(why_dynamic "$name")"
    done < <(ldd build/tarball/tipple | sed -n 's/^\t\(.*\) => \(.*\) (.*/\1 \2/p' | grep -f <(needed) | LC_ALL=C sort)
    echo "needs glibc $(objdump -T build/tarball/tipple | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1 | tail -c +7) or newer"
}

needed() {
    readelf -d build/tarball/tipple | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p'
}

why_dynamic() {
    case $1 in
    libc.* | libm.* | libresolv.*) echo "of glibc: finds hosts by what the host has for it" ;;
    libssl.* | libcrypto.*) echo "TLS is the host's, with its security updates" ;;
    libsasl2.*) echo "loads the host's own modules, and its archive needs servers' libraries" ;;
    libisal.*) echo "Debian has no archive of it" ;;
    libxxhash.*) echo "its archive has no code chosen by the processor" ;;
    *) die "$1 is linked dynamically, and nothing says why: see package/archives.cmake" ;;
    esac
}
