# ./dev glibc-sframe: a C library that walks by .sframe itself, on what sfb synth makes.
# shellcheck shell=bash

# shellcheck source=common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"
# shellcheck source=apt.sh
. "${BASH_SOURCE[0]%/*}/apt.sh"
# shellcheck source=setup.sh
. "${BASH_SOURCE[0]%/*}/setup.sh"
# shellcheck source=build.sh
. "${BASH_SOURCE[0]%/*}/build.sh"

glibc_sframe=$cache/glibc-sframe

# Upstream's part of Debian sid's source package, into $1/source.
fetch_glibc() (
    set -e
    private_sources "$1" deb-src
    other_suite "$1" sid
    private_apt "$1" update
    mkdir "$1/source"
    cd "$1"
    private_apt "$1" source --tar-only glibc
    tar -xf glibc_*.orig.tar.* -C source --strip-components=1
    # Debian leaves out the manual, and a build wants a makefile there.
    if [[ ! -e source/manual/Makefile ]]; then
        mkdir -p source/manual
        printf 'subdir := manual\ninclude ../Makeconfig\ninclude ../Rules\n' >source/manual/Makefile
    fi
)

# build_glibc FOLDER: its libraries, with binutils that have --gsframe. The machine's own are older.
build_glibc() (
    set -e
    local binutils
    binutils=${SFB_TOOLCHAINS:-$cache/toolchains}/sid/$(uname -m)
    mkdir "$1/build"
    cd "$1/build"
    ../source/configure --prefix=/usr --enable-sframe --disable-werror --disable-nscd \
        --disable-build-nscd --disable-profile --disable-timezone-tools --without-selinux \
        "CC=gcc -B$binutils/" "CXX=g++ -B$binutils/" "READELF=$binutils/readelf" \
        "OBJCOPY=$binutils/objcopy" "OBJDUMP=$binutils/objdump" 'CFLAGS=-O2 -g0'
    nice -n 19 make -j1 lib
)

setup_glibc() {
    local tmp missing

    if [[ -e $glibc_sframe/build/libc.so ]]; then
        return
    fi
    command -v apt-get >/dev/null || die "glibc-sframe: no apt-get, which fetches the source"
    setup_toolchains
    mapfile -t missing < <(missing_packages bison gawk make)
    if ((${#missing[@]})); then
        apt_install "${missing[@]}" || die "glibc-sframe: could not install ${missing[*]}"
    fi
    mkdir -p "$logs" "$cache"
    tmp=$(mktemp -d "$cache/glibc.XXXXXX")
    say "glibc-sframe: fetching the source of Debian sid's glibc"
    if ! fetch_glibc "$tmp" >"$logs/glibc-source.log" 2>&1; then
        rm -rf "$tmp"
        die "glibc-sframe: could not fetch it ($logs/glibc-source.log)"
    fi
    # A build has its own path in it: in place first. Ten minutes on one core.
    rm -rf "$glibc_sframe"
    mv -T "$tmp" "$glibc_sframe"
    say "glibc-sframe: building it in $glibc_sframe, once"
    if ! build_glibc "$glibc_sframe" >"$logs/glibc-build.log" 2>&1; then
        die "glibc-sframe: could not build it ($logs/glibc-build.log)"
    fi
}

run_glibc_sframe() {
    setup
    setup_glibc
    run_released toolchain/tests/synth/glibc_sframe "$glibc_sframe/build"
    "$root/toolchain/tests/check/glibc_verdicts" "$root/build/release/cli/sfb" "$glibc_sframe/source"
}
