//===- Render.h - A lowered model as text or machine code ---------------------===//
//
// Stage: render.  The device's own text if it compiles kernels itself; around it, or with the kernels in it, a host
// program through LLVM or as C.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Model.h"
#include "package/CSource.h"
#include "package/OutputFile.h"
#include "render/llvm/LlvmEmit.h"
#include "render/llvm/LlvmProgram.h"
#include "render/model/RecipeRunner.h"
#include "render/model/WeightData.h"
#include "target/Cpu.h"
#include "tools/kiln/Devices.h"

namespace kiln::driver {

/// The name of a program's kiln_model: see kiln/cli.h.
inline constexpr llvm::StringLiteral kProgramSymbol = "kiln_the_model";

/// The names of an artefact's parts.
struct ModelNames {
  std::string symbol = kProgramSymbol.str(); ///< its kiln_model
  std::string prefix = {};                   ///< the beginning of its functions' names; "": it has none
};

/// Where the weights of an artefact are.
struct WeightsOf {
  WeightsOf(render::WeightPlacement placement, std::string digest = "")
      : placement(placement), digest(std::move(digest)) {}
  render::WeightPlacement placement;
  std::string digest; ///< of their file; "": they have none
};

/// The text of a kernel that is shown.
enum class KernelText {
  Source,     ///< what the device's compiler reads; of LLVM, its IR
  Llvm,       ///< LLVM's IR, of a device that goes through it
  Assembly,   ///< the output of the device's compiler
  MachineCode ///< the same, but for a device the instructions of its own, if they can be shown
};

class Rendering {
public:
  /// `models` are one model for one CPU or several, in the order that render::Version requires. They are after stage
  /// lower and outlive this.
  static llvm::Expected<Rendering> create(llvm::ArrayRef<const Model *> models, const CompileOptions &options);

  const Model &model() const { return model_; }
  const CompileOptions &options() const { return options_; }
  /// The first device, which decides how the host program is compiled.
  const DeviceEntry &device() const { return *devices_.front(); }
  /// All devices, by their numbers.
  llvm::ArrayRef<const DeviceEntry *> devices() const { return devices_; }
  llvm::ArrayRef<render::Version> versions() const { return versions_; }
  /// Those of the first version: their ports are the same for all.
  const render::ModelTables &tables() const { return versions_.front().tables; }
  const target::Cpu &cpu() const { return versions_.front().cpu; }
  render::Origin origin() const;
  /// The source of the bytes of the model's weights; recipes run in this process.
  render::WeightSource weightSource() const { return {model_.folder(), recipes_.get()}; }
  /// kiln_model.devices: each with the kernels as its runtime takes them; "" if they are code of the host's. Made
  /// once.
  llvm::Expected<std::vector<render::Place>> places() const;

  /// The output of --emit render: the source of devices that all have one, else LLVM IR or C of the whole model.
  llvm::Error source(llvm::raw_ostream &out) const;
  /// Optimised LLVM IR of the host's code.
  llvm::Error llvmText(llvm::raw_ostream &out) const;
  /// Assembly of the host's code, or of the output of the first device's compiler for its kernels.
  llvm::Error assembly(llvm::raw_ostream &out) const;
  /// The kernels that pass the filter, and nothing around them; none of a recipe.
  llvm::Error kernels(KernelText form, const KernelFilter &filter, llvm::raw_ostream &out) const;
  /// An object: the file `to`, or its part called `name`.
  llvm::Error object(const package::StagedFile &to, const ModelNames &names, const WeightsOf &weights,
                     llvm::StringRef name = "output") const;
  /// The C compiler that links for the target system, with its first arguments: that of --cc, else the one that CC
  /// names, "ccache gcc", or cc; for another system the one that is named after it.
  std::string cCompiler() const;
  /// Whether LLVM makes the host's code of kernels.
  bool hasHostKernels() const;
  /// If hasHostKernels: the same as two parts of `to`, an object and an archive of kernels, which is compiled
  /// faster.
  llvm::Error parts(const package::StagedFile &to, llvm::StringRef object, llvm::StringRef kernels,
                    const ModelNames &names, const WeightsOf &weights) const;
  /// For a device that isC: the model as one C file that includes a "kiln.h" and has the weights in it, if it has them.
  llvm::Expected<std::string> selfContainedC(const ModelNames &names, const WeightsOf &weights) const;
  /// For a device that isC: a library whose kiln_model is kiln_the_model and which leaves the runtime's functions to
  /// this process.
  llvm::Error sharedLibrary(const package::StagedFile &to) const;

private:
  Rendering(const Model &model, const CompileOptions &options);
  llvm::Error findDevices();
  llvm::Error addVersion(const Model &model);
  llvm::Error prepareRecipes();
  /// The kernels of the device with this number.
  std::string kernelText(size_t number = 0, const KernelFilter &filter = KernelFilter()) const;
  /// The same of one device, in another form; none passes: nothing.
  llvm::Error printKernels(size_t number, KernelText form, const KernelFilter &filter, llvm::raw_ostream &out) const;
  std::vector<uop::FuncOp> kernelsOf(size_t number, const KernelFilter &filter) const;
  /// The host's code as LLVM makes it, as text of this form.
  llvm::Error emitText(render::LlvmFile form, llvm::raw_ostream &out) const;
  /// Has the C compiler write the assembly of a source.
  llvm::Error assembleC(llvm::StringRef source, llvm::raw_ostream &out) const;
  /// --gpu-arch or the device's own choice.
  llvm::StringRef gpuArchs(const target::SourceCompiler &compiler) const;
  llvm::Expected<std::string> sourceC(const ModelNames &names, const WeightsOf &weights,
                                      bool isSelfContained = false) const;
  llvm::Error compileC(const package::StagedFile &to, llvm::StringRef name, const ModelNames &names,
                       package::CResult result, const WeightsOf &weights) const;

  const Model &model_;
  const CompileOptions &options_;
  std::vector<const DeviceEntry *> devices_;
  std::vector<render::Version> versions_;
  mutable std::vector<render::Place> places_;
  std::unique_ptr<render::RecipeRunner> recipes_; ///< null if no recipe makes a weight
};

/// The path of this program: the runtime's libraries are found from there.
std::string runningProgram();

} // namespace kiln::driver
