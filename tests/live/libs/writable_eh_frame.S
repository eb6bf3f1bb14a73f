/* What some compilers' start files do: the linker makes .eh_frame writable, and puts it with the data. */
        .section .eh_frame, "aw", %progbits
        .section .note.GNU-stack, "", %progbits
