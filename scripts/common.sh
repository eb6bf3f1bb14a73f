# What all of scripts/*.sh use: where things lie, words for the user, and the counts of a run.
# shellcheck shell=bash

# Each of them sources it, and once is enough.
if declare -F say >/dev/null; then
    return
fi

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
logs=$root/build/log
cache=${XDG_CACHE_HOME:-$HOME/.cache}/sframe-backtrace

# What ./dev test and ./dev lint have counted.
passed=0
failed=0
skipped=0
# Tests that failed beside others and passed alone.
unsteady=0

say() {
    printf '%s\n' "$*"
}

die() {
    printf 'dev: %s\n' "$*" >&2
    exit 1
}

# Dies unless $2 is a number of $3 that the command $1 can be run with.
number() {
    [[ $2 =~ ^[1-9][0-9]*$ ]] || die "$1: '$2' is no number of $3"
}

# Runs a command with its output in a log; shows the end of the log only if the command fails.
logged() {
    local log=$logs/$1
    shift
    mkdir -p "$logs"
    if "$@" >"$log" 2>&1; then
        return 0
    fi
    # Without the steps of ninja that went well.
    sed -E '/^\[[0-9]+\/[0-9]+\] /d' "$log" | tail -n 100 >&2
    say "failed: $* (all of it: $log)" >&2
    return 1
}

# Prints the counts, and fails if something did.
sum() {
    if ((unsteady)); then
        say "$unsteady of those that passed failed beside others: see above"
    fi
    if ((skipped)); then
        say "$passed passed, $failed failed, $skipped skipped"
    else
        say "$passed passed, $failed failed"
    fi
    ((failed == 0))
}

# The source of Lua that is used; nothing if there is none.
lua_source() {
    if [[ -n ${SFB_LUA_SOURCE:-} ]]; then
        [[ -f $SFB_LUA_SOURCE/src/lua.c ]] || die "SFB_LUA_SOURCE: no src/lua.c in $SFB_LUA_SOURCE"
        readlink -f -- "$SFB_LUA_SOURCE"
    elif [[ -f $cache/lua5.4/src/lua.c ]]; then
        say "$cache/lua5.4"
    fi
}

aarch64_sysroot() {
    readlink -m -- "${SFB_AARCH64_SYSROOT:-$cache/aarch64}"
}

# Why there can be no build for AArch64 beside the native ones; nothing if there can be.
aarch64_missing() {
    if [[ $(uname -m) == aarch64 ]]; then
        say "the other presets build for AArch64 here"
    elif ! command -v aarch64-linux-gnu-gcc >/dev/null; then
        say "no aarch64-linux-gnu-gcc (./dev setup installs it)"
    elif ! command -v qemu-aarch64 >/dev/null; then
        say "no qemu-aarch64 (./dev setup installs it)"
    elif [[ ! -d $(aarch64_sysroot)/usr/include ]]; then
        say "no arm64 libraries in $(aarch64_sysroot) (./dev setup fetches them)"
    fi
}
