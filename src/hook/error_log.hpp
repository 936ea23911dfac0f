// hook-errors.log in the state home: one line per failure, `TIME signalbox-hook MESSAGE`. The host never sees these.
//
// Best effort: a failure to write the log is ignored. The file is kept below about 1 MiB.
#pragma once

#include <string_view>

#include "base/seams.hpp"

namespace sb::hook {

class ErrorLog {
 public:
  explicit ErrorLog(const Seams& seams) : seams_(seams) {}
  void add(std::string_view message);
  void add(const Error& error) { add(error.to_string()); }

 private:
  Seams seams_;
};

}  // namespace sb::hook
