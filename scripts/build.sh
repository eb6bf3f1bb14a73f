# ./dev build, and what other commands need of it.
# shellcheck shell=bash

# shellcheck source=common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"
# shellcheck source=setup.sh
. "${BASH_SOURCE[0]%/*}/setup.sh"

# Presets that this run has configured: once is enough.
configured=' '

configure() {
    local -a options=("-DSFRAME_BACKTRACE_LUA_SOURCE=$(lua_source)")

    if [[ $configured == *" $1 "* ]]; then
        return
    fi
    if [[ $1 == aarch64 ]]; then
        options+=("-DSFRAME_BACKTRACE_AARCH64_SYSROOT=$(aarch64_sysroot)")
    fi
    (cd "$root" && logged "$1-configure.log" cmake --preset "$1" "${options[@]}") || return
    configured+="$1 "
}

# Takes a preset and the targets to build, all of them if none is given.
build() {
    local preset=$1
    shift
    configure "$preset" && logged "$preset-build.log" cmake --build "$root/build/$preset" --target "${@:-all}"
}

# Builds the release preset and runs a script of the repository with it.
run_released() {
    local script=$root/$1
    shift
    [[ -x $script ]] || die "$script is missing"
    build release
    "$script" "$root/build/release" "$@"
}

# ./dev build: takes a preset.
build_by_hand() {
    setup "$1"
    if [[ $1 == aarch64 && -n $(aarch64_missing) ]]; then
        die "aarch64: $(aarch64_missing)"
    fi
    build "$1"
    say "built: $root/build/$1"
}

# ./dev page: bundles the page of `sfb report --html`, which is committed.
bundle_page() {
    setup_page
    [[ -d $root/profiler/page/node_modules/esbuild ]] || die "page: npm's esbuild is not in profiler/page/node_modules"
    node "$root/profiler/page/build.js"
    say "bundled: profiler/page/page.html, $(wc -c <"$root/profiler/page/page.html") bytes"
}

# ./dev rows: takes files and folders.
rows() {
    local -a paths=("$@")

    setup
    if [[ $# == 0 || ($# == 1 && $1 == -v) ]]; then
        paths+=(/usr/lib /usr/bin)
        if [[ -d $(aarch64_sysroot) ]]; then
            paths+=("$(aarch64_sysroot)")
        fi
    fi
    build release
    "$root/build/release/tests/test-golden-eh_frame_rows" "${paths[@]}"
}

# ./dev install: takes the prefix.
install_release() {
    local prefix

    setup
    prefix=$(realpath -m -- "$1")
    build release
    logged install.log cmake --install "$root/build/release" --prefix "$prefix"
    say "installed: $prefix"
}
