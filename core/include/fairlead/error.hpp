// SPDX-License-Identifier: Apache-2.0
// The errors of the core; the bindings convert each to the Python error of the same name.
#pragma once

#include <stdexcept>

namespace fairlead {

/// Root of all errors that Fairlead raises on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An argument from outside is invalid; the message names it.
class InputError : public Error {
 public:
  using Error::Error;
};

/// Two arrays that belong together differ in shape; the message gives both shapes.
class ShapeError : public InputError {
 public:
  using InputError::InputError;
};

/// Hosts, slots or a placement do not fit one another.
class TopologyError : public InputError {
 public:
  using InputError::InputError;
};

}  // namespace fairlead
