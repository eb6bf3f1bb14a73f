# Writes a page anew: a block of code behind one of these comments is what the comment names.
#
#     <!-- from examples/pool.c -->               a file of the repository
#     <!-- from examples/pool.c, pool_get() -->   a function of one
#
#     awk -v root=REPOSITORY -f scripts/pages.awk PAGE

function fail(text) {
    printf "%s:%d: %s\n", FILENAME, FNR, text >"/dev/stderr"
    failed = 1
    exit 1
}

# Reads the lines that a comment names.
function read_lines(comment,    file, name, line, at, in_it, status) {
    file = comment
    sub(/^<!-- from /, "", file)
    sub(/ -->$/, "", file)
    if ((at = index(file, ", "))) {
        name = substr(file, at + 2)
        sub(/[(][)]$/, "", name)
        file = substr(file, 1, at - 1)
    }
    count = 0
    while ((status = (getline line <(root "/" file))) > 0) {
        if (name == "" || (line ~ /^[a-zA-Z_]/ && line !~ /;$/ && line ~ "[ *]" name "[(]"))
            in_it = 1
        if (in_it)
            lines[++count] = line
        if (line ~ /^}/)
            in_it = 0
    }
    close(root "/" file)
    if (status < 0)
        fail("no file " file)
    if (count == 0)
        fail(name == "" ? file " is empty" : "no function " name "() in " file)
}

function write_lines(margin,    i) {
    for (i = 1; i <= count; i++)
        print lines[i] == "" ? "" : margin lines[i]
}

state == "indented" && /^    / { blanks = ""; next }
state == "indented" && /^$/ { blanks = blanks "\n"; next }
state == "indented" { printf "%s", blanks; state = "" }
state == "fenced" && /^```/ { state = "" }
state == "fenced" { next }

state == "wanted" && /^```/ { print; write_lines(""); state = "fenced"; next }
state == "wanted" && /^    / { write_lines("    "); state = "indented"; blanks = ""; next }
state == "wanted" && !/^$/ { fail("no block of code behind the comment") }

/^```c$/ { fail("a block of C without <!-- from FILE --> before it") }
/^ *<!-- from / {
    if (!/^<!-- from [^ ,]+(, [a-z0-9_]+[(][)])? -->$/)
        fail("not <!-- from FILE --> or <!-- from FILE, FUNCTION() -->")
    read_lines($0)
    state = "wanted"
}
{ print }

END {
    if (!failed && (state == "wanted" || state == "fenced"))
        fail("no block of code, or no end of it")
    if (state == "indented")
        printf "%s", blanks
}
