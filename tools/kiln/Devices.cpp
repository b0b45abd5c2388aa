#include "Devices.h"

#include "render/c/CHost.h"
#include "running/InterpDevice.h"
#include "runtime/device/cpu/cpu.h"
#include "support/Error.h"
#include "target/Cpu.h"

#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::driver;

// Every device that kiln_device() declares, a line KILN_DEVICE(NAME) each.
#define KILN_DEVICE(NAME)                                                                                              \
  extern "C" const kiln_device kiln_device_##NAME;                                                                     \
  namespace kiln::NAME {                                                                                               \
  target::Device device();                                                                                             \
  }
#include "tools/kiln/DeviceTable.inc"
#undef KILN_DEVICE

/// It computes every row and dtype as Evaluate.h says, and has no machine whose time could be saved. A matrix
/// instruction and a dot instruction are there for lists of opts that are made for a CPU.
static constexpr char kInterpTarget[] = R"(#kiln.target<device = "interp",
    products = [<"tdpbf16ps", bf16 * bf16 -> f32, m = 16, n = 16, k = 32>,
                <"vdpbf16ps", bf16 * bf16 -> f32, m = 1, n = 16, k = 2, steps = 1>],
    rates = <bytes_per_ns = 10, ops_per_ns = 10, product_ops_per_ns = 60, launch_ns = 200, units = 1, tile_reuse = 8>>)";

static llvm::ArrayRef<DeviceEntry> devices() {
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

static void listFound(const kiln_device &device, llvm::raw_ostream &out) {
  char error[256] = "";
  auto print = [](void *user, const char *name) {
    *static_cast<llvm::raw_ostream *>(user) << "          " << name << "\n";
  };
  if (device.list(print, &out, error, sizeof error))
    out << "          not on this machine: " << error << "\n";
}

void driver::listDevices(llvm::raw_ostream &out) {
  for (const DeviceEntry &entry : devices()) {
    out << llvm::left_justify(entry.compiler.name, 10) << entry.compiler.summary << "\n";
    if (entry.runtime == &kiln_device_cpu)
      if (llvm::Expected<target::Cpu> cpu = target::describeCpu("")) {
        mlir::MLIRContext context;
        context.loadDialect<KilnDialect>();
        out << "          " << cpu->name << ", vectors of "
            << target::cpuTarget(entry.compiler.name, *cpu, &context).vectorBits() << " bits\n";
      }
    if (entry.runtime->list)
      listFound(*entry.runtime, out);
  }
}
