// Signalbox's own server, ready for any transport: `signalbox mcp` and `signalbox serve` are made of this.
#pragma once

#include "base/seams.hpp"
#include "mcp/stdio_server.hpp"

namespace sb::mcp {

// Opens nothing: the store is opened by the first call that needs it. The seams must outlive the server.
ServerParts make_server_parts(const Seams& seams);

}  // namespace sb::mcp
