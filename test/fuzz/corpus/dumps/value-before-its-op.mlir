func.func @main(%x: i32) -> i32 {
  %0 = kernel.alu add %x, %1 : (i32, i32) -> i32
  uop.if %x : i1 {
    %1 = kernel.alu neg %x : (i32) -> i32
  } else {
    %0 = kernel.alu neg %x : (i32) -> i32
  }
}
