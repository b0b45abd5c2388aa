// RUN: %kiln-opt %s --kiln-fold-movement | FileCheck %s

// An axis that the run may repeat has a stride that is multiplied by its step, and the view stays one.
// CHECK-LABEL: func.func @open
// CHECK-NEXT: graph.view %arg0 <"(n,4):((r{0..1}*4),1)"> : tensor<?x4xf32, #kiln.dims<["((r{0..1}*-1)+(n*r{0..1})+1)", 4]>> to tensor<?x4xf32, #kiln.dims<["n", 4]>>
func.func @open(%x: tensor<?x4xf32, #kiln.dims<["1+r{0..1}*(n-1)", 4]>>) -> tensor<?x4xf32, #kiln.dims<["n", 4]>> {
  %0 = graph.expand %x : tensor<?x4xf32, #kiln.dims<["1+r{0..1}*(n-1)", 4]>> to tensor<?x4xf32, #kiln.dims<["n", 4]>>
  return %0 : tensor<?x4xf32, #kiln.dims<["n", 4]>>
}
