// What nearly every test includes, compiled once where SIGNALBOX_UNITY is on.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "precompiled.hpp"
