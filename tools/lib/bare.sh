# shellcheck shell=bash
# Debians with nothing on them, in folders, for tools/test --fresh and tools/package --try. To be sourced by bash after
# steps.sh. A caller begins with bare_debian; then new_debian makes a copy of it, and in_debian runs a command in that.
# Debian's mirror, the proxies, the certificates and the settings of pip are this machine's.

BARES=$ROOT/build/fresh
debian= # the copy that in_debian runs commands in

# bare_debian NAME AGAIN: makes build/fresh/NAME.bare (debootstrap, as root), if it is not there. Where that cannot be
# done it says why, and ends with status 0; AGAIN is the command by which root may begin again.
bare_debian() {
    local mirror
    name=$1 bare=$BARES/$1.bare packages=$BARES/$1.packages
    ((EUID == 0)) || skip "only root can make a Debian: sudo $2"
    unshare --mount --pid --fork true 2>/dev/null || skip "root cannot mount anything on this machine; try another one"
    welcome_packages fresh "a bare Debian is made with it"
    command -v debootstrap >/dev/null || skip "install debootstrap, then start this again"
    mirror=$(mirror_of_host)
    [[ -n $mirror ]] || skip "this machine's package sources name no mirror of Debian; try it on a Debian"
    mkdir -p "$packages"
    take_lock "build/fresh/$name.lock"
    step "a bare Debian $name" make_bare "$mirror" || exit 1
    at_exit+=(keep_packages)
}

# is_debian NAME: one that can be made.
is_debian() {
    [[ $1 == bookworm || $1 == trixie || $1 == forky ]]
}

skip() {
    printf '==> fresh %s: skipped: %s\n' "$name" "$*"
    exit 0
}

# The mirror that this machine's own packages come from.
mirror_of_host() {
    local ID='' VERSION_CODENAME=''
    # shellcheck source=/dev/null
    source /etc/os-release
    [[ $ID == debian ]] || return 0
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
        awk -v release="$VERSION_CODENAME" '$1 == release && !found++ { print $2 }'
}

# Whole, or not there.
make_bare() {
    [[ ! -d $bare ]] || return 0
    rm -rf --one-file-system "$bare.part"
    local scripts=/usr/share/debootstrap/scripts script=()
    [[ -e $scripts/$name ]] || script=("$scripts/sid") # a Debian that is younger than this debootstrap
    unshare --mount --pid --fork --kill-child debootstrap --variant=minbase "$name" "$bare.part" "$1" "${script[@]}" || return
    mv "$bare.part" "$bare"
}

# new_debian FOLDER: a copy of the bare one, with the packages that earlier ones have fetched.
new_debian() {
    keep_packages
    debian=$BARES/$1
    step "a copy of it: build/fresh/$1" copy_bare || exit 1
}

copy_bare() {
    rm -rf --one-file-system "$debian"
    cp -a "$bare" "$debian"
    copy_settings
    move_packages "$packages" "$debian/var/cache/apt/archives"
}

# What this machine needs in order to reach the mirror and the package index of Python.
copy_settings() {
    local file
    apt-config dump Acquire | grep -E '^Acquire::(https?|ftp|Check-|Retries)' >"$debian/etc/apt/apt.conf.d/99host" || true
    for file in /etc/{resolv.conf,hosts,pip.conf} ~/.config/pip/pip.conf ~/.pip/pip.conf \
        /etc/ssl/certs/ca-certificates.crt /usr/local/share/ca-certificates/*.crt; do
        [[ ! -f $file ]] || install -D -m 644 "$file" "$debian$file"
    done
}

move_packages() {
    find "$1" -maxdepth 1 -name '*.deb' -exec ln -f -t "$2" {} +
}

# shellcheck disable=SC2317
keep_packages() {
    if [[ -d $debian/var/cache/apt/archives ]]; then move_packages "$debian/var/cache/apt/archives" "$packages"; fi
}

in_debian() {
    local each settings=()
    for each in $(compgen -e | grep -iE '^(https?|ftp|all|no)_proxy$|^PIP_|^SSL_CERT_|_CA_BUNDLE$'); do
        settings+=("$each=${!each}")
    done
    in_group env -i HOME=/root TERM="${TERM:-dumb}" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        "${settings[@]}" tools/lib/inside "$debian" "$@"
}
