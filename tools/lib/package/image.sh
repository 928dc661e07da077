# shellcheck shell=bash
# An image for containers, over a bare Debian that is made here: no registry is asked. To be sourced by tools/package.
# shellcheck source=tools/lib/bare.sh
source tools/lib/bare.sh

make_image() {
    bare_debian trixie "tools/package image"
    welcome_packages image "an image is made with it"
    command -v buildah >/dev/null || skip "install buildah, then start this again"
    images=$BARES/images
    at_exit+=(forget_images)
    forget_images
    must "image: a base" make_base
    must "image: what is committed" copy_committed "$images/source"
    must "image: build" with_buildah build --isolation chroot --build-arg DEBIAN=localhost/debian -t localhost/tipple \
        -v "$packages:/var/cache/apt/archives" -f "$images/source/package/Dockerfile" "$images/source"
    must "image: a container of it" with_buildah from --name tried localhost/tipple
    printf 'order_id,customer,amount\n1,ink,2.50\n2,paper,4.00\n' >"$images/orders.csv"
    in_image id
    in_image tipple --version
    in_image tipple parse orders.csv
    with_buildah images localhost/tipple
}

# Storage of its own: this machine's images are not touched.
with_buildah() {
    buildah --root "$images/store" --runroot "$images/run" "$@"
}

make_base() {
    with_buildah from --name base scratch
    with_buildah add -q base "$bare" /
    debian=$(with_buildah mount base)
    copy_settings
    with_buildah umount base
    debian=
    with_buildah commit -q base localhost/debian
}

in_image() {
    printf '\n$ %s\n' "$*"
    in_group with_buildah run --isolation chroot -v "$images/orders.csv:/data/orders.csv:ro" tried -- "$@"
}

# shellcheck disable=SC2317
forget_images() {
    with_buildah rm --all >/dev/null
    with_buildah rmi --all --force >/dev/null
    rm -rf --one-file-system "$images/source"
}
