// A caller's own tasks: kiln_options.run_tasks with a thread for each.
#pragma once

#include "kiln/kiln.h"

#include <cstdint>
#include <thread>
#include <vector>

namespace kiln::test {

inline void runOnThreads(void *, kiln_task task, void *argument, int64_t count) {
  std::vector<std::thread> threads;
  threads.reserve(size_t(count));
  for (int64_t index = 0; index < count; index++)
    threads.emplace_back(task, argument, index);
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace kiln::test
