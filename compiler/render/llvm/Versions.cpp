#include "render/llvm/Versions.h"

#include "ir/graph/Graph.h"
#include "render/model/WeightData.h"
#include "support/ContentHash.h"

#include "kiln/program.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace kiln;
using namespace kiln::render;

namespace {

/// A stream that keeps only the hash of its text.
class HashStream final : public llvm::raw_ostream {
public:
  std::string digits() {
    flush();
    return hash_.digits();
  }

private:
  void write_impl(const char *data, size_t bytes) override {
    hash_.update({data, bytes});
    used_ += bytes;
  }
  uint64_t current_pos() const override { return used_; }

  ContentHash hash_;
  uint64_t used_ = 0;
};

} // namespace

static std::string identityOf(const WeightEntry &weight);

/// The computation of a recipe, without its name. Other recipes that it uses appear by name only, so their computations
/// follow.
static void describeRecipe(mlir::ModuleOp recipe, llvm::raw_ostream &out) {
  for (mlir::NamedAttribute attribute : recipe->getAttrs())
    if (attribute.getName() != recipe.getSymNameAttrName())
      out << attribute.getName() << attribute.getValue();
  for (mlir::Operation &op : *recipe.getBody())
    op.print(out);
  for (const WeightEntry &weight : modelTables(recipe).weights)
    out << identityOf(weight);
}

/// Text that is the same for two weights only if their bytes are.
static std::string identityOf(const WeightEntry &weight) {
  HashStream out;
  out << static_cast<int>(weight.dtype);
  for (int64_t size : weight.dims)
    out << ' ' << size;
  out << '\n';
  if (weight.recipe) {
    out << llvm::cast<graph::RecipeAttr>(weight.data).getOutput();
    describeRecipe(weight.recipe, out);
  } else if (auto elements = llvm::dyn_cast<mlir::ElementsAttr>(weight.data)) {
    writeElements(elements, out);
  } else {
    out << weight.data;
  }
  return out.digits();
}

void render::shareWeights(llvm::MutableArrayRef<Version> versions) {
  if (versions.size() < 2)
    return;
  llvm::StringMap<WeightEntry> placed;
  llvm::StringSet<> names;
  int64_t end = 0;
  for (Version &version : versions)
    for (WeightEntry &weight : version.tables.weights) {
      auto [known, isNew] = placed.try_emplace(identityOf(weight), weight);
      if (!isNew && &version != versions.data()) {
        weight.name = known->second.name;
        weight.offset = known->second.offset;
        weight.isShared = true;
        continue;
      }
      std::string name = weight.name;
      for (std::string suffix = "." + version.cpu.name; !names.insert(weight.name).second; suffix += "_")
        weight.name = name + suffix;
      weight.offset = llvm::alignTo(end, KILN_ALIGNMENT);
      end = weight.offset + weight.bytes;
      known->second = weight;
    }
  for (Version &version : versions)
    version.tables.weightBytes = end;
}

std::vector<WeightEntry> render::sharedWeights(llvm::ArrayRef<Version> versions) {
  std::vector<WeightEntry> weights;
  for (const Version &version : versions)
    for (const WeightEntry &weight : version.tables.weights)
      if (!weight.isShared)
        weights.push_back(weight);
  return weights;
}
