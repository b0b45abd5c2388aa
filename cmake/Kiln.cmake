# How kiln's own targets are declared: one library for each folder of compiler/, warnings as errors, hardened, two include roots.

if(KILN_SANITIZE)
  add_compile_options(-fsanitize=${KILN_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${KILN_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND KILN_SANITIZE MATCHES "address")
    # A library of its own, so that a library loaded before it can make its allocations fail (test/injection).
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so
                    OUTPUT_VARIABLE KILN_ASAN_LIBRARY OUTPUT_STRIP_TRAILING_WHITESPACE)
    cmake_path(GET KILN_ASAN_LIBRARY PARENT_PATH folder)
    add_link_options(-shared-libasan -Wl,-rpath,${folder})
  endif()
endif()
if(KILN_FUZZ)
  # The libraries tell the fuzzer what it reached.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_link_options(-fuse-ld=lld)
endif()

# Headers are included by their path below compiler/ ("view/View.h") or below the top ("passes/Pipeline.h"); the files that
# TableGen makes have the same path below the build folder. TableGen itself sees only directory properties.
include_directories(${PROJECT_SOURCE_DIR}/compiler ${PROJECT_SOURCE_DIR}
                    ${PROJECT_BINARY_DIR}/compiler ${PROJECT_BINARY_DIR})

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# Hardens code, kiln's own and that linked into programs; the compilers' defaults differ.
set(KILN_HARDENING -fstack-protector-strong)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|i[3-6]86")
  list(APPEND KILN_HARDENING -fcf-protection=full)
endif()

# In addition, functions of libc that know the room check it. Not in programs that kiln makes, which may have another libc; and
# sanitizers check themselves.
function(kiln_compiler_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter $<$<BOOL:${KILN_WERROR}>:-Werror> ${KILN_HARDENING})
  if(NOT KILN_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>)
  endif()
endfunction()

# kiln_library(NAME SOURCES a.cpp... [DEPENDS kiln libraries...] [LINK other libraries...] [GENERATED targets...])
# A static library of the compiler. DEPENDS names the kiln libraries below it; the include check holds it to them.
# LLVM and MLIR come as kiln_llvm and kiln_mlir.
function(kiln_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK;GENERATED" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  kiln_compiler_options(${name})
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} ${ARG_LINK})
  if(ARG_GENERATED)
    add_dependencies(${name} ${ARG_GENERATED})
  endif()
  if(NOT name MATCHES "^Kiln(Support|View|Package)$") # these know nothing of MLIR
    kiln_precompile(${name})
  endif()
endfunction()

# kiln_program(NAME SOURCES... DEPENDS... LINK...): an executable that links kiln libraries, MLIR and LLVM.
function(kiln_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  kiln_compiler_options(${name})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} ${ARG_LINK})
  # Hardened as the programs that kiln makes are.
  target_link_options(${name} PRIVATE -pie LINKER:-z,relro,-z,now,-z,noexecstack)
endfunction()

# kiln_device(NAME COMPILER_LIBRARY): a device that drivers can have. The library defines kiln::NAME::device(); the runtime
# library kiln_device_NAME holds its runtime, the constant kiln_device_NAME.
function(kiln_device name library)
  set_property(GLOBAL PROPERTY KILN_DEVICE_${name} ${library})
  set_property(GLOBAL APPEND PROPERTY KILN_DEVICES ${name})
endfunction()

# kiln_tablegen(FOLDER_PREFIX FILE.td DIALECT): the .inc files of a dialect; the target is KilnDIALECTIncGen.
function(kiln_dialect_tablegen td dialect prefix)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${prefix}Dialect.h.inc -gen-dialect-decls -dialect=${dialect})
  mlir_tablegen(${prefix}Dialect.cpp.inc -gen-dialect-defs -dialect=${dialect})
  mlir_tablegen(${prefix}Enums.h.inc -gen-enum-decls)
  mlir_tablegen(${prefix}Enums.cpp.inc -gen-enum-defs)
  mlir_tablegen(${prefix}Attrs.h.inc -gen-attrdef-decls -attrdefs-dialect=${dialect})
  mlir_tablegen(${prefix}Attrs.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${dialect})
  mlir_tablegen(${prefix}Types.h.inc -gen-typedef-decls -typedefs-dialect=${dialect})
  mlir_tablegen(${prefix}Types.cpp.inc -gen-typedef-defs -typedefs-dialect=${dialect})
  mlir_tablegen(${prefix}Ops.h.inc -gen-op-decls)
  mlir_tablegen(${prefix}Ops.cpp.inc -gen-op-defs)
  add_public_tablegen_target(Kiln${prefix}IncGen)
endfunction()

# One op of a dialect, in a file of its own for the few that know it.
function(kiln_op_tablegen td op prefix)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${prefix}Ops.h.inc -gen-op-decls -op-include-regex=^${op}$)
  mlir_tablegen(${prefix}Ops.cpp.inc -gen-op-defs -op-include-regex=^${op}$)
  add_public_tablegen_target(Kiln${prefix}IncGen)
endfunction()
