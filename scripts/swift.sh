# ./dev swift: real programs of Swift, whose async functions a walk has to find.
# shellcheck shell=bash

# shellcheck source=common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"
# shellcheck source=apt.sh
. "${BASH_SOURCE[0]%/*}/apt.sh"
# shellcheck source=setup.sh
. "${BASH_SOURCE[0]%/*}/setup.sh"
# shellcheck source=build.sh
. "${BASH_SOURCE[0]%/*}/build.sh"

swift_tree=$cache/swift-sid

# Debian sid's compiler with all that it needs, unpacked into $1/tree: 640 MiB to fetch, 3 GiB on disk.
fetch_swift() (
    set -e
    local package
    private_sources "$1" deb
    other_suite "$1" sid
    private_apt "$1" update
    mkdir -p "$1/archives/partial" "$1/tree"
    : >"$1/status" # nothing is installed in the tree
    private_apt "$1" -o "Dir::State::status=$1/status" -o "Dir::Cache::archives=$1/archives" \
        -o APT::Install-Recommends=false -o APT::Sandbox::User=root -y install --download-only \
        swiftlang libc6 libc6-dev coreutils bash
    for package in "$1"/archives/*.deb; do
        dpkg-deb -x "$package" "$1/tree"
    done
    rm -rf "$1/archives" "$1/lists"
    mkdir -p "$1/tree"/{proc,dev,tmp}
)

setup_swift() {
    local tmp

    if [[ -e $swift_tree/tree/usr/libexec/swift/bin/swift-driver ]]; then
        return
    fi
    [[ $(id -u) == 0 ]] || die "swift: it runs in a tree of its own (chroot), as root"
    command -v apt-get >/dev/null || die "swift: no apt-get, which fetches the compiler"
    mkdir -p "$logs" "$cache"
    tmp=$(mktemp -d "$cache/swift.XXXXXX")
    say "swift: fetching Debian sid's compiler, 640 MiB"
    if ! fetch_swift "$tmp" >"$logs/swift.log" 2>&1; then
        rm -rf "$tmp"
        die "swift: could not fetch it ($logs/swift.log)"
    fi
    rm -rf "$swift_tree"
    mv -T "$tmp" "$swift_tree"
}

run_swift() {
    setup
    setup_swift
    build release sfb sframe-backtrace-shared
    "$root/tests/swift/run" "$root/build/release" "$swift_tree/tree"
}
