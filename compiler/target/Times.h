//===- Times.h - How long things take on a CPU, besides its rates ------------------------===//
//
// Choices of opts weigh times against each other: two tiles of registers, two cuts into chunks, packing or not. What
// the schedule has to know of a device is in the module (#kiln.rates); what only the walk of one kernel depends on is
// here, in one place, so that two choices cannot believe different things. All of it was measured on x86 cores of about
// 4 GHz, and is the same for every CPU: choices are between walks that differ by more than cores do.
//
//===------------------------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace kiln::target::times {

/// A vector of results, of which a core makes two a cycle, and a byte of memory at 10 GB/s.
inline constexpr double kAluNanoseconds = 0.125, kByteNanoseconds = 0.1;
/// What a byte takes longer to be written to memory or read from there than in the last cache.
inline constexpr double kFarByteNanoseconds = 0.03;

/// Waking threads and waiting for them; what begins and ends a chunk.
inline constexpr double kLaunchNanoseconds = 2'000, kChunkNanoseconds = 100;
/// To take a chunk and to count it as done, which threads do one after another.
inline constexpr double kCountNanoseconds = 80;
/// A thread that has less to do is not worth waking.
inline constexpr double kThreadNanoseconds = 10'000;
/// What a chunk of an axis of unknown size should take: long compared with the microseconds in which threads wake.
inline constexpr double kLongChunkNanoseconds = 50'000;
/// Reading a tensor once more, and from another core's cache, compared with the first time.
inline constexpr double kReadAgain = 0.16, kReadRemote = 1.5;
/// How much of a chunk others wait for the slowest thread at the end of a launch: cores differ, and so does who else
/// uses them.
inline constexpr double kWaitForSlowest = 0.4;
/// A chunk that may end early tests for it.
inline constexpr double kUneven = 1.02;

/// Of a register tile, in multiplications and additions of a vector: to load a vector or to spread an element over one,
/// and to test a row that is masked.
inline constexpr double kLoadSteps = 0.25, kMaskSteps = 1.25;
/// What a step of a sum takes besides the rows of its tile, in rows: to load the columns, and the loop.
inline constexpr double kStepRows = 1.25;
/// Below so many totals the additions wait for each other.
inline constexpr double kTotalsInFlight = 14;
/// To store a vector's elements apart from one another.
inline constexpr double kStoreApartSteps = 10;
/// To take a vector of columns that are masked, or a few elements apart, to where they lie side by side.
inline constexpr double kStageSteps = 6;
/// A row's element serves several vectors of columns, but takes as long to compute as a whole vector does.
inline constexpr double kNumberReuse = 0.25;

/// A number that Winograd's transforms make or read, with what is added up for it; and how much faster than the direct
/// sum the whole has to be, since its kernels are many and small.
inline constexpr double kTransformNanoseconds = 0.25, kTransformMargin = 1.4;

/// Of matrix instructions, in rows of one: from one to the next with the same sums.
inline constexpr double kMatrixLatency = 52;
/// How much of the time in which matrices are loaded is not hidden behind instructions.
inline constexpr double kMatrixLoadShare = 0.3;
/// To pack an element of a row takes as long as so much of a row of an instruction, for each of its terms.
inline constexpr double kMatrixPackSteps = 2;

} // namespace kiln::target::times
