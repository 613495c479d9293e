# sluice_test(name SOURCES ... DEPS ... LABELS ... [TIMEOUT seconds]): one test
# binary, one ctest entry, linked with GoogleMock and the shared test helpers.
function(sluice_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;DEPS;LABELS")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${arg_DEPS} sluice_test_options
                                        sluice_test_paths sluice_warnings
                                        GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                           ${PROJECT_BINARY_DIR}/tests)
  sluice_precompile(${name} tests ${arg_DEPS})
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT
                                                 ${arg_TIMEOUT})
endfunction()
