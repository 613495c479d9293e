#include "server/option_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::HasSubstr;

// Matches an error whose message contains `message`.
MATCHER_P(IsRefused, message, "") {
  return testing::ExplainMatchResult(
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)),
      CheckOptions(arg), result_listener);
}

Options OnEtcd() {
  Options options;
  options.store.address = *ParseEtcdAddress("etcd://a:1/x");
  return options;
}

TEST(OptionChecks, TakeTheDefaults) {
  EXPECT_THAT(CheckOptions({}), IsOk());
  EXPECT_THAT(CheckOptions(OnEtcd()), IsOk());
}

TEST(OptionChecks, RefuseTwoStores) {
  Options options = OnEtcd();
  options.data_dir = "d";
  EXPECT_THAT(options,
              IsRefused("--store=etcd://a:1/x: a daemon has one store, and "
                        "--data_dir gives another one"));
}

TEST(OptionChecks, RefuseWhatIsForEtcdWithoutIt) {
  for (std::string StoreOnEtcd::*const member :
       {&StoreOnEtcd::ca_file, &StoreOnEtcd::cert_file, &StoreOnEtcd::key_file,
        &StoreOnEtcd::advertise_address}) {
    Options options;
    options.store.*member = "a:1";
    EXPECT_THAT(options, IsRefused("need --store=etcd://"));
  }
}

TEST(OptionChecks, RefuseAddressesThatAreNone) {
  Options options = OnEtcd();
  options.store.advertise_address = "a";
  EXPECT_THAT(options, IsRefused("--advertise_address: 'a': is not HOST:PORT"));
  options = {};
  options.listen_address = "";
  EXPECT_THAT(options, IsRefused("--listen_address: '': is not HOST:PORT"));
  options = {};
  options.is_insecure = true;
  options.http_address = "h:x";
  EXPECT_THAT(options, IsRefused("--http_address: 'h:x': the port"));
}

TEST(OptionChecks, RefuseMoreSamplesThanAreKept) {
  Options options;
  options.measured_use.kept_samples = 4;
  EXPECT_THAT(options, IsRefused("--utilization_samples=5: is more than "
                                 "--statistics_samples=4"));
}

TEST(OptionChecks, NameTheCostModelsThatThereAre) {
  Options options;
  options.cost_model = "magic";
  EXPECT_THAT(options, IsRefused("there are: avoid_pods, bin_packing"));
}

TEST(OptionChecks, LetOthersInOnlyIfTheyAreKnownOrThatIsWanted) {
  const std::string local = Options().listen_address;
  const SecretFiles tls = {"c", "k", "", ""};
  const SecretFiles authorities = {"c", "k", "a", ""};
  const SecretFiles access = {"c", "k", "", "a"};
  struct Row {
    std::string grpc;
    std::string http;
    SecretFiles secrets;
    bool is_insecure = false;
    std::string error;  // Empty: none.
  };
  for (const Row& row : std::vector<Row>{
           {"localhost:1", "", {}, false, ""},
           {"127.3.4.5:1", "[::1]:2", {}, false, ""},
           {"0.0.0.0:1", "", {}, false, "--listen_address=0.0.0.0:1: whoever"},
           {"10.0.0.1:1", "", {}, false, "whoever reaches it could schedule"},
           {"host.example:1", "", {}, false, "whoever reaches it could"},
           {"0.0.0.0:1", "", {}, true, ""},
           {"0.0.0.0:1", "", tls, false, "whoever reaches it could schedule"},
           {"0.0.0.0:1", "", authorities, false, ""},
           {"0.0.0.0:1", "", access, false, ""},
           {local, "[::]:2", {}, false, "--http_address=[::]:2: whoever"},
           {local, "[::]:2", {}, true, ""},
           {local, "[::]:2", tls, false, ""},
           {local, "", {"c", "", "", ""}, false, "need each other"},
           {local, "", {"", "k", "", ""}, false, "need each other"},
           {local, "", {"", "", "a", ""}, false, "--tls_client_ca needs"},
           {local,
            "",
            {"", "", "", "a"},
            false,
            "--access_file needs --tls"}}) {
    Options options;
    options.listen_address = row.grpc;
    options.http_address = row.http;
    options.secrets = row.secrets;
    options.is_insecure = row.is_insecure;
    if (row.error.empty()) {
      EXPECT_THAT(CheckOptions(options), IsOk());
    } else {
      EXPECT_THAT(options, IsRefused(row.error));
    }
  }
}

}  // namespace
}  // namespace sluice
