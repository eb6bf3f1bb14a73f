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

# Swift's libraries for AArch64, of the same release, into $1/tree/aarch64: 530 MiB to fetch, 200 MiB on disk.
fetch_swift_aarch64() (
    set -e
    local package
    local -a arm64=(-o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Install-Recommends=false
        -o APT::Sandbox::User=root)
    mkdir -p "$1"
    private_sources "$1" deb
    other_suite "$1" sid
    private_apt "$1" "${arm64[@]}" update
    mkdir -p "$1/aarch64"
    cd "$1"
    for package in libc6 libgcc-s1 libstdc++6 zlib1g libswiftlang swiftlang; do
        private_apt "$1" "${arm64[@]}" download "$package"
        # Of the compiler the modules of its libraries.
        if [[ $package == swiftlang ]]; then
            dpkg-deb --fsys-tarfile "$package"_*.deb | tar -x -C aarch64 ./usr/libexec/swift/lib/swift
        else
            dpkg-deb -x "$package"_*.deb aarch64
        fi
        rm -f "$package"_*.deb
    done
    ln -sfn usr/lib aarch64/lib
    mv -T aarch64 "$swift_tree/tree/aarch64"
)

# Prints why the programs do not run on AArch64, too; nothing if they do.
setup_swift_aarch64() {
    local tmp

    if [[ -n $(aarch64_missing) ]]; then
        aarch64_missing
        return
    fi
    if [[ ! -d $swift_tree/tree/aarch64 ]]; then
        tmp=$(mktemp -d "$cache/swift.XXXXXX")
        say "swift: fetching its libraries for AArch64, 530 MiB" >&2
        fetch_swift_aarch64 "$tmp" >"$logs/swift-aarch64.log" 2>&1 || say "could not fetch the libraries ($logs/swift-aarch64.log)"
        rm -rf "$tmp"
    fi
}

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
    local missing
    local -a aarch64=()

    setup
    setup_swift
    build release sfb sframe-backtrace-shared
    missing=$(setup_swift_aarch64)
    if [[ -z $missing ]]; then
        build aarch64 sframe-backtrace-shared
        aarch64=("$root/build/aarch64")
    else
        say "swift: AArch64 skipped: $missing"
    fi
    "$root/tests/swift/run" "$root/build/release" "$swift_tree/tree" "${aarch64[@]}"
}
