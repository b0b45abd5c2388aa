//===- Call.h - graph.call: a function of the runtime's library ----------===//
#pragma once

#include "ir/graph/Graph.h"

#define GET_OP_CLASSES
#include "ir/graph/GraphCallOps.h.inc"
