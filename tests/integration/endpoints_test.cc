// What the daemon offers besides the contract: the inspector, reflection,
// health and HTTP.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "integration/mini_server.h"
#include "util/http_get.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

// A field of a message on the wire: `text` under `number`.
std::string StringField(int number, const std::string& text) {
  return StrCat(static_cast<char>(number << 3 | 2),
                static_cast<char>(text.size()), text);
}

// What reflection is asked for: the number of the request's field.
constexpr int kFileContainingSymbol = 4;
constexpr int kListServices = 7;

class Endpoints : public ContractFixture {
 protected:
  // The reply of server reflection, whose messages come without a library.
  std::string Reflect(int field, const std::string& what) {
    std::string response;
    const grpc::Status status = client_.CallRaw(
        "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        StringField(field, what), &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
};

TEST_F(Endpoints, ReflectionListsTheServicesByTheirFullNames) {
  const std::string services = Reflect(kListServices, "*");
  for (const char* name : {"firmament.FirmamentScheduler",
                           "sluice.v1.Inspector", "grpc.health.v1.Health"}) {
    EXPECT_THAT(services, HasSubstr(name));
  }
}

TEST_F(Endpoints, ReflectionDescribesEveryMethodOfTheContract) {
  for (const std::string method :
       {"Schedule", "TaskCompleted", "TaskFailed", "TaskRemoved",
        "TaskSubmitted", "TaskUpdated", "NodeAdded", "NodeFailed",
        "NodeRemoved", "NodeUpdated", "AddTaskStats", "AddNodeStats", "Check",
        "AddTaskInfo"}) {
    const std::string file = Reflect(kFileContainingSymbol,
                                     "firmament.FirmamentScheduler." + method);
    EXPECT_THAT(file, HasSubstr(method));
    EXPECT_THAT(file, HasSubstr("firmament/firmament_scheduler.proto"));
  }
}

TEST_F(Endpoints, ReflectionDescribesTheHealthService) {
  for (const char* symbol :
       {"grpc.health.v1.Health", "grpc.health.v1.Health.Check",
        "grpc.health.v1.HealthCheckResponse"}) {
    const std::string file = Reflect(kFileContainingSymbol, symbol);
    EXPECT_THAT(file, HasSubstr("grpc/health/v1/health.proto")) << symbol;
    EXPECT_THAT(file, HasSubstr("HealthCheckRequest")) << symbol;
  }
}

TEST_F(Endpoints, HealthIsServing) {
  std::string response;
  ASSERT_TRUE(
      client_.CallRaw("grpc.health.v1.Health/Check", "", &response).ok());
  EXPECT_EQ(response, "\x08\x01");
}

TEST_F(Endpoints, AnUnknownMethodIsUnimplemented) {
  std::string response;
  EXPECT_EQ(client_.CallRaw("firmament.FirmamentScheduler/X", "", &response)
                .error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(Endpoints, InspectorShowsMachinesTasksAndJobs) {
  client_.AddNode(NodeMessage("n", {.cpu = 1000}));
  client_.Submit(TaskMessage(1, {.cpu = 600}));
  client_.Submit(TaskMessage(2, {.cpu = 600}));
  client_.Schedule();
  v1::ListMachinesResponse machines;
  grpc::ClientContext machines_context;
  ASSERT_TRUE(
      client_.inspector().ListMachines(&machines_context, {}, &machines).ok());
  ASSERT_EQ(machines.machines_size(), 1);
  EXPECT_EQ(machines.machines(0).used().cpu_millicores(), 600);
  v1::ListTasksResponse tasks;
  grpc::ClientContext tasks_context;
  ASSERT_TRUE(client_.inspector().ListTasks(&tasks_context, {}, &tasks).ok());
  EXPECT_EQ(tasks.tasks_size(), 2);
  v1::GetJobRequest request;
  request.set_job("job");
  v1::Job job;
  grpc::ClientContext job_context;
  ASSERT_TRUE(client_.inspector().GetJob(&job_context, request, &job).ok());
  EXPECT_EQ(job.running_tasks(), 1);
  EXPECT_EQ(job.pending_tasks(), 1);
  EXPECT_THAT(client_.Explain(2).summary(), HasSubstr("insufficient cpu"));
  EXPECT_THAT(client_.Status().cost_models(),
              ElementsAre("cpu_memory", "job_spread", "node_affinity",
                          "pod_affinity", "taint", "topology_spread"));
  EXPECT_EQ(client_.Status().store(), "memory");
}

TEST_F(Endpoints, InspectorShowsDisruptionBudgets) {
  client_.AddNode(NodeMessage("n", {.cpu = 1000}));
  firmament::TaskDescription task = TaskMessage(1, {.cpu = 600});
  task.mutable_job_descriptor()
      ->mutable_disruption_budget()
      ->set_max_unavailable("40%");
  client_.Submit(task);
  client_.Schedule();
  v1::ListBudgetsResponse budgets;
  grpc::ClientContext context;
  ASSERT_TRUE(client_.inspector().ListBudgets(&context, {}, &budgets).ok());
  ASSERT_EQ(budgets.budgets_size(), 1);
  EXPECT_EQ(budgets.budgets(0).job_uuid(), "job");
  EXPECT_EQ(budgets.budgets(0).max_unavailable(), "40%");
  EXPECT_EQ(budgets.budgets(0).expected(), 1);
}

TEST_F(Endpoints, InspectorShowsTheNetworksOfTheLastRound) {
  client_.AddNode(NodeMessage("n", {.cpu = 1000}));
  client_.Submit(TaskMessage(1, {.cpu = 600}));
  client_.Schedule();
  client_.Schedule();  // This round has nothing to solve.
  v1::RoundNetwork network;
  grpc::ClientContext context;
  ASSERT_TRUE(client_.inspector().GetNetwork(&context, {}, &network).ok());
  ASSERT_EQ(network.passes_size(), 1);
  EXPECT_TRUE(network.passes(0).has_cost());
  std::vector<std::string> names;
  for (const auto& node : network.passes(0).nodes()) {
    names.push_back(node.name());
  }
  EXPECT_THAT(names, ElementsAre(HasSubstr("1 of "), "sink", HasSubstr("n"),
                                 HasSubstr("unscheduled of ")));
}

TEST_F(Endpoints, InspectorNamesTheCostsOfAPlacement) {
  client_.AddNode(NodeMessage("n", {.cpu = 1000}));
  client_.AddNode(NodeMessage("o", {.cpu = 500}));
  client_.Submit(TaskMessage(1, {.cpu = 300}));
  client_.Schedule();
  const v1::TaskExplanation explanation = client_.Explain(1);
  ASSERT_EQ(explanation.costs_size(), 2);
  std::vector<std::string> names;
  for (const v1::MachineCost& cost : explanation.costs()) {
    names.push_back(cost.machine_name());
    ASSERT_EQ(cost.policies_size(), 1);
    EXPECT_EQ(cost.policies(0).policy(), "cpu_memory");
    EXPECT_GE(cost.policies(0).points(), 2000);
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("n", "o"));
}

TEST_F(Endpoints, InspectorListsThePolicies) {
  v1::ListPoliciesResponse list;
  grpc::ClientContext context;
  ASSERT_TRUE(client_.inspector().ListPolicies(&context, {}, &list).ok());
  std::map<std::string, bool> in_force;
  for (const auto& policy : list.policies()) {
    EXPECT_NE(policy.reads(), "") << policy.name();
    EXPECT_NE(policy.summary(), "") << policy.name();
    in_force[policy.name()] = policy.in_force();
  }
  EXPECT_TRUE(in_force.at("cpu_memory"));
  EXPECT_FALSE(in_force.at("load_spreading"));
}

// A bound does not know who keeps away from whom else in a zone, so that of the
// web server and the database all that wait may be too many.
TEST_F(Endpoints, InspectorTellsTheGapOfEachLevel) {
  firmament::PodAntiAffinity apart;
  auto* term = apart.add_requiredduringschedulingignoredduringexecution();
  term->set_topologykey("zone");
  auto* requirement = term->mutable_labelselector()->add_matchexpressions();
  requirement->set_key("app");
  requirement->set_operator_("In");
  requirement->add_values("database");
  for (const char* uuid : {"m0", "m1"}) {
    client_.AddNode(
        NodeMessage(uuid, {.cpu = 1000, .labels = {{"zone", "a"}}}));
  }
  const TaskFields large = {.cpu = 700, .priority = 9};
  for (uint64_t uid = 1; uid <= 3; ++uid) {
    client_.Submit(TaskMessage(uid, large));
  }
  const TaskFields web = {.cpu = 100,
                          .labels = {{"app", "web"}},
                          .pod_anti_affinity = apart,
                          .priority = 2};
  const TaskFields database = {
      .cpu = 100, .labels = {{"app", "database"}}, .priority = 2};
  client_.Submit(TaskMessage(4, web));
  client_.Submit(TaskMessage(5, database));
  EXPECT_THAT(client_.Schedule().deltas(), SizeIs(3));
  const v1::Round round = client_.Status().last_round();
  EXPECT_TRUE(round.is_bound_known());
  ASSERT_EQ(round.levels_size(), 2);
  const v1::RoundLevel& urgent = round.levels(0);
  EXPECT_EQ(urgent.lowest_priority(), 9);
  EXPECT_FALSE(urgent.has_highest_priority());
  EXPECT_GT(urgent.waiting_cost(), 0);
  EXPECT_EQ(urgent.waiting_cost_bound(), urgent.waiting_cost());
  EXPECT_EQ(urgent.gap_ratio(), 0);
  const v1::RoundLevel& low = round.levels(1);
  EXPECT_EQ(low.highest_priority(), 8);
  EXPECT_EQ(low.waiting_cost(), urgent.waiting_cost());
  EXPECT_EQ(low.waiting_cost_bound(), 0);
  EXPECT_EQ(low.gap_ratio(), 1);
  EXPECT_EQ(round.gap_ratio(), 0.5) << "of both";
  EXPECT_THAT(client_.Explain(3).summary(), Not(HasSubstr("level")));
  const std::string gap =
      "; a better round could save at most 100.0 % of what waiting costs on "
      "its level";
  EXPECT_TRUE(client_.Explain(4).summary().ends_with(gap) ||
              client_.Explain(5).summary().ends_with(gap));
}

TEST_F(Endpoints, InspectorReportsErrorsAsStatus) {
  grpc::ClientContext page_context;
  v1::ListTasksRequest page;
  page.set_page_token("nonsense");
  v1::ListTasksResponse tasks;
  EXPECT_EQ(
      client_.inspector().ListTasks(&page_context, page, &tasks).error_code(),
      grpc::StatusCode::INVALID_ARGUMENT);
  grpc::ClientContext job_context;
  v1::GetJobRequest request;
  request.set_job("x");
  v1::Job job;
  EXPECT_EQ(
      client_.inspector().GetJob(&job_context, request, &job).error_code(),
      grpc::StatusCode::NOT_FOUND);
  grpc::ClientContext task_context;
  v1::ExplainTaskRequest task;
  task.set_task("x");
  v1::TaskExplanation explanation;
  EXPECT_EQ(client_.inspector()
                .ExplainTask(&task_context, task, &explanation)
                .error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST(HttpEndpoints, ServeProbesAndWhatWasCounted) {
  Options options = MiniServer::OptionsFor(ReplyMode::kContract);
  options.http_address = "127.0.0.1:0";
  MiniServer server(options);
  Client client(server.port());
  client.Submit(TaskMessage(1, {.cpu = -1}));
  client.Schedule();
  const std::string metrics = HttpGet(server.http_port(), "/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("\nsluice_rounds_total 1"));
  EXPECT_THAT(metrics,
              HasSubstr("sluice_malformed_total{kind=\"TaskSubmitted\"} 1"));
  EXPECT_EQ(HttpGet(server.http_port(), "/healthz").status, 200);
  EXPECT_EQ(HttpGet(server.http_port(), "/readyz").status, 200);
}

// Tasks of one class come again and again: only the first round's solve knows
// nothing of them.
TEST(HttpEndpoints, CountTheSolvesThatWentOnFromThoseBefore) {
  Options options = MiniServer::OptionsFor(ReplyMode::kContract);
  options.http_address = "127.0.0.1:0";
  MiniServer server(options);
  Client client(server.port());
  client.AddNode(NodeMessage("m", {}));
  for (uint64_t uid = 1; uid <= 3; ++uid) {
    client.Submit(TaskMessage(uid, {}));
    client.Schedule();
  }
  const std::string metrics = HttpGet(server.http_port(), "/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("\nsluice_solves_total 3"));
  EXPECT_THAT(metrics, HasSubstr("\nsluice_solves_warm_total 2"));
}

}  // namespace
}  // namespace sluice
