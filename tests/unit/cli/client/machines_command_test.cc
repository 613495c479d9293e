#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/application.h"
#include "unit/cli/fake_server.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

using testing::HasSubstr;

void AddMachines(FakeInspector& inspector, int count) {
  for (int i = 1; i <= count; ++i) {
    v1::Machine& machine = inspector.machines.emplace_back();
    machine.set_uuid("u" + std::to_string(i));
    machine.set_name("m" + std::to_string(i));
    machine.set_condition(v1::Machine::READY);
    machine.mutable_allocatable()->set_cpu_millicores(4000);
    machine.mutable_allocatable()->set_memory_millibytes(1000ll << 30);
    machine.mutable_allocatable()->set_pods(110);
    machine.mutable_used()->set_cpu_millicores(250);
    machine.set_running_tasks(i);
  }
}

TEST(MachinesCommand, ListsAllPages) {
  FakeServer server;
  AddMachines(server.inspector, 5);
  server.inspector.machines[2].set_condition(v1::Machine::QUARANTINED);
  server.inspector.machines[2].set_quarantine_reason("cpu is negative");
  server.inspector.machines[3].add_taints("gpu=a:NoSchedule");
  server.inspector.machines[3].add_taints("sick:NoExecute");
  const CliResult result = RunCli({"machines", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_EQ(result.out,
            "NAME  UUID  CONDITION       CPU   MEMORY   PODS  TASKS  FOREIGN  "
            "EXTENDED  TAINTS                            NOTE\n"
            "m1    u1    ready        250m/4  0/1 GiB  0/110      1        0  "
            "-         -\n"
            "m2    u2    ready        250m/4  0/1 GiB  0/110      2        0  "
            "-         -\n"
            "m3    u3    quarantined  250m/4  0/1 GiB  0/110      3        0  "
            "-         -                                 cpu is negative\n"
            "m4    u4    ready        250m/4  0/1 GiB  0/110      4        0  "
            "-         gpu=a:NoSchedule, sick:NoExecute\n"
            "m5    u5    ready        250m/4  0/1 GiB  0/110      5        0  "
            "-         -\n");
}

TEST(MachinesCommand, PrintsOneJsonObjectForAllPages) {
  FakeServer server;
  AddMachines(server.inspector, 3);
  const CliResult result =
      RunCli({"machines", "--output=json", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess);
  EXPECT_TRUE(result.out.starts_with("{\n \"machines\": [\n")) << result.out;
  EXPECT_THAT(result.out, HasSubstr("\"uuid\": \"u1\""));
  EXPECT_THAT(result.out, HasSubstr("\"uuid\": \"u3\""));
  EXPECT_THAT(result.out, HasSubstr("\"nextPageToken\": \"\""));
}

TEST(MachinesCommand, ShowsWhatWasMeasured) {
  FakeServer server;
  AddMachines(server.inspector, 2);
  for (const double ratio : {0.0, 0.5, 0.264}) {
    v1::MachineSample* sample = server.inspector.machines[0].add_usage();
    sample->set_cpu_ratio(ratio);
    sample->set_memory_ratio(1.5);
    sample->set_net_rx_kb(12);
    sample->set_age_ms(5000);
  }
  const CliResult result =
      RunCli({"machines", "--usage", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_EQ(result.out,
            "NAME  CONDITION  CPU ASKED  MEMORY ASKED  CPU USED  MEMORY USED  "
            "RX KB/S  TX KB/S  AGE  CPU\n"
            "m1    ready          6.3 %           0 %    26.4 %        150 %  "
            "     12        0  5 s  ▁▅▃\n"
            "m2    ready          6.3 %           0 %         -            -  "
            "      -        -    -\n");
}

TEST(MachinesCommand, ShowsWhatIsReclaimed) {
  FakeServer server;
  AddMachines(server.inspector, 3);
  v1::Resources* reclaimed = server.inspector.machines[0].mutable_reclaimed();
  reclaimed->set_cpu_millicores(
      server.inspector.machines[0].allocatable().cpu_millicores() / 4);
  server.inspector.machines[1].mutable_reclaimed()->set_cpu_millicores(
      -server.inspector.machines[1].allocatable().cpu_millicores() / 2);
  const CliResult result =
      RunCli({"machines", "--usage", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_THAT(result.out, HasSubstr("MEMORY ASKED  CPU RECLAIMED  MEMORY "
                                    "RECLAIMED  CPU USED"));
  EXPECT_THAT(result.out, HasSubstr("  25 %  "));
  EXPECT_THAT(result.out, HasSubstr("  -50 %  "));
}

TEST(MachinesCommand, DoesNotFollowAServerInCircles) {
  FakeServer server;
  AddMachines(server.inspector, 3);
  server.inspector.repeats_page = true;
  const CliResult result = RunCli({"machines", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_EQ(result.err, "sluicectl: the server gave the same page twice\n");
}

TEST(MachinesCommand, SaysThatAnotherHasTheName) {
  FakeServer server;
  AddMachines(server.inspector, 3);
  server.inspector.machines[1].set_name("m1");
  const CliResult result = RunCli({"machines", "--server", server.Address()});
  EXPECT_THAT(result.out, HasSubstr("m1    u1 "));
  size_t count = 0;
  for (size_t at = 0; (at = result.out.find("another machine has this name",
                                            at)) != std::string::npos;
       ++at) {
    ++count;
  }
  EXPECT_EQ(count, 2u);
}

TEST(MachinesCommand, LetsADepartedMachineKeepItsName) {
  FakeServer server;
  AddMachines(server.inspector, 2);
  server.inspector.machines[1].set_name("m1");
  server.inspector.machines[1].set_condition(v1::Machine::DEPARTED);
  EXPECT_THAT(RunCli({"machines", "--server", server.Address()}).out,
              testing::Not(HasSubstr("another machine has this name")));
}

TEST(MachinesCommand, ShowsTheUuidWhereThereIsNoName) {
  FakeServer server;
  AddMachines(server.inspector, 1);
  server.inspector.machines[0].clear_name();
  const std::string address = server.Address();
  EXPECT_THAT(RunCli({"machines", "--server", address}).out,
              HasSubstr("\nu1    u1    ready "));
  EXPECT_THAT(RunCli({"machines", "--usage", "--server", address}).out,
              HasSubstr("\nu1    ready "));
}

}  // namespace
}  // namespace sluice
