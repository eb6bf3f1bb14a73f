# What tests of the heap's truth share. Sourced, by bash, with the command and the folder of the test programs as $1 and $2.
# shellcheck shell=bash

sfb=$1 programs=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit
failures=0

wrong() {
    echo "WRONG: $*"
    failures=$((failures + 1))
}

# Ends the test: with all that was wrong, if something was.
finish() {
    [ "$failures" = 0 ] || { echo "$failures wrong"; exit 1; }
    exit 0
}

skip() {
    echo "skipped: $*"
    exit 77
}

# The file of a library that the loader knows by this name; nothing if there is none.
library() {
    /sbin/ldconfig -p | awk -v name="$1" '$1 == name && !n++ { print $NF }'
}

# record [OPTION...] -- PROGRAM [ARGUMENT...]: its recording is it.sfbr; out and err are what was printed. Its status.
record() {
    local status=0

    "$sfb" record --heap --temporary-within 1 -f -o it.sfbr "$@" > out 2> err || status=$?
    if [ "$status" = 125 ]; then
        cat err
        skip "nothing can be recorded here"
    fi
    return "$status"
}

# What was recorded of the program, in the file recorded: "NAME NUMBER..." lines (recorded.c).
read_recorded() {
    "$programs/heap-recorded" it.sfbr "$1" > recorded
}

# record_whole PROGRAM-NAME [OPTION...] -- PROGRAM [ARGUMENT...]: the same, and reads it. The program waits for the recorder,
# however busy the machine is: no event is lost.
record_whole() {
    local name=$1
    shift

    record --heap-wait "$@" || true
    read_recorded "$name"
    is "$name: impossible" "$(value recorded impossible)" 0
    is "$name: lost" "$(value recorded lost)" 0
}

# The rest of the line NAME of a file of such lines.
value() {
    awk -v name="$2" '$1 == name { sub(/^[^ ]* /, ""); print; exit }' "$1"
}

# is WHAT GOT WANTED
is() {
    [ "$2" = "$3" ] || wrong "$1: $2, and not $3"
}

# Replayed, the events make the sums, and the time line ends with them; nothing is missing and nothing contradicts.
check_recorded() {
    local name

    for name in allocated live; do
        is "$1: $name, replayed" "$(value recorded "replayed-$name")" "$(value recorded "$name")"
        is "$1: $name, by the time line" "$(value recorded "state-$name")" "$(value recorded "$name")"
    done
    is "$1: peak, by the time line" "$(value recorded state-peak)" "$(value recorded peak)"
    is "$1: peak, replayed" "$(value recorded replayed-peak)" "$(value recorded peak)"
    for name in impossible conflicts lost damaged; do
        is "$1: $name" "$(value recorded "$name")" 0
    done
    is "$1: finished" "$(value recorded finished)" 1
}

# by_function VALUE: "FUNCTION BLOCKS BYTES ERROR VARIANCE" of the report, for the functions that count themselves (use_*, site_*).
by_function() {
    "$sfb" report --rows --value "$1" it.sfbr | awk '
        function number(key) {
            return match($0, "\"" key "\":[0-9]+") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : 0
        }
        {
            stack = $0
            sub(/.*"stack":\[/, "", stack); sub(/\].*/, "", stack)
            if (!match(stack, /(use|site)_[a-z0-9_]+/)) next
            name = substr(stack, RSTART, RLENGTH)
            blocks[name] += number("count"); bytes[name] += number("value"); variance[name] += number("error") ^ 2
        }
        END { for (name in blocks) printf "%s %.0f %.0f %.0f\n", name, blocks[name], bytes[name], sqrt(variance[name]) }' |
        sort
}
