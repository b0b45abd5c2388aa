# find_package(kiln): the compiler KILN_EXECUTABLE, the library for objects (kiln::runtime) and kiln_add_model. All paths are
# relative to this file, lib/cmake/kiln, so an installation may be moved.

get_filename_component(KILN_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(KILN_EXECUTABLE "${KILN_PREFIX}/bin/kiln")
foreach(file ${KILN_EXECUTABLE} ${KILN_PREFIX}/lib/kiln/libkiln_runtime.a)
  if(NOT EXISTS "${file}")
    set(kiln_FOUND FALSE)
    set(kiln_NOT_FOUND_MESSAGE "${file} is not there; build or install kiln as a whole")
    return()
  endif()
endforeach()

include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)

if(NOT TARGET kiln::runtime)
  add_library(kiln::runtime INTERFACE IMPORTED)
  set_target_properties(kiln::runtime PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${KILN_PREFIX}/lib/kiln/include"
    INTERFACE_LINK_LIBRARIES
      "${KILN_PREFIX}/lib/kiln/libkiln_device_cpu.a;${KILN_PREFIX}/lib/kiln/libkiln_runtime.a;Threads::Threads;m")
endif()

# Paths in a depfile are absolute. A policy that is set here holds for the function below, not for who calls it.
if(POLICY CMP0116)
  cmake_policy(SET CMP0116 NEW)
endif()

# kiln_add_model(NAME FILE [OPTIONS kiln compile's...]): a library NAME of the model in FILE, whose header is NAME.h. Functions
# have that name, with _ for characters that C does not allow. The model is compiled again if FILE, kiln, or since CMake 3.20
# another file changes that the model consists of or that OPTIONS name.
function(kiln_add_model name file)
  cmake_parse_arguments(ARG "" "" "OPTIONS" ${ARGN})
  get_filename_component(file "${file}" ABSOLUTE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}.model")
  file(MAKE_DIRECTORY "${folder}")
  set(depfile "")
  if(NOT CMAKE_VERSION VERSION_LESS 3.20) # older ones have it for Ninja alone
    set(depfile DEPFILE "${folder}/${name}.d")
  endif()
  add_custom_command(OUTPUT "${folder}/lib${name}.a" "${folder}/${name}.h"
                     COMMAND "${KILN_EXECUTABLE}" compile "${file}" --emit static -o "${folder}/lib${name}.a"
                             --depfile "${folder}/${name}.d" ${ARG_OPTIONS}
                     DEPENDS "${file}" "${KILN_EXECUTABLE}" ${depfile} COMMENT "Compiling the model ${name}" VERBATIM)
  add_custom_target(${name}_model DEPENDS "${folder}/lib${name}.a")
  add_library(${name} STATIC IMPORTED GLOBAL)
  add_dependencies(${name} ${name}_model)
  set_target_properties(${name} PROPERTIES
    IMPORTED_LOCATION "${folder}/lib${name}.a"
    INTERFACE_INCLUDE_DIRECTORIES "${folder}"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;m")
endfunction()
