# ./dev pages: writes the pages' blocks of code from the files that the comments before them name.
# shellcheck shell=bash

# shellcheck source=common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"

# `policy.pages` fails where this would change a page.
write_pages() {
    local page new

    for page in "$root"/*.md "$root"/docs/*.md "$root"/docs/*/*.md "$root"/*/docs/*.md "$root"/{src,profiler,toolchain}/README.md; do
        [[ -f $page ]] || continue
        new=$(awk -v root="$root" -f "$root/scripts/pages.awk" "$page" && echo .) || die "pages: not written: $page"
        if ! printf %s "${new%.}" | cmp -s - "$page"; then
            printf %s "${new%.}" >"$page"
            say "pages: written: ${page#"$root/"}"
        fi
    done
}
