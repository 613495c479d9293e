// Compares what the scheduler says with what the transcripts expect.
//
//   golden_runner FILE...             exits with 1 where they differ
//   golden_runner --rewrite FILE...   writes what it says into the files
//   golden_runner --digest FILE...    prints a digest of what it says
//
// A transcript is a sequence of blocks: comment lines with '#', command lines
// (golden/transcript.h), "----", and what the commands say, up to an empty
// line.  Every file is run twice, and must say the same both times.

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "golden/transcript.h"

namespace sluice {
namespace {

struct Block {
  std::string head;  // Comments and commands, as they stand in the file.
  std::vector<std::string> commands;
  std::string expected;
};

std::string Read(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<Block> Parse(const std::string& text) {
  std::vector<Block> blocks;
  std::istringstream stream(text);
  bool is_output = false;
  bool is_new = true;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty()) {
      is_new = true;
      continue;
    }
    if (is_new) blocks.emplace_back();
    if (is_new) is_output = false;
    is_new = false;
    Block& block = blocks.back();
    if (is_output) {
      block.expected += line + "\n";
    } else if (line == "----") {
      is_output = true;
    } else {
      block.head += line + "\n";
      if (line[0] != '#') block.commands.push_back(line);
    }
  }
  return blocks;
}

// The file as it should be.
std::string Run(const std::vector<Block>& blocks) {
  Transcript transcript;
  std::string text;
  for (const Block& block : blocks) {
    if (!text.empty()) text += "\n";
    text += block.head;
    if (block.commands.empty()) continue;
    std::string output;
    for (const std::string& command : block.commands) {
      output += transcript.Execute(command);
    }
    text += "----\n" + (output.empty() ? "ok\n" : output);
  }
  return text;
}

int Lines(std::string_view text) {
  int lines = 0;
  for (const char c : text) lines += c == '\n';
  return lines;
}

// Prints the first line in which the texts differ.
void PrintDifference(const std::string& path, const std::string& expected,
                     const std::string& actual) {
  size_t at = 0;
  while (at < expected.size() && at < actual.size() &&
         expected[at] == actual[at]) {
    ++at;
  }
  const auto line_at = [at](const std::string& text) {
    const size_t begin = text.rfind('\n', at == 0 ? 0 : at - 1) + 1;
    return text.substr(begin, text.find('\n', at) - begin);
  };
  std::printf("%s:%d: expected\n  %s\nbut it says\n  %s\n", path.c_str(),
              Lines(expected.substr(0, at)) + 1, line_at(expected).c_str(),
              line_at(actual).c_str());
}

bool RunFile(const std::string& path, std::string_view mode) {
  const std::string expected = Read(path);
  const std::vector<Block> blocks = Parse(expected);
  if (blocks.empty()) {
    std::printf("%s: no transcript\n", path.c_str());
    return false;
  }
  const std::string actual = Run(blocks);
  if (Run(blocks) != actual) {
    std::printf("%s: two runs differ\n", path.c_str());
    return false;
  }
  if (mode == "--digest") {
    std::printf("%016llx %s\n",
                static_cast<unsigned long long>(Fnv1a64(actual)), path.c_str());
    return true;
  }
  if (mode == "--rewrite") {
    std::ofstream(path) << actual;
    return true;
  }
  if (actual == expected) return true;
  PrintDifference(path, expected, actual);
  return false;
}

int Main(const std::vector<std::string>& arguments) {
  std::string mode;
  bool is_good = true;
  int files = 0;
  for (const std::string& argument : arguments) {
    if (argument == "--rewrite" || argument == "--digest") {
      mode = argument;
      continue;
    }
    ++files;
    is_good &= RunFile(argument, mode);
  }
  if (files == 0) std::printf("no transcripts\n");
  return is_good && files > 0 ? 0 : 1;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  return sluice::Main(std::vector<std::string>(argv + 1, argv + argc));
}
