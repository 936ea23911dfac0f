// hook-errors.log in the state home: one line per failure, `TIME signalbox-hook MESSAGE`. The host never sees these.
// For a hook called by gstack's name, the file of that name in gstack's state root.
//
// Best effort: a failure to write the log is ignored. The file is kept below about 1 MiB.
#pragma once

#include <string>
#include <string_view>

#include "base/seams.hpp"

namespace sb::hook {

class ErrorLog {
 public:
  explicit ErrorLog(const Seams& seams, std::string_view program = "") : seams_(seams), program_(program) {}
  void add(std::string_view message);
  void add(const Error& error) { add(error.to_string()); }

 private:
  // Where the file is, and the name its lines begin with.
  struct Place {
    std::string folder;
    std::string name;
  };
  Result<Place> place() const;

  Seams seams_;
  std::string program_;
};

}  // namespace sb::hook
