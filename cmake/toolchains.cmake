# Assemblers and linkers of later releases, which write SFrame versions 2 and 3: `./dev setup` has
# fixtures/make fetch them.
#
# sfb_newer_versions   2;3, or nothing
# sfb_newer_skip       why there are none; empty where nobody asked for them, too
# sfb_newer_<version>  options that have a compiler use them

set(sfb_newer_versions "")
set(sfb_newer_skip "")
if(SFRAME_BACKTRACE_TEST_VERSIONS)
  set(folder "$ENV{SFB_TOOLCHAINS}")
  if(NOT folder AND "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(folder "$ENV{HOME}/.cache/sframe-backtrace/toolchains")
  elseif(NOT folder)
    set(folder "$ENV{XDG_CACHE_HOME}/sframe-backtrace/toolchains")
  endif()
  set(suite_2 trixie)
  set(suite_3 sid)
  foreach(version 2 3)
    set(tools ${folder}/${suite_${version}}/${SFRAME_BACKTRACE_ARCH})
    execute_process(COMMAND ${tools}/as --gsframe -o /dev/null /dev/null RESULT_VARIABLE result OUTPUT_QUIET
      ERROR_QUIET)
    if(result EQUAL 0)
      list(APPEND sfb_newer_versions ${version})
      set(sfb_newer_${version} -B${tools}/)
      set(sfb_newer_objdump_${version} ${tools}/objdump)
    endif()
  endforeach()
  if(NOT sfb_newer_versions STREQUAL "2;3")
    set(sfb_newer_versions "")
    set(sfb_newer_skip "the binutils of Debian trixie and sid are not in ${folder} (./dev setup fetches them)")
  endif()
endif()
