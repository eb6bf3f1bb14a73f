# Faults by a seeder that does not know the checker.
if(TARGET sfb)
  find_program(sfb_python NAMES python3)
  if(CMAKE_CROSSCOMPILING)
    sfb_skip(second_seeder once "the copies are made by the sfb of this machine")
  elseif(sfb_python)
    sfb_add_test(second_seeder.once COST 10 COMMAND ${sfb_python} -I
      ${CMAKE_CURRENT_SOURCE_DIR}/second_seeder/once $<TARGET_FILE:sfb> $<TARGET_FILE:sframe-backtrace-shared>)
  else()
    sfb_skip(second_seeder once "no python3")
  endif()
endif()
