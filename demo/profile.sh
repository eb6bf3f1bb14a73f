# Part of demo/run: the profiler, on the Lua that is built here.
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by demo/run

show_profile() {
    local script=$here/scripts/sort.lua

    if [ -z "$records" ]; then
        echo "(this build cannot record: zstd is not installed, or it has sanitizers)"
        return
    fi
    echo "\$ sfb record -- lua $(basename "$script")"
    if ! "$sfb" record -f -o "$all/lua.sfbr" -- "$lua" "$script" > /dev/null 2> "$all/record"; then
        fail "sfb record: $(cat "$all/record")"
        return
    fi
    sed 's| in [^ ]*/lua.sfbr: .*||' "$all/record"
    echo "\$ sfb report"
    "$sfb" report --top=8 "$all/lua.sfbr" > "$all/report" || fail "sfb report does not read what sfb record wrote"
    sed "s|$here/scripts/||; s|^$lua|lua|" "$all/report"
    echo
    grep -q ' (lua)$' "$all/report" || fail "sfb report names no function of Lua"
}
