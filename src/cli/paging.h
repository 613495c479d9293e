// All pages of a list of the Inspector as one response.
//
// Threads: free functions without state.

#ifndef SLUICE_CLI_PAGING_H_
#define SLUICE_CLI_PAGING_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "cli/connection.h"
#include "grpcpp/grpcpp.h"
#include "sluice/v1/inspector.grpc.pb.h"

namespace sluice {

// `list` is a method of the stub, e.g. &v1::Inspector::Stub::ListTasks.  The
// pages are answered one by one: what changes meanwhile may be missed.
// Errors: those of the calls; kInternal if the server gives the same page
// token twice in a row, which would never end.
template <class Request, class Response>
absl::StatusOr<Response> ListAllPages(
    Connection& connection,
    grpc::Status (v1::Inspector::Stub::*list)(grpc::ClientContext*,
                                              const Request&, Response*),
    Request request) {
  Response all;
  while (true) {
    Response page;
    RETURN_IF_ERROR(connection.StatusOf((connection.inspector().*list)(
        connection.MakeContext().get(), request, &page)));
    all.MergeFrom(page);
    if (page.next_page_token().empty()) {
      all.clear_next_page_token();
      return all;
    }
    if (page.next_page_token() == request.page_token()) {
      return absl::InternalError("the server gave the same page twice");
    }
    request.set_page_token(page.next_page_token());
  }
}

}  // namespace sluice

#endif  // SLUICE_CLI_PAGING_H_
