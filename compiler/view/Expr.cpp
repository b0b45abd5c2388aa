#include "view/Expr.h"
