# fault: of objects of two releases, with different versions of SFrame, one table is kept and the other dropped
# codes: SF0505
# known: SF0516 when WHOLE
# link: -shared mixed
 .file "one.c"
 .text
f: .cfi_startproc
 nop
 ret
 .cfi_endproc
