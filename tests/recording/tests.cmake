# Recordings: src/recording by itself.
if(TARGET sfb-recording)
  sfb_test(recording unit SOURCES recording/made.c recording/same.c LIBS sfb-recording-zstd)
endif()
