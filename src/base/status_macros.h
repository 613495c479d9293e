// Short forms for passing an absl::Status on.
//
//   RETURN_IF_ERROR(store.Write(batch));
//   ASSIGN_OR_RETURN(const Snapshot snapshot, store.Load());
//
// Both evaluate their expression once and return from the enclosing function,
// which may return absl::Status or any absl::StatusOr.

#ifndef SLUICE_BASE_STATUS_MACROS_H_
#define SLUICE_BASE_STATUS_MACROS_H_

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/strings.h"

#define RETURN_IF_ERROR(expression)                                           \
  do {                                                                        \
    if (absl::Status status_of_macro = (expression); !status_of_macro.ok()) { \
      return status_of_macro;                                                 \
    }                                                                         \
  } while (false)

// `declaration` may declare a variable or name one that exists.  It must not
// hold a comma outside parentheses.
#define ASSIGN_OR_RETURN(declaration, expression)                    \
  SLUICE_ASSIGN_OR_RETURN_(SLUICE_JOIN_(result_of_macro_, __LINE__), \
                           declaration, expression)
// NOLINTBEGIN(bugprone-macro-parentheses): names and a declaration.
#define SLUICE_ASSIGN_OR_RETURN_(result, declaration, expression) \
  auto result = (expression);                                     \
  if (!result.ok()) return std::move(result).status();            \
  declaration = std::move(result).value()
// NOLINTEND(bugprone-macro-parentheses)
#define SLUICE_JOIN_(a, b) SLUICE_JOIN_AGAIN_(a, b)
#define SLUICE_JOIN_AGAIN_(a, b) a##b

namespace sluice {

// The text of `status`, which must outlive the result.
inline std::string_view Message(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

// `status` with "`context`: " before its message; OK stays OK.
inline absl::Status Annotate(const absl::Status& status,
                             std::string_view context) {
  if (status.ok()) return status;
  return absl::Status(status.code(), StrCat(context, ": ", status.message()));
}

}  // namespace sluice

#endif  // SLUICE_BASE_STATUS_MACROS_H_
