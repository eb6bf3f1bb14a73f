# ./dev setup: packages, sources and toolchains. Each part does nothing where it was done before.
# shellcheck shell=bash

# shellcheck source=common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"
# shellcheck source=apt.sh
. "${BASH_SOURCE[0]%/*}/apt.sh"

packages() {
    # gcc, g++, clang: all of them, because the tests compare them and compile headers as C++.
    # libbinutils: libsframe, whose names ours must not clash with. llvm: names in clang's reports.
    # dwz, debuginfod: debug files that share parts, and a server of them. protobuf-compiler: another reader of pprof files.
    # apitrace: reads traces, too. musl-tools: programs of another C library. elfutils, gdb: stacks to compare with. zstd: cores
    # as systemd-coredump packs them. libasio-dev: coroutines of a program over a library.
    printf '%s\n' gcc g++ cmake ninja-build pkg-config clang clang-format clang-tidy cppcheck \
        shellcheck binutils libbinutils libunwind-dev libelf-dev libdw-dev liblzma-dev libiberty-dev \
        libzstd-dev zlib1g-dev libcriterion-dev libjansson-dev libcapstone-dev libcurl4-openssl-dev \
        libdeflate-dev libsnappy-dev libasio-dev apitrace abigail-tools gdb valgrind dpkg-dev llvm \
        dwz debuginfod protobuf-compiler musl-tools elfutils file xz-utils zstd "$(clang_runtime)"
}

# The package with clang's sanitizers and libFuzzer: named after the version of the clang that is here, or
# that of the release's own clang, which will be.
clang_runtime() {
    local version

    if command -v clang >/dev/null && version=$(clang -dumpversion); then
        printf 'libclang-rt-%s-dev\n' "${version%%.*}"
    else
        printf 'libclang-rt-dev\n'
    fi
}

# What the preset aarch64 needs. g++ compiles the public headers as C++ for AArch64, too. gdb-multiarch,
# qemu-system-arm, cpio: AArch64 cores, by a kernel.
aarch64_packages() {
    printf '%s\n' gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user gdb-multiarch qemu-system-arm cpio
}

# Those of the packages given that are not installed.
missing_packages() {
    local package

    for package in "$@"; do
        # A package may be known for several architectures: one installed is enough.
        if ! dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
            grep -x installed >/dev/null; then
            printf '%s\n' "$package"
        fi
    done
}

apt_install() {
    local -a as_root=()

    if [[ $(id -u) != 0 ]]; then
        if ! command -v sudo >/dev/null; then
            say "missing packages; as root, run: apt-get install $*" >&2
            return 1
        fi
        as_root=(sudo)
    fi
    say "setup: installing $*"
    logged apt.log "${as_root[@]}" apt-get update ||
        say "setup: apt-get update failed; trying with the lists that are there" >&2
    logged apt.log "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "$@"
}

