// A 128-bit integer for intermediate products; __extension__ keeps -Wpedantic
// quiet about what g++ and clang both have.

#ifndef SLUICE_BASE_INT128_H_
#define SLUICE_BASE_INT128_H_

namespace sluice {

__extension__ typedef __int128 Int128;

}  // namespace sluice

#endif  // SLUICE_BASE_INT128_H_
