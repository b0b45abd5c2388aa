# The sources themselves, checked by tools/check, and the proof that each check can fail.

find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
foreach(check format includes instructions cpus heads passes words commits)
  add_test(NAME house/${check} COMMAND ${PROJECT_SOURCE_DIR}/tools/check ${check})
endforeach()
add_test(NAME house/tidy COMMAND ${PROJECT_SOURCE_DIR}/tools/check tidy --all --build ${PROJECT_BINARY_DIR})
set_tests_properties(house/tidy PROPERTIES LABELS tidy TIMEOUT 3600 PROCESSORS 2)
# What is worked on, in every run of all tests: few files, for two minutes at most.
add_test(NAME house/tidy-recent COMMAND ${PROJECT_SOURCE_DIR}/tools/check tidy --recent 5 --build ${PROJECT_BINARY_DIR})
set_tests_properties(house/tidy-recent PROPERTIES PROCESSORS 2 SKIP_REGULAR_EXPRESSION "SKIPPED: ")
add_test(NAME house/checks-can-fail COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/house/check_test.py)
add_test(NAME house/show-digit
  COMMAND ${PROJECT_SOURCE_DIR}/samples/mnist/show.py input_0.npy output_0.npy
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/samples/mnist)
set_tests_properties(house/show-digit PROPERTIES PASS_REGULAR_EXPRESSION "5 +27\\.45 +#+  <- the digit")
# That the other preset configures, too.
add_test(NAME house/asan-preset COMMAND ${CMAKE_COMMAND} --preset asan -B ${PROJECT_BINARY_DIR}/asan-preset
         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
# That a source compiles where MLIR's headers are precompiled, as in tools/demo.
add_test(NAME house/precompiled
         COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/precompiled --build-generator Ninja
                 --build-target compiler/ir/base/CMakeFiles/KilnBase.dir/Alu.cpp.o --build-noclean
                 --build-options -DKILN_PRECOMPILE=ON -DKILN_TESTS=OFF
                 -DKILN_ONNX_PROTO=${KILN_ONNX_PROTO} -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
                 -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER})
