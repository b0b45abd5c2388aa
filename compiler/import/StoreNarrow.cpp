#include "import/StoreNarrow.h"

#include "ir/base/NarrowDType.h"
#include "ir/graph/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

using namespace kiln;
using namespace mlir;

int64_t kiln::import::packedByteCount(int64_t elements, Type element) {
  return llvm::divideCeil(elements * int64_t(element.getIntOrFloatBitWidth()), 8);
}

std::string kiln::import::unpackCodes(llvm::StringRef packed, int64_t elements, Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  std::string codes;
  unsigned bits = 0, held = 0;
  for (char byte : packed) {
    bits |= unsigned(uint8_t(byte)) << held;
    for (held += 8; held >= width && int64_t(codes.size()) < elements; held -= width, bits >>= width)
      codes.push_back(char(bits & ((1u << width) - 1)));
  }
  return codes;
}

/// An attribute has one element per byte already.
static DenseElementsAttr stored(DenseElementsAttr dense) {
  auto type = cast<RankedTensorType>(dense.getType());
  return DenseElementsAttr::getFromRawBuffer(type.clone(storageType(type.getElementType())), dense.getRawData());
}

ElementsAttr kiln::import::storedElements(ElementsAttr elements) {
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  return dense && isNarrow(dense.getElementType()) ? stored(dense) : elements;
}

static RankedTensorType storedType(RankedTensorType type) {
  return RankedTensorType::get(type.getShape(), storageType(type.getElementType()), type.getEncoding());
}

static void storeValue(Value value) {
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    value.setType(storedType(type));
}

static TypedAttr storedNumber(TypedAttr number) {
  if (!isNarrow(number.getType()))
    return number;
  return IntegerAttr::get(storageType(number.getType()), codeOf(number).zext(8));
}

/// Notes in an attribute of each port its dtype before it is stored as another type.
static void namePorts(func::FuncOp main) {
  auto nameOne = [](Type type, auto set) {
    if (Type element = cast<RankedTensorType>(type).getElementType(); element != storageType(element))
      set(TypeAttr::get(element));
  };
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    nameOne(main.getArgument(i).getType(), [&](TypeAttr type) {
      main.setArgAttr(i, kPortDTypeAttr, type);
      if (auto value = main.getArgAttrOfType<ElementsAttr>(i, graph::kValueAttr))
        main.setArgAttr(i, graph::kValueAttr, import::storedElements(value));
    });
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    nameOne(main.getResultTypes()[i], [&](TypeAttr type) { main.setResultAttr(i, kPortDTypeAttr, type); });
}

void kiln::import::storeNarrow(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  namePorts(main);
  module.walk([](Operation *op) {
    for (Value result : op->getResults())
      storeValue(result);
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        storeValue(argument);
    if (auto constant = dyn_cast<graph::ConstOp>(op))
      constant.setValueAttr(storedNumber(constant.getValue()));
    if (auto weight = dyn_cast<graph::WeightOp>(op))
      if (auto data = dyn_cast<ElementsAttr>(weight.getData()))
        weight.setDataAttr(storedElements(data));
  });
  auto types = [](TypeRange given) {
    return llvm::map_to_vector(given, [](Type type) -> Type { return storedType(cast<RankedTensorType>(type)); });
  };
  main.setType(FunctionType::get(module.getContext(), types(main.getArgumentTypes()), types(main.getResultTypes())));
  module.walk([](UnrealizedConversionCastOp cast) {
    cast.replaceAllUsesWith(cast.getInputs());
    cast.erase();
  });
}
