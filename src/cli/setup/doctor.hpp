// The checks of `signalbox doctor`, one function per subject. They create and change nothing, and each runs even if
// another found a problem.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/seams.hpp"
#include "hook/install/clients.hpp"

namespace sb::cli {

enum class Health {
  kOk,
  kWarning,  // works, but the user may want to know or do something
  kError,    // something does not work until it is fixed
};

struct Diagnosis {
  Health health = Health::kOk;
  std::string what;
  std::string remedy = {};
};
using Diagnoses = std::vector<Diagnosis>;

struct DoctorInput {
  const Seams& seams;
  std::optional<HomeDirectories> homes;  // nothing if the environment names none
  std::string project;                   // contains the current folder; absolute, links resolved
  std::string program;                   // absolute path of this program
  std::string version;
  int port = 0;  // where `signalbox serve` listens
};

Diagnoses check_home(const DoctorInput& input);
Diagnoses check_configuration(const DoctorInput& input);
Diagnoses check_store(const DoctorInput& input);
Diagnoses check_keys(const DoctorInput& input);
Diagnoses check_gates(const DoctorInput& input);
// Nothing for a client that is neither in PATH nor configured.
Diagnoses check_client(const DoctorInput& input, const hook::ClientRow& client);
Diagnoses check_hooks(const DoctorInput& input);
Diagnoses check_server(const DoctorInput& input);
Diagnoses check_sandbox(const DoctorInput& input);
Diagnoses check_git(const DoctorInput& input);
Diagnoses check_terminal(const DoctorInput& input);

// The absolute path of a program in PATH; empty when there is none.
std::string program_in_path(const Seams& seams, std::string_view name);

}  // namespace sb::cli
