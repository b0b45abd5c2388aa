# Functions of the host that use a library of somebody else (runtime/include/kiln/call.h). Such a call is one object of
# libkiln_runtime.a. It holds the parts that it uses of the library's archive and shows only the call, or a codec. A program that
# does not call it has none of it, nobody who links one names more, and it does not meet another version of the library there.
#
# A kiln that is built without a library has the call too, but it only says that the library is missing.

# kiln_library_call(FUNCTION... LIBRARY WORD HEADER file.h ARCHIVES name... PACKAGES debian... SOURCES a.c... [FOLDER name] [MEMORY prefix]):
# the functions, whose sources ask for KILN_WITH_WORD, and for KILN_ONE_OBJECT if they replace something of the library's.
# Archives that others of them use come last; FOLDER is where headers may lie below the usual places; with MEMORY the
# object calls the functions MEMORYmalloc and so on in place of libc's.
function(kiln_library_call)
  cmake_parse_arguments(ARG "" "LIBRARY;HEADER;FOLDER;MEMORY" "ARCHIVES;PACKAGES;SOURCES" ${ARGN})
  find_path(KILN_${ARG_LIBRARY}_HEADERS ${ARG_HEADER} PATH_SUFFIXES ${ARG_FOLDER})
  set(inside "")
  set(found ${KILN_${ARG_LIBRARY}_HEADERS})
  foreach(name ${ARG_ARCHIVES})
    find_library(KILN_ARCHIVE_${name} lib${name}.a)
    list(APPEND inside ${KILN_ARCHIVE_${name}})
    if(NOT KILN_ARCHIVE_${name})
      set(found FALSE)
    endif()
  endforeach()
  if(NOT found)
    message(WARNING "${ARG_LIBRARY} is missing, so that kiln refuses what asks for it; install ${ARG_PACKAGES}")
    target_sources(kiln_runtime PRIVATE ${ARG_SOURCES})
    if(TARGET kiln_runtime_plain)
      target_sources(kiln_runtime_plain PRIVATE ${ARG_SOURCES})
    endif()
    return()
  endif()
  set(target kiln_call_${ARG_LIBRARY})
  add_library(${target} OBJECT ${ARG_SOURCES})
  kiln_runtime_target(${target})
  target_include_directories(${target} SYSTEM PRIVATE ${KILN_${ARG_LIBRARY}_HEADERS})
  target_compile_definitions(${target} PRIVATE KILN_WITH_${ARG_LIBRARY} KILN_ONE_OBJECT)
  target_compile_options(${target} PRIVATE ${KILN_HARDENING} -Os -g0)
  if(KILN_SANITIZE)
    target_compile_options(${target} PRIVATE -fno-sanitize=all)
  endif()
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${target}.o)
  list(TRANSFORM ARG_UNPARSED_ARGUMENTS PREPEND --keep-global-symbol= OUTPUT_VARIABLE shown)
  set(memory "")
  if(ARG_MEMORY)
    foreach(function malloc calloc realloc posix_memalign free)
      list(APPEND memory --redefine-sym=${function}=${ARG_MEMORY}${function})
    endforeach()
  endif()
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${object} $<TARGET_OBJECTS:${target}> ${inside}
    COMMAND ${CMAKE_OBJCOPY} --strip-unneeded ${memory} ${shown} ${object}
    DEPENDS ${target} $<TARGET_OBJECTS:${target}> ${inside} COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_sources(kiln_runtime PRIVATE ${object})
  if(TARGET kiln_runtime_plain)
    target_sources(kiln_runtime_plain PRIVATE ${object})
  endif()
  # Programs hold these libraries, whose terms require a copy of the terms.
  foreach(package ${ARG_PACKAGES})
    install(FILES /usr/share/doc/${package}/copyright DESTINATION share/doc/kiln/terms RENAME ${package} OPTIONAL)
  endforeach()
endfunction()
