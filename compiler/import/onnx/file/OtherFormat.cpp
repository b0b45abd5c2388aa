#include "import/onnx/file/OtherFormat.h"

using namespace kiln::import::onnx;
using llvm::StringLiteral;

namespace {
struct Format {
  size_t offset;
  StringLiteral begin;
  OtherFormat format;
};
} // namespace

static constexpr StringLiteral kExport = "export the model to ONNX where it was trained";

static constexpr StringLiteral kExportKeras = "export the model in Keras by model.export(\"m.onnx\", format=\"onnx\")";

static constexpr StringLiteral kNotThis = "give kiln the model that it was made of";

static constexpr Format formats[] = {
    {0, "\177ELF", {"is a compiled program, object or library, not a model", kNotThis}},
    {0, "!<arch>\n", {"is an archive of objects, not a model", kNotThis}},
    {0, "version https://git-lfs", {"is a pointer of Git LFS, not the file", "fetch that with `git lfs pull`"}},
    {30, "metadata.json", {"is a zip archive, as Keras saves", kExportKeras}}, // the name of the first file in it
    {30, "config.json", {"is a zip archive, as Keras saves", kExportKeras}},
    {0, "PK\x03\x04", {"is a zip archive, as PyTorch saves", "export the model by torch.onnx.export"}},
    {0, "\x80\x02", {"is a pickle of Python's, as PyTorch saved", "export the model by torch.onnx.export"}},
    {0, "\x89HDF", {"is an HDF5 file, as Keras saves", kExportKeras}},
    {4, "TFL3", {"is a TensorFlow Lite model", "export the model by tf2onnx"}},
    {4, "ORTM", {"is a model of ONNX Runtime's own format", "give the .onnx file that it was made of"}},
    {0, "GGUF", {"is a GGUF file, which holds weights", kExport}},
    {0, "\x93NUMPY", {"is an array, not a model", "name a model's file"}},
    {8,
     "{\"",
     {"is a file of weights, as safetensors, not a model", "name the model's file, which says what is done with them"}},
    {0, "{", {"is text of JSON, not an ONNX file", "let its name end in .json"}},
    {0, "#", {"is text, not an ONNX file", "let its name end in .mlir if it is the dump of a stage"}},
    {0, "module", {"is text, not an ONNX file", "let its name end in .mlir if it is the dump of a stage"}},
    {0, "\x1f\x8b", {"is compressed by gzip", "unpack it"}},
    {0, "\3757zXZ", {"is compressed by xz", "unpack it"}},
    {0, "\x28\xb5\x2f\xfd", {"is compressed by zstd", "unpack it"}},
    {0, "BZh", {"is compressed by bzip2", "unpack it"}},
    {257, "ustar", {"is an archive of tar's", "unpack it"}},
    {0, "<", {"is HTML or XML, perhaps an error page in place of a download", "fetch the model again"}},
};

std::optional<OtherFormat> kiln::import::onnx::otherFormat(llvm::StringRef file) {
  for (const Format &known : formats)
    if (file.drop_front(std::min(known.offset, file.size())).starts_with(known.begin))
      return known.format;
  return std::nullopt;
}
