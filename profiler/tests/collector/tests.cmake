# What `sfb record` does with the memory that it shares.
if(TARGET sfb-collector AND TARGET sfb-recording)
  sfb_test(collector drain SOURCES support/folder.c support/run.c ${PROJECT_SOURCE_DIR}/cli/tests/record_tool/contents.c
    LIBS sfb-collector sfb-recording-zstd)
  sfb_test(collector session LIBS sfb-collector)
  sfb_test(collector functions LIBS sfb-agent-cpu-parts sfb-collector)
  sfb_test(collector unloads LIBS sfb-agent-cpu-parts sfb-collector)
  sfb_test(collector codes LIBS sfb-collector)
  sfb_test(collector full_ring SOURCES support/fake_cpython.c LIBS sfb-agent-cpu-parts sfb-collector)
endif()
