# The warnings every target of ours is compiled with.  Three cry wolf in g++ 12
# at std::string, whose code counts as ours once it comes from a precompiled
# header (GCC bug 105651 and those like it); AddressSanitizer finds what they
# look for.
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
            $<$<BOOL:${SLUICE_WERROR}>:-Werror>
            $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
