#include "mcp/http/client_sessions.hpp"

#include <algorithm>

#include "base/document/document.hpp"
#include "base/random.hpp"
#include "mcp/limits.hpp"

namespace sb::mcp {
namespace {

constexpr std::string_view kLabel = "mcp-session";

}  // namespace

HttpSession::HttpSession(StreamContext site, std::string boot, std::shared_ptr<Peer> peer, Caller caller)
    : stream_context_(site),
      boot_(std::move(boot)),
      peer_(std::move(peer)),
      caller_(std::move(caller)),
      last_used_(site.ticks.now) {}

HttpSession::~HttpSession() = default;

std::shared_ptr<EventStream> HttpSession::new_stream(Value request, bool may_prime) {
  const EventId first{.boot = boot_, .stream = ++last_stream_, .number = 0, .request = std::move(request)};
  return std::make_shared<EventStream>(stream_context_, first, may_prime && peer_->revision() >= Revision::k2025_11_25,
                                       weak_from_this());
}

EventStream& HttpSession::general() {
  if (!general_) {
    general_ = std::make_shared<EventStream>(stream_context_, EventId{.boot = boot_},
                                             peer_->revision() >= Revision::k2025_11_25, weak_from_this());
    peer_->set_general(general_);
  }
  return *general_;
}

std::shared_ptr<EventStream> HttpSession::stream(std::uint64_t number) const {
  const auto found = streams_.find(number);
  return found == streams_.end() ? nullptr : found->second;
}

bool HttpSession::is_idle() const {
  const auto is_attached = [](const auto& entry) { return entry.second->is_attached(); };
  return peer_->running() == 0 && !(general_ && general_->is_attached()) && std::ranges::none_of(streams_, is_attached);
}

bool HttpSession::is_over() const {
  return is_idle() && stream_context_.ticks.have_passed(limits::kSessionIdleMs, last_used_);
}

void HttpSession::tick() {
  if (!is_idle()) touch();
  if (general_) general_->keep_alive();
  for (const auto& [number, stream] : streams_) stream->keep_alive();
}

void HttpSession::end_general() {
  if (!general_) return;
  peer_->set_general(nullptr);
  general_->end();
  general_ = nullptr;
}

void HttpSession::end() {
  end_general();
  peer_->close();
  for (const auto& [number, stream] : streams_) stream->end();
  streams_.clear();
}

void HttpSession::on_streaming(std::shared_ptr<EventStream> stream) {
  touch();
  if (stream->number() == kGeneralStream) return;
  streams_.insert_or_assign(stream->number(), std::move(stream));
  const auto is_answered = [](const auto& entry) { return entry.second->is_finished(); };
  if (static_cast<std::size_t>(std::ranges::count_if(streams_, is_answered)) <= limits::kKeptStreams) return;
  const auto is_delivered = [](const auto& entry) {
    return entry.second->is_finished() && !entry.second->has_unsent();
  };
  const auto delivered = std::ranges::find_if(streams_, is_delivered);
  streams_.erase(delivered != streams_.end() ? delivered : std::ranges::find_if(streams_, is_answered));
}

// Drops events that were sent first, then unsent ones, responses last; older streams before newer ones.
void HttpSession::on_kept() {
  std::vector<EventStream*> all;
  if (general_) all.push_back(general_.get());
  for (const auto& [number, stream] : streams_) all.push_back(stream.get());
  std::size_t bytes = 0;
  for (const EventStream* stream : all) bytes += stream->kept_bytes();
  const auto is_too_much = [&] {
    return bytes > limits::kKeptBytes || stream_context_.kept.all > limits::kKeptBytesInAll;
  };
  for (const bool even_response : {false, true}) {
    for (EventStream* stream : all) {
      while (is_too_much()) {
        const std::size_t before = stream->kept_bytes();
        if (!stream->drop_oldest(even_response)) break;
        bytes -= before - stream->kept_bytes();
      }
    }
  }
}

HttpSessions::HttpSessions(StreamContext site, PeerShared& shared, Seal seal)
    : stream_context_(site), shared_(shared), seal_(std::move(seal)), boot_(to_base32(shared.random.bytes(5))) {}

HttpSessions::~HttpSessions() = default;

HttpSessionPtr HttpSessions::make(const Caller& caller) {
  auto peer = std::make_shared<Peer>(shared_, PeerOrigin{.caller = caller});
  return std::make_shared<HttpSession>(stream_context_, boot_, std::move(peer), caller);
}

std::string HttpSessions::add(const HttpSessionPtr& session) {
  if (!make_room()) return {};
  const Value payload = Value::object({{"b", boot_},
                                       {"n", to_base32(shared_.random.bytes(10))},
                                       {"t", shared_.clock.now_ms()},
                                       {"p", session->caller().principal},
                                       {"s", session->peer().saved()}});
  const std::string id = seal_.close(kLabel, to_json(payload));
  sessions_.insert_or_assign(id, Entry{.session = session});
  return id;
}

HttpSessionPtr HttpSessions::find(std::string_view id, const Caller& caller) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return restore_session(id, caller);
  const HttpSessionPtr& session = found->second.session;
  if (session->caller() != caller) return nullptr;
  session->touch();
  return session;
}

