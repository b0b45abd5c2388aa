//===- Model.cpp - A model on its way through the stages ----------------===//
//
// A model is either imported from its file or goes on from the dump of a stage. A dump is the harder case: it has been
// through some of the stages, so an option that would have acted there comes too late, and is refused rather than
// ignored. Somebody may have edited it, so the guarantees of its stage are checked before a later stage relies on them.
// For large weights a dump only names places in files of the model's folder, and it gives that folder itself. A dump
// from elsewhere must not make kiln read just anywhere, so the folder has to be the dump's own or one below the working
// folder.
//
//===--------------------------------------------------------------------===//
#include "Model.h"

#include "Debug.h"
#include "DumpCheck.h"
#include "passes/Passes.h"
#include "support/ContentHash.h"
#include "support/DumpText.h"
#include "support/Error.h"
#include "support/FolderFile.h"
#include "tools/kiln/inspect/Progress.h"
#include "tools/kiln/options/TargetOption.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

#include <set>

using namespace kiln;
using namespace kiln::driver;

static constexpr llvm::StringLiteral kSourceAttr = "kiln.source", kDigestAttr = "kiln.digest";
static constexpr llvm::StringLiteral kWriteDump = "give a dump that `kiln compile --emit STAGE` wrote";

static mlir::MLIRContext::Threading threading(const CompileOptions &options) {
  // MLIR prints the IR between passes only if one thread runs them.
  return options.debug >= kDebugRewrites ? mlir::MLIRContext::Threading::DISABLED
                                         : mlir::MLIRContext::Threading::ENABLED;
}

static mlir::DialectRegistry dialects() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

Model::Model(const CompileOptions &options)
    : options_(options), filter_(options.kernels), context_(dialects(), threading(options)),
      diagnostics_(context_, options.model) {
  context_.loadAllAvailableDialects();
}

/// The hash of a model's file and of its others, in the order of their names: that of `cat MODEL OTHERS`.
static llvm::Expected<std::string> digestOf(const std::string &model, llvm::ArrayRef<std::string> others) {
  ContentHash hash;
  std::set<std::string> sorted(others.begin(), others.end());
  sorted.erase(model);
  std::vector<std::string> paths{model};
  llvm::append_range(paths, sorted);
  for (const std::string &path : paths) {
    auto file = mapRegularFile(path, "leave the model's files as they are until kiln has ended");
    if (!file)
      return failure(path + ": " + llvm::toString(file.takeError()));
    hash.update((*file)->getBuffer());
  }
  return hash.digits();
}

llvm::Error Model::checkFile(const std::string &path) {
  llvm::sys::fs::file_status status;
  if (std::error_code failed = llvm::sys::fs::status(path, status))
    return failure(path + ": cannot be read: " + failed.message(), "name a model's file");
  if (status.type() == llvm::sys::fs::file_type::directory_file)
    return failure(path + ": is a folder", "name a model's file");
  // A pipe could wait for ever and a device go on for ever; also, weights are read in place, and more than once.
  if (status.type() != llvm::sys::fs::file_type::regular_file)
    return failure(path + ": is not a regular file", "write the model to a file, and name that");
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Model>> Model::open(const CompileOptions &options) {
  if (llvm::Error error = checkFile(options.model))
    return error;

  beginStage(stageName(Stage::Import));
  std::unique_ptr<Model> model(new Model(options));
  if (!llvm::StringRef(options.model).ends_with(".mlir")) {
    import::ImportOptions import = options.import;
    import.reads = [&](llvm::StringRef path) { model->files_.push_back(path.str()); };
    import.nodes = &model->nodes_;
    llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> module =
        import::importModel(model->context_, options.model, import);
    if (!module)
      return module.takeError();
    model->module_ = std::move(*module);
    auto text = [&](llvm::StringRef value) { return mlir::StringAttr::get(&model->context_, value); };
    model->module()->setAttr("kiln.stage", text(stageName(Stage::Import)));
    model->module()->setAttr(kSourceAttr, text(options.model));
    llvm::Expected<std::string> digest = digestOf(options.model, model->files_);
    if (!digest)
      return digest.takeError();
    model->module()->setAttr(kDigestAttr, text(*digest));
    model->shapes_ = ModelShapes(model->module());
    model->source_ = options.model;
    if (llvm::Error error = setTarget(model->module(), options))
      return error;
    return model;
  }
  if (options.import.precision)
    return usageError(options.model + ": its products are as they were imported",
                      "give --precision with the model's file");
  if (!options.import.dims.empty())
    return usageError(options.model + ": sizes are fixed when a model is imported", "give --dim with the model's file");
  if (!options.import.shapes.empty())
    return usageError(options.model + ": shapes are fixed when a model is imported",
                      "give --shape with the model's file");
  if (!options.import.aliases.empty())
    return usageError(options.model + ": aliases are declared when a model is imported",
                      "give --alias with the model's file");
  if (llvm::Error error = model->readDump())
    return error;
  if (llvm::Error error = model->checkDump())
    return error;
  if (model->stage() == Stage::Import)
    model->shapes_ = ModelShapes(model->module());
  if (!options.optsPath.empty() && model->stage() >= Stage::Optimize)
    return usageError("--opts " + options.optsPath + ": the kernels of " + options.model + " have their opts already",
                      "give it with the model's file, or with a dump of an earlier stage");
  auto comesLate = [&](llvm::StringRef option, llvm::StringRef what) {
    return usageError(option + ": the kernels of " + options.model + " are " + what + " already",
                      "give it with the model's file, or with a dump of an earlier stage");
  };
  if (options.pipeline.noOpt && model->stage() >= Stage::Optimize)
    return comesLate("--no-opt", "optimised");
  if (options.pipeline.classic && model->stage() >= Stage::Schedule)
    return comesLate("--schedule classic", "formed");
  if (llvm::Error error = setTarget(model->module(), options))
    return error;
  if (llvm::Error error = model->findSource())
    return error;
  return model;
}

llvm::Error Model::readDump() {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> text = llvm::MemoryBuffer::getFile(options_.model);
  if (!text)
    return failure(options_.model + ": cannot be read: " + text.getError().message(), "name a model's file");
  if ((*text)->getBuffer().contains('\0'))
    return failure(options_.model + ": is not text", kWriteDump);
  if (llvm::Error error = checkText((*text)->getBuffer()))
    return failure(options_.model + ": " + llvm::toString(std::move(error)), kWriteDump);
  llvm::SourceMgr source;
  source.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(aliasesFirst((*text)->getBuffer()), options_.model),
                            llvm::SMLoc());
  module_ = mlir::parseSourceFile<mlir::ModuleOp>(source, &context_);
  return module_ ? llvm::Error::success()
                 : diagnostics_.take(options_.model, "is not a module that MLIR can read", kWriteDump);
}

