// A stand-in for the Messages API on loopback. Its answer depends only on the request, so that a repeated request gets
// the same answer: the first line of the script whose `when.contains` texts and whose step's prompt (as in
// small_flows.hpp) are in the request, and whose own tool_use ids are not.
//
// It can lose the connection at the Nth request: before the answer, in the middle of it, or after its last byte but
// before the end of the stream. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/document/value.hpp"
#include "net/raw_server.hpp"

namespace sb::pipeline_tests {

enum class Cut { kBefore, kMiddle, kAfter };

class ModelServer {
 public:
  explicit ModelServer(const std::string& script);

  std::string url() const { return server_->url(""); }
  void cut(int request, Cut how);
  // Every request gets this answer, until this is called with 0.
  void refuse_all(int status, const std::string& headers = {});
  // Requests are accepted but not answered, until this is called with false.
  void hang_all(bool hangs);
  int requests() const { return static_cast<int>(server_->requests().size()); }
  std::vector<std::string> bodies() const;  // as received
  std::string heads() const;

 private:
  struct Reply {
    std::vector<std::string> contains;
    Value content;
    std::vector<std::string> ids;
  };
  bool answer(net::RawServer::Peer& peer, const net::RawServer::Request& request);
  const Reply* reply_to(const std::string& body) const;

  std::vector<Reply> replies_;
  mutable std::mutex mutex_;
  std::map<int, Cut> cuts_;
  int refused_with_ = 0;
  std::string refused_headers_;
  bool hangs_ = false;
  std::unique_ptr<net::RawServer> server_;  // last: its threads use the rest
};

}  // namespace sb::pipeline_tests
