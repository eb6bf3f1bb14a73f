sfb_test(unit sframe_section SOURCES support/section_bytes.c)
sfb_test(unit sframe_fde SOURCES support/section_bytes.c)
sfb_test(unit sframe_fre SOURCES support/section_bytes.c)
sfb_test(unit sframe_find SOURCES support/section_bytes.c)
