//===- Times.h - Times on a CPU, besides its rates ---------------------------------------===//
//
// Choices of opts weigh times against each other: two tiles of registers, two cuts into chunks, packing or not. The
// rates that the schedule needs are in the module (#kiln.rates); times that matter only to the walk of one kernel are
// here, in one place, so that two choices cannot assume different ones. All were measured on x86 cores of about 4 GHz,
// and are the same for every CPU: choices are between walks that differ by more than cores do.
//
//===------------------------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace kiln::target::times {

/// A vector of results, two per cycle of a core; and a byte of memory at 10 GB/s.
inline constexpr double kAluNanoseconds = 0.125, kByteNanoseconds = 0.1;
/// The most that a core moves in a nanosecond if its own caches hold all of it, or the one that cores share.
inline constexpr double kOwnCacheBytesPerNs = 250, kSharedCacheBytesPerNs = 100;
/// The extra time to write a byte to memory or read it from there, compared with the last cache.
inline constexpr double kFarByteNanoseconds = 0.03;

/// Waking threads and waiting for them; beginning and ending a chunk.
inline constexpr double kLaunchNanoseconds = 2'000, kChunkNanoseconds = 100;
/// Taking a chunk and counting it as done, which threads do one after another.
inline constexpr double kCountNanoseconds = 80;
/// A thread that has less to do is not worth waking.
inline constexpr double kThreadNanoseconds = 10'000;
/// The time that a chunk of an axis of unknown size should take: long compared with the microseconds of waking threads.
inline constexpr double kLongChunkNanoseconds = 50'000;
/// Reading a tensor once more, and from another core's cache, compared with the first time.
inline constexpr double kReadAgain = 0.16, kReadRemote = 1.5;
/// Fraction of a chunk lost waiting for the slowest thread at the end of a launch; cores differ in speed and
/// load.
inline constexpr double kWaitForSlowest = 0.4;
/// A chunk that may end early tests for it.
inline constexpr double kUneven = 1.02;

/// For a register tile, in multiplications and additions of a vector: loading a vector or spreading an element over
/// one, and testing a row that is masked.
inline constexpr double kLoadSteps = 0.25, kMaskSteps = 1.25;
/// The time of a step of a sum besides the rows of its tile, in rows: loading the columns, and the loop.
inline constexpr double kStepRows = 1.25;
/// With fewer totals than this the additions wait for each other.
inline constexpr double kTotalsInFlight = 14;
/// Storing a vector's elements one by one.
inline constexpr double kStoreApartSteps = 10;
/// Gathering a vector of columns that are masked, or a few elements apart, into neighbouring lanes.
inline constexpr double kStageSteps = 6;
/// A row's element serves several vectors of columns, but takes as long to compute as a whole vector does.
inline constexpr double kNumberReuse = 0.25;

/// An addition of Winograd's transforms, with a part of the load or store of its number; and how much faster than the
/// direct sum the whole has to be, since its kernels are several and small.
inline constexpr double kTransformNanoseconds = 0.05, kTransformMargin = 1.2;

/// For matrix instructions, in rows of one: from one to the next with the same sums.
inline constexpr double kMatrixLatency = 52;
/// The fraction of the time for loading matrices that is not hidden by instructions.
inline constexpr double kMatrixLoadShare = 0.3;
/// Packing an element of a row takes as long as this part of a row of an instruction, for each of its terms.
inline constexpr double kMatrixPackSteps = 2;

} // namespace kiln::target::times
