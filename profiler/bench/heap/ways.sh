# How profiler/bench/heap/run starts a program under each profiler. Sourced, by bash.
# shellcheck shell=bash
#
# A way is a profiler with its settings. What its cost is taken above is another way: the same allocator without it.

# Set by who sources it: where the build is, the wrapper that says what CPU time a program took (cpu.c), and the words
# that give the program a processor of its own, and who records it another one.
build='' cpu='' pin=() beside=()

# What else is in the program's environment. heaptrack records the first program only, so that there can be no env(1).
extra=()

# Not empty: heaptrack writes what its agent says as it is (heaptrack -r).
heaptrack_raw=''

library() {
    # Of several versions any: a machine seldom has two.
    find /usr/lib /usr/lib64 -name "$1" 2> /dev/null | sed -n 1p || true
}

heaptrack_preload=$(library libheaptrack_preload.so)
heaptrack_interpret=$(library heaptrack_interpret)
jemalloc=$(library libjemalloc.so.2)
tcmalloc=$(library libtcmalloc.so.4)

# The way above whose cost that of $1 is taken.
base_of() {
    case $1 in
    jemalloc-*) echo jemalloc ;;
    gperftools) echo tcmalloc ;;
    *) echo none ;;
    esac
}

# What a way is, for people.
title_of() {
    case $1 in
    none) echo "glibc, no profiler" ;;
    busy) echo "25 ns more in each malloc()" ;;
    heaptrack) echo "heaptrack" ;;
    jemalloc) echo "jemalloc, no profiler" ;;
    jemalloc-512k) echo "jemalloc's profiler, 512 KiB" ;;
    jemalloc-every) echo "jemalloc's profiler, every" ;;
    tcmalloc) echo "tcmalloc, no profiler" ;;
    gperftools) echo "gperftools' heap profiler" ;;
    sfb-every) echo "sfb, every" ;;
    sfb-aggregate) echo "sfb, every, --aggregate" ;;
    sfb-sampled) echo "sfb, 512 KiB" ;;
    sfb-live) echo "sfb, live table" ;;
    esac
}

# How much less work a way gets than the others, because it takes so much longer.
divisor_of() {
    case $1 in
    jemalloc-every) echo 10 ;;
    gperftools) echo 20 ;;
    *) echo 1 ;;
    esac
}

# Sets ways: those that can be measured here; says which cannot.
find_ways() {
    local agent=$build/profiler/agent/libsfb-agent-heap.so sfb=$build/cli/sfb

    ways=(none)
    if [ -e "$build/bench/bench-heap-busy.so" ]; then ways+=(busy); fi
    if [ -n "$heaptrack_preload" ] && [ -n "$heaptrack_interpret" ] && command -v zstd > /dev/null; then
        ways+=(heaptrack)
    else
        echo "heaptrack skipped: package heaptrack or zstd is not installed"
    fi
    if [ -e "$agent" ] && "$sfb" record --help | grep -e '--heap' > /dev/null; then
        ways+=(sfb-every)
        if "$sfb" record --help | grep -e '--aggregate' > /dev/null; then ways+=(sfb-aggregate); fi
        ways+=(sfb-sampled)
        if grep -q SFB_HEAP_LIVE "$agent"; then ways+=(sfb-live); fi
    else
        echo "sfb skipped: $agent is not built, or sfb record has no --heap"
    fi
    if [ -n "$jemalloc" ]; then
        ways+=(jemalloc jemalloc-512k jemalloc-every)
    else
        echo "jemalloc skipped: package libjemalloc2 is not installed"
    fi
    if [ -n "$tcmalloc" ]; then
        ways+=(tcmalloc gperftools)
    else
        echo "gperftools skipped: package libgoogle-perftools4 (Debian 13: libgoogle-perftools4t64) is not installed"
    fi
}

# start_way WAY PROGRAM [ARGUMENT...]: runs it; "USER SYSTEM" are in the file cpu then, in the file both those of the
# program and `sfb record`, the profiler's own output in files heap*. Exit status: the program's.
start_way() {
    local way=$1 status=0
    local -a recorder=() environment=()
    shift

    rm -f cpu both heap*
    case $way in
    heaptrack)
        # As the script heaptrack does, whose own CPU time would be counted with the program's.
        mkfifo heap.pipe
        if [ -n "$heaptrack_raw" ]; then
            "${beside[@]}" zstd -q -c < heap.pipe > heap.zst &
        else
            "${beside[@]}" "$heaptrack_interpret" < heap.pipe 2> heap.stats | "${beside[@]}" zstd -q -c > heap.zst &
        fi
        environment=(LD_PRELOAD="$heaptrack_preload" DUMP_HEAPTRACK_OUTPUT="$PWD/heap.pipe")
        ;;
    busy) environment=(LD_PRELOAD="$build/bench/bench-heap-busy.so") ;;
    jemalloc) environment=(LD_PRELOAD="$jemalloc") ;;
    jemalloc-512k) environment=(LD_PRELOAD="$jemalloc" MALLOC_CONF="prof:true,lg_prof_sample:19") ;;
    jemalloc-every) environment=(LD_PRELOAD="$jemalloc" MALLOC_CONF="prof:true,lg_prof_sample:0") ;;
    tcmalloc) environment=(LD_PRELOAD="$tcmalloc") ;;
    gperftools)
        # No dumps on the way: the hooks alone are measured, as of the others.
        environment=(LD_PRELOAD="$tcmalloc" HEAPPROFILE="$PWD/heap" HEAP_PROFILE_ALLOCATION_INTERVAL=0
            HEAP_PROFILE_INUSE_INTERVAL=1000000000000)
        ;;
    sfb-every) recorder=("$cpu" "$PWD/both" -- "${beside[@]}" "$build/cli/sfb" record --heap -f -o heap.sfbr --) ;;
    sfb-aggregate) recorder=("$cpu" "$PWD/both" -- "${beside[@]}" "$build/cli/sfb" record --heap --aggregate -f -o heap.sfbr --) ;;
    sfb-sampled) recorder=("$cpu" "$PWD/both" -- "${beside[@]}" "$build/cli/sfb" record --heap --heap-rate 524288 -f -o heap.sfbr --) ;;
    sfb-live) environment=(LD_PRELOAD="$build/profiler/agent/libsfb-agent-heap.so" SFB_HEAP_LIVE=64M) ;;
    esac
    "${recorder[@]}" "${pin[@]}" "$cpu" "$PWD/cpu" "${environment[@]}" "${extra[@]}" -- "$@" 2> said || status=$?
    if [ "$way" = heaptrack ]; then wait; fi
    if [ "$status" != 0 ]; then
        echo "profiler/bench/heap: $way: exit status $status of $*" >&2
        tail -n 3 -q said heap.stat[s] >&2 2> /dev/null || true
    fi
    return "$status"
}

# allocations_of WAY: how many the profiler has counted in the last run; nothing where it does not say.
allocations_of() {
    case $1 in
    heaptrack) [ -n "$heaptrack_raw" ] || sed -n 's/.*allocations: *\t*\([0-9]*\)$/\1/p' heap.stats | sed -n 1p ;;
    sfb-every) sed -n 's/^sfb: \([0-9]*\) allocations.*/\1/p' said ;;
    esac
}

# The size of what the last run has written, in bytes.
written_of() {
    case $1 in
    heaptrack) stat -c %s heap.zst ;;
    sfb-every | sfb-aggregate | sfb-sampled) stat -c %s heap.sfbr ;;
    esac
}
