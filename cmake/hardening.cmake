# What makes a fault of memory harder to abuse, for what is shipped: a position
# that nobody knows beforehand (PIE), tables of the linker that cannot be
# written (RELRO, bound at the start), checks of the C library's calls
# (_FORTIFY_SOURCE), canaries on the stack, and no jumps into the middle of
# functions where the processor can tell.  tests/build/hardening_test.py looks
# whether the programs have it.  Sanitizers find such faults themselves.
add_library(sluice_hardening INTERFACE)
if(CMAKE_BUILD_TYPE STREQUAL Release AND NOT SLUICE_SANITIZE)
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-fcf-protection SLUICE_HAS_CF_PROTECTION)
  target_compile_options(
    sluice_hardening
    INTERFACE -fPIE -D_FORTIFY_SOURCE=2 -fstack-protector-strong
              -fstack-clash-protection
              $<$<BOOL:${SLUICE_HAS_CF_PROTECTION}>:-fcf-protection>)
  target_link_options(sluice_hardening INTERFACE -pie -Wl,-z,relro -Wl,-z,now
                      -Wl,-z,noexecstack)
endif()
