#include "server/options.h"

#include <gflags/gflags.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::AllOf;
using testing::ExitedWithCode;
using testing::HasSubstr;
using testing::Not;

class OptionsTest : public testing::Test {
 protected:
  absl::StatusOr<Options> Parse(std::vector<std::string> arguments) {
    const gflags::FlagSaver saver;  // Flags outlive the call; ours must not.
    arguments.insert(arguments.begin(), "sluiced");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    return ParseOptions(static_cast<int>(arguments.size()), argv.data());
  }
};

TEST_F(OptionsTest, AreThoseOfTheStructWhereNothingIsGiven) {
  const auto options = Parse({});
  ASSERT_THAT(options, IsOk());
  const Options defaults;
  EXPECT_EQ(options->listen_address, defaults.listen_address);
  EXPECT_EQ(options->http_address, defaults.http_address);
  EXPECT_EQ(options->data_dir, defaults.data_dir);
  EXPECT_EQ(options->cost_model, defaults.cost_model);
  EXPECT_EQ(options->replies, defaults.replies);
  EXPECT_EQ(options->default_max_pods, defaults.default_max_pods);
  EXPECT_EQ(options->solver, defaults.solver);
  EXPECT_EQ(options->round_arcs_max, defaults.round_arcs_max);
  EXPECT_EQ(options->evict_on_no_execute, defaults.evict_on_no_execute);
  EXPECT_FALSE(options->requeues.from_failed_machines);
  EXPECT_FALSE(options->requeues.evicted);
  EXPECT_EQ(options->durability, defaults.durability);
  EXPECT_EQ(options->shutdown_timeout_ms, defaults.shutdown_timeout_ms);
}

TEST_F(OptionsTest, AreWhatTheFlagsSay) {
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

TEST_F(OptionsTest, HaveTheStoreOnEtcd) {
  const auto options = Parse({"--store=etcd://a:1,b:2/x", "--store_ca=ca",
                              "--store_cert=cert", "--store_key=key"});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(ToString(options->store.address), "etcd://a:1,b:2/x");
  EXPECT_EQ(options->store.ca_file, "ca");
  EXPECT_EQ(options->store.cert_file, "cert");
  EXPECT_EQ(options->store.key_file, "key");
}

TEST_F(OptionsTest, RefuseTwoStores) {
  EXPECT_THAT(Parse({"--store=etcd://a:1/x", "--data_dir=d"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--store=etcd://a:1/x: a daemon has one "
                                 "store, and --data_dir is another one")));
}

TEST_F(OptionsTest, DoNotRepeatAPassword) {
  for (const char* store :
       {"--store=etcd://me:hunter2@a:1/x", "--store=http://me:hunter2@a"}) {
    EXPECT_THAT(
        Parse({store, "--data_dir=d"}),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 AllOf(HasSubstr("--store"), Not(HasSubstr("hunter2")))));
  }
}

TEST_F(OptionsTest, NameTheFlagWhoseValueMakesNoSense) {
  for (const auto& [argument, why] :
       {std::pair("--replies=loud", "--replies=loud: is none of contract, "),
        std::pair("--durability=", "--durability=: is none of synced, "),
        std::pair("--solver=magic", "--solver=magic: is none of "),
        std::pair("--cost_model=magic", "there are: avoid_pods, bin_packing"),
        std::pair("--default_max_pods=0", "is not between 1 and "),
        std::pair("--round_arcs_max=-1", "is not between 0 and "),
        std::pair("--shutdown_timeout_ms=-1", "is not between 0 and "),
        std::pair("--reserve_after=-1", "is not between 0 and "),
        std::pair("--reserved_machines_max=101", "is not between 0 and 100"),
        std::pair("--utilization_samples=33", "is not between 1 and 32"),
        std::pair("--utilization_floor=101", "is not between 0 and 100"),
        std::pair("--utilization_overcommit_max=99",
                  "is not between 100 and 1000"),
        std::pair("--utilization_stale_after=0", "is not between 1 and "),
        std::pair("--listen_address=9090", "--listen_address: '9090': is not"),
        std::pair("--http_address=h:x", "--http_address: 'h:x': the port"),
        std::pair("--store=etcd://a", "--store: 'a' is not HOST:PORT"),
        std::pair("--store_ca=f", "are for --store=etcd://"),
        std::pair("stray", "'stray' is no flag")}) {
    EXPECT_THAT(Parse({argument}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)))
        << argument;
  }
}

TEST_F(OptionsTest, LetOthersInOnlyIfItKnowsThemOrIsToldTo) {
  const std::vector<std::string> tls = {"--tls_cert=c", "--tls_key=k"};
  const std::string everywhere = "--listen_address=0.0.0.0:1";
  const std::string http_everywhere = "--http_address=[::]:2";
  struct Row {
    std::vector<std::string> flags;
    std::string error;  // Empty: none.
  };
  for (const auto& [flags, error] : std::vector<Row>{
           {{"--listen_address=localhost:1"}, ""},
           {{"--listen_address=127.3.4.5:1", "--http_address=[::1]:2"}, ""},
           {{everywhere}, "--listen_address=0.0.0.0:1: whoever reaches it"},
           {{"--listen_address=10.0.0.1:1"}, "whoever reaches it could"},
           {{"--listen_address=host.example:1"}, "whoever reaches it could"},
           {{everywhere, "--insecure"}, ""},
           {{everywhere, tls[0], tls[1]}, "whoever reaches it could schedule"},
           {{everywhere, tls[0], tls[1], "--tls_client_ca=a"}, ""},
           {{everywhere, tls[0], tls[1], "--access_file=a"}, ""},
           {{http_everywhere}, "--http_address=[::]:2: whoever reaches it"},
           {{http_everywhere, "--insecure"}, ""},
           {{http_everywhere, tls[0], tls[1]}, ""},
           {{tls[0]}, "--tls_cert and --tls_key need each other"},
           {{tls[1]}, "--tls_cert and --tls_key need each other"},
           {{"--tls_client_ca=a"}, "--tls_client_ca needs --tls_cert"},
           {{"--access_file=a"}, "--access_file needs --tls_cert"}}) {
    const auto options = Parse(flags);
    if (error.empty()) {
      EXPECT_THAT(options, IsOk());
    } else {
      EXPECT_THAT(options, StatusIs(absl::StatusCode::kInvalidArgument,
                                    HasSubstr(error)));
    }
  }
}

using OptionsDeathTest = OptionsTest;

TEST_F(OptionsDeathTest, EndTheProcessAtAFlagThatThereIsNot) {
  EXPECT_EXIT(static_cast<void>(Parse({"--nonsense=1"})), ExitedWithCode(1),
              "unknown command line flag 'nonsense'");
}

TEST_F(OptionsDeathTest, EndTheProcessAtAValueOfTheWrongType) {
  EXPECT_EXIT(static_cast<void>(Parse({"--default_max_pods=many"})),
              ExitedWithCode(1), "illegal value 'many'");
}

TEST_F(OptionsDeathTest, EndTheProcessWellWhereHelpIsAsked) {
  EXPECT_EXIT(static_cast<void>(Parse({"--help"})), ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sluice
