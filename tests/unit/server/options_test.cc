#include "server/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "util/paths.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::AllOf;
using testing::ContainerEq;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

absl::StatusOr<Options> Parse(const std::vector<std::string>& arguments) {
  auto line = ParseCommandLine(arguments);
  if (!line.ok()) return line.status();
  EXPECT_EQ(line->answer, "");
  return line->options;
}

std::string Answer(const std::vector<std::string>& arguments) {
  const auto line = ParseCommandLine(arguments);
  return line.ok() ? line->answer : line.status().ToString();
}

TEST(Options, AreWhatTheFlagsSay) {
  const auto options =
      Parse({"--listen_address=0.0.0.0:1", "--insecure",
             "--http_address=", "--data_dir=d", "--cost_model=taint",
             "--replies=lenient", "--default_max_pods=7", "--round_arcs_max=9",
             "--evict_on_no_execute", "--reschedule_failed_nodes",
             "--requeue_evicted", "--durability=buffered",
             "--shutdown_timeout_ms=11"});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->listen_address, "0.0.0.0:1");
  EXPECT_EQ(options->http_address, "");
  EXPECT_EQ(options->data_dir, "d");
  EXPECT_EQ(options->cost_model, "taint");
  EXPECT_EQ(options->replies, ReplyMode::kLenient);
  EXPECT_EQ(options->default_max_pods, 7);
  EXPECT_EQ(options->round_arcs_max, 9);
  EXPECT_TRUE(options->evict_on_no_execute);
  EXPECT_TRUE(options->requeues.from_failed_machines);
  EXPECT_TRUE(options->requeues.evicted);
  EXPECT_EQ(options->durability, Durability::kBuffered);
  EXPECT_EQ(options->shutdown_timeout_ms, 11);
}

TEST(Options, HaveTheStoreOnEtcd) {
  const auto options = Parse({"--store=etcd://a:1,b:2/x", "--store_ca=ca",
                              "--store_cert=cert", "--store_key=key"});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(ToString(options->store.address), "etcd://a:1,b:2/x");
  EXPECT_EQ(options->store.ca_file, "ca");
  EXPECT_EQ(options->store.cert_file, "cert");
  EXPECT_EQ(options->store.key_file, "key");
}

TEST(Options, DoNotRepeatAPassword) {
  for (const char* store :
       {"--store=etcd://me:hunter2@a:1/x", "--store=http://me:hunter2@a",
        "--stores=etcd://me:hunter2@a:1/x"}) {
    EXPECT_THAT(
        Parse({store, "--data_dir=d"}),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 AllOf(HasSubstr("--store"), Not(HasSubstr("hunter2")))));
  }
}

TEST(Options, NameTheFlagWhoseValueMakesNoSense) {
  for (const auto& [argument, why] :
       {std::pair("--replies=loud", "--replies: 'loud' is not contract or "),
        std::pair("--durability=", "--durability: '' is not synced or "),
        std::pair("--solver=magic", "--solver: 'magic' is not automatic or "),
        std::pair("--cost_model=magic", "there are: avoid_pods, bin_packing"),
        std::pair("--default_max_pods=many",
                  "--default_max_pods: 'many' is not a whole number from 1 "),
        std::pair("--default_max_pods=0", "is not a whole number from 1 to "),
        std::pair("--round_arcs_max=-1", "is not a whole number from 0 to "),
        std::pair("--shutdown_timeout_ms=-1", "is not a whole number from 0 "),
        std::pair("--reserve_after=-1", "is not a whole number from 0 to "),
        std::pair("--reserved_machines_max=101", " from 0 to 100"),
        std::pair("--utilization_samples=33", "--statistics_samples=32"),
        std::pair("--utilization_floor=101", " from 0 to 100"),
        std::pair("--utilization_overcommit_max=99", " from 100 to 1000"),
        std::pair("--utilization_stale_after=0", " from 1 to "),
        std::pair("--insecure=maybe", "--insecure: 'maybe' is not true or "),
        std::pair("--listen_address=9090", "--listen_address: '9090': is not"),
        std::pair("--http_address=h:x", "--http_address: 'h:x': the port"),
        std::pair("--store=etcd://a", "--store: 'a' is not HOST:PORT"),
        std::pair("--store_ca=f", "need --store=etcd://"),
        std::pair("--nonsense=1", "unknown flag '--nonsense'"),
        std::pair("--improve_budet=1", "did you mean --improve_budget?"),
        std::pair("--data_dir", "--data_dir needs a value: --data_dir=DIR"),
        std::pair("stray", "unexpected argument 'stray'")}) {
    EXPECT_THAT(Parse({argument}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)))
        << argument;
  }
}

TEST(Options, TakeSecondsForWhatTheyHaveInMilliseconds) {
  const auto options =
      Parse({"--reserve_after=2", "--min_run_time=3",
             "--utilization_stale_after=4", "--forget_stale_after=5"});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->reservations.after_ms, 2000);
  EXPECT_EQ(options->preemption.moves.min_run_ms, 3000);
  EXPECT_EQ(options->measured_use.stale_ms, 4000);
  EXPECT_EQ(options->forget_stale_after_s, 5);
}

TEST(Options, AnswerWhereHelpIsAsked) {
  const std::string help = Answer({"--help"});
  EXPECT_THAT(help, StartsWith("sluiced: the Sluice scheduler daemon\n"));
  EXPECT_THAT(help, HasSubstr("\n  --replies=contract|lenient|strict "
                              "(contract)\n      How calls are answered."));
  EXPECT_THAT(help, Not(HasSubstr("--minloglevel")));
  EXPECT_THAT(Answer({"--helpfull"}),
              AllOf(HasSubstr("--replies="), HasSubstr("--minloglevel=")));
  EXPECT_THAT(Answer({"--version"}), StartsWith("sluiced version "));
  EXPECT_THAT(Answer({"--help", "--nonsense"}), HasSubstr("unknown flag"));
}

// The defaults in the rows of docs/configuration.md that have three columns, by
// flag.
std::map<std::string, std::string> DocumentedDefaults() {
  std::ifstream page(SourcePath("docs/configuration.md"));
  std::map<std::string, std::string> defaults;
  const std::regex row(R"(\| `--(\w+)` \| (empty|`([^`]*)`) \| .*)");
  std::smatch match;
  for (std::string line; std::getline(page, line);) {
    if (std::regex_match(line, match, row)) defaults[match[1]] = match[3];
  }
  return defaults;
}

TEST(Options, HaveARowEachInTheDocumentation) {
  std::istringstream help(Answer({"--help"}));
  std::map<std::string, std::string> defaults;
  const std::regex head(R"(  --(\w+)(=\S+)?( \((.*)\))?)");
  std::smatch match;
  for (std::string line; std::getline(help, line);) {
    if (!std::regex_match(line, match, head)) continue;
    const bool is_switch_off = !match[2].matched && !match[3].matched;
    defaults[match[1]] = is_switch_off ? "false" : match[4].str();
  }
  EXPECT_GT(defaults.size(), 50u);
  EXPECT_THAT(DocumentedDefaults(), ContainerEq(defaults));
}

}  // namespace
}  // namespace sluice