# Installs those of the packages given that are missing.
install_packages() {
    local -a wanted=("$@") missing

    if ! command -v dpkg-query >/dev/null; then
        say "setup: no dpkg here; these Debian packages, or what your system calls them, are needed:"
        say "  ${wanted[*]}"
        return
    fi
    mapfile -t missing < <(missing_packages "${wanted[@]}")
    if ((${#missing[@]})); then
        apt_install "${missing[@]}" || die "could not install ${missing[*]}"
    fi
}

# Gets Debian's sources of packages ($2...) into $1/source. Most images have binary entries only in
# their apt sources.
fetch_sources() (
    set -e
    local tmp=$1 package
    shift

    private_sources "$tmp" deb-src
    private_apt "$tmp" update
    mkdir "$tmp/source"
    cd "$tmp/source"
    for package in "$@"; do
        if private_apt "$tmp" source "$package"; then
            mv "$package"-*/ "$package"
        else
            # A mirror may lack what Debian adds; upstream's own source does as well.
            private_apt "$tmp" source --tar-only "$package"
            mkdir "$package"
            tar -xf "$package"_*.orig.tar.* -C "$package" --strip-components=1
        fi
    done
)

setup_lua() {
    local tmp

    if [[ -n $(lua_source) ]] || ! command -v apt-get >/dev/null; then
        return
    fi
    say "setup: fetching the source of lua5.4 into $cache"
    tmp=$(mktemp -d)
    mkdir -p "$logs" "$cache"
    # In place with one rename: a second ./dev beside this one sees all of it or nothing.
    if fetch_sources "$tmp" lua5.4 >"$logs/lua.log" 2>&1; then
        mv -T "$tmp/source/lua5.4" "$cache/lua5.4" 2>/dev/null || true
    fi
    rm -rf "$tmp"
    if [[ -z $(lua_source) ]]; then
        say "setup: could not fetch it ($logs/lua.log): the tests with Lua are skipped" >&2
    fi
}

# The sources of what ./dev sfb-check-programs builds, and what that takes; it leaves out what is not there.
setup_programs() {
    local tmp package missing
    local -a wanted=()

    if ! command -v apt-get >/dev/null; then
        return
    fi
    mapfile -t missing < <(missing_packages make tcl)
    if ((${#missing[@]})) && ! apt_install "${missing[@]}"; then
        say "setup: could not install ${missing[*]}" >&2
    fi
    for package in libzstd sqlite3 ninja-build libjsoncpp; do
        if [[ ! -d $cache/$package ]]; then
            wanted+=("$package")
        fi
    done
    if ((${#wanted[@]} == 0)); then
        return
    fi
    say "setup: fetching the sources of ${wanted[*]} into $cache"
    mkdir -p "$logs" "$cache"
    tmp=$(mktemp -d "$cache/sources.XXXXXX")
    fetch_sources "$tmp" "${wanted[@]}" >"$logs/sources.log" 2>&1 ||
        say "setup: could not fetch all of them ($logs/sources.log)" >&2
    for package in "${wanted[@]}"; do
        if [[ -d $tmp/source/$package ]]; then
            mv -T "$tmp/source/$package" "$cache/$package" 2>/dev/null || true
        fi
    done
    rm -rf "$tmp"
}

# Gets Debian's arm64 libraries and their headers once, as packages for a machine with nothing
# installed: dpkg need not know the architecture, and nothing of it gets onto this system.
fetch_sysroot() (
    set -e
    local tmp=$1 package link
    local -a arm64=(
        -o APT::Architecture=arm64 -o APT::Architectures=arm64
        -o "Dir::State::status=$tmp/status" -o "Dir::Cache::archives=$tmp/archives"
    )

    private_sources "$tmp" deb
    mkdir -p "$tmp/archives/partial" "$tmp/all" "$tmp/root/usr"
    : >"$tmp/status"
    private_apt "$tmp" "${arm64[@]}" update
    private_apt "$tmp" "${arm64[@]}" install -y --no-install-recommends --download-only \
        libc6-dev libstdc++6 libunwind-dev libelf-dev libdw-dev liblzma-dev libiberty-dev libzstd-dev zlib1g-dev \
        libcriterion-dev libjansson-dev
    for package in "$tmp"/archives/*.deb; do
        dpkg-deb -x "$package" "$tmp/all"
    done
    # Only this much: qemu looks here first for every file that a program opens. /lib is a link, as
    # on every Debian, though some packages still have files for it.
    mv "$tmp/all/usr/include" "$tmp/all/usr/lib" "$tmp/root/usr"
    if [[ -d $tmp/all/lib ]]; then
        cp -a "$tmp/all/lib/." "$tmp/root/usr/lib/"
    fi
    ln -s usr/lib "$tmp/root/lib"
    # The linker would follow links into this machine's own root.
    find "$tmp/root" -type l -lname '/*' | while IFS= read -r link; do
        ln -sfrT "$tmp/root$(readlink "$link")" "$link"
    done
    test -f "$tmp/root/usr/include/criterion/criterion.h"
)

# The preset aarch64 is an extra: what cannot be had here is said, and fails nothing.
setup_aarch64() {
    local tmp wanted missing

    if [[ $(uname -m) == aarch64 ]] || ! command -v apt-get >/dev/null; then
        return
    fi
    mapfile -t wanted < <(aarch64_packages)
    mapfile -t missing < <(missing_packages "${wanted[@]}")
    if ((${#missing[@]})) && ! apt_install "${missing[@]}"; then
        say "setup: could not install ${missing[*]}: the AArch64 tests are skipped" >&2
        return
    fi
    # One that an older checkout fetched lacks what was needed since.
    if [[ -n ${SFB_AARCH64_SYSROOT:-} ||
        -e $cache/aarch64/usr/lib/aarch64-linux-gnu/libzstd.a ]]; then
        return
    fi
    say "setup: fetching Debian's arm64 libraries into $cache"
    mkdir -p "$logs" "$cache"
    # Beside its place, so that one rename puts it there: see setup_lua.
    tmp=$(mktemp -d "$cache/aarch64.XXXXXX")
    if fetch_sysroot "$tmp" >"$logs/sysroot.log" 2>&1; then
        mv -T "$cache/aarch64" "$tmp/old" 2>/dev/null || true
        mv -T "$tmp/root" "$cache/aarch64" 2>/dev/null || true
    fi
    rm -rf "$tmp"
    if [[ ! -d $cache/aarch64 ]]; then
        say "setup: could not fetch them ($logs/sysroot.log): the AArch64 tests are skipped" >&2
    fi
}

# Later assemblers and linkers, for tests of SFrame versions 2 and 3; without them these are skipped.
setup_toolchains() {
    if command -v apt-get >/dev/null && ! "$root/fixtures/make" --toolchains; then
        say "setup: no binutils of later Debian releases: tests of SFrame versions 2 and 3 are skipped" >&2
    fi
}

# Gets Debian's arm64 kernel and a few programs, with what they need, as a root folder. fetch_sysroot() says how.
fetch_machine() (
    set -e
    local tmp=$1 package
    local -a arm64=(
        -o APT::Architecture=arm64 -o APT::Architectures=arm64
        -o "Dir::State::status=$tmp/status" -o "Dir::Cache::archives=$tmp/archives"
    )

    private_sources "$tmp" deb
    mkdir -p "$tmp/archives/partial" "$tmp/all" "$tmp/machine/root"
    : >"$tmp/status"
    private_apt "$tmp" "${arm64[@]}" update
    private_apt "$tmp" "${arm64[@]}" install -y --no-install-recommends --download-only \
        linux-image-arm64 coreutils dash bash perl-base sed mawk sqlite3
    for package in "$tmp"/archives/*.deb; do
        case ${package##*/} in
        linux-image-*) dpkg-deb -x "$package" "$tmp/all" ;;
        klibc* | libklibc* | initramfs* | udev_*) ;;
        *) dpkg-deb -x "$package" "$tmp/machine/root" ;;
        esac
    done
    rm -rf "$tmp/machine/root"/{var,usr/share,usr/lib/aarch64-linux-gnu/gconv}
    cp "$tmp"/all/boot/vmlinuz-* "$tmp/machine/vmlinuz"
)

# The machine whose cores stack.foreign_oracle looks at.
setup_aarch64_machine() {
    local tmp

    if [[ $(uname -m) == aarch64 || -e $cache/aarch64-machine/vmlinuz ]] || ! command -v apt-get >/dev/null; then
        return
    fi
    say "setup: fetching Debian's arm64 kernel into $cache"
    mkdir -p "$logs" "$cache"
    tmp=$(mktemp -d "$cache/machine.XXXXXX")
    if fetch_machine "$tmp" >"$logs/machine.log" 2>&1; then
        mv -T "$tmp/machine" "$cache/aarch64-machine" 2>/dev/null || true
    fi
    rm -rf "$tmp"
    if [[ ! -e $cache/aarch64-machine/vmlinuz ]]; then
        say "setup: could not fetch it ($logs/machine.log): stack.foreign_oracle is skipped" >&2
    fi
}

# The programs that ./dev agreement steps through; it leaves out what is not there.
setup_agreement() {
    local missing

    if ! command -v dpkg-query >/dev/null; then
        return
    fi
    mapfile -t missing < <(missing_packages lua5.4 python3-minimal perl bash git gdb openssl cmake)
    if ((${#missing[@]})) && ! apt_install "${missing[@]}"; then
        say "setup: could not install ${missing[*]}: these are skipped" >&2
    fi
}

# The programs that ./dev record-programs records; it leaves out what is not there.
setup_recorded() {
    local package
    local -a missing

    if ! command -v dpkg-query >/dev/null; then
        return
    fi
    mapfile -t missing < <(missing_packages redis-server redis-tools nginx-light apache2-utils postgresql xz-utils perl \
        git clang g++ ninja-build rustc golang-go python3-minimal)
    for package in "${missing[@]}"; do
        apt_install "$package" || say "setup: could not install $package: its program is skipped" >&2
    done
}

# The web application of ./dev python-web, and its server.
setup_web() {
    install_packages python3-flask gunicorn
}

# Of "NAME|NAME" the first package that apt knows here; nothing if it knows none.
known_package() {
    local -a names
    local name

    IFS='|' read -ra names <<<"$1"
    for name in "${names[@]}"; do
        if [[ $(apt-cache show --no-all-versions "$name" 2>/dev/null) ]]; then
            say "$name"
            return
        fi
    done
}

# Another profiler, for record.signals: the agent has to let it work. Without it that case is skipped.
setup_profiler() {
    local package

    if [[ $(/sbin/ldconfig -p 2>/dev/null) == *libprofiler.so.0* ]] || ! command -v apt-cache >/dev/null; then
        return
    fi
    package=$(known_package 'libgoogle-perftools4t64|libgoogle-perftools4')
    if [[ ! $package ]] || ! apt_install "$package"; then
        say "setup: could not install gperftools' profiler: a test beside it is skipped" >&2
    fi
}

# What tests of heap recordings compare with: other allocators, other counts, other readers. A test without one of them
# says so, and goes on with the others.
setup_heap() {
    local names package
    local -a wanted=() missing

    if ! command -v apt-cache >/dev/null; then
        return
    fi
    # ltrace counts calls; heaptrack_print and google-pprof (google-perftools) read files that sfb report writes.
    for names in libjemalloc2 'libtcmalloc-minimal4t64|libtcmalloc-minimal4' 'libmimalloc3|libmimalloc2.0' ltrace heaptrack \
        google-perftools; do
        package=$(known_package "$names")
        if [[ $package ]]; then
            wanted+=("$package")
        else
            say "setup: this release has no package ${names//|/ or }: tests with it are skipped" >&2
        fi
    done
    mapfile -t missing < <(missing_packages "${wanted[@]}")
    if ((${#missing[@]} == 0)) || apt_install "${missing[@]}"; then
        return
    fi
    for package in "${missing[@]}"; do
        apt_install "$package" || say "setup: could not install $package: tests with it are skipped" >&2
    done
}

# What bundles the page of `sfb report --html` and tests it: Node, Chromium, and npm's tools as profiler/page/package-lock.json has
# them, in a folder. What cannot be had is said; tests that take it are skipped.
setup_page() {
    local page=$root/profiler/page
    local -a wanted=()

    if command -v apt-cache >/dev/null; then
        command -v node >/dev/null || wanted+=(nodejs)
        command -v npm >/dev/null || wanted+=(npm)
        command -v chromium >/dev/null || wanted+=(chromium)
        if ((${#wanted[@]})) && ! apt_install "${wanted[@]}"; then
            say "setup: could not install ${wanted[*]}: tests of the page are skipped" >&2
        fi
    fi
    if ! command -v npm >/dev/null || cmp -s "$page/package-lock.json" "$page/node_modules/.locked"; then
        return
    fi
    say "setup: fetching the page's tools from npm into profiler/page/node_modules"
    if logged npm.log npm --prefix "$page" ci --ignore-scripts --no-audit --no-fund; then
        cp "$page/package-lock.json" "$page/node_modules/.locked"
    else
        say "setup: npm could not fetch them: tests of the page are skipped" >&2
    fi
}

# The packages of tests/agreement/programs.txt that this release has, one a line.
true_ends_packages() {
    local name packages package known

    while read -r name _ packages; do
        for package in $packages; do
            known=$(known_package "$package")
            if [[ $known ]]; then
                say "$known"
            else
                say "setup: $name: this release has no package $package" >&2
            fi
        done
    done < <(sed '/^#/d; /^$/d' "$root/tests/agreement/programs.txt")
}

# The programs of ./dev agreement --true-ends, which leaves out what is not there: one that cannot be
# had keeps no other one away.
setup_true_ends() {
    local package
    local -a wanted missing

    command -v apt-get >/dev/null || die "setup --programs: no apt-get here"
    mapfile -t wanted < <(true_ends_packages | sort -u)
    mapfile -t missing < <(missing_packages "${wanted[@]}")
    if ((${#missing[@]} == 0)) || apt_install "${missing[@]}"; then
        return
    fi
    for package in "${missing[@]}"; do
        apt_install "$package" || say "setup: could not install $package: its program is skipped" >&2
    done
}

# For these presets, or for whatever is not a preset.
setup() {
    local preset
    local -a wanted

    mapfile -t wanted < <(packages)
    install_packages "${wanted[@]}"
    setup_lua
    for preset in "$@"; do
        case $preset in
        dev) setup_toolchains && setup_profiler && setup_heap && setup_page ;;
        aarch64) setup_aarch64 && setup_aarch64_machine && setup_toolchains ;;
        agreement) setup_agreement ;;
        recorded) setup_recorded ;;
        web) setup_web ;;
        programs) setup_programs ;;
        esac
    done
}
