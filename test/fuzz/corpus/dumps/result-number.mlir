func.func @main(%x: i32) -> i32 {
  return %x#2147483647 : i32
}
