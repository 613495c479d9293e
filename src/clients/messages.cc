#include "clients/messages.h"

#include <utility>

namespace sluice {

bool SendToFeeds(Messages* messages) {
  for (const FeedEndMessage& message : messages->feed_ends) {
    message.session->End(message.status);
  }
  bool is_ready_for_more = false;
  for (FeedMessage& message : messages->feed_news) {
    message.session->Tell(std::move(message.news));
    if (message.is_full && message.session->AwaitReady()) {
      is_ready_for_more = true;
    }
  }
  for (FeedSession* session : messages->released) session->Release();
  return is_ready_for_more;
}

}  // namespace sluice
