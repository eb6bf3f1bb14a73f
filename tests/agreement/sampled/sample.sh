# Part of tests/agreement/sampled/run: runs Lua scripts with the sampler in them. Each run leaves a report in $reports.
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by run

# Samples in a row when single-stepping, and threads of the host program.
burst=100
threads=3

# Nothing is bound lazily on AArch64, but where that is tried: who follows glibc's tables goes astray
# there, see explain().
bind_now=1

# sampled REPORT COMMAND...: runs the command with the sampler in it.
sampled() {
    local report=$1
    local -a variables=("SFB_AGENT_REPORT=$report" "SFB_AGENT_ORACLE=$oracle")

    shift
    if [ ${#emulator[@]} -gt 0 ]; then
        variables+=("QEMU_SET_ENV=LD_BIND_NOW=$bind_now${sampler:+,LD_PRELOAD=$sampler}")
    else
        [ "$machine" = x86_64 ] || variables+=("LD_BIND_NOW=$bind_now")
        variables+=(${sampler:+"LD_PRELOAD=$sampler"})
    fi
    env "${variables[@]}" "${emulator[@]}" "$@"
}

# run_lua REPORT SECONDS SCRIPT: in the main thread, by the lua program where the sampler can be
# preloaded into it.
run_lua() {
    if [ -n "$sampler" ]; then
        sampled "$1" "$lua$build" "$3" "$2"
    else
        sampled "$1" "$host$build" 0 "$2" "$3"
    fi
}

# run_all ROUND SECONDS: every script, and all of them in threads.
run_all() {
    local script name

    for script in "${scripts[@]}"; do
        name=$(basename "$script" .lua)
        run_lua "$reports/$name.$1" "$2" "$script" || fail "$name: the script failed"
    done
    sampled "$reports/threads.$1" "$host$build" "$threads" "$2" "${scripts[@]}" ||
        fail "threads: a script failed"
}

# Samples until there is enough, and then with every instruction in reach.
sample() {
    local round script name

    for ((round = 1; round <= rounds_max; round++)); do
        run_all "$round" "$seconds"
        [ "$(sum stacks "$reports"/*.[0-9])" -lt "$wanted" ] || break
    done
    if [ ${#emulator[@]} -gt 0 ]; then
        # qemu delivers signals between its blocks, which end at every jump. One instruction a block,
        # and they arrive behind each. (The variable's name has changed in qemu 8.1.)
        export QEMU_SINGLESTEP=1 QEMU_ONE_INSN_PER_TB=1
        run_all step "$seconds"
    elif [ "$machine" = x86_64 ]; then
        # Shown, but not judged by a percentage: these stacks come in bursts, so one burst that meets
        # code without any CFI (crt's destructors) or a longjmp counts a hundred times.
        #
        # Every sample followed by the samples of the next instructions, one by one: the places
        # where a table's rows change are few instructions wide, and a timer alone seldom meets them.
        for script in "${scripts[@]}"; do
            name=$(basename "$script" .lua)
            SFB_AGENT_BURST=$burst run_lua "$reports/$name.step" "$seconds" "$script" ||
                fail "$name: the script failed when single-stepped"
        done
    fi
    if [ "$machine" = aarch64 ]; then
        bind_now='' run_lua "$reports/sort.lazy" 0.1 "$sort" ||
            fail "sort: the script failed when bound lazily"
    fi
    unset QEMU_SINGLESTEP QEMU_ONE_INSN_PER_TB
}
