# Part of tests/agreement/sampled/run: prints what the reports of a campaign say.
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by run

percent() {
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", b ? 100 * a / b : 0 }'
}

# field REPORT NAME: a total of a report.
field() {
    awk -v name="$2" '$1 == name { print $2; exit }' "$1"
}

# sum NAME REPORT...: a total of several reports.
sum() {
    local name=$1
    shift
    awk -v name="$name" '$1 == name { n += $2 } END { print n + 0 }' "$@"
}

# show REPORT HEX [LINES]: symbolised frames, or the bytes if there is no sfb command.
show() {
    if [ -z "$sfb" ]; then
        echo "(no sfb command in this build to symbolise $2)"
        return
    fi
    "${emulator[@]}" "$sfb" symbolize --maps "$1.maps" --hex - <<< "$2" 2>&1 |
        awk -v lines="${3:-1000}" '
            NR <= lines { print "    " $0 }
            END { if (NR > lines) printf "    ... and %d more\n", NR - lines }'
}

print_table() {
    local name line deepest

    printf '%-12s %8s %10s %9s %8s %10s\n' program stacks identical frames deepest 'bytes/frame'
    for name in "${scripts[@]}" threads; do
        name=$(basename "$name" .lua)
        # One line for all rounds of a program.
        line=$(awk -v name="$name" '
            { total[$1] += $2 }
            $1 == "deepest" && $2 > deepest { deepest = $2 }
            END {
                printf "%-12s %8d %10d %9d %8d %10.2f", name, total["stacks"], total["identical"],
                       total["frames"], deepest, total["bytes"] / (total["frames"] ? total["frames"] : 1)
            }' "$reports/$name".[0-9])
        echo "$line"
        read -r _ _ _ _ deepest _ <<< "$line"
        [ "$deepest" -gt 20 ] || fail "$name: no stack is deeper than 20 frames"
    done
}

print_totals() {
    echo
    awk -v oracle="$oracle" '
        { total[$1] += $2 }
        $1 == "source" { source[$2] += $3; if (!seen[$2]++) order[++n] = $2 }
        $1 == "end" { count = $2; sub(/^end [0-9]+ /, ""); ended[$0] += count }
        END {
            printf "frames by source:"
            for (i = 1; i <= n; i++)
                printf "%s %s %d (%.1f %%)", (i > 1 ? "," : ""), order[i], source[order[i]],
                       100 * source[order[i]] / (total["frames"] ? total["frames"] : 1)
            printf "\nwalks ended:"
            for (text in ended) printf " \"%s\" %d", text, ended[text]
            stacks = total["stacks"] ? total["stacks"] : 1
            printf "\na stack took this library %.1f us and %s %.1f us on average, in %.1f frames, %.0f bytes\n",
                   total["own-ns"] / stacks / 1000, oracle, total["oracle-ns"] / stacks / 1000,
                   total["frames"] / stacks, total["bytes"] / stacks
        }' "$reports"/*.[0-9]
}
