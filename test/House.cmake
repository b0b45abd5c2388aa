# The sources themselves, checked by tools/check, and the proof that each check can fail.

find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
foreach(check format includes)
  add_test(NAME house/${check} COMMAND ${PROJECT_SOURCE_DIR}/tools/check ${check})
endforeach()
add_test(NAME house/tidy COMMAND ${PROJECT_SOURCE_DIR}/tools/check tidy --all --build ${PROJECT_BINARY_DIR})
set_tests_properties(house/tidy PROPERTIES LABELS tidy TIMEOUT 3600 PROCESSORS 2)
add_test(NAME house/checks-can-fail COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/house/check_test.py)
add_test(NAME house/show-digit
  COMMAND ${PROJECT_SOURCE_DIR}/samples/mnist/show.py input_0.npy output_0.npy
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/samples/mnist)
set_tests_properties(house/show-digit PROPERTIES PASS_REGULAR_EXPRESSION "5 +27\\.45 +#+  <- the digit")
# That the other preset configures, too.
add_test(NAME house/asan-preset COMMAND ${CMAKE_COMMAND} --preset asan -B ${PROJECT_BINARY_DIR}/asan-preset
         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
