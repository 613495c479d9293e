# The warnings every target of ours is compiled with.  -Wrestrict cries wolf at
# std::string's operator+ in g++ 12 (GCC bug 105651).
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
            $<$<BOOL:${SLUICE_WERROR}>:-Werror>
            $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
