# Frames of each thread by other debuggers, as lines: TID ADDRESS. For scripts that compare. Of gdb the frames that it makes up are
# left out: inlined functions and tail calls.

# frames_by_gdb GDB [ARGUMENT...]: of a process or a core.
frames_by_gdb() {
    local gdb=$1 script
    shift
    script=$(mktemp --suffix=.py)
    cat > "$script" << 'END'
for thread in gdb.selected_inferior().threads():
    thread.switch()
    print("TID %d" % (thread.ptid[1] or thread.ptid[0]))
    frame = gdb.newest_frame()
    while frame is not None:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            print("F 0x%x" % frame.pc())
        try:
            frame = frame.older()
        except gdb.error:
            frame = None
END
    "$gdb" -nx -batch -ex 'set debuginfod enabled off' -ex 'set backtrace past-main on' -ex 'set backtrace past-entry on' "$@" \
        -x "$script" 2> /dev/null | awk '$1 == "TID" { tid = $2 } $1 == "F" { print tid, $2 }'
    rm "$script"
}

# frames_by_eu_stack [ARGUMENT...]
frames_by_eu_stack() {
    eu-stack "$@" 2> /dev/null | awk '
        $1 == "TID" { tid = $2 + 0 }
        /^#[0-9]+ / { sub(/^0x0*/, "0x", $2); print tid, $2 }'
}

# frames_by_sfb SFB [ARGUMENT...]: of a core.
frames_by_sfb() {
    local sfb=$1
    shift
    "$sfb" stack --json "$@" 2> /dev/null | grep -oE '"tid":[0-9]+|"address":"0x[0-9a-f]+","kind"' | awk -F '[":,]+' '
        $2 == "tid" { tid = $3 }
        $2 == "address" { print tid, $3 }'
}
