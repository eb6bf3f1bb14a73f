# ./dev lint: clang-format, clang-tidy, cppcheck, shellcheck.
# shellcheck shell=bash

# shellcheck source=common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"
# shellcheck source=setup.sh
. "${BASH_SOURCE[0]%/*}/setup.sh"
# shellcheck source=build.sh
. "${BASH_SOURCE[0]%/*}/build.sh"

# Every file that git tracks or would track, of the patterns given.
sources() {
    local file

    git -C "$root" ls-files -z --cached --others --exclude-standard --deduplicate -- "$@" |
        while IFS= read -r -d '' file; do
            # Not one that is tracked but deleted.
            if [[ -f $root/$file ]]; then
                printf '%s\0' "$file"
            fi
        done
}

check_format() {
    cd "$root" && sources '*.c' '*.h' ':!fixtures' |
        xargs -0 -r -n 16 -P "$(nproc)" clang-format --dry-run -Werror
}

# Writes build/lint/$1: the compile commands of a preset, each file once. clang-tidy reads a file as often
# as it is compiled, and tests/support is compiled for many tests.
compile_commands() {
    mkdir -p "$root/build/lint/$1"
    awk '/^\{/ { text = "" }
        { text = text $0 "\n" }
        /^  "file":/ { file = $0; sub(/,$/, "", file) }
        /^\}/ && !seen[file]++ { sub(/,?\n$/, "", text); printf "%s%s", count++ ? ",\n" : "[\n", text }
        END { print "\n]" }' "$root/build/$1/compile_commands.json" >"$root/build/lint/$1/compile_commands.json"
}

