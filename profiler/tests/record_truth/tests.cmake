# Whether a recording says where CPU time went: the agent is for plain programs, and the kernel's timers for real ones.
if(NOT SFRAME_BACKTRACE_PROFILER)
  sfb_skip(record_truth split "recordings are not built: zstd is not installed")
elseif(SFRAME_BACKTRACE_SANITIZE)
  sfb_skip(record_truth split "a sanitized agent cannot be preloaded")
elseif(CMAKE_CROSSCOMPILING_EMULATOR)
  sfb_skip(record_truth split "an emulator's CPU time is not the program's")
else()
  find_package(Threads REQUIRED)
  add_executable(test-record_truth-work record_truth/work.c)
  target_include_directories(test-record_truth-work PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${sfb_tests})
  target_link_libraries(test-record_truth-work PRIVATE sfb-flags Threads::Threads)
  target_compile_options(test-record_truth-work PRIVATE -O2)
  add_dependencies(test-record_truth-work sfb sfb-agent-cpu)
  sfb_add_test(record_truth.split COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/record_truth/split
    $<TARGET_FILE:sfb> $<TARGET_FILE:test-record_truth-work>)
endif()

# The agent as it is installed, with libunwind beside it.
if(TARGET test-record_truth-work AND UNWIND_FOUND)
  include(${PROJECT_SOURCE_DIR}/tests/oracles/oracles.cmake)
  get_target_property(sfb_agent_sources sfb-agent-cpu SOURCES)
  get_target_property(sfb_agent_libraries sfb-agent-cpu LINK_LIBRARIES)
  get_target_property(sfb_agent_folder sfb-agent-cpu SOURCE_DIR)
  set(sfb_check_sources "")
  foreach(source ${sfb_agent_sources})
    get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${sfb_agent_folder}")
    list(APPEND sfb_check_sources ${source})
  endforeach()
  add_library(test-record_truth-agent SHARED ${sfb_check_sources} record_truth/check.c ${sfb_loaded_oracles})
  set_target_properties(test-record_truth-agent PROPERTIES OUTPUT_NAME sfb-agent-check
    C_VISIBILITY_PRESET hidden LINKER_LANGUAGE C NO_SONAME ON)
  target_include_directories(test-record_truth-agent PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src
    ${CMAKE_CURRENT_SOURCE_DIR} ${sfb_tests})
  target_include_directories(test-record_truth-agent SYSTEM PRIVATE ${SFRAME_BACKTRACE_LIBUNWIND_HEADERS})
  target_link_libraries(test-record_truth-agent PRIVATE ${sfb_agent_libraries} ${CMAKE_DL_LIBS})
  target_compile_options(test-record_truth-agent PRIVATE $<$<COMPILE_LANGUAGE:C>:-fno-plt -fno-semantic-interposition>)
  # It stands for the agent: the command takes no other library for one.
  target_link_options(test-record_truth-agent PRIVATE -Wl,-soname,$<TARGET_FILE_NAME:sfb-agent-cpu> -Wl,-z,now -Wl,-z,defs -Wl,--wrap=sfb_sample_take
    -Wl,--version-script=${sfb_agent_folder}/cpu/exports.map)
  sfb_add_test(record_truth.stacks COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/record_truth/stacks
    $<TARGET_FILE:sfb> $<TARGET_FILE:test-record_truth-agent>)
else()
  sfb_skip(record_truth stacks "libunwind, which they are compared with, is not installed, or nothing is recorded here")
endif()
