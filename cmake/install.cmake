# What `make install` puts where, and how the installed files find each other.
if(TARGET cairn)
  install(TARGETS cairn RUNTIME)
endif()
install(TARGETS cairn_shared)
install(FILES ${static_library} DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(EXISTS ${CMAKE_SOURCE_DIR}/include/cairn.h)
  install(FILES ${CMAKE_SOURCE_DIR}/include/cairn.h TYPE INCLUDE)
endif()
configure_file(${CMAKE_SOURCE_DIR}/cmake/cairn.pc.in ${CMAKE_BINARY_DIR}/cairn.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/cairn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# A yyjson that is not the system's travels with Cairn (cmake/dependencies.cmake says how it is found).
if(CAIRN_PRIVATE_YYJSON)
  install(FILES ${yyjson_files} DESTINATION ${private_dir})
  file(RELATIVE_PATH from_lib /${CMAKE_INSTALL_LIBDIR} /${private_dir})
  set_target_properties(cairn_shared PROPERTIES INSTALL_RPATH "$ORIGIN/${from_lib};$ORIGIN/lib/cairn")
endif()
