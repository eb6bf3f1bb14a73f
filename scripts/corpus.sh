# ./dev check-corpus: programs and libraries of later Debian releases, unpacked into a folder.
# shellcheck shell=bash

# shellcheck source=common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"
# shellcheck source=apt.sh
. "${BASH_SOURCE[0]%/*}/apt.sh"
# shellcheck source=build.sh
. "${BASH_SOURCE[0]%/*}/build.sh"

corpus_list=$root/toolchain/tests/check/corpus_packages.txt

# known_in TMP: the packages of the list that the suite has; of "NAME|NAME" all that it has.
known_in() {
    local list

    for list in "$1"/lists/*_Packages*; do
        /usr/lib/apt/apt-helper cat-file "$list"
    done | sed -n 's/^Package: //p' | sort -u >"$1/known"
    sed '/^#/d; y/| /\n\n/' "$corpus_list" | sed '/^$/d' | sort -u | comm -12 - "$1/known"
}

# fetch_corpus SUITE TMP: each package in a folder of its name, in TMP/made; of its files the programs and libraries.
fetch_corpus() (
    set -e
    suite=$1 tmp=$2
    private_sources "$tmp" deb
    other_suite "$tmp" "$suite"
    private_apt "$tmp" update
    mkdir "$tmp/debs" "$tmp/made"
    mapfile -t wanted < <(known_in "$tmp")
    cd "$tmp/debs"
    private_apt "$tmp" download "${wanted[@]}"
    for package in *.deb; do
        name=${package%%_*}
        mkdir "$tmp/all"
        dpkg-deb -x "$package" "$tmp/all"
        (cd "$tmp/all" && find . -type f -size +8k \( -perm -u+x -o -name '*.so*' \) -print0 |
            tar -cf - --null -T -) | { mkdir "$tmp/made/$name" && tar -xf - -C "$tmp/made/$name"; }
        rm -rf "$tmp/all" "$package"
    done
)

# The optional part: what cannot be had is said, and left out.
setup_corpus() {
    local suite tmp

    command -v apt-get >/dev/null || return 0
    mkdir -p "$logs" "$cache/corpus"
    for suite in trixie sid; do
        if [[ -d $cache/corpus/$suite ]]; then
            continue
        fi
        say "setup: fetching programs of Debian $suite into $cache/corpus"
        tmp=$(mktemp -d "$cache/corpus.XXXXXX")
        if fetch_corpus "$suite" "$tmp" >"$logs/corpus-$suite.log" 2>&1; then
            mv -T "$tmp/made" "$cache/corpus/$suite" 2>/dev/null || true
        else
            say "setup: could not fetch them ($logs/corpus-$suite.log): check-corpus leaves $suite out" >&2
        fi
        rm -rf "$tmp"
    done
}

# run_corpus COUNT: of this system so many files, of each suite that is here all. What is known of a file is not asked again.
run_corpus() {
    local suite
    local -a folders=()

    for suite in trixie sid; do
        if [[ -d $cache/corpus/$suite ]]; then
            folders+=("$cache/corpus/$suite")
        fi
    done
    export SFB_CORPUS_CACHE=${SFB_CORPUS_CACHE:-$cache/corpus-lines}
    run_released toolchain/tests/check/corpus "$1" "${folders[@]}"
}
