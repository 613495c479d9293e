#include "util/peer_builder.h"

namespace sluice {

SubmitTask Submitted(uint64_t uid, const TaskOptions& options,
                     const PeerOptions& peers) {
  SubmitTask submit = Submitted(uid, options);
  submit.gang = peers.gang;
  submit.spec.task_namespace = peers.task_namespace;
  submit.spec.labels = InOrder(std::move(submit.spec.labels));
  submit.spec.namespace_labels = InOrder(peers.namespace_labels);
  return submit;
}

}  // namespace sluice
