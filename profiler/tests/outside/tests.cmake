# Recordings from outside: records of perf events, stacks that they carry.
if(NOT TARGET sfb-outside OR CMAKE_CROSSCOMPILING OR SFRAME_BACKTRACE_SANITIZE)
  sfb_skip(outside perf_script "it takes a native build without sanitizers")
else()
  add_executable(outside-compare outside/compare.c)
  sfb_test_options(outside-compare)
  target_link_libraries(outside-compare PRIVATE sfb-outside)
  sfb_add_test(outside.perf_script COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/outside/perf_script $<TARGET_FILE:outside-compare>)
endif()
