# What sfb dump prints, against objdump.
if(TARGET sfb)
  sfb_tool_test(golden tool_dump COST 50)
  foreach(version ${sfb_newer_versions})
    target_compile_definitions(test-golden-tool_dump PRIVATE
      SFB_OBJDUMP_${version}="${sfb_newer_objdump_${version}}")
  endforeach()
endif()
