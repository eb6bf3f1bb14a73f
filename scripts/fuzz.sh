# ./dev fuzz: every fuzz target under libFuzzer.
# shellcheck shell=bash

# shellcheck source=common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"
# shellcheck source=build.sh
. "${BASH_SOURCE[0]%/*}/build.sh"

fuzz() {
    local seconds=$1 source target name work status=0 runs
    local -a targets=()

    for source in "$root"/tests/fuzz/fuzz_*.c "$root"/*/tests/fuzz/fuzz_*.c; do
        name=${source##*/fuzz_}
        targets+=("fuzz-${name%.c}")
    done
    configure fuzz
    logged fuzz-build.log cmake --build "$root/build/fuzz" --target "${targets[@]}"
    for target in "${targets[@]}"; do
        target=$root/build/fuzz/tests/$target
        name=${target##*/fuzz-}
        # The corpus as the build laid it out: what a run adds to it is looked at before it is kept.
        work=$root/build/fuzz/tests/corpus/$name
        if logged "fuzz-$name.log" "$target" "-max_total_time=$seconds" -print_final_stats=1 \
            "-artifact_prefix=$root/build/fuzz/$name-" "$work"; then
            runs=$(sed -nE 's/^stat::number_of_executed_units: *([0-9]+)/\1/p' \
                "$logs/fuzz-$name.log")
            say "fuzz $name: ok, ${runs:-?} inputs in $seconds s"
        else
            say "fuzz $name: found something; the input is build/fuzz/$name-*"
            status=1
        fi
    done
    return $status
}
