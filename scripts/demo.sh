# ./dev demo: installs and builds what the demo needs, no more, and runs it.
# shellcheck shell=bash

# shellcheck source=common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"
# shellcheck source=setup.sh
. "${BASH_SOURCE[0]%/*}/setup.sh"

# A part of packages() in setup.sh: a compiler, and what the sfb command is linked with.
demo_packages() {
    printf '%s\n' gcc libc6-dev binutils cmake ninja-build pkg-config libelf-dev libdw-dev liblzma-dev \
        libiberty-dev libzstd-dev zlib1g-dev libdeflate-dev libjansson-dev
}

# ninja's line of progress on a terminal; a log elsewhere.
build_demo() {
    local build=$1
    local -a command=(cmake --build "$build")

    if [[ -t 1 ]]; then
        "${command[@]}"
    else
        logged demo-build.log "${command[@]}"
    fi
}

run_demo() {
    local build=$root/build/demo sudo='sudo '
    local -a wanted

    mapfile -t wanted < <(demo_packages)
    say "demo: 1 of 4: the packages that it needs"
    install_packages "${wanted[@]}"
    say "demo: 2 of 4: configuring in $build"
    logged demo-configure.log cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DSFRAME_BACKTRACE_TESTS=OFF -DSFRAME_BACKTRACE_PROFILER=ON -DSFRAME_BACKTRACE_TOOLCHAIN=OFF || exit 1
    say "demo: 3 of 4: building sfb"
    build_demo "$build" || exit 1
    say "demo: 4 of 4: three programs, a fault each"
    "$root/demo/run" "$build"
    if [[ $(id -u) == 0 ]]; then
        sudo=
    fi
    printf '\nTo install it, and to record a program of your own:\n'
    printf '    %scmake --install %s && %sldconfig\n' "$sudo" "$build" "$sudo"
    printf '    sfb record -- ./program; sfb report\n'
}
