# ./dev fuzz: every fuzz target under libFuzzer.
# shellcheck shell=bash

# shellcheck source=common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"
# shellcheck source=build.sh
. "${BASH_SOURCE[0]%/*}/build.sh"

fuzz() {
    local seconds=$1 source target name corpus work status=0 runs
    local -a targets=()

    for source in "$root"/tests/fuzz/fuzz_*.c; do
        name=${source##*/fuzz_}
        targets+=("fuzz-${name%.c}")
    done
    configure fuzz
    logged fuzz-build.log cmake --build "$root/build/fuzz" --target "${targets[@]}"
    for target in "${targets[@]}"; do
        target=$root/build/fuzz/tests/$target
        name=${target##*/fuzz-}
        corpus=$root/tests/fuzz/corpus/$name
        [[ -d $corpus ]] || corpus=$root/tests/fuzz/corpus/${name%%_*}
        # A copy: what a run finds is looked at before it becomes part of the corpus.
        work=$root/build/fuzz/corpus/$name
        mkdir -p "$work"
        if [[ -d $corpus ]]; then
            cp -R "$corpus/." "$work/"
        fi
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
