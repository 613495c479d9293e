# sluice_module(name SOURCES ... DEPS ...): one folder of src/ is one static
# library, sluice::<name>.  DEPS name the modules and packages it may use.
function(sluice_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  set(target sluice_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(sluice::${name} ALIAS ${target})
  target_include_directories(
    ${target} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(
    ${target}
    PUBLIC ${arg_DEPS}
    PRIVATE sluice_warnings sluice_hardening)
  sluice_precompile(${target} code ${arg_DEPS})
endfunction()
