#include "ir/base/Devices.h"

using namespace kiln;
using namespace mlir;

SmallVector<TargetAttr> kiln::targetsOf(ModuleOp module) {
  SmallVector<TargetAttr> targets = {targetOf(module)};
  if (auto others = module->getAttrOfType<ArrayAttr>(kDevicesAttr))
    for (Attribute other : others)
      if (auto target = dyn_cast<TargetAttr>(other))
        targets.push_back(target);
  return targets;
}

int64_t kiln::deviceOf(Operation *kernel) {
  auto device = kernel->getAttrOfType<IntegerAttr>(kDeviceAttr);
  return device ? device.getInt() : 0;
}
