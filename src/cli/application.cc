#include "cli/application.h"

#include <algorithm>
#include <array>
#include <memory>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/flag_set.h"
#include "base/nearest_name.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/base/command.h"
#include "cli/client/connection.h"
#include "cli/commands.h"
#include "cli/config_file.h"

namespace sluice {
namespace {

constexpr std::string_view kIntroduction =
    R"(sluicectl talks to sluiced, the Sluice cluster scheduler, over gRPC.

Usage: sluicectl [FLAG...] COMMAND [ARGUMENT...]

Commands:
)";

constexpr std::string_view kEpilogue = R"(
"sluicectl help COMMAND" says more about a command.

Exit codes:
  0  done
  1  failed: the server could not be reached, refused, or does not know what
     was asked for; or a file could not be read
  2  the command line or the problem to solve makes no sense; nothing was done
  3  the problem to solve has no solution, or none was found

Examples:
  sluicectl inject deploy/examples/demo.jsonl
  sluicectl tasks --pending
  sluicectl explain 17
  sluicectl status --output=json --server=scheduler.example.com:9090

Flags of all commands can also be set in ~/.config/sluice/config, one on each
line, without the dashes. SLUICE_CONFIG names another file.
)";

// What other programs call our commands.
struct OtherName {
  std::string_view theirs;
  std::string_view ours;
};

constexpr std::array kOtherNames = {
    OtherName{"run", "submit"},     OtherName{"apply", "inject"},
    OtherName{"nodes", "machines"}, OtherName{"pods", "tasks"},
    OtherName{"delete", "remove"},  OtherName{"describe", "explain"},
    OtherName{"why", "explain"},    OtherName{"top", "watch"}};

// Errors repeat no more than this of an argument.
constexpr size_t kShownBytes = 64;

struct CommonFlags {
  GlobalOptions options;
  bool wants_help = false;
  bool wants_version = false;

  void AddIdentityTo(FlagSet& flags) {
    Identity& identity = options.identity;
    flags.AddSwitch("tls",
                    "Speaks TLS. Each of the next five flags implies it.",
                    &identity.wants_tls);
    flags.AddString(
        {.name = "tls_ca",
         .value = "FILE",
         .help = "Authorities that may sign the server's certificate,\n"
                 "in PEM (those of this system)."},
        &identity.ca_file);
    flags.AddString({.name = "tls_cert",
                     .value = "FILE",
                     .help = "The certificate to show to the server, in PEM."},
                    &identity.cert_file);
    flags.AddString(
        {.name = "tls_key", .value = "FILE", .help = "Its key, in PEM."},
        &identity.key_file);
    flags.AddString(
        {.name = "tls_server_name",
         .value = "NAME",
         .help = "The name in the server's certificate (the host of\n"
                 "--server)."},
        &identity.server_name);
    flags.AddString({.name = "token_file",
                     .value = "FILE",
                     .help = "A token to show to the server."},
                    &identity.token_file);
  }

  void AddTo(FlagSet& flags) {
    flags.AddString({.name = "server",
                     .value = "HOST[:PORT]",
                     .help = "Where sluiced listens (127.0.0.1:9090)."},
                    &options.server);
    AddIdentityTo(flags);
    flags.AddChoice(
        {.name = "output",
         .value = "table|json",
         .help = "Tables for people, or JSON for programs (table).\n"
                 "JSON is proto3's mapping: 64-bit integers of\n"
                 "messages are strings."},
        {"table", "json"}, &options.output);
    flags.AddInteger({.name = "timeout",
                      .value = "SECONDS",
                      .help = "How long one call to the server may take (60);\n"
                              "0 waits for ever."},
                     {.min = 0, .max = 1'000'000}, &options.timeout_s);
    flags.AddSwitch("progress",
                    "Shows progress on standard error even if that is not\n"
                    "a terminal.",
                    &options.shows_progress);
    flags.AddSwitch("help", "Shows this text.", &wants_help);
    flags.AddSwitch("version", "Shows the version of sluicectl.",
                    &wants_version);
  }
};

void PrintHelp(std::span<const std::unique_ptr<Command>> commands,
               const FlagSet& common, std::ostream& out) {
  size_t width = 0;
  for (const auto& command : commands) {
    width = std::max(width, command->text().name.size());
  }
  out << kIntroduction;
  for (const auto& command : commands) {
    const Command::Text text = command->text();
    out << "  " << text.name << std::string(width + 2 - text.name.size(), ' ')
        << text.summary << '\n';
  }
  out << "\nFlags of all commands:\n" << common.Help() << kEpilogue;
}