llvm::Error Model::checkDump() {
  auto wrong = [&](const llvm::Twine &cause) { return failure(options_.model + ": " + cause, kWriteDump); };
  auto mark = module()->getAttrOfType<mlir::StringAttr>("kiln.stage");
  std::optional<Stage> stage = mark ? stageByName(mark.getValue()) : std::nullopt;
  if (!stage || *stage > Stage::Lower)
    return wrong("its attribute kiln.stage names no stage");
  if (!module()->getAttrOfType<mlir::ArrayAttr>(graph::kSymbolsAttr))
    return wrong("its attribute kiln.symbols is missing");
  if (mlir::Attribute digest = module()->getAttr(kDigestAttr))
    if (auto text = llvm::dyn_cast<mlir::StringAttr>(digest);
        !text || text.size() != ContentHash::kDigits || !llvm::all_of(text.getValue(), llvm::isHexDigit))
      return wrong("its attribute kiln.digest is not a hash of " + llvm::Twine(ContentHash::kDigits) + " digits");
  bool isGraph = *stage < Stage::Schedule;
  if (isGraph && !module().lookupSymbol<mlir::func::FuncOp>("main"))
    return wrong("it has no func.func @main");
  if (!isGraph && !llvm::hasSingleElement(module().getOps<host::ProgramOp>()))
    return wrong("it does not have exactly one host.program");
  if (isGraph)
    if (llvm::Error error = import::checkPorts(module()))
      return failure(options_.model + ": " + llvm::toString(std::move(error)));
  if (llvm::Error error = checkVariables(module()))
    return wrong(llvm::toString(std::move(error)));
  if (llvm::Error error = checkDevices(module(), *stage))
    return wrong(llvm::toString(std::move(error)));
  // A later stage relies on what this one guarantees.
  VerifyStageOptions promise;
  promise.stage = mark.getValue();
  mlir::PassManager passes(&context_);
  passes.addPass(createVerifyStage(promise));
  if (mlir::succeeded(passes.run(module())))
    return llvm::Error::success();
  return diagnostics_.take(options_.model, "it is not what its stage promises", kWriteDump);
}

llvm::Error Model::checkFilter(Stage last) {
  if (filter_.isEmpty() || stage() < Stage::Schedule)
    return llvm::Error::success();
  if (stage() > Stage::Schedule)
    return filter_.check(module(), source());
  if (last != Stage::Schedule && options_.debug < kDebugUOps)
    return llvm::Error::success();
  if (llvm::Error error = filter_.resolve(module(), source(), options_.pipeline))
    return error;
  return last == Stage::Schedule ? filter_.checkShown(module(), source()) : llvm::Error::success();
}

