# Part of tests/agreement/sampled/run: whether a campaign has passed.
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by run

# agrees STACKS IDENTICAL
agrees() {
    [ "$(($2 * 1000))" -ge "$(($1 * 999))" ]
}

judge() {
    local stacks identical sp_rule stray failed unrecorded signed sframe signal eh_frame

    read -r stacks identical sp_rule stray failed unrecorded signed sframe signal eh_frame < <(awk '
        { total[$1] += $2 }
        $1 == "source" { source[$2] += $3 }
        END {
            print total["stacks"] + 0, total["identical"] + 0, total["sp-rule"] + 0,
                  total["stray"] + 0, total["failed"] + 0, total["unrecorded"] + 0,
                  total["signed"] + 0, source["sframe"] + 0, source["signal"] + 0,
                  source["eh_frame"] + 0
        }' "$reports"/*.[0-9])
    echo "identical: $identical of $stacks stacks ($(percent "$identical" "$stacks") %)"
    [ "$sp_rule" -eq 0 ] || echo "of the others, libunwind alone is wrong in $sp_rule (a rule for sp that it does not apply)"
    judge_steps
    [ "$stray" -eq 0 ] || echo "with an address that is in no module: $stray stacks"
    [ "$unrecorded" -eq 0 ] || echo "$unrecorded more differences were counted but not kept"
    [ "$failed" -eq 0 ] || fail "$failed captures failed or gave no valid CBF"
    [ "$stacks" -ge "$wanted" ] || fail "only $stacks stacks, $wanted were wanted"
    if [ "$machine" = aarch64 ]; then
        judge_lazy
        judge_signed "$signed"
        # No oracle is right within longjmp(), and there Lua's coroutines spend their time. (Between
        # qemu's blocks no sample falls into it.)
        if [ ${#emulator[@]} -eq 0 ] || [ -n "$short" ]; then
            identical=$((identical + $(count_known "$reports"/*.[0-9])))
        fi
    fi
    # libunwind goes wrong in about 0.03 % of these stacks, on average: of few, one may be too many.
    [ -z "$short" ] || identical=$((identical + sp_rule))
    agrees "$stacks" "$identical" || fail "agreement is below 99.9 %"
    [ "$sframe" -gt 0 ] || fail "no frame came from .sframe"
    [ "$eh_frame" -gt 0 ] || fail "no frame came from .eh_frame"
    [ "$signal" -gt 0 ] || fail "no frame was reached through a signal's frame"
}

judge_steps() {
    local stacks identical known what="single-stepped"

    if [ -z "$(compgen -G "$reports/*.step")" ]; then
        [ "$machine" = x86_64 ] || echo "single-stepped: none, as no program can step itself on this machine"
        return 0
    fi
    stacks=$(sum stacks "$reports"/*.step)
    identical=$(sum identical "$reports"/*.step)
    [ ${#emulator[@]} -eq 0 ] || what="at any instruction"
    echo "$what: $identical of $stacks stacks identical ($(percent "$identical" "$stacks") %)"
    [ ${#emulator[@]} -gt 0 ] || return 0
    known=$(count_known "$reports"/*.step)
    [ "$known" -eq 0 ] || echo "of the others, the oracle cannot be right in $known (see above)"
    agrees "$stacks" $((identical + known)) || fail "$what, agreement is below 99.9 %"
}

# How a program starts that is bound lazily, as most are: few stacks, so a few may differ unknown.
judge_lazy() {
    local stacks identical known

    stacks=$(sum stacks "$reports"/*.lazy)
    identical=$(sum identical "$reports"/*.lazy)
    known=$(count_known "$reports"/*.lazy)
    echo "bound lazily: $identical of $stacks stacks identical"
    [ "$known" -eq 0 ] || echo "of the others, the oracle cannot be right in $known (see above)"
    [ "$(((identical + known) * 100))" -ge "$((stacks * 98))" ] || fail "bound lazily, agreement is below 98 %"
}

# judge_signed STACKS: whether return addresses were signed where they should have been.
judge_signed() {
    echo "in $1 stacks the link register held a signed address"
    case $build:$signs in
    -pac:1) [ "$1" -gt 0 ] || fail "no return address was signed" ;;
    *) [ "$1" -eq 0 ] || fail "return addresses were signed" ;;
    esac
}

# The comparison itself: with every tenth stack of the oracle changed, each has to be noticed.
check_spoilt() {
    local stacks noticed changed

    SFB_AGENT_SPOIL=10 run_lua "$reports/spoilt" 0.3 "$sort" ||
        fail "spoilt: the script failed"
    stacks=$(field "$reports/spoilt" stacks)
    noticed=$((stacks - $(field "$reports/spoilt" identical)))
    changed=$((stacks / 10))
    echo "cross-check: $changed of $stacks stacks were changed on purpose, $noticed differed"
    if [ "$changed" -eq 0 ] || [ "$noticed" -lt "$changed" ]; then
        fail "changes of the oracle's stacks went unnoticed"
    fi
}
