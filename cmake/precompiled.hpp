// What nearly every file includes, compiled once if SIGNALBOX_UNITY is on. Files still include what they use: the plain
// build has no precompiled header.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/document/document.hpp"
#include "base/document/reader.hpp"
#include "base/document/value.hpp"
#include "base/result.hpp"
#include "base/seams.hpp"
