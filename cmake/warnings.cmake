# The warnings every target of ours is compiled with.  Three cry wolf in g++ 12
# at std::string, whose code counts as ours once it comes from a precompiled
# header (GCC bug 105651 and those like it); AddressSanitizer finds what they
# look for.  From g++ 13 on a fourth does so at the tables of Abseil; g++ 12
# still has it.
add_library(sluice_warnings INTERFACE)
target_compile_options(
  sluice_warnings
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wconversion
            -Wshadow
            -Wswitch-enum
            -Wnon-virtual-dtor
            $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
            $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>
            $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
            $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-maybe-uninitialized>
            $<$<BOOL:${SLUICE_WERROR}>:-Werror>
            $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