# The C files that a preset compiles: the rest has no flags to read it by. Generated files and foreign
# source (Lua) lie outside the repository or below build.
compiled() {
    sed -nE 's/^ *"file": "(.*\.c)",?$/\1/p' "$root/build/lint/$1/compile_commands.json" |
        sort -u | while IFS= read -r file; do
        if [[ $file == "$root"/* && $file != "$root"/build/* ]]; then
            printf '%s\n' "$file"
        fi
    done
}

# How far the static analyzer goes into one function: all the way in `./dev lint`, 10,000 nodes in
# `./dev test`, which takes a tenth of the time and is enough for nearly all functions.
tidy_nodes=''

# Whether all is read: `./dev test` leaves out tests and benchmarks, and the static analyzer what only commands run
# (toolchain, cli, contrib), too, and says so.
tidy_all=yes

# Of files, those to be read.
to_read() {
    if [[ $tidy_all ]]; then
        cat
    else
        grep -E "^$root/(src|util|symbols|profiler|toolchain|cli|contrib)/" | grep -vE "/(tests|bench)/" || true
    fi
}

# Reads the names of files that a preset compiles. The static analyzer takes nine tenths of the time; of
# what is not installed (tests, bench), and runs under two sanitizers here, it reads nothing.
tidy() {
    xargs -r -d '\n' -n 1 -P "$(nproc)" sh -c '
        root=$1 commands=$2 nodes=$3 all=$4 file=$5
        set --
        case $all/${file#"$root"/} in
        */tests/* | */bench/* | /toolchain/* | /cli/* | /contrib/*) set -- --checks=-clang-analyzer-\* ;;
        *) [ -z "$nodes" ] || set -- --extra-arg=-Xclang --extra-arg=-analyzer-config \
            --extra-arg=-Xclang --extra-arg=max-nodes="$nodes" ;;
        esac
        exec clang-tidy --quiet -p "$commands" "$@" "$file"
        ' sh "$root" "$root/build/lint/$1" "$tidy_nodes" "$tidy_all" 2>&1 | sed -E '/^[0-9]+ warnings? generated\.$/d'
}

check_tidy() {
    local status=0

    compile_commands clang
    compiled clang | to_read | tidy clang || status=1
    # And what is left for the other architecture.
    if [[ -z $(aarch64_missing) ]]; then
        compile_commands aarch64
        comm -13 <(compiled clang) <(compiled aarch64) | to_read | tidy aarch64 || status=1
    fi
    return $status
}

# The C files that differ from what this branch began with, or whose header does. A clone without a main
# has HEAD alone to compare with.
changed() {
    local base file

    base=$(git -C "$root" merge-base HEAD origin/main 2>/dev/null ||
        git -C "$root" merge-base HEAD main 2>/dev/null || echo HEAD)
    {
        git -C "$root" diff --name-only "$base" -- '*.[ch]' ':!fixtures'
        git -C "$root" ls-files --others --exclude-standard -- '*.[ch]'
    } | sed 's/[.]h$/.c/' | sort -u | while IFS= read -r file; do
        if [[ -f $root/$file ]]; then
            printf '%s\n' "$root/$file"
        fi
    done
}

# The changed files alone, with the flags of the preset dev: what `./dev check` has built.
check_tidy_changed() {
    comm -12 <(changed) <(compiled dev) | tidy dev
}

# Takes patterns of files, then -- and the macros of their architecture.
cppcheck_sources() {
    local -a patterns=()

    while [[ $1 != -- ]]; do
        patterns+=("$1")
        shift
    done
    shift
    sources "${patterns[@]}" |
        xargs -0 -r -n 8 -P "$(nproc)" cppcheck --quiet --std=c11 --platform=unix64 \
            --enable=warning,performance,portability --error-exitcode=1 --inline-suppr \
            --suppressions-list=.cppcheck-suppressions --library=posix,gnu \
            -D_GNU_SOURCE -D__GNUC__=12 "-DTestSuite(...)=" "$@" -I . -I include -I src -I tests
}

check_cppcheck() {
    local status=0

    cd "$root" || return
    cppcheck_sources '*.c' ':!fixtures' ':!demo' ':!examples' ':!*aarch64*' \
        -- -D__x86_64__ || status=1
    cppcheck_sources '*aarch64*.c' -- -D__aarch64__ -U__x86_64__ || status=1
    return $status
}

# Scripts are named by what they do: their first line says what they are. What is sourced names its shell.
scripts_of() {
    sources | xargs -0 -r grep -lZE -m 1 "$1"
}

# Under pipefail a reader that ends early fails its line now and then: what writes to it dies of SIGPIPE. `head -c` is
# for files that are read whole.
check_pipes() {
    scripts_of '^set -[a-z]*o pipefail|^# shellcheck shell=bash' |
        xargs -0 -r awk '
            { begins = before ~ /[^|][|]$/ && $0 ~ /^ +(LC_ALL=C )?(head |grep -[A-Za-z]*q)/ }
            (begins || /[^|][|] *(LC_ALL=C )?(head |grep -[A-Za-z]*q)/) && !/head -c/ {
                printf "%s:%d: ends before its input does, under pipefail: %s\n", FILENAME, FNR, $0
                found = 1
            }
            { before = $0 }
            END { exit found }'
}

check_shell() {
    local status=0

    cd "$root" || return
    check_pipes || status=1
    scripts_of '^#!/(usr/bin/env bash|bin/(ba)?sh)$|^# shellcheck shell=' |
        xargs -0 -r -n 4 -P "$(nproc)" shellcheck --severity=warning --external-sources --source-path=SCRIPTDIR || status=1
    return $status
}

# Whether a check is not made here; says why. Other versions lay code out otherwise (clang-format) or find
# other things in it (the two others, whose checks each release adds to): one judges, Debian 12's.
lint_skipped() {
    local program wanted version

    case $1 in
    format) program=clang-format wanted=14 ;;
    tidy | tidy_changed) program=clang-tidy wanted=14 ;;
    cppcheck) program=cppcheck wanted=2.10 ;;
    *) return 1 ;;
    esac
    version=$("$program" --version 2>/dev/null | sed -nE 's/.*(version |Cppcheck )([0-9.]+).*/\2/p' | sed -n 1p)
    if [[ $version == "$wanted" || $version == "$wanted".* ]]; then
        return 1
    fi
    say "lint $1: skipped: $program $wanted decides, and ${version:-none} is here"
    skipped=$((skipped + 1))
}

# Makes checks, given by name, and counts them.
run_checks() {
    local check start result

    for check in "$@"; do
        if lint_skipped "$check"; then
            continue
        fi
        start=$SECONDS
        if (logged "lint-$check.log" "check_$check"); then
            result=ok
            passed=$((passed + 1))
        else
            result=failed
            failed=$((failed + 1))
        fi
        say "lint $check: $result ($((SECONDS - start)) s)"
    done
}

# Takes tidy_nodes and tidy_all.
lint() {
    tidy_nodes=$1 tidy_all=$2
    if [[ $tidy_nodes ]]; then
        say "lint tidy: no tests; the static analyzer src, util, symbols and profiler, $tidy_nodes nodes of a function; the rest: ./dev lint"
    fi
    if ! configure clang; then
        say "lint: clang preset does not configure"
        failed=$((failed + 1))
        return
    fi
    if [[ -n $(aarch64_missing) ]]; then
        say "lint tidy: files of AArch64 alone skipped: $(aarch64_missing)"
    elif ! configure aarch64; then
        say "lint: aarch64 preset does not configure"
        failed=$((failed + 1))
        return
    fi
    run_checks format tidy cppcheck shell
}

# What `./dev check` looks at after a build of the preset dev.
lint_changed() {
    local left

    tidy_nodes=$1
    compile_commands dev
    left=$(comm -23 <(changed) <(compiled dev) | sed "s,^$root/,," | paste -s -d ' ')
    if [[ $left ]]; then
        say "lint tidy_changed: skipped, because dev does not compile them: $left"
    fi
    run_checks format tidy_changed shell
}

run_lint() {
    setup
    lint '' yes
    if ((skipped)); then
        sum
    fi
    ((failed == 0))
}
