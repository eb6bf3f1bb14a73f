# Core files. tests/fuzz/tests.cmake has sfb_fuzz().
sfb_fuzz(core core)
target_link_libraries(fuzz-core PRIVATE sfb-remote)
