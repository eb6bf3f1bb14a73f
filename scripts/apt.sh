# apt on private copies of the system's sources, for ./dev and fixtures/make. Sourced, by bash.
# shellcheck shell=bash

# The names under which apt sources may speak of this release, as an extended regular expression. What
# comes after stable has two more: os-release has testing's name in sid, too.
release_suites() {
    local codename unstable=

    # shellcheck source=/dev/null
    codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-stable}")
    if grep -qs '/sid$' /etc/debian_version; then
        unstable='|testing|sid|unstable'
    fi
    printf '%s' "$codename|stable$unstable"
}

# Writes into folder $1 the system's apt sources of Debian itself, as entries of type $2 (deb or
# deb-src) for whatever architecture. Other archives are left out (their suites are not Debian's):
# they seldom have sources, and none of Lua.
write_source_lists() {
    local etc=/etc/apt suites
    local -a lists=() stanzas=()

    suites=$(release_suites)
    shopt -s nullglob
    lists=("$etc"/sources.list.d/*.list)
    stanzas=("$etc"/sources.list.d/*.sources)
    shopt -u nullglob
    if [[ -e $etc/sources.list ]]; then
        lists+=("$etc/sources.list")
    fi
    if ((${#lists[@]})); then
        sed -nE "s/^deb(-src)?([[:space:]].*[[:space:]]($suites)(-[a-z]+)?[[:space:]]+([a-z-]+[[:space:]]+)*main([[:space:]].*)?)\$/$2\2/p" \
            "${lists[@]}" |
            sed -E '/\[/{ s/[[:space:]]*arch[+-]?=[^][:space:]]*//; s/\[[[:space:]]*\]//; }' |
            sort -u >"$1/debian.list"
    fi
    if ((${#stanzas[@]})); then
        # Comments go first: apt allows them inside a stanza, awk's paragraphs would see them.
        sed '/^#/d' "${stanzas[@]}" |
            awk -v type="$2" \
                -v suite="(^|[ \t])($suites)(-[a-z]+)?([ \t]|\$)" '
                function flush() {
                    if (types && suites && main)
                        printf "%s\n", text
                    text = ""
                    types = suites = main = 0
                }
                /^[ \t]*$/ { flush(); next }
                tolower($1) ~ /^architectures(-add|-remove)?:/ { next }
                tolower($1) == "types:" { $0 = "Types: " type; types = 1 }
                tolower($1) == "suites:" && $0 ~ suite { suites = 1 }
                tolower($1) == "components:" && /[ \t]main([ \t]|$)/ { main = 1 }
                { text = text $0 "\n" }
                END { flush() }' >"$1/debian.sources"
    fi
}

# Runs apt-get, with more options ($2...) on a private copy of the apt sources in $1, which
# private_sources() made: the system's configuration, lists and packages stay as they are.
private_apt() {
    local tmp=$1
    shift
    apt-get \
        -o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$tmp/parts" \
        -o "Dir::State::lists=$tmp/lists" -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache=" \
        -o "Acquire::Retries=1" -o "Acquire::http::Timeout=20" -o "Acquire::https::Timeout=20" \
        "$@"
}

private_sources() {
    mkdir -p "$1/parts" "$1/lists/partial"
    write_source_lists "$1/parts" "$2"
}

# Makes the sources in folder $1, which private_sources() made, those of suite $2 of the same archives:
# any Debian's keyring knows the keys of the suites after it, for some years.
other_suite() {
    local suites one_line=$1/parts/debian.list stanza=$1/parts/debian.sources

    suites=$(release_suites)
    if [[ -s $one_line ]]; then
        # Not of -security or -updates, which are other archives or have other names.
        sed -nE "s/^(deb[a-z-]*[[:space:]]+(\\[[^]]*\\][[:space:]]+)?[^[:space:]]+)[[:space:]]+($suites)[[:space:]].*/\\1 $2 main/p" \
            "$one_line" | sort -u >"$one_line.new"
        mv "$one_line.new" "$one_line"
    fi
    if [[ -s $stanza ]]; then
        awk -v from="[ \t]($suites)([ \t]|\$)" -v to="$2" '
            function flush() {
                if (wanted)
                    printf "%s\n", text
                text = ""
                wanted = 0
            }
            /^[ \t]*$/ { flush(); next }
            tolower($1) == "suites:" { wanted = $0 ~ from; $0 = "Suites: " to }
            tolower($1) == "components:" { $0 = "Components: main" }
            { text = text $0 "\n" }
            END { flush() }' "$stanza" >"$stanza.new"
        mv "$stanza.new" "$stanza"
    fi
}
