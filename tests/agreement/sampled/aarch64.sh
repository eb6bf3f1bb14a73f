# Part of tests/agreement/sampled/run: on AArch64 there are several builds of Lua, oracles, and emulated processors.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with run and judge.sh

# The -cpu that the emulator is given.
cpu_of_emulator() {
    local i

    for ((i = 1; i < ${#emulator[@]}; i++)); do
        if [ "${emulator[i - 1]}" = -cpu ]; then
            echo "${emulator[i]}"
            return
        fi
    done
    echo default
}

# aarch64_campaign BUILD ORACLE [CPU]: with a heading.
aarch64_campaign() {
    local build_name=${1:--plain} name=$2 cpu=${3:-} i
    local -a original=("${emulator[@]}")

    if [ ${#emulator[@]} -gt 0 ]; then
        for ((i = 1; i < ${#emulator[@]}; i++)); do
            [ "${emulator[i - 1]}" != -cpu ] || emulator[i]=${cpu:-${emulator[i]}}
        done
        cpu=$(cpu_of_emulator)
    fi
    # pac-ret is a hint, which a core without it does not take.
    signs=1
    case $cpu in
    cortex-a[357]*) signs= ;;
    esac
    label="${build_name#-}, $name${cpu:+, $cpu}"
    echo
    echo "==== $label ===="
    echo
    campaign "$1" "$2"
    emulator=("${original[@]}")
}

# All of them, or the one of --build.
aarch64_campaigns() {
    if [ -n "$only" ]; then
        aarch64_campaign "$only" libgcc
        return
    fi
    echo "Lua for AArch64, -O2 -fomit-frame-pointer -Wa,--gsframe (plain) and"
    echo "-mbranch-protection=pac-ret+leaf as well (pac), compared with libunwind and libgcc,"
    if [ ${#emulator[@]} -gt 0 ]; then
        echo "in the user mode of $("${emulator[0]}" --version | sed -n 1p), with the -cpu named below."
        echo "It delivers signals between its blocks of code, which end at jumps, so the tables count those"
        echo "stacks; then every instruction is made a block (\"at any instruction\"). Times are the emulator's."
    else
        echo "on this machine."
    fi
    aarch64_campaign '' libunwind
    [ -n "$short" ] || aarch64_campaign '' libgcc
    aarch64_campaign -pac libgcc
    # The tests live.pauth-*-hints and live.single_step-*-hints are short ones of this.
    [ ${#emulator[@]} -eq 0 ] || [ -n "$short" ] || aarch64_campaign -pac libgcc cortex-a53
}
