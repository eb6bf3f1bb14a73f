# Labels of tests, in one place. `ctest -L load` runs those that fork, sample or wait: what a busy machine could
# disturb. They have to be as green beside eight busy loops as alone.
#
# `timing`: a test that claims something about elapsed time. It runs alone, and after all others. Such claims belong in
# bench/; what a test can count (CPU time, calls, instructions) it counts.
set(sfb_load_tests
  "^heap[.]" "^heap_truth[.]"
  "^collector[.]"
  "^command[.](crash|debuginfod|demo|examples|lws|process|signals)"
  "^live[.](agreement|contract_threads|crash|exiting|single_step|stale|stepped|threads|true_ends)"
  "^live_heap[.](agent|ctl|owners)"
  "^page[.](browser|dh_view)"
  "^policy[.]leftovers"
  "^race[.]"
  "^record[.]" "^record_tool[.]" "^record_truth[.]" "^recording$"
  "^report_formats[.]programs"
  "^torture[.]")
set(sfb_timing_tests "^page[.]speed$" "^record_tool[.]proportion$")
string(JOIN "|" sfb_load_tests ${sfb_load_tests})
string(JOIN "|" sfb_timing_tests ${sfb_timing_tests})

get_property(names DIRECTORY PROPERTY TESTS)
foreach(name ${names})
  # `sfb ctl` asks each recorder of the machine, a liar of such a test among them.
  if(name MATCHES "^record_tool[.](mapped|marks|pauses|states)")
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK recorders)
  endif()
  if(name MATCHES "${sfb_timing_tests}")
    # Of the least cost: ctest begins it last.
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON COST -1)
    set_property(TEST ${name} APPEND PROPERTY LABELS timing)
  elseif(name MATCHES "${sfb_load_tests}")
    set_property(TEST ${name} APPEND PROPERTY LABELS load)
  endif()
endforeach()

# A test that add_test() alone adds has no limit.
foreach(name ${names})
  get_property(timeout TEST ${name} PROPERTY TIMEOUT)
  if(NOT timeout)
    message(FATAL_ERROR "tests: ${name} has no limit: use sfb_add_test()")
  endif()
endforeach()
