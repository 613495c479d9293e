include(GoogleTest)

# sluice_test(name SOURCES ... DEPS ... LABELS ... [TIMEOUT seconds]): one test
# binary, one ctest entry, linked with GoogleMock and the shared test helpers.
function(sluice_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;DEPS;LABELS")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${arg_DEPS} sluice_warnings GTest::gmock
                                        GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                           ${PROJECT_BINARY_DIR}/tests)
  # What is tested is optimized as it is shipped; the tests need not be.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_compile_definitions(
    ${name} PRIVATE SLUICE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                    SLUICE_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT
                                                 ${arg_TIMEOUT})
endfunction()
