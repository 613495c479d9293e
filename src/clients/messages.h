// What leaves for clients, as values: it is made while a batch is handled, and
// goes once all that the batch changed is durable.
//
// Threads: values.

#ifndef SLUICE_CLIENTS_MESSAGES_H_
#define SLUICE_CLIENTS_MESSAGES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "clients/feed_session.h"
#include "clients/replies.h"
#include "clients/schedule_call.h"
#include "state/command.h"

namespace sluice {

using AckCallback = std::function<void(Ack)>;

// The acknowledgment of a command that entered at `entered_us`.
struct AckMessage {
  AckCallback done;
  Ack ack;
  int64_t entered_us;
};

// The answer to a Schedule call.
struct ReplyMessage {
  ScheduleCall* call;
  ScheduleReply reply;
  bool is_in_flight;  // Its end matters: it may hold deltas.
};

// What the client of a feed is told.
struct FeedMessage {
  FeedSession* session;
  FeedNews news;
  bool is_full;  // There may be more, for which there was no room.
};

struct FeedEndMessage {
  FeedSession* session;
  absl::Status status;
};

// In the order in which they go: a client should know that a task was accepted
// before it reads where it goes.
struct Messages {
  std::vector<AckMessage> acks;
  std::vector<ReplyMessage> replies;
  std::vector<FeedEndMessage> feed_ends;
  std::vector<FeedMessage> feed_news;
  std::vector<FeedSession*> released;  // Their ends were the last of them.
};

// Sends what is for feeds.  Returns true if a session that has more to be told
// is ready for it; others wake the loop up once they are.
bool SendToFeeds(Messages* messages);

}  // namespace sluice

#endif  // SLUICE_CLIENTS_MESSAGES_H_
