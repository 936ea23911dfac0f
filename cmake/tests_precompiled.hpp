// What nearly every test includes, compiled once if SIGNALBOX_UNITY is on.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "precompiled.hpp"
