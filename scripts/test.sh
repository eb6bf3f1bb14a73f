# ./dev test: builds presets and runs their tests.
# shellcheck shell=bash

# shellcheck source=common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"
# shellcheck source=setup.sh
. "${BASH_SOURCE[0]%/*}/setup.sh"
# shellcheck source=build.sh
. "${BASH_SOURCE[0]%/*}/build.sh"
# shellcheck source=lint.sh
. "${BASH_SOURCE[0]%/*}/lint.sh"

# The sanitizer presets come last: what fails in dev is quicker to read there.
test_presets=(dev release clang no-libunwind aarch64 asan asan-clang tsan)

# What a preset builds, and which of its tests run (regular expressions of ctest). dev runs all; each
# other one runs what it alone can find. CONTRIBUTING.md says why, in a table: keep the two together.
plan() {
    # What is read from files, by any compiler for any machine: dev, and asan for what it does to memory.
    # And ten seconds of waiting for a debugger: dev.
    local files='^live[.](stepped|true_ends|crash_owner)'
    # What the library imports and exports; the rest of ^policy reads its source, and policy.consumer uses an installed
    # copy: of dev, and of what is released.
    local library='^policy[.](imports|exports)' installed='^policy[.]consumer'
    local torture='^torture[.](stacks|tables)'
    # Walks of real stacks by each source of rules, and by several threads (tests-walks): what another build of the same code
    # could do otherwise. The other tests of live are of processes, signals and files.
    local walks='^live[.](broken|capture|front_door|holes|signal_contract|stacks|strides|tables_only|threads)$'
    # And by another compiler (tests-compiled).
    local compiled='^live[.](contract_stack|crash_ends|early|nested|single_step|stack_use|struct_sizes)$'
    # What takes seconds, or programs that nothing else needs.
    local slow='^live[.](agreement|stepped|true_ends|crash_(ends|owner))|^command[.](demo|big_endian|signals)|^synth|^policy[.](ablation|leftovers)|^symbols|^record(_tool|_truth)?[.]'

    only='' except=''
    case $1 in
    dev)
        targets=(all)
        ;;
    release)
        targets=(tests-{unit,live,live_heap,heap,policy,torture,demo,bench} test-command-crash)
        only="^unit|^live|^command[.](crash|demo)|^heap[.]|$library|$installed|$torture|^bench" except="$files|crash_ends_sizes"
        ;;
    clang)
        targets=(tests-{unit,walks,compiled,policy,torture})
        only="^unit|$walks|$compiled|$library|^policy[.]headers|$torture"
        ;;
    no-libunwind)
        targets=(tests-{walks,policy,torture})
        only="$walks|$library|$torture"
        ;;
    aarch64)
        targets=(tests-{unit,live,live_heap,record,policy,torture,demo} test-command-crash test-golden-{eh_frame,sframe}_rows
            fuzz-{eh_frame,sframe,walk})
        only="^unit|^golden[.].*_rows|^live|^command[.]crash|^record[.]|^fuzz[.](eh_frame|sframe|walk)|$library|$torture"
        except="$files|agreement-v|stack_use-v|(front_door|broken|capture|stacks|strides)-v2|other_machine"
        ;;
    asan)
        targets=(tests-{unit,object,encoder,recording,heap_drain,report,report_formats,golden,check,live,command,live_heap,synth,fuzz} test-collector-drain)
        only='^unit|^object|^encoder|^recording|^heap_drain|^collector[.]drain|^report|^golden|^check|^live|^command|^synth|^fuzz'
        except='big_endian|stepped|true_ends|crash_owner|command[.]signals|command_versions|agreement'
        ;;
    asan-clang)
        targets=(tests-{unit,fuzz})
        only='^unit|^fuzz'
        ;;
    tsan)
        targets=(tests-threads tests-race)
        only='^live[.](contract_)?threads|^race[.]'
        ;;
    check) # in dev
        targets=(sfb tests-{unit,object,encoder,recording,report,report_formats,golden,check,live,command,policy,torture,fuzz})
        only="^unit|^object|^encoder|^recording[.]|^report|^page[.](units|bundle)|^golden|^check|^live[.]|^command[.]|^policy|$torture|^fuzz" except=$slow
        ;;
    *)
        targets=(all)
        ;;
    esac
}

# Prints an attribute of the <testsuite> in a JUnit file, 0 if it is not there.
junit() {
    local value
    value=$(sed -nE "/<testsuite( |\$)/,/>/s/.*[[:space:]]$2=\"([0-9]+)\".*/\1/p" "$1" | sed -n 1p)
    say "${value:-0}"
}

# The ten tests of a preset that took most CPU time, in one line. supervise says it of each.
costliest() {
    sed -nE 's/^supervise: (.*): ([0-9.]+) s of CPU time$/\2 \1/p' "$1" | LC_ALL=C sort -rn |
        LC_ALL=C awk 'NR <= 10 { printf "%s%s %.1f s", (NR > 1 ? ", " : "  most CPU time: "), $2, $1 }
            END { if (NR) print "" }'
}

