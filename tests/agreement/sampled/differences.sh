# Part of tests/agreement/sampled/run: stacks in which this library and the oracle differ, and what is known of them.
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by run

# What is known of the places where the two were seen to differ, each looked at in a debugger or a
# disassembly.
explain() {
    case $1 in
    *"passed over a rule for sp"*)
        echo "half-way through longjmp() glibc's tables describe the frame that is jumped to, and say in" \
            "which register its sp is; libunwind takes the CFA (the jump buffer) for it and goes astray;" \
            "the frames of this library are those of the stack that is jumped to" ;;
    "aarch64: in libc.so.6:"*longjmp";"*)
        echo "half-way through longjmp() glibc's table for AArch64 has the jump buffer for the CFA, the pc" \
            "in it as if it were not mangled, and no place for sp: nobody who follows it finds a caller;" \
            "this library goes by the code, and stops where the registers are partly those of the target" ;;
    "aarch64: in ld-linux-aarch64.so.1:"*lazy | "aarch64: in "*":stub;"*lazy)
        echo "the first stub of the PLT pushes 16 bytes, of which the table of glibc's _dl_runtime_resolve()" \
            "for AArch64 knows nothing: who follows it is as far off in all frames that follow;" \
            "this library goes by the code" ;;
    "aarch64: in no module:?; parted after no module:?;"*"libgcc"*)
        echo "a signal interrupted another one's trampoline: libgcc looks for the saved registers at the CFA" \
            "of the frame before, which is not its sp behind a signal frame" ;;
    *" in "*":_start; parted after "*":_start; our next frame from: none;"*"; ours ended: end of stack"*)
        echo "the program's first instruction: nobody has called it; the link register still says who in the" \
            "loader was the last to call, and libunwind goes there" ;;
    *deregister_tm_clones* | *register_tm_clones* | *__do_global_dtors_aux* | *frame_dummy*)
        echo "the C runtime's start and end code has no table at all: libunwind guesses by the frame" \
            "pointer; this library goes by the word at sp, and says that it is unproven, or stops and says so" ;;
    "aarch64: in "*:call_weak_fn\;* | "aarch64: in "*:_init\;* | "aarch64: in "*:_fini\;*)
        echo "the C runtime's start and end code has no table at all: libunwind guesses by the link register," \
            "libgcc stops, this library stops unless fp leads to a frame record that bears it out" ;;
    *) return 1 ;;
    esac
}

# kinds REPORT...: KIND<tab>COUNT<tab>REPORT, the first report that has an example.
kinds() {
    awk '
        $1 == "difference" {
            count = $2
            sub(/^difference [0-9]+ /, "")
            if (!($0 in total)) { order[++n] = $0; where[$0] = FILENAME }
            total[$0] += count
        }
        END { for (i = 1; i <= n; i++) printf "%s\t%d\t%s\n", order[i], total[order[i]], where[order[i]] }
        ' "$@"
}

# example KIND REPORT NAME: a line behind this kind, up to the next one.
example() {
    awk -v kind="$1" -v name="example-$3" '
        $1 == "difference" { sub(/^difference [0-9]+ /, ""); inside = $0 == kind; next }
        inside && $1 == name { sub(/^[^ ]+ /, ""); print; exit }' "$2"
}

# why KIND REPORT: what explain() says.
why() {
    local lazy=''

    [[ $2 != *.lazy ]] || lazy=lazy
    explain "$machine: $1 oracle: $oracle; $(show "$2" "$(example "$1" "$2" ours)" 1) $lazy"
}

# count_known REPORT...: how many differences explain() knows.
count_known() {
    local kind count report known=0

    while IFS=$'\t' read -r kind count report; do
        if why "$kind" "$report" > /dev/null; then
            known=$((known + count))
        fi
    done < <(kinds "$@")
    echo "$known"
}

# print_differences REPORT...: every kind, with an example.
print_differences() {
    local kind count report

    while IFS=$'\t' read -r kind count report; do
        echo
        echo "difference, $count times (single-stepping included): $kind"
        echo "  why: $(why "$kind" "$report" || echo "not known: please report it")"
        echo "  first differing frame: #$(example "$kind" "$report" first);" \
            "ended: $(example "$kind" "$report" ends)"
        echo "  why sources did not answer there: $(example "$kind" "$report" missed)"
        echo "  registers (DWARF order): $(example "$kind" "$report" registers)"
        echo "  this library:"
        show "$report" "$(example "$kind" "$report" ours)" 40
        echo "  $oracle:"
        show "$report" "$(example "$kind" "$report" theirs)" 40
    done < <(kinds "$@")
}
