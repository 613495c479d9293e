// Ports of this machine that nobody listens on.

#ifndef SLUICE_TESTS_UTIL_FREE_PORT_H_
#define SLUICE_TESTS_UTIL_FREE_PORT_H_

namespace sluice {

// One that nobody listens on at the moment, and that no other call gets, in
// this process or in any, until this process ends.  The kernel deals it to no
// connection.  So a server which ends can have it again.
int FreePort();

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_FREE_PORT_H_
