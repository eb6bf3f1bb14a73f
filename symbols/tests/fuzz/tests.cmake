# Files of other people, and names in them. tests/fuzz/tests.cmake has sfb_fuzz().
sfb_fuzz(object object)
target_link_libraries(fuzz-object PRIVATE sfb-symbols)
sfb_fuzz(names names)
target_link_libraries(fuzz-names PRIVATE sfb-symbols)
