# Headers that most sources include are compiled once.  A source can use them if
# it is compiled with the same options, so there are four: for code and for tests,
# with gRPC and without.

# sluice_precompiled(name DEPS ...): compiles precompiled/<name>.h.
function(sluice_precompiled name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPS")
  set(empty ${PROJECT_BINARY_DIR}/precompiled.cc)
  if(NOT EXISTS ${empty})
    file(WRITE ${empty} "")
  endif()
  set(target precompiled_${name})
  add_library(${target} OBJECT ${empty})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake)
  target_link_libraries(${target} PRIVATE ${arg_DEPS} sluice_warnings)
  set_target_properties(
    ${target}
    PROPERTIES CXX_COMPILER_LAUNCHER
               "${PROJECT_SOURCE_DIR}/cmake/compile-precompiled;${CMAKE_CXX_COMPILER_LAUNCHER}")
  # In angle brackets, because CMake would write the full path of the header
  # otherwise, and no other checkout could use the result.
  target_precompile_headers(${target} PRIVATE <precompiled/${name}.h>)
endfunction()

# sluice_precompile(target code|tests DEPS...): gives `target`, which links DEPS,
# the precompiled headers.
function(sluice_precompile target name)
  if("${ARGN}" MATCHES "gRPC|sluice::(api|cli|rpc|server)|_client")
    string(APPEND name _grpc)
  endif()
  target_precompile_headers(${target} REUSE_FROM precompiled_${name})
endfunction()

# Some packages ask for it and others do not, and the options must be the same.
add_compile_options(-pthread)

set(common absl::flat_hash_map absl::flat_hash_set absl::btree absl::statusor
           glog::glog)
sluice_precompiled(code DEPS ${common} sluice_hardening)
sluice_precompiled(code_grpc DEPS ${common} sluice_hardening sluice::api)

if(BUILD_TESTING)
  # What is tested is optimized as it is shipped; the tests need not be.  Of the
  # sanitizers, UndefinedBehaviorSanitizer checks only what is tested: in the
  # tests it would be a third of the time to compile.
  add_library(sluice_test_options INTERFACE)
  target_compile_options(sluice_test_options INTERFACE -Og)
  if(SLUICE_SANITIZE)
    target_compile_options(sluice_test_options INTERFACE -fno-sanitize=undefined)
  endif()
  target_link_libraries(sluice_test_options INTERFACE GTest::gmock glog::glog)
  sluice_precompiled(tests DEPS ${common} sluice_test_options)
  sluice_precompiled(tests_grpc DEPS ${common} sluice_test_options sluice::api)
endif()
