//===- Call.h - host.call: a function of the runtime's library ----------===//
#pragma once

#include "ir/host/Host.h"

#define GET_OP_CLASSES
#include "ir/host/HostCallOps.h.inc"
