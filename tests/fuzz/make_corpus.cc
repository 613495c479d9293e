// Writes the seed corpus of fuzz_requests: make_corpus DIRECTORY.
//
// Each file is a short, sound sequence of requests, so that mutations start
// from where the interesting code is.

#include <cstdio>
#include <fstream>
#include <string>

#include "firmament/firmament_scheduler.pb.h"

namespace {

std::string Frame(uint8_t method, const std::string& bytes) {
  std::string frame;
  frame += static_cast<char>(method);
  frame += static_cast<char>(bytes.size() & 0xff);
  frame += static_cast<char>(bytes.size() >> 8);
  return frame + bytes;
}

std::string Machine(const std::string& uuid, float cpu) {
  firmament::ResourceTopologyNodeDescriptor tree;
  auto* machine = tree.mutable_resource_desc();
  machine->set_uuid(uuid);
  machine->set_friendly_name("node-" + uuid);
  machine->set_type(firmament::ResourceDescriptor::RESOURCE_MACHINE);
  machine->mutable_available_resources()->set_cpu_cores(cpu);
  machine->mutable_available_resources()->set_ram_cap(16106127360000);
  *machine->mutable_resource_capacity() = machine->available_resources();
  machine->set_max_pods(3);
  auto* label = machine->add_labels();
  label->set_key("disk");
  label->set_value("ssd");
  auto* pu = tree.add_children()->mutable_resource_desc();
  pu->set_uuid(uuid + "-pu");
  return tree.SerializeAsString();
}

std::string Task(uint64_t uid, const std::string& name, float cpu) {
  firmament::TaskDescription description;
  auto* task = description.mutable_task_descriptor();
  task->set_uid(uid);
  task->set_name(name);
  task->set_job_id("job");
  task->mutable_resource_request()->set_cpu_cores(cpu);
  task->mutable_resource_request()->set_ram_cap(1073741824000);
  (*task->mutable_resource_request()
        ->mutable_extended_resources())["nvidia.com/gpu"] = uid % 2;
  description.mutable_job_descriptor()->set_uuid("job");
  return description.SerializeAsString();
}

// A task with something of every rule, and a machine with something of all
// that tasks are kept off by.
std::string Choosy(uint64_t uid, const std::string& op) {
  firmament::TaskDescription description;
  description.ParseFromString(Task(uid, "choosy", 100));
  auto* task = description.mutable_task_descriptor();
  auto* selector = task->add_label_selectors();
  selector->set_type(firmament::LabelSelector::NOT_IN_SET);
  selector->set_key("disk");
  selector->add_values("hdd");
  auto* affinity = task->mutable_affinity()->mutable_node_affinity();
  auto* term =
      affinity->mutable_requiredduringschedulingignoredduringexecution()
          ->add_nodeselectorterms();
  auto* expression = term->add_matchexpressions();
  expression->set_key("cores");
  expression->set_operator_(op);
  expression->add_values("8");
  auto* field = term->add_matchfields();
  field->set_key("metadata.name");
  field->set_operator_("NotIn");
  field->add_values("node-m1");
  auto* preferred =
      affinity->add_preferredduringschedulingignoredduringexecution();
  preferred->set_weight(70);
  *preferred->mutable_preference() = *term;
  auto* toleration = task->add_toleration();
  toleration->set_key("dedicated");
  toleration->set_operator_("Exists");
  toleration->set_effect("NoExecute");
  toleration->set_tolerationseconds(300);
  task->set_owner_ref_kind("ReplicaSet");
  task->set_owner_ref_uid("owner");
  task->add_host_ports()->set_port(80);
  return description.SerializeAsString();
}

// A task of a gang with something of every rule about other tasks.
std::string Sociable(uint64_t uid, const std::string& op) {
  firmament::TaskDescription description;
  description.ParseFromString(Task(uid, "sociable", 100));
  auto* task = description.mutable_task_descriptor();
  auto* own = task->add_labels();
  own->set_key("app");
  own->set_value("web");
  task->set_namespace_("shop");
  (*task->mutable_namespace_labels())["env"] = "test";
  auto* near = task->mutable_affinity()->mutable_pod_affinity();
  auto* term = near->add_requiredduringschedulingignoredduringexecution();
  auto* expression = term->mutable_labelselector()->add_matchexpressions();
  expression->set_key("app");
  expression->set_operator_(op);
  expression->add_values("web");
  term->add_namespaces("shop");
  (*term->mutable_namespaceselector()->mutable_match_labels_map())["env"] =
      "test";
  term->add_matchlabelkeys("app");
  term->add_mismatchlabelkeys("version");
  term->set_topologykey("zone");
  auto* preferred = near->add_preferredduringschedulingignoredduringexecution();
  preferred->set_weight(70);
  *preferred->mutable_podaffinityterm() = *term;
  auto* apart = task->mutable_affinity()
                    ->mutable_pod_anti_affinity()
                    ->add_requiredduringschedulingignoredduringexecution();
  apart->mutable_labelselector()->mutable_matchlabels()->set_key("app");
  apart->mutable_labelselector()->mutable_matchlabels()->set_value("db");
  auto* spread = task->add_topology_spread_constraints();
  spread->set_topologykey("zone");
  spread->set_maxskew(2);
  spread->set_whenunsatisfiable("ScheduleAnyway");
  *spread->mutable_labelselector() = term->labelselector();
  spread->set_nodetaintspolicy("Honor");
  task->set_machine_id("node-m1");
  task->add_machine_metadata("disk=ssd");
  task->add_conflicts("db-*");
  task->add_machine_of("job*");
  task->set_global(firmament::TaskDescriptor::ONE_A_MACHINE);
  task->set_replaces(1);
  auto* job = description.mutable_job_descriptor();
  job->set_name("job");
  job->set_is_gang_scheduling_job(true);
  job->set_min_number_of_tasks(2);
  job->set_gang_timeout_seconds(1);
  return description.SerializeAsString();
}

std::string Tainted(const std::string& uuid, const std::string& effect) {
  firmament::ResourceTopologyNodeDescriptor tree;
  tree.ParseFromString(Machine(uuid, 8000));
  auto* machine = tree.mutable_resource_desc();
  auto* label = machine->add_labels();
  label->set_key("cores");
  label->set_value("16");
  auto* taint = machine->add_taints();
  taint->set_key("dedicated");
  taint->set_value("ml");
  taint->set_effect(effect);
  auto* avoid = machine->add_avoids();
  avoid->set_kind("ReplicaSet");
  avoid->set_uid("owner");
  auto* condition = machine->add_conditions();
  condition->set_type("DiskPressure");
  condition->set_status("False");
  return tree.SerializeAsString();
}

std::string Uid(uint64_t uid) {
  firmament::TaskUID message;
  message.set_task_uid(uid);
  return message.SerializeAsString();
}

std::string Resource(const std::string& uuid) {
  firmament::ResourceUID message;
  message.set_resource_uid(uuid);
  return message.SerializeAsString();
}

std::string Foreign(const std::string& name, int64_t memory) {
  firmament::TaskInfo info;
  info.set_task_name(name);
  info.set_resource_id("m1");
  info.set_cpu_utilization(250);
  info.set_mem_utilization(memory);
  return info.SerializeAsString();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_corpus DIRECTORY\n");
    return 2;
  }
  const auto write = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(std::string(argv[1]) + "/" + name, std::ios::binary) << bytes;
  };
  const std::string cluster =
      Frame(5, Machine("m1", 4000)) + Frame(5, Machine("m2", 8000));
  const std::string tasks = Frame(0, Task(1, "a", 1500)) +
                            Frame(0, Task(2, "b", 2500)) +
                            Frame(0, Task(4, "c", 4000));
  write("place_and_finish", cluster + tasks + Frame(11, "") + Frame(12, "") +
                                Frame(2, Uid(2)) + Frame(4, Uid(2)) +
                                Frame(11, "") + Frame(12, ""));
  write("reused_uid", cluster + tasks + Frame(11, "") + Frame(12, "") +
                          Frame(0, Task(4, "d", 1000)) + Frame(11, "") +
                          Frame(4, Uid(4)) + Frame(12, "x") + Frame(4, Uid(4)));
  write("node_flap", cluster + tasks + Frame(11, "") +
                         Frame(7, Resource("m2")) + Frame(12, "") +
                         Frame(5, Machine("m2", 1000)) +
                         Frame(6, Machine("m2", 9000)) + Frame(11, ""));
  write("foreign_pods", cluster + Frame(8, Foreign("x/default", 1 << 30)) +
                            tasks + Frame(11, "") +
                            Frame(8, Foreign("x/default", -1)) +
                            Frame(1, Task(1, "a", 3000)));
  write("rules", cluster + Frame(5, Tainted("m3", "NoExecute")) +
                     Frame(0, Choosy(5, "Gt")) + Frame(0, Choosy(6, "Has")) +
                     Frame(11, "") + Frame(12, "") +
                     Frame(6, Tainted("m3", "NoSchedule")) +
                     Frame(1, Choosy(6, "Lt")) + Frame(11, ""));
  write("peers",
        cluster + Frame(0, Sociable(5, "In")) + Frame(0, Sociable(6, "In")) +
            Frame(0, Sociable(7, "Has")) + Frame(11, "") + Frame(12, "") +
            Frame(1, Sociable(6, "Exists")) + Frame(2, Uid(5)) + Frame(11, ""));
  return 0;
}
