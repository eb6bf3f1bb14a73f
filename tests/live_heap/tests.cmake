# The live table: alone, with blocks that a test allocates as the hooks do.
foreach(name table)
  sfb_test(live_heap ${name} SOURCES live_heap/blocks.c LIBS sfb-live-table m LIMIT 60)
endforeach()
