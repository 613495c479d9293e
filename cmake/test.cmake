# sluice_label_test(test label target [TIMEOUT seconds]): labels a test of ctest.
# Target <label>_tests builds what the tests of a label run.  Those with a longer
# time-out begin first.
function(sluice_label_test test label target)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "TIMEOUT" "")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 1800)
  endif()
  set_tests_properties(${test} PROPERTIES LABELS ${label} TIMEOUT ${arg_TIMEOUT}
                                              COST ${arg_TIMEOUT})
  if(NOT TARGET ${label}_tests)
    add_custom_target(${label}_tests)
  endif()
  add_dependencies(${label}_tests ${target})
endfunction()

# sluice_test_library(name SOURCES ... DEPS ...): what several tests share.
function(sluice_test_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  add_library(${name} STATIC ${arg_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(
    ${name}
    PUBLIC ${arg_DEPS}
    PRIVATE sluice_warnings sluice_hardening)
  sluice_precompile(${name} code ${arg_DEPS})
endfunction()

# sluice_test_program(name SOURCES ... DEPS ...): a program that is no gtest.
function(sluice_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${arg_DEPS} sluice_warnings
                                        sluice_hardening)
  sluice_precompile(${name} code ${arg_DEPS})
endfunction()

# sluice_test(name SOURCES ... DEPS ... LABEL ... [TIMEOUT seconds]): one test
# binary, one ctest entry, linked with GoogleMock and the shared test helpers.
function(sluice_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIMEOUT" "SOURCES;DEPS")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${arg_DEPS} sluice_test_options
                                        sluice_test_paths sluice_warnings
                                        GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                           ${PROJECT_BINARY_DIR}/tests)
  sluice_precompile(${name} tests ${arg_DEPS})
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  sluice_label_test(${name} ${arg_LABEL} ${name} TIMEOUT ${arg_TIMEOUT})
endfunction()
