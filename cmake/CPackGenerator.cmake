# Read by cpack for each kind of package: where its files go and which of the two programs it has. External is the wheel.
if(CPACK_GENERATOR MATCHES "^(TXZ|External)$")
  list(GET CPACK_INSTALL_CMAKE_PROJECTS 0 build)
  set(CPACK_INSTALL_CMAKE_PROJECTS "${build};kiln;Unspecified;/;${build};kiln;portable;/")
  set(CPACK_PACKAGING_INSTALL_PREFIX /)
else()
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
endif()
