# ./dev check: what can fail quickly, after a change: one preset, and lint of what was changed.
# shellcheck shell=bash

# shellcheck source=common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"
# shellcheck source=test.sh
. "${BASH_SOURCE[0]%/*}/test.sh"

check() {
    setup dev
    test_preset dev check
    lint_changed 50000
    say "check: $SECONDS s; ./dev test runs the rest"
    sum
}
