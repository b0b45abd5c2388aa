# MLIR's headers, which nearly every source of the compiler includes, precompiled. It is for builds from nothing and halves their
# time. With it a source that misses an include compiles all the same, and a cache of compilers' results knows a source again only
# in the same folder, since the precompiled file names it.

if(KILN_PRECOMPILE)
  if(CCACHE) # it leaves precompiled headers alone unless told that it may trust them
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  endif()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cpp CONTENT "")
  add_library(kiln_precompiled OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
  kiln_compiler_options(kiln_precompiled)
  target_precompile_headers(
    kiln_precompiled PRIVATE <llvm/ADT/TypeSwitch.h> <mlir/Bytecode/BytecodeOpInterface.h> <mlir/Dialect/Func/IR/FuncOps.h>
    <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/DialectImplementation.h> <mlir/IR/OpImplementation.h>
    <mlir/IR/PatternMatch.h> <mlir/IR/TypeUtilities.h> <mlir/Interfaces/ControlFlowInterfaces.h> <mlir/Interfaces/FunctionInterfaces.h>
    <mlir/Interfaces/InferTypeOpInterface.h> <mlir/Interfaces/SideEffectInterfaces.h>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(kiln_precompiled PRIVATE "SHELL:-Xclang -fno-pch-timestamp") # or no two are the same
  endif()
endif()

# kiln_precompile(TARGET): its sources find the headers precompiled, where that is wanted.
function(kiln_precompile target)
  if(KILN_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM kiln_precompiled)
  endif()
endfunction()