HttpSessionPtr HttpSessions::restore_session(std::string_view id, const Caller& caller) {
  if (id.size() > limits::kSessionIdBytes || ended_ids_.contains(id)) return nullptr;
  const auto payload = seal_.open(kLabel, id);
  if (!payload) return nullptr;
  const auto facts = parse_json(*payload);
  if (!facts || facts->string_at("b").value_or(boot_) == boot_) return nullptr;
  const Value* issued = facts->find("t");
  const TimestampMs now = shared_.clock.now_ms();
  if (issued == nullptr || !issued->is_integer() || now - issued->as_integer() > limits::kSessionLifeMs) return nullptr;
  if (facts->string_at("p") != caller.principal) return nullptr;
  auto session = make(caller);
  if (!session->peer().restore((*facts)["s"]) || !make_room()) return nullptr;
  sessions_.emplace(id, Entry{.session = session, .is_restored = true});
  return session;
}

bool HttpSessions::end(std::string_view id, const Caller& caller) {
  if (!find(id, caller)) return false;
  remove(sessions_.find(id));
  return true;
}

void HttpSessions::remove(Table::iterator found) {
  const auto [id, entry] = *found;
  sessions_.erase(found);
  if (entry.is_restored) remember_ended(id);
  entry.session->end();
}

void HttpSessions::remember_ended(const std::string& id) {
  if (!ended_ids_.insert(id).second) return;
  ended_order_.push_back(id);
  if (ended_order_.size() <= limits::kEndedSessions) return;
  ended_ids_.erase(ended_order_.front());
  ended_order_.pop_front();
}

bool HttpSessions::make_room() {
  if (sessions_.size() < limits::kSessions) return true;
  auto oldest = sessions_.end();
  for (auto one = sessions_.begin(); one != sessions_.end(); ++one) {
    const HttpSession& session = *one->second.session;
    if (!session.is_idle()) continue;
    if (oldest == sessions_.end() || session.last_used() < oldest->second.session->last_used()) oldest = one;
  }
  if (oldest == sessions_.end()) return false;
  remove(oldest);
  return true;
}

void HttpSessions::tick() {
  std::vector<std::string> over;
  for (const auto& [id, entry] : sessions_) {
    entry.session->tick();
    if (entry.session->is_over()) over.push_back(id);
  }
  for (const std::string& id : over) {
    const auto found = sessions_.find(id);
    if (found != sessions_.end()) remove(found);
  }
}

void HttpSessions::end_of_input() {
  for (const auto& [id, entry] : sessions_) {
    entry.session->end_general();
    entry.session->peer().end_of_input();
  }
}

void HttpSessions::end_all() {
  const auto sessions = std::exchange(sessions_, {});
  for (const auto& [id, entry] : sessions) entry.session->end();
}

bool HttpSessions::is_idle() const {
  return std::ranges::all_of(sessions_, [](const auto& row) { return row.second.session->peer().running() == 0; });
}

std::size_t HttpSessions::open_general_streams() const {
  const auto is_open = [](const auto& row) { return row.second.session->has_open_general(); };
  return static_cast<std::size_t>(std::ranges::count_if(sessions_, is_open));
}

}  // namespace sb::mcp
