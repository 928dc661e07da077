# shellcheck shell=bash
# Debian packages (package/deb.cmake), and what lintian says of them. To be sourced by tools/package.
# shellcheck source=tools/lib/package/flags.sh
source tools/lib/package/flags.sh

make_deb() {
    packages build package
    welcome_packages lint "the packages are not looked at by lintian"
    take_lock
    must "packages: build" build_for_others deb "-DCPACK_DEBIAN_PACKAGE_RELEASE=1~deb$(number_of_debian)" \
        ${CPACK_PACKAGE_CONTACT:+"-DCPACK_PACKAGE_CONTACT=$CPACK_PACKAGE_CONTACT"}
    must "packages: pack" pack_debs
    if command -v lintian >/dev/null; then must "packages: lintian" lint; fi
    sums
    (cd "$OUT" && sha256sum ./*.deb)
}

pack_debs() {
    rm -f "$OUT"/*.deb
    (cd build/deb && rm -rf _CPack_Packages packed && cpack -G DEB -B packed && mv packed/*.deb "$OUT")
}

# Errors and warnings of it are a failure.
lint() {
    local as=()
    if ((EUID == 0)); then as=(--allow-root); fi
    lintian "${as[@]}" --fail-on error,warning --display-info "$OUT"/*.deb
}
