// A stand-in for the Messages API on loopback. What it answers depends on the request alone, so that a request that is
// made again is answered again: of the script's lines, the first whose `when.contains` texts are in the request, and
// the prompt of its workflow's step (as small_flows.hpp writes them), and whose own tool_use ids are not.
//
// It can be told to lose the connection at the Nth request: before the answer, in the middle of it, or behind its last
// byte but before the end of the stream. Threads: all functions from any.
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
  // Every request is answered so, until this is called with 0.
  void refuse_all(int status, const std::string& headers = {});
  // Requests are taken and nothing is said to them, until this is called with false.
  void hang_all(bool hangs);
  int requests() const { return static_cast<int>(server_->requests().size()); }
  std::vector<std::string> bodies() const;  // as they came
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
