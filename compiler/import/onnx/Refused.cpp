//===- Refused.cpp - Operators that are known and not imported ---------------===//
//
// ONNX Runtime has some 150 operators of its own, 19 for classical models, and some in ONNX's own domain that are not
// ONNX's. Those that are not imported are listed
// here by kind, with the reason and a remedy, so that a model's user learns more than that a name is not known.
// docs/onnx-runtime-operators.md has a row for each.
//
//===-------------------------------------------------------------------------===//
#include "import/onnx/Refused.h"

#include "llvm/ADT/Twine.h"

using namespace kiln::import::onnx;

namespace {
struct Kind {
  Refusal refusal;
  llvm::StringLiteral domain;
  std::initializer_list<llvm::StringLiteral> names;
};
} // namespace

static const Kind kKinds[] = {
    {{"it runs a decoder again and again until a text ends",
      "compile the decoder, and choose the tokens in the program that calls it"},
     "com.microsoft",
     {"BeamSearch", "BifurcationDetector", "GreedySearch", "Sampling", "WhisperBeamSearch"}},
    {{"it reads a cache in pages, or batches packed into one row, which a server manages",
      "export the model with padded batches and a cache that grows (GroupQueryAttention)"},
     "com.microsoft",
     {"ConvStateReplay", "GatedDeltaNet", "GatedDeltaNetStateReplay", "Mamba2Verify", "PackedAttention",
      "PackedMultiHeadAttention", "PackedSparseAttentionIndexer", "PackedSparseAttentionIndexerMerge", "PagedAttention",
      "RemovePadding", "RestorePadding", "SparsePagedAttention", "SpeculativePrefixCommit", "VarlenCausalConvWithState",
      "VarlenNGramHashMapping"}},
    {{"it attends to a part of the keys that a layout of blocks or a window and global tokens say",
      "export the model with dense attention and a mask"},
     "com.microsoft",
     {"DynamicSparseAttention", "LongformerAttention", "QOrderedLongformerAttention", "SparseAttention",
      "SparseAttentionIndexer"}},
    {{"it reads a cache whose elements lie in the order of one GPU's registers, or that beams share",
      "export the decoder with MultiHeadAttention or GroupQueryAttention"},
     "com.microsoft",
     {"DecoderAttention", "DecoderMaskedMultiHeadAttention", "DecoderMaskedSelfAttention"}},
    {{"its numbers lie in the order of one GPU's matrix units", "quantise the model for CPUs"},
     "com.microsoft",
     {"DequantizeBFP", "DequantizeWithOrder", "GemmFloat8", "MatMulPacked", "QOrderedAttention", "QOrderedGelu",
      "QOrderedLayerNormalization", "QOrderedMatMul", "QuantizeBFP", "QuantizeWithOrder"}},
    {{"its weights lie in blocks of bytes of a format that only ONNX Runtime defines",
      "export them for MatMulNBits or GatherBlockQuantized"},
     "com.microsoft",
     {"GatherPacked", "MatMulBlockQuantizedFp4Weight", "MatMulBlockQuantizedFp8Weight", "MatMulFpQ4", "MoEPacked"}},
    {{"ONNX Runtime's optimiser makes it of several nodes for one kind of device",
      "compile the model that the optimiser was given"},
     "com.microsoft",
     {"FusedMatMulActivation", "GatedRelativePositionBias", "HyperConnectionLowRankMix", "MatMulNBitsMlp",
      "MatMulNBitsQLoRA", "MatMulNBitsQkv", "RMSNormRotary", "RelativePositionBias", "RouterGateUpProj"}},
    {{"it is code for another compiler's device", "compile the model that it was made from"},
     "com.microsoft",
     {"EPContext", "Snpe"}},
    {{"it is of training", "export the model for inference"},
     "com.microsoft",
     {"BiasDropout", "BitmaskBiasDropout", "BitmaskDropout", "IsAllFinite"}},
    {{"no exporter writes it any more", "write it as ONNX's own operators"},
     "com.microsoft",
     {"AttnLSTM", "DynamicTimeWarping", "MaxpoolWithMask", "WordConvEmbedding"}},
    {{"it takes or gives a map, which is not a tensor",
      "give the program a tensor of the features; convert classifiers with the option zipmap=False"},
     "ai.onnx.ml",
     {"CastMap", "DictVectorizer"}},
    {{"ONNX Runtime saved the model with weights laid out for the CPU that it ran on",
      "save it with the optimization level ORT_ENABLE_EXTENDED, or compile the model that it was made from"},
     "com.microsoft.nchwc",
     {""}},
    {{"ONNX Runtime makes it inside a session, for devices with the channels last",
      "compile the model that the session was given"},
     "com.ms.internal.nhwc",
     {""}},
    {{"ONNX Runtime makes it inside a session, to copy between devices",
      "compile the model that the session was given"},
     "",
     {"MemcpyFromHost", "MemcpyToHost"}},
    {{"it is code for another compiler's device", "compile the model that it was made from"},
     "",
     {"DisentangledAttention_TRT", "EfficientNMS_TRT", "MultilevelCropAndResize_TRT", "PyramidROIAlign_TRT"}},
    {{"no exporter writes it any more", "write it as ONNX's own operators"}, "", {"GRUUnit", "GivenTensorFill"}},
    {{"it is of onnxruntime-extensions, a library on top of ONNX Runtime",
      "do what comes before and after the model in the program that calls it"},
     "ai.onnx.contrib",
     {""}},
    {{"it is of onnxruntime-extensions, a library on top of ONNX Runtime",
      "do what comes before and after the model in the program that calls it"},
     "com.microsoft.extensions",
     {""}},
};

const Refusal *kiln::import::onnx::refusalOf(llvm::StringRef domain, llvm::StringRef name) {
  for (const Kind &kind : kKinds)
    for (llvm::StringRef refused : kind.names)
      if (kind.domain == domain && (refused == name || refused.empty()))
        return &kind.refusal;
  return nullptr;
}

std::vector<std::string> kiln::import::onnx::refusedNames() {
  std::vector<std::string> names;
  for (const Kind &kind : kKinds)
    for (llvm::StringRef refused : kind.names)
      names.push_back((llvm::Twine(kind.domain) + ":" + refused).str());
  return names;
}
