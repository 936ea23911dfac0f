// The interfaces through which a command reaches the outside world, as one bundle: real ones in main, others in tests.
//
// Holds references; the creator keeps the parts alive. Cheap to copy.
#pragma once

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "base/random.hpp"
#include "base/streams.hpp"

namespace sb {

struct Seams {
  Files& files;
  Clock& clock;
  Random& random;
  Process& process;
  const Environment& environment;
  Streams& streams;
};

}  // namespace sb
