// The HTTP sessions of the session era: their ids, owners and lifetimes.
//
// An id is sealed (mcp/peer/seal.hpp, label "mcp-session"): {"b": the issuing process, "n": random, "t": when, "p":
// principal, "s": Peer::saved()}. An id of this process is valid while its session is in the table. An id of an earlier
// process on the same home restores the session for limits::kSessionLifeMs, unless this process has ended it.
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
  HttpSession(StreamContext site, std::string boot, std::shared_ptr<Peer> peer, Caller caller);
  ~HttpSession() override;

  Peer& peer() { return *peer_; }
  const Caller& caller() const { return caller_; }
  void touch() { last_used_ = stream_context_.ticks.now; }

  // For the response to one POST; `request` is its id, if it has one.
  std::shared_ptr<EventStream> new_stream(Value request, bool may_prime);
  // The stream for notifications; created on first use.
  EventStream& general();
  // A stream that a client may reconnect to.
  std::shared_ptr<EventStream> stream(std::uint64_t number) const;
  void forget_stream(std::uint64_t number) { streams_.erase(number); }

  // No call is running and no stream is open.
  bool is_idle() const;
  bool has_open_general() const { return general_ && general_->is_attached(); }
  // Idle for so long that it has expired.
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
  const Caller caller_;
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
  HttpSessionPtr make(const Caller& caller);
  // Returns its id; empty if there are too many sessions and none is idle.
  std::string add(const HttpSessionPtr& session);
  // Null: unknown, ended, forged, or of another caller.
  HttpSessionPtr find(std::string_view id, const Caller& caller);
  bool end(std::string_view id, const Caller& caller);

  void tick();
  // The server is stopping: accepts nothing more, finishes running calls.
  void end_of_input();
  void end_all();
  bool is_idle() const;
  std::size_t count() const { return sessions_.size(); }
  std::size_t open_general_streams() const;
  const std::string& boot() const { return boot_; }

 private:
  struct Entry {
    HttpSessionPtr session;
    bool is_restored = false;  // its id comes from an earlier process
  };
  using Table = std::map<std::string, Entry, std::less<>>;

  HttpSessionPtr restore_session(std::string_view id, const Caller& caller);
  bool make_room();
  void remember_ended(const std::string& id);
  void remove(Table::iterator found);

  StreamContext stream_context_;
  PeerShared& shared_;
  Seal seal_;
  const std::string boot_;
  Table sessions_;
  // Ids of earlier processes that this one has ended, so that they are not restored again; oldest first.
  std::set<std::string, std::less<>> ended_ids_;
  std::deque<std::string> ended_order_;
};

}  // namespace sb::mcp
