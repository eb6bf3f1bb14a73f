# fault: `ld -r` merges the entries and leaves the relocations where they were
# link: -r twice
 .text
f: .cfi_startproc
 nop
 ret
 .cfi_endproc
g: .cfi_startproc
 ret
 .cfi_endproc
