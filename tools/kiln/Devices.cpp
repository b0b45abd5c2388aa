#include "Devices.h"

#include "inspect/Growth.h"
#include "inspect/Json.h"
#include "render/c/CHost.h"
#include "running/InterpDevice.h"
#include "runtime/device/cpu/cpu.h"
#include "support/Error.h"
#include "target/Cpu.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace kiln;
using namespace kiln::driver;

// Every device that kiln_device() declares, one line KILN_DEVICE(NAME) each.
#define KILN_DEVICE(NAME)                                                                                              \
  extern "C" const kiln_device kiln_device_##NAME;                                                                     \
  namespace kiln::NAME {                                                                                               \
  target::Device device();                                                                                             \
  }
#include "tools/kiln/DeviceTable.inc"
#undef KILN_DEVICE

/// It computes every row and dtype as Evaluate.h says, and has no machine whose time could be saved. It has a matrix
/// instruction and a dot instruction for lists of opts that are made for a CPU.
static constexpr char kInterpTarget[] = R"(#kiln.target<device = "interp",
    products = [<"tdpbf16ps", bf16 * bf16 -> f32, m = 16, n = 16, k = 32>,
                <"vdpbf16ps", bf16 * bf16 -> f32, m = 1, n = 16, k = 2, steps = 1>,
                <"vpdpbusd", ui8 * i8 -> i32, m = 1, n = 16, k = 4, steps = 1>,
                <"vpmaddwd", i16 * i16 -> i32, m = 1, n = 16, k = 2, steps = 1>],
    rates = <bytes_per_ns = 10, ops_per_ns = 10, product_ops_per_ns = 60, launch_ns = 200, units = 1, tile_reuse = 8>>)";

llvm::ArrayRef<DeviceEntry> driver::devices() {
  static const std::vector<DeviceEntry> entries = {
      {.compiler = {"cpu", "this machine's CPU, through LLVM", "", nullptr}, .runtime = &kiln_device_cpu},
      {.compiler = render::cDevice(), .runtime = &kiln_device_c, .isC = true},
#define KILN_DEVICE(NAME) {.compiler = kiln::NAME::device(), .runtime = &kiln_device_##NAME},
#include "tools/kiln/DeviceTable.inc"
#undef KILN_DEVICE
      {.compiler = {"interp", "the interpreter of uops, which reports races; for kiln run and kiln verify",
                    kInterpTarget, interpSource},
       .runtime = &kiln_device_interp,
       .isInternal = true},
  };
  return entries;
}

std::vector<std::string> driver::deviceNames() {
  std::vector<std::string> names;
  for (const DeviceEntry &entry : devices())
    names.push_back(entry.compiler.name);
  return names;
}

llvm::Expected<const DeviceEntry *> driver::findDevice(llvm::StringRef name) {
  std::vector<llvm::StringRef> known;
  for (const DeviceEntry &entry : devices()) {
    if (entry.compiler.name == name)
      return &entry;
    known.push_back(entry.compiler.name);
  }
  return usageError("--device " + name + ": no such device", "devices are " + llvm::join(known, ", "));
}

TargetAttr driver::describeTarget(const DeviceEntry &device, const target::Cpu &cpu, mlir::MLIRContext *context) {
  llvm::StringRef text = device.compiler.target;
  if (text.empty())
    return target::cpuTarget(device.compiler.name, cpu, context);
  TargetAttr target = target::parseTarget(text, context);
  return device.isC ? target : target.withCpu(cpu.name, cpu.features);
}

static Found find(const kiln_device &device) {
  Found found;
  char error[256] = "";
  auto add = [](void *user, const char *name) { static_cast<Found *>(user)->names.emplace_back(name); };
  if (device.list && device.list(add, &found, error, sizeof error))
    found.problem = error;
  return found;
}

/// "znver4, vectors of 512 bits", and its rates; nothing if this CPU is not known.
static Found findThisCpu() {
  llvm::Expected<target::Cpu> cpu = target::describeCpu("");
  if (!cpu) {
    llvm::consumeError(cpu.takeError());
    return {};
  }
  mlir::MLIRContext context;
  context.loadDialect<KilnDialect>();
  TargetAttr target = target::cpuTarget("cpu", *cpu, &context);
  return {
      {cpu->name + ", vectors of " + std::to_string(target.vectorBits()) + " bits"},
      "",
      CoreRates{target.getRates().getProductOpsPerNs(), target.getRates().getBytesPerNs(), target::cacheRates(target)}};
}

/// "120 GFLOPS for each core; 10 GB/s from memory, 250 from its own 1.0 MB of cache, 100 from the shared 34 MB"
static std::string ratesText(const CoreRates &rates) {
  return llvm::formatv("{0:F0} GFLOPS for each core; {1:F0} GB/s from memory, {2:F0} from its own {3} of cache, {4:F0} "
                       "from the shared {5}",
                       rates.gflops, rates.memory, rates.caches[0].bytesPerNs, sizeText(double(rates.caches[0].bytes)),
                       rates.caches[1].bytesPerNs, sizeText(double(rates.caches[1].bytes)))
      .str();
}

Found driver::findOn(const DeviceEntry &entry) {
  if (!entry.runtime->list && entry.compiler.name != "cpu")
    return Found{{"this machine's CPU"}, ""};
  return entry.runtime == &kiln_device_cpu ? findThisCpu() : find(*entry.runtime);
}

void driver::listDevices(llvm::raw_ostream &out) {
  for (const DeviceEntry &entry : devices()) {
    out << llvm::left_justify(entry.compiler.name, 10) << entry.compiler.summary << "\n";
    Found found = findOn(entry);
    for (const std::string &name : found.names)
      out << "          " << name << "\n";
    if (found.rates)
      out << "          " << ratesText(*found.rates) << "\n";
    if (!found.problem.empty())
      out << "          not on this machine: " << found.problem << "\n";
  }
}

void driver::listDevicesJson(llvm::raw_ostream &out) {
  Json document = jsonDocument();
  Json &list = document["devices"] = Json::array();
  for (const DeviceEntry &entry : devices()) {
    Found found = findOn(entry);
    Json &device = list.emplace_back(
        Json{{"name", entry.compiler.name}, {"summary", entry.compiler.summary}, {"found", found.names}});
    if (!found.problem.empty())
      device["problem"] = found.problem;
    if (found.rates) {
      device["rates"] = {{"gflops", found.rates->gflops}, {"memory_gb_per_s", found.rates->memory}};
      for (auto [bytes, rate] : found.rates->caches)
        device["rates"]["caches"].push_back({{"bytes", bytes}, {"gb_per_s", rate}});
    }
  }
  printJson(document, out);
}
