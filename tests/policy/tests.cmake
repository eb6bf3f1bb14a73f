# What holds for the library as a whole: its imports and exports, its headers, its layers, and that an
# installed copy can be used.
function(sfb_policy_test name)
  sfb_test(policy ${name} SHARED SOURCES support/command.c)
  target_compile_definitions(test-policy-${name} PRIVATE
    SFB_SHARED_LIBRARY="$<TARGET_FILE:sframe-backtrace-shared>"
    SFB_STATIC_LIBRARY="$<TARGET_FILE:sframe-backtrace-static>"
    SFB_NM="${CMAKE_NM}" SFB_READELF="${CMAKE_READELF}"
    SFB_CMAKE="${CMAKE_COMMAND}" SFB_GENERATOR="${CMAKE_GENERATOR}" SFB_CC="${CMAKE_C_COMPILER}"
    SFB_LIBUNWIND_OPTION="-DSFRAME_BACKTRACE_LIBUNWIND=${SFRAME_BACKTRACE_LIBUNWIND}")
endfunction()

# A test that cannot hold in this configuration: still listed, so that nobody thinks it ran.
function(sfb_policy_skip name reason)
  add_test(NAME policy.${name} COMMAND sh -c "echo 'skipped: policy.${name}: ${reason}'; exit 77")
  set_tests_properties(policy.${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

sfb_policy_test(exports)
sfb_policy_test(headers)
sfb_policy_test(layers)
if(SFRAME_BACKTRACE_SANITIZE)
  sfb_policy_skip(imports "sanitizers call their runtime from every function")
  sfb_policy_skip(consumer "a sanitized library wants its sanitizer in the program")
else()
  sfb_policy_test(imports)
  sfb_policy_test(consumer)
endif()
