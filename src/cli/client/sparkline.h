// A curve in one line of text.
//
// Threads: a pure function.

#ifndef SLUICE_CLI_CLIENT_SPARKLINE_H_
#define SLUICE_CLI_CLIENT_SPARKLINE_H_

#include <span>
#include <string>

namespace sluice {

// A block for each value, "▁▂▃▄▅▆▇█" from 0 to 1; others are shown as 0 or 1.
std::string Sparkline(std::span<const double> values);

}  // namespace sluice

#endif  // SLUICE_CLI_CLIENT_SPARKLINE_H_
