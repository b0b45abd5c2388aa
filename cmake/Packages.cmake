# The packages that kiln needs, found once for the whole tree.

# Paths are hashed as seen from the build folder, so that each clone and worktree finds what another has compiled.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()

# Debian keeps LLVM 22 next to older ones; without the hint CMake may find another.
list(APPEND CMAKE_PREFIX_PATH /usr/lib/llvm-22)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON) # LLVM may lie where only the link knew it
find_package(MLIR 22.1 REQUIRED CONFIG)
find_package(LLVM 22.1 REQUIRED CONFIG)
set(MLIR_LINK_MLIR_DYLIB ON)
set(LLVM_LINK_LLVM_DYLIB ON)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
set(LLVM_TOOLS_DIR ${LLVM_TOOLS_BINARY_DIR})

# kiln_llvm and kiln_mlir: the shared libraries, or in a program with the property KILN_CARRIES_LLVM the archives, from which it
# takes only the parts that it uses.
set(KILN_IF_CARRIES $<BOOL:$<TARGET_PROPERTY:KILN_CARRIES_LLVM>>)
file(GLOB archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
list(FILTER archives EXCLUDE REGEX "CAPI")
foreach(name z zstd tinfo) # what LLVM's own archives ask for
  find_library(KILN_ARCHIVE_${name} lib${name}.a)
  if(KILN_ARCHIVE_${name})
    list(APPEND archives ${KILN_ARCHIVE_${name}})
  endif()
endforeach()
add_library(kiln_llvm INTERFACE)
target_link_libraries(kiln_llvm INTERFACE $<IF:${KILN_IF_CARRIES},${archives},LLVM>)
add_library(kiln_mlir INTERFACE)
target_link_libraries(kiln_mlir INTERFACE $<$<NOT:${KILN_IF_CARRIES}>:MLIR> kiln_llvm)

find_package(nlohmann_json REQUIRED)
find_package(spdlog REQUIRED)
# As headers, and fmt's too: a program that carries its libraries would still ask for fmt's, and one file includes them.
add_library(kiln_spdlog INTERFACE)
target_include_directories(kiln_spdlog SYSTEM INTERFACE
  $<TARGET_PROPERTY:spdlog::spdlog_header_only,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(kiln_spdlog INTERFACE
  $<TARGET_PROPERTY:spdlog::spdlog_header_only,INTERFACE_COMPILE_DEFINITIONS> FMT_HEADER_ONLY)
find_package(CLI11 REQUIRED)
if(KILN_TESTS)
  find_package(Catch2 2 REQUIRED)
endif()