llvm::Error Model::advance(Stage last) {
  for (Stage next = Stage::View; next <= last; next = static_cast<Stage>(static_cast<int>(next) + 1)) {
    if (next <= stage())
      continue;
    beginStage(stageName(next));
    mlir::PassManager passes(&context_);
    PipelineOptions pipeline = options_.pipeline;
    if (options_.debug >= kDebugRewrites)
      pipeline.loggedKernels = filter_.isEmpty() ? std::vector<std::string>{"*"} : filter_.patterns();
    addStage(passes, next, pipeline);
    if (options_.debug >= kDebugRewrites)
      printRewrites(passes, filter_);
    if (mlir::failed(passes.run(module())))
      return diagnostics_.take(source(), "stage " + stageName(next).str() + " failed");
    if (next == Stage::Schedule && recordsShapes_)
      shapes_.note(module());
    if (llvm::Error error = checkFilter(last))
      return error;
    printStage(module(), next, options_.debug, filter_);
  }
  return checkFilter(last);
}

/// Whether a path, as it is written, leads to the folder or below it. Nothing counts as below the root.
static bool isBelow(llvm::StringRef folder, llvm::StringRef path) {
  llvm::SmallString<256> whole(path), holder(folder);
  if (llvm::sys::fs::make_absolute(whole) || llvm::sys::fs::make_absolute(holder))
    return false;
  for (llvm::SmallString<256> *each : {&whole, &holder}) {
    llvm::sys::path::remove_dots(*each);
    while (each->size() > 1 && llvm::sys::path::is_separator(each->back()))
      each->pop_back();
  }
  auto steps = llvm::make_range(llvm::sys::path::begin(whole), llvm::sys::path::end(whole));
  if (llvm::is_contained(steps, "..") || holder.str() == llvm::sys::path::root_path(holder))
    return false;
  return whole == holder || (whole.starts_with(holder) && llvm::sys::path::is_separator(whole[holder.size()]));
}

static bool readsFiles(mlir::ModuleOp module) {
  mlir::WalkResult result = module.walk([](mlir::Operation *op) {
    bool reads = false;
    op->getAttrDictionary().walk([&](graph::FileAttr) { reads = true; });
    return reads ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return result.wasInterrupted();
}

llvm::Error Model::findSource() {
  namespace path = llvm::sys::path;
  auto attribute = module()->getAttrOfType<mlir::StringAttr>(kSourceAttr);
  std::string named = attribute ? attribute.getValue().str() : options_.model;
  llvm::StringRef own = path::parent_path(options_.model);
  source_ = named;
  bool mayRead = isBelow("", path::parent_path(named)) || isBelow(own, path::parent_path(named));
  if (mayRead && llvm::sys::fs::exists(named))
    return llvm::Error::success();
  for (llvm::StringRef place : {llvm::StringRef(named), path::filename(named)}) {
    llvm::SmallString<256> beside(own);
    path::append(beside, place);
    if (isBelow(own, beside) && llvm::sys::fs::exists(beside)) {
      source_ = beside.str();
      return llvm::Error::success();
    }
  }
  if (mayRead || !readsFiles(module()))
    return llvm::Error::success();
  return failure(options_.model + ": its weights are next to its model '" + named +
                     "', which is neither in the dump's folder nor below the working one",
                 "run kiln in a folder above the model, or put the dump next to it");
}

llvm::StringRef Model::name() const { return llvm::sys::path::filename(source()); }
llvm::StringRef Model::digest() const {
  auto digest = module()->getAttrOfType<mlir::StringAttr>(kDigestAttr);
  return digest ? digest.getValue() : "";
}
llvm::StringRef Model::folder() const { return llvm::sys::path::parent_path(source()); }

std::vector<std::string> Model::files() const {
  std::vector<std::string> files = files_;
  llvm::append_range(files, llvm::ArrayRef{options_.model, source_});
  llvm::SetVector<llvm::StringRef> named;
  module()->walk([&](mlir::Operation *op) {
    op->getAttrDictionary().walk([&](graph::FileAttr file) { named.insert(file.getPath()); });
  });
  for (llvm::StringRef name : named) {
    llvm::SmallString<256> path(folder());
    llvm::sys::path::append(path, name);
    files.push_back(path.str().str());
  }
  return files;
}

void Model::print(llvm::raw_ostream &out) const {
  if (!filter_.isEmpty()) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    filter_.select(module())->print(stream);
    out << aliasesLast(text);
    return;
  }
  // Locations name the source nodes, which later stages hand on to the launches.
  std::string text;
  llvm::raw_string_ostream stream(text);
  module()->print(stream, mlir::OpPrintingFlags().enableDebugInfo());
  out << aliasesLast(text);
}
