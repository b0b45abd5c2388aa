# One ctest entry for each folder of lit tests: lit/<stage>, e2e, error.

if(NOT TARGET kiln OR NOT TARGET kiln-opt)
  message(STATUS "No lit tests: kiln and kiln-opt are not part of this build")
  return()
endif()

find_program(KILN_LIT lit PATHS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH REQUIRED)
configure_file(lit.site.cfg.py.in ${CMAKE_CURRENT_BINARY_DIR}/lit.site.cfg.py.in @ONLY)
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/lit.site.cfg.py INPUT ${CMAKE_CURRENT_BINARY_DIR}/lit.site.cfg.py.in)

file(GLOB lit_folders RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS lit/* e2e error)
foreach(folder ${lit_folders})
  if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
    add_test(NAME ${folder} COMMAND ${KILN_LIT} -v -j2 ${CMAKE_CURRENT_BINARY_DIR}/${folder})
    set_tests_properties(${folder} PROPERTIES TIMEOUT 1800 PROCESSORS 2)
  endif()
endforeach()

# The expected result of a pass does not depend on the CPU of the machine that tests it.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  add_test(NAME another-cpu/lit COMMAND ${KILN_LIT} -v -j2 ${CMAKE_CURRENT_BINARY_DIR}/lit)
  set_tests_properties(another-cpu/lit PROPERTIES ENVIRONMENT KILN_TEST_CPU=x86-64-v2 TIMEOUT 900 PROCESSORS 2)
endif()