# Runs ctest over a preset and ends whatever process is left of it: its results in $logs/NAME.xml, what it prints in
# $logs/NAME-test.log. Each test has a limit of its own: that of all only catches a ctest that hangs.
supervised_ctest() {
    local preset=$1 name=$2
    shift 2
    rm -f "$logs/$name.xml"
    # The verbosity makes Criterion say which cases were left out, and why.
    CRITERION_VERBOSITY_LEVEL=1 "$root/build/$preset/tests/supervise" 14400 "ctest of $preset" \
        ctest --test-dir "$root/build/$preset" --output-on-failure --output-junit "$logs/$name.xml" "$@" \
        >"$logs/$name-test.log" 2>&1
}

# Runs the tests of a preset that are planned ($only, $except). Two tests a processor: a third of the time of most is a
# wait for a process or a file.
run_ctest() {
    local -a arguments=(-j "$((2 * $(nproc)))")

    if [[ $only ]]; then
        arguments+=(-R "$only")
    fi
    if [[ $except ]]; then
        arguments+=(-E "$except")
    fi
    supervised_ctest "$1" "$1" "${arguments[@]}"
}

# What a run of ctest printed but for what passed.
print_failures() {
    grep -vE '^( *[0-9]+/[0-9]+ Test +#.* Passed | *Start +[0-9]+:)' "$logs/$1-test.log" || true
}

# So many failed tests of a preset are run once more. Where the machine was four times slower than usual, five of 335
# failed; a defect in what all of them stand on makes more fail.
rerun_most=12

# Runs the few tests of a preset that failed once more, alone, and prints which pass then: a defect fails again. The
# results replace those of the first run.
rerun_failed() {
    local preset=$1 again=$1-again name status=0
    local -a names

    mapfile -t names < <(sed 's/^[0-9]*://' "$root/build/$preset/Testing/Temporary/LastTestsFailed.log")
    say "$preset: once more, alone: ${names[*]}"
    supervised_ctest "$preset" "$again" --rerun-failed -j 1 || status=$?
    ((status == 0)) || print_failures "$again"
    [[ -e $logs/$again.xml ]] || return 0
    bad=$(junit "$logs/$again.xml" failures)
    if ((status && bad == 0)); then
        bad=1 # a process was left
        return 0
    fi
    for name in "${names[@]}"; do
        grep -qE "<testcase name=\"${name//./[.]}\" .*status=\"run\"" "$logs/$again.xml" || continue
        say "$preset: $name: failed beside others, passed alone"
        unsteady=$((unsteady + 1))
    done
}

# Takes a preset and a plan, which is that of the preset if it is not given.
test_preset() {
    local preset=$1 junit=$logs/$1.xml last=$logs/$1-last.log start=$SECONDS built total good bad off status=0
    local -a targets=()
    local only except

    if [[ $preset == aarch64 && -n $(aarch64_missing) ]]; then
        say "$preset: skipped: $(aarch64_missing)"
        skipped=$((skipped + 1))
        return
    fi
    plan "${2:-$preset}"
    if ! build "$preset" "${targets[@]}"; then
        say "$preset: does not build"
        failed=$((failed + 1))
        return
    fi
    built=$SECONDS
    run_ctest "$preset" || status=$?
    if ((status)); then
        print_failures "$preset"
        if [[ ! -e $junit ]]; then
            say "$preset: ctest failed"
            failed=$((failed + 1))
            return
        fi
    fi
    if [[ ! -e $junit || $(junit "$junit" tests) == 0 ]]; then
        say "$preset: builds; it has no tests to run"
        return
    fi
    total=$(junit "$junit" tests)
    bad=$(junit "$junit" failures)
    off=$(($(junit "$junit" skipped) + $(junit "$junit" disabled)))
    cp "$root/build/$preset/Testing/Temporary/LastTest.log" "$last"
    if ((status && bad == 0)); then
        # Every test passed: what failed is the supervisor, which has said why.
        bad=1
    elif ((bad > 0 && bad <= rerun_most)); then
        rerun_failed "$preset"
    fi
    good=$((total - bad - off))
    passed=$((passed + good))
    failed=$((failed + bad))
    skipped=$((skipped + off))
    say "$preset: $good passed, $bad failed, $off skipped" \
        "(build $((built - start)) s, tests $((SECONDS - built)) s)"
    costliest "$last"
    # What was left out and why: a whole test, or a part of one that passed.
    grep -hE '^(([a-z]+: )?skipped: |\[SKIP\] )' "$last" |
        sort -u | sed 's/^/  /' || true
}

setup_all() {
    setup "${test_presets[@]}"
}

# Takes the presets of `./dev test`; without any, all of them and lint.
run_tests() {
    local preset
    local -a presets=("$@")

    if (($# == 0)); then
        presets=("${test_presets[@]}")
    fi
    setup "${presets[@]}"
    for preset in "${presets[@]}"; do
        test_preset "$preset"
    done
    if (($# == 0)); then
        lint 10000 ''
    fi
    sum
}
