# What tests/agreement/run and tests/agreement/true_ends share: the build, the folder of reports, and
# where programs are. Sourced, by bash.
# shellcheck shell=bash

# shellcheck disable=SC2034 # the scripts use them
skip='' machine='' stepper='' library='' awkward=() made_code='' emulator=()
reports='' temporary='' failures=()

fail() {
    failures+=("$1")
}

percent() {
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", b ? 100 * a / b : 0 }'
}

# open_build DIR [LIBRARY]: what of a build is used; ends the script if it cannot be.
open_build() {
    local config=$1/tests/agreement.sh file

    if [ ! -r "$config" ]; then
        echo "agreement: $config is missing: configure with -DSFRAME_BACKTRACE_TESTS=ON" >&2
        exit 77
    fi
    # shellcheck disable=SC1090
    . "$config"
    if [ -n "$skip" ]; then
        echo "skipped: agreement: $skip"
        exit 77
    fi
    library=${2:-$library}
    for file in "$stepper" "$library" "${awkward[@]}" ${made_code:+"$made_code"}; do
        if [ ! -e "$file" ]; then
            echo "agreement: $file is missing: build first" >&2
            exit 2
        fi
    done
}

# open_reports [DIR]: a folder for them, which goes at the end unless it was given.
open_reports() {
    temporary=$(mktemp -d)
    trap 'rm -rf "$temporary"' EXIT
    reports=${1:-$temporary/reports}
    mkdir -p "$reports"
    if [ -n "$(ls -A "$reports")" ]; then
        echo "agreement: $reports is not empty" >&2
        exit 2
    fi
}

# The real program behind shims and wrappers.
program() {
    local path

    for path in "/usr/bin/$1" "/bin/$1"; do
        if [ -x "$path" ]; then
            echo "$path"
            return
        fi
    done
    return 1
}

print_failures() {
    if [ ${#failures[@]} -gt 0 ]; then
        printf 'FAILED: %s\n' "${failures[@]}"
        return 1
    fi
}
