/* Constants of .eh_frame and .eh_frame_hdr, each with its source. */
#ifndef SFB_EH_FRAME_FORMAT_H
#define SFB_EH_FRAME_FORMAT_H

/* LSB Core, "DWARF Exception Header Encoding": low half the format, high half the base. */
enum {
    EH_ABSPTR = 0x00,
    EH_ULEB128 = 0x01,
    EH_UDATA2 = 0x02,
    EH_UDATA4 = 0x03,
    EH_UDATA8 = 0x04,
    EH_SLEB128 = 0x09,
    EH_SDATA2 = 0x0a,
    EH_SDATA4 = 0x0b,
    EH_SDATA8 = 0x0c,
    EH_FORMAT = 0x0f,
    EH_PCREL = 0x10,
    EH_DATAREL = 0x30,
    EH_ALIGNED = 0x50, /* as it is, at the next multiple of a word */
    EH_APPLICATION = 0x70,
    EH_INDIRECT = 0x80,
    EH_OMIT = 0xff
};

/* DWARF 5, table 7.29 "Call frame instruction encodings"; GNU's and AADWARF64's extensions. */
enum {
    CFA_ADVANCE_LOC = 0x40, /* these three have their operand in the low 6 bits */
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_MIPS_ADVANCE_LOC8 = 0x1d,
    CFA_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
    CFA_GNU_WINDOW_SAVE = 0x2d, /* AArch64: DW_CFA_AARCH64_negate_ra_state */
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f
};

/* DWARF 5, table 7.9 "DWARF operation encodings": what expressions in CFI are made of. */
enum {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST1S = 0x09,
    OP_CONST2U = 0x0a,
    OP_CONST2S = 0x0b,
    OP_CONST4U = 0x0c,
    OP_CONST4S = 0x0d,
    OP_CONST8U = 0x0e,
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_DUP = 0x12,
    OP_DROP = 0x13,
    OP_OVER = 0x14,
    OP_SWAP = 0x16,
    OP_AND = 0x1a,
    OP_MINUS = 0x1c,
    OP_MUL = 0x1e,
    OP_NEG = 0x1f,
    OP_NOT = 0x20,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_SHR = 0x25,
    OP_SHRA = 0x26,
    OP_XOR = 0x27,
    OP_EQ = 0x29,
    OP_GE = 0x2a,
    OP_GT = 0x2b,
    OP_LE = 0x2c,
    OP_LT = 0x2d,
    OP_NE = 0x2e,
    OP_LIT0 = 0x30,
    OP_LIT31 = 0x4f,
    OP_BREG0 = 0x70,
    OP_BREG31 = 0x8f,
    OP_BREGX = 0x92,
    OP_NOP = 0x96
};

#endif
