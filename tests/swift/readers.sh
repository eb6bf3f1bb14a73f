# What Swift reads of ours, and we of Swift's. Sourced by `run`, in the folder of the last program.
# shellcheck shell=bash
# shellcheck disable=SC2154 # here, sfb, tree, work, failed: of `run`

# fails WHAT FILE...: prints the first lines of the files if one has any.
fails() {
    local what=$1
    shift
    if [[ -s $1 ]]; then
        printf 'swift: %s:\n' "$what"
        head -n 20 "$1"
        failed=$((failed + 1))
    fi
}

# Backtraces in every form: kinds, repeats, omissions, ends, word sizes. The seed is fixed.
made_frames() {
    awk 'BEGIN {
        srand(43)
        split("pc ra async", kinds, " ")
        for (i = 0; i < 5000; i++) {
            if (i % 8 == 7) print "bits", i % 16 == 7 ? 32 : 16
            high = i % 8 == 7 ? "" : sprintf("%x", 1 + int(rand() * 2 ^ 15))
            base = int(rand() * 2 ^ 28)
            for (n = int(rand() * 40); n > 0; n--) {
                if (rand() < 0.05) { print "omit", 1 + int(rand() * 300); continue }
                address = (base + int(rand() ^ 8 * 2 ^ 28)) % (i % 16 == 15 ? 2 ^ 16 : 2 ^ 28)
                line = kinds[1 + int(rand() * 3)] " 0x" high sprintf("%07x", address)
                for (repeats = rand() < 0.05 ? 1 + int(rand() ^ 4 * 400) : 1; repeats > 0; repeats--) print line
            }
            if (rand() < 0.3) print "truncated"
            print ""
        }
    }'
}

# Frames of the recorded stacks of tests/vectors, one a line: a pc and return addresses.
real_frames() {
    xz -dc "$here"/../vectors/stacks/*.txt.xz |
        awk '{ for (i = 1; i <= NF; i++) print (i == 1 ? "pc" : "ra"), "0x" $i; print "" }'
}

# Our CBF with Swift's decoder: the same frames as `sfb decode` prints. read_cbf NAME FILE, hexadecimal lines.
read_cbf() {
    in_tree ./reader decode < "$2" | sed '$d' > theirs
    cut -d' ' -f1 "$2" | "$sfb" decode --hex > ours
    diff <(grep -v '^image' theirs) ours > different || true
    fails "$1: Swift's decoder (<) and sfb decode (>)" different
    decoded=$((decoded + $(wc -l < "$2")))
}

hex_of() {
    basenc --base16 -w 0 "$1" | tr 'A-F' 'a-f'
}

read_by_swift() {
    local stack

    cp "$here/reader.swift" .
    in_tree swiftc -O reader.swift -o reader
    decoded=0
    for stack in STACK.*; do
        printf '%s %s\n' "$(hex_of "$stack")" "$(hex_of IMAGES)"
    done > asynchronous
    read_cbf "async functions" asynchronous
    # The modules: each file of which code is mapped.
    awk '$1 == "image" && $2 ~ /^\// { print $2, $3 }' theirs | sort -u > images
    # shellcheck disable=SC2046 # no name of the tree has a blank
    diff <(in_tree realpath -- $(cut -d' ' -f1 images) | paste -d' ' - <(cut -d' ' -f2 images) | sort) \
        <(awk '$6 ~ /^\// { if (!($6 in start)) start[$6] = $1; if ($2 ~ /x/) code[$6] = 1 }
            END { for (path in code) { sub(/-.*/, "", start[path]); print path, "0x" start[path] } }' MAPS | sort) > different || true
    fails "Swift's images (<) and /proc/self/maps (>)" different
    real_frames | "$sfb" encode --hex > real
    read_cbf "recorded stacks" real
    made_frames | "$sfb" encode --hex > made
    read_cbf "made backtraces" made
    echo "swift: $decoded backtraces read by Swift's decoder"
}

# Places of the tree as this machine has them: its own programs have no tree.
here_paths() {
    sed "s#/${work##*/}/#$work/#g; s#\([\" ]\)/usr/#\1$tree/usr/#g" "$1"
}

# One crash of prog, which is not optimised: our report of it, REPORT, and the log of Swift's handler, LOG, to which ours
# hands it on.
read_crash_logs() {
    rm -f STACK.* CALLS.*
    in_tree env SWIFT_CRASH=1 SWIFT_BACKTRACE=enable=yes,format=json,interactive=no,color=no,cache=no,output-to=stdout,images=all \
        ./prog > out 2> log || true
    here_paths STACK.1 > REPORT
    here_paths out > LOG
    "$sfb" symbolize --swift-json REPORT > OURS 2> log || true

    # Both have walked the thread. Swift's walk does not know that it has come to the end.
    in_tree ./reader frames LOG | grep -v '^truncated' > theirs
    in_tree ./reader frames OURS > ours
    diff theirs ours > different || true
    fails "frames of Swift's log (<) and of our log of the report (>), as Swift reads JSON" different
    logged=$(wc -l < ours)
    awk 'BEGIN { kind["pc"] = "programCounter"; kind["ra"] = "returnAddress"; kind["async"] = "asyncResumePoint" }
        $1 == "frame" { print kind[$3], $4 }' REPORT > report
    diff <(sed -E 's/ 0x0*([0-9a-f]+) .*/ 0x\1/' theirs) report > different || true
    fails "frames of Swift's log (<) and of our report (>)" different

    # What we write has no field that Swift's log has not, or of another type.
    comm -13 <(in_tree ./reader fields LOG | sort) <(in_tree ./reader fields OURS | sort) > different
    fails "fields that Swift's log has not" different
    # Of a report they have the loader's path, and the end of the last segment.
    diff <(in_tree ./reader images LOG | cut -d' ' -f2,3 | sort) \
        <(in_tree ./reader images OURS | grep -v '^linux-vdso' | cut -d' ' -f2,3 | sort) > different || true
    fails "images of Swift's log (<) and of ours (>)" different

    # We read both.
    "$sfb" symbolize LOG 2> log > printed || true # files of the tree's libraries have no names for us
    sed -nE '/crashed$/,/^thread [0-9]+( .*)?$/s/^#[0-9]+ (0x[0-9a-f]+) ([^ +]+).*/\1 \2/p' printed > ours
    diff <(sed -E 's/^[a-zA-Z]+ 0x0*/0x/' theirs) ours > different || true
    fails "frames of Swift's log, as Swift (<) and as sfb symbolize (>) read it" different
    diff <("$sfb" symbolize REPORT 2> log | grep '^#') <("$sfb" symbolize OURS 2> log | grep '^#') > different || true
    fails "sfb symbolize of the report (<) and of the log that it makes of it (>)" different
    echo "swift: $logged frames in the log of swift-backtrace, in our report of the same crash, and in the log of that"
}