int ShowVersion(const Console& console) {
  console.out << "sluicectl version " << ProgramVersion() << '\n';
  return kExitSuccess;
}

void PrintCommandHelp(const Command::Text& text, const FlagSet& own,
                      const FlagSet& common, std::ostream& out) {
  out << "Usage: sluicectl " << text.name << (text.arguments.empty() ? "" : " ")
      << text.arguments << " [FLAG...]\n\n"
      << text.description;
  if (!text.example.empty()) out << "\nExample:\n  " << text.example << '\n';
  if (const std::string help = own.Help(); !help.empty()) {
    out << "\nFlags:\n" << help;
  }
  out << "\nFlags of all commands:\n" << common.Help();
}

int FailUsage(const Console& console, const absl::Status& status,
              std::string_view help_for) {
  console.err << "sluicectl: " << Message(status) << "\nTry 'sluicectl "
              << help_for << (help_for.empty() ? "" : " ") << "--help'.\n";
  return kExitUsage;
}

// Sets the flags in the file.
absl::Status ApplyConfigFile(const std::string& path, const FlagSet& flags) {
  if (path.empty()) return absl::OkStatus();
  const std::string shown = Printable(path, kShownBytes);
  absl::StatusOr<std::vector<std::string>> config = ReadConfigFile(path);
  if (!config.ok()) return Annotate(config.status(), shown);
  const absl::StatusOr<size_t> taken = flags.ParseLeading(*config);
  return Annotate(taken.status(), shown);
}

int RunCommand(Command& command, std::span<const std::string> arguments,
               CommonFlags& common, const Console& console,
               const Clock& clock) {
  FlagSet common_flags;
  common.AddTo(common_flags);
  FlagSet own_flags;
  command.AddFlags(own_flags);
  FlagSet all_flags;
  common.AddTo(all_flags);
  command.AddFlags(all_flags);

  const Command::Text text = command.text();
  absl::StatusOr<std::vector<std::string>> others = all_flags.Parse(arguments);
  if (others.ok() && common.wants_help) {
    PrintCommandHelp(text, own_flags, common_flags, console.out);
    return kExitSuccess;
  }
  if (others.ok() && common.wants_version) return ShowVersion(console);
  if (!others.ok()) return FailUsage(console, others.status(), text.name);
  const absl::Status taken = command.TakeArguments(*std::move(others));
  if (!taken.ok()) return FailUsage(console, taken, text.name);

  if (const absl::Status read = common.options.identity.Read(); !read.ok()) {
    return FailUsage(console, read, text.name);
  }
  common.options.server = WithPort(common.options.server);
  const absl::Status done = command.Run(
      {.options = common.options, .console = console, .clock = clock});
  console.out.flush();
  if (!done.ok()) {
    console.err << "sluicectl: " << Message(done) << '\n';
    return command.ExitCode(done);
  }
  if (!console.out.good()) {
    console.err << "sluicectl: cannot write to standard output\n";
    return kExitFailure;
  }
  return kExitSuccess;
}

}  // namespace

int RunSluicectl(std::span<const std::string> arguments, const Console& console,
                 const Clock& clock, const std::string& config_file) {
  CommonFlags common;
  FlagSet flags;
  common.AddTo(flags);
  if (const absl::Status status = ApplyConfigFile(config_file, flags);
      !status.ok()) {
    return FailUsage(console, status, "");
  }
  const absl::StatusOr<size_t> taken = flags.ParseLeading(arguments);
  if (!taken.ok()) return FailUsage(console, taken.status(), "");
  arguments = arguments.subspan(*taken);

  const std::vector<std::unique_ptr<Command>> commands = MakeCommands();
  if (arguments.empty()) {
    if (common.wants_version && !common.wants_help) return ShowVersion(console);
    PrintHelp(commands, flags, common.wants_help ? console.out : console.err);
    return common.wants_help ? kExitSuccess : kExitUsage;
  }
  const std::string& name = arguments.front();
  for (const auto& command : commands) {
    if (command->text().name != name) continue;
    return RunCommand(*command, arguments.subspan(1), common, console, clock);
  }
  return FailUsage(console, UnknownCommand(name), "");
}

std::string_view ProgramVersion() { return SLUICE_VERSION; }

absl::Status UnknownCommand(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& command : MakeCommands()) {
    names.emplace_back(command->text().name);
  }
  const auto other = std::ranges::find(kOtherNames, name, &OtherName::theirs);
  return absl::InvalidArgumentError(StrCat(
      "unknown command '", Printable(name, kShownBytes), "'",
      DidYouMean(other == kOtherNames.end() ? name : other->ours, names)));
}

}  // namespace sluice
