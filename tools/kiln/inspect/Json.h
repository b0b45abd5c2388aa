//===- Json.h - The form of --json ------------------------------------------------===//
#pragma once

namespace kiln::driver {

/// The first member of every document that --json prints, in programs too (runtime/src/cli/json_text.h).
inline constexpr int kJsonVersion = 1;

} // namespace kiln::driver
