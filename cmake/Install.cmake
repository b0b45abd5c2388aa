# An installation has bin/kiln, the libraries that it links into programs (lib/kiln), and a package for CMake (lib/cmake/kiln).
# kiln finds lib/kiln relative to itself, so the build folder has the same layout, and an installation may be moved.

install(TARGETS kiln RUNTIME DESTINATION bin COMPONENT program)
install(PROGRAMS $<TARGET_FILE:kiln-portable> DESTINATION bin COMPONENT portable EXCLUDE_FROM_ALL)
# The wheel holds libraries whose terms require a copy of the terms.
foreach(package llvm-22-dev libmlir-22-dev libprotobuf-dev libzstd-dev zlib1g-dev libncurses-dev libstdc++-12-dev)
  install(FILES /usr/share/doc/${package}/copyright DESTINATION share/doc/kiln/terms RENAME ${package}
          COMPONENT portable EXCLUDE_FROM_ALL OPTIONAL)
endforeach()
get_property(libraries GLOBAL PROPERTY KILN_RUNTIME_LIBRARIES)
foreach(library ${libraries})
  install(FILES $<TARGET_FILE:${library}> DESTINATION lib/kiln)
endforeach()
install(DIRECTORY ${KILN_RUNTIME_DIR}/include ${KILN_RUNTIME_DIR}/source DESTINATION lib/kiln)

install(DIRECTORY ${PROJECT_BINARY_DIR}/share DESTINATION .)

set(package ${PROJECT_BINARY_DIR}/lib/cmake/kiln)
configure_file(${PROJECT_SOURCE_DIR}/cmake/kiln-config.cmake ${package}/kiln-config.cmake COPYONLY)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${package}/kiln-config-version.cmake COMPATIBILITY SameMinorVersion)
install(DIRECTORY ${package} DESTINATION lib/cmake)
install(FILES LICENSE README.md DESTINATION share/doc/kiln)
# Errors name pages of it, and pages link samples. Other files that they link are not installed.
install(DIRECTORY docs samples DESTINATION share/doc/kiln USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
install(CODE "execute_process(COMMAND \"${Python3_EXECUTABLE}\" \"${PROJECT_SOURCE_DIR}/cmake/mend_links.py\"
                                      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\" COMMAND_ERROR_IS_FATAL ANY)")

# `cpack` makes a .deb, whose program has the system's LLVM, and a .tar.xz and a wheel of kiln-portable, which run from any folder.
set(CPACK_PACKAGE_NAME kiln)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "turns a model file into a program")
set(CPACK_PACKAGE_CONTACT "the authors of kiln")
set(CPACK_GENERATOR DEB TXZ External)
set(CPACK_STRIP_FILES ON)
string(TOLOWER ${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR} CPACK_SYSTEM_NAME)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/CPackGenerator.cmake)
set(CPACK_ARCHIVE_THREADS 2) # the same bytes on any number of cores
set(CPACK_EXTERNAL_ENABLE_STAGING ON)
set(CPACK_EXTERNAL_PACKAGE_SCRIPT ${PROJECT_SOURCE_DIR}/cmake/Wheel.cmake)
set(CPACK_KILN_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# The libraries as the program has them; a C compiler links the files that kiln makes.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "gcc | c-compiler, libc6-dev | libc-dev")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
include(CPack)
