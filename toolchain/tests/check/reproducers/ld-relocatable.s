# fault: `ld -r` merges the entries and leaves the relocations where they were
# codes: SF0118 SF0411 SF0413 SF0416
# known: SF0411 SF0413 SF0416 SF0516 when MERGED
# link: -r twice
 .text
f: .cfi_startproc
 nop
 ret
 .cfi_endproc
g: .cfi_startproc
 ret
 .cfi_endproc
