//===- Base.td - What the dialects share: sizes, views, the ALU table ------===//
#ifndef KILN_IR_BASE
#define KILN_IR_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"

def KilnDialect : Dialect {
  let name = "kiln";
  let cppNamespace = "::kiln";
  let summary = "attributes that every stage uses";
  // Its attributes are those of this file and of Target.td, so its parser is written by hand.
  let extraClassDeclaration = [{
  /// Parse an attribute registered to this dialect.
  ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                   ::mlir::Type type) const override;

  /// Print an attribute registered to this dialect.
  void printAttribute(::mlir::Attribute attr,
                      ::mlir::DialectAsmPrinter &os) const override;
}];
}

class KilnAttr<string name, string mnemonic_, list<Trait> traits = []> : AttrDef<KilnDialect, name, traits> {
  let mnemonic = mnemonic_;
}

def ExprAttr : KilnAttr<"Expr", "expr"> {
  let summary = "a symbolic integer: #kiln.expr<\"batch*48\">";
  let parameters = (ins "::kiln::view::Expr":$value);
  let hasCustomAssemblyFormat = 1;
}

def DimsAttr : KilnAttr<"Dims", "dims", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "the sizes of a shape: #kiln.dims<[\"batch\", 48]>";
  let description = [{
    As the encoding of a ranked tensor type it says what each dynamic dimension is. A type whose dims are all known has no
    encoding.
  }];
  let parameters = (ins ArrayRefParameter<"::kiln::view::Expr">:$sizes);
  let hasCustomAssemblyFormat = 1;
}

def TrackerAttr : KilnAttr<"Tracker", "view"> {
  let summary = "a ShapeTracker: #kiln.view<\"(2,3):(3,1)\">";
  let parameters = (ins "::kiln::view::ShapeTracker":$value);
  let hasCustomAssemblyFormat = 1;
}

def SymbolAttr : KilnAttr<"Symbol", "symbol"> {
  let summary = "a named size: its bounds, and the value that stands for it in estimates, --random and --bench";
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$min, "int64_t":$max, "int64_t":$value);
  let assemblyFormat = "`<` $name `,` $min `to` $max `,` `default` $value `>`";
  let genVerifyDecl = 1;
}

def AluKindAttr : KilnAttr<"AluKind", "alu"> {
  let summary = "a row of Alu.def";
  let parameters = (ins "::kiln::Alu":$value);
  let assemblyFormat = "$value";
}

#endif
