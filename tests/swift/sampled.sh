# Interrupted at any instruction: each sample has the async functions that await. Sourced by `run`, in its folder.
# shellcheck shell=bash
# shellcheck disable=SC2154 # here, sfb, work, failed: of `run`

# Prints what is wrong with samples, as `sfb symbolize` prints them, and how many there were. A sample's line of SAMPLES has
# how deep fib() was, which a call or a return may not have counted yet.
judge_samples() {
    awk '
        BEGIN {
            while ((getline sample < "SAMPLES") > 0) {
                split(sample, field, " ")
                depth[++samples] = field[1]
            }
            RS = ""
        }
        function name(line) {
            if (line ~ /4prog3fib/) return "fib"
            if (line ~ /4prog5outer/) return "outer"
            if (line ~ /4prog4MainV4main/) return "main"
            if (line ~ /async_Main|4MainV5\$main|^#[0-9]+ 0x[0-9a-f]+ \$sIetH/) return "start"
            return line ~ /in libswift_Concurrency[.]so$/ ? "runtime" : "other"
        }
        {
            count = split($0, line, "\n")
            async = own = fibs = 0
            rest = last = ""
            for (i = 1; i <= count; i++) {
                if (line[i] ~ /^[.][.][.] awaited by/) { async = 1; continue }
                if (line[i] ~ /^[.][.][.]/) continue
                if (match(line[i], /[(]repeated [0-9]+/)) {
                    if (last == "fib") fibs += substr(line[i], RSTART + 10, RLENGTH - 10)
                    continue
                }
                if (line[i] ~ /inlined in/) continue
                before = last
                last = name(line[i])
                if (last == "fib") fibs++
                if (!async) own = own || last == "fib" || last == "outer"
                else if (last != "fib" && last != before) rest = rest " " last
            }
            whole = " outer main start runtime"
            if (!own && !async) idle++
            else if (!async) { missing++; print "no function awaits:"; print }
            else if (rest == "" || substr(whole, length(whole) - length(rest) + 1) != rest || (fibs > 0 && rest != whole)) {
                wrong++
                print "others await:" rest
                print
            } else if (own && (fibs - depth[NR] > 1 || depth[NR] - fibs > 1)) {
                wrong++
                print fibs " calls of fib(), not " depth[NR] ":"
                print
            } else right++
        }
        END { printf "swift: %d samples of async functions, %d wrong, %d without those that await\n", right + wrong + missing, wrong, missing
              exit wrong + missing > 0 || right < 1000 || NR != samples }'
}

sample_async() {
    cp "$here/sampled.swift" .
    gcc -O2 -D_GNU_SOURCE -c "$here/sampled.c" -I"$here/../../include" -o sampled.o
    in_tree swiftc -parse-as-library -module-name prog "$1" sampled.swift sampled.o -o sampled -L. -lsframe-backtrace
    in_tree ./sampled > out
    sed "s#/${work##*/}/#$work/#" MAPS > MAPS.here
    # Its status is not asked for: this machine does not have the libraries of the tree.
    cut -d' ' -f3 SAMPLES | "$sfb" symbolize --hex --maps MAPS.here > named 2> log || true
    judge_samples < named > judged || failed=$((failed + 1))
    tail -n 30 judged
}
