// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect itself, and the base classes of its types and attributes.
#ifndef WINNOW_IR_WINNOWDIALECT_TD
#define WINNOW_IR_WINNOWDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"

def Winnow_Dialect : Dialect {
  let name = "winnow";
  let cppNamespace = "::winnow";
  let summary = "Block-sparse attention indexers: score blocks of keys, keep "
                "the best, name their pages";
  let description = [{
    A description is a function that says *what* an indexer computes.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;

  let extraClassDeclaration = [{
    // Called by initialize(); each is defined beside what it registers.
    void registerTypes();
    void registerAttributes();
    void registerOperations();
  }];
}

class Winnow_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Winnow_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

#endif // WINNOW_IR_WINNOWDIALECT_TD
