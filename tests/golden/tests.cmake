# What sfb dump prints, against objdump.
if(TARGET sfb)
  sfb_tool_test(golden tool_dump)
endif()
sfb_test(golden sframe_rows)
