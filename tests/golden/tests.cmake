# What sfb dump prints, against objdump.
if(TARGET sfb)
  sfb_test(golden tool_dump SOURCES support/run.c)
  target_compile_definitions(test-golden-tool_dump PRIVATE SFB_TOOL="$<TARGET_FILE:sfb>")
  add_dependencies(test-golden-tool_dump sfb)
endif()
sfb_test(golden sframe_rows)
