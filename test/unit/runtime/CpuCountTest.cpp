#include "TempFolder.h"

extern "C" {
#include "runtime/device/cpu/cpu_count.h"
}

#include <catch2/catch.hpp>

#include <climits>

namespace {

/// The files of /proc and /sys/fs/cgroup.
class System : public TempFolder {
public:
  void file(const std::string &name, const std::string &text) const {
    std::filesystem::create_directories(std::filesystem::path(*this / name).parent_path());
    write(name, text);
  }
  int32_t quota() const { return kiln_cpu_quota((*this / "cgroup").c_str(), (*this / "fs").c_str()); }
};

} // namespace

TEST_CASE("a group's quota is whole CPUs, rounded up") {
  System system;
  system.file("cgroup", "0::/\n");
  for (auto [text, cpus] : {std::pair("200000 100000\n", 2), {"250000 100000\n", 3}, {"1000 100000\n", 1}}) {
    system.file("fs/cpu.max", text);
    CHECK(system.quota() == cpus);
  }
}

TEST_CASE("no quota") {
  System system;
  CHECK(system.quota() == INT32_MAX);
  system.file("cgroup", "0::/\n");
  CHECK(system.quota() == INT32_MAX);
  for (const char *text : {"max 100000\n", "", "0 0\n", "100000\n"}) {
    system.file("fs/cpu.max", text);
    CHECK(system.quota() == INT32_MAX);
  }
}

TEST_CASE("the least quota of the groups around counts") {
  System system;
  system.file("cgroup", "0::/a.slice/b.scope\n");
  system.file("fs/a.slice/b.scope/cpu.max", "max 100000\n");
  system.file("fs/a.slice/cpu.max", "300000 100000\n");
  system.file("fs/cpu.max", "800000 100000\n");
  CHECK(system.quota() == 3);
}

TEST_CASE("version 1 has two files") {
  System system;
  system.file("cgroup", "12:memory:/x\n5:cpuacct,cpu:/job\n1:name=systemd:/y\n");
  system.file("fs/cpu/job/cpu.cfs_quota_us", "400000\n");
  system.file("fs/cpu/job/cpu.cfs_period_us", "100000\n");
  CHECK(system.quota() == 4);
  system.file("fs/cpu/job/cpu.cfs_quota_us", "-1\n");
  CHECK(system.quota() == INT32_MAX);
}

TEST_CASE("there is a CPU") { CHECK(kiln_cpu_count() >= 1); }
