// The sessions of the sessions' era over HTTP: who is there, under which id, and for how long.
//
// An id is sealed (mcp/peer/seal.hpp, label "mcp-session"): {"b": the process that gave it, "n": random, "t": when,
// "p": to whom, "s": Peer::saved()}. One of this process is good as long as the session is in the table. One of an
// earlier process on the same home makes the session anew, as the client knows it, for limits::kSessionLifeMs; unless
// this process has ended it.
//
// Threads: all on the loop's thread.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "mcp/http/reply_stream.hpp"

namespace sb::mcp {

class HttpSession : public StreamOwner, public std::enable_shared_from_this<HttpSession> {
 public:
  HttpSession(StreamContext site, std::string boot, std::shared_ptr<Peer> peer, std::string principal);
  ~HttpSession() override;

  Peer& peer() { return *peer_; }
  const std::string& principal() const { return principal_; }
  void touch() { last_used_ = stream_context_.ticks.now; }

  // For the answer to one POST; `request` is its id where it has one.
  std::shared_ptr<EventStream> new_stream(Value request, bool may_prime);
  // The stream for notifications; made when first wanted.
  EventStream& general();
  // A stream a client may come back for.
  std::shared_ptr<EventStream> stream(std::uint64_t number) const;
  void forget_stream(std::uint64_t number) { streams_.erase(number); }

  // No call runs and no stream is open.
  bool is_idle() const;
  bool has_open_general() const { return general_ && general_->is_attached(); }
  // Quiet for so long that it is over.
  bool is_over() const;
  std::uint64_t last_used() const { return last_used_; }
  void tick();
  void end_general();
  void end();

  void on_streaming(std::shared_ptr<EventStream> stream) override;
  void on_kept() override;

 private:
  StreamContext stream_context_;
  const std::string boot_;
  std::shared_ptr<Peer> peer_;
  const std::string principal_;
  std::shared_ptr<EventStream> general_;
  std::map<std::uint64_t, std::shared_ptr<EventStream>> streams_;  // oldest first
  std::uint64_t last_stream_ = kGeneralStream;
  std::uint64_t last_used_;
};
using HttpSessionPtr = std::shared_ptr<HttpSession>;

class HttpSessions {
 public:
  HttpSessions(StreamContext site, PeerShared& shared, Seal seal);
  ~HttpSessions();

  // Not in the table yet: `initialize` may fail.
  HttpSessionPtr make(const std::string& principal);
  // Its id; empty when there are too many and none is quiet.
  std::string add(const HttpSessionPtr& session);
  // Null: unknown, ended, forged, or somebody else's.
  HttpSessionPtr find(std::string_view id, const std::string& principal);
  bool end(std::string_view id, const std::string& principal);

  void tick();
  // The server goes down: nothing comes in any more, running calls are answered.
  void end_of_input();
  void end_all();
  bool is_idle() const;
  std::size_t count() const { return sessions_.size(); }
  std::size_t open_general_streams() const;
  const std::string& boot() const { return boot_; }

 private:
  struct Entry {
    HttpSessionPtr session;
    bool is_restored = false;  // its id is of an earlier process
  };
  using Table = std::map<std::string, Entry, std::less<>>;

  HttpSessionPtr restore_session(std::string_view id, const std::string& principal);
  bool make_room();
  void remember_ended(const std::string& id);
  void remove(Table::iterator found);

  StreamContext stream_context_;
  PeerShared& shared_;
  Seal seal_;
  const std::string boot_;
  Table sessions_;
  // Ids of earlier processes that this one has ended, so that they are not taken up again; oldest first.
  std::set<std::string, std::less<>> ended_ids_;
  std::deque<std::string> ended_order_;
};

}  // namespace sb::mcp
