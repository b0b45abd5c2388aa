//===- Passes.h - Every pass of the pipeline -------------------------------------===//
#pragma once

#include "ir/graph/Graph.h"
#include "ir/host/Host.h"
#include "ir/kernel/Kernel.h"
#include "ir/uop/UOp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

namespace kiln {
#define GEN_PASS_DECL
#include "passes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"
} // namespace kiln
