// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options are the named values in an operation's braces and in a type's angle
// brackets. Each is declared once here, with its meaning, range and default: the
// ODS attribute, the parser, the printer, the verifier and the reference page
// all come from that one record.
#ifndef WINNOW_IR_WINNOWOPTIONS_TD
#define WINNOW_IR_WINNOWOPTIONS_TD

include "mlir/IR/OpBase.td"
include "winnow/IR/WinnowAttrs.td"

// `spec` is the C++ expression that makes the option's OptionSpec (Options.h).
class Winnow_Option<string optionName, Attr storage, string makeSpec> {
  string name = optionName;
  Attr attr = storage;
  string spec = makeSpec;
}

class Winnow_IntAttr<int min, int max, string what>
    : TypedAttrBase<I64, "IntegerAttr",
                    CPred<"::winnow::isOptionInteger($_self)">,
                    what # ", an integer from " # min # " to " # max> {
  let returnType = "int64_t";
  let convertFromStorage = "$_self.getInt()";
  let constBuilderCall = "$_builder.getI64IntegerAttr($0)";
}

// A `word` may stand alone in the place of `name = value`; it is stored as 0.
class Winnow_IntOptionBase<string name, int min, int max, string optionWhat,
                           Attr storage, bit required, string word = "">
    : Winnow_Option<name, storage,
                    "::winnow::OptionSpec::integer(\"" # name # "\", " # min #
                        ", " # max # ", /*required=*/" # required # ", \"" #
                        word # "\")"> {
  // As a parameter of a type.
  string what = optionWhat # ", from " # min # " to " # max #
                !if(!empty(word), "", "; 0 if " # word);
}

// An integer that has to be given.
class Winnow_IntOption<string name, int min, int max, string what>
    : Winnow_IntOptionBase<name, min, max, what,
                           Winnow_IntAttr<min, max, what>, 1>;

// An integer that has to be given, or a word in its place.
class Winnow_IntOptionOrWord<string name, int min, int max, string word,
                             string what>
    : Winnow_IntOptionBase<name, min, max, what,
                           Winnow_IntAttr<min, max, what>, 1, word>;

// An integer with a default.
class Winnow_IntOptionOr<string name, int min, int max, int value, string what>
    : Winnow_IntOptionBase<
          name, min, max, what,
          DefaultValuedAttr<
              Winnow_IntAttr<min, max, what # " (default " # value # ")">,
              "" # value>,
          0>;

// One of an enumeration's keywords, with a default, named as in C++.
class Winnow_EnumDefault<Winnow_EnumAttr attr, string value>
    : DefaultValuedAttr<attr, "::winnow::" # attr.enum.className # "::" #
                                  value> {
  string keyword = !foldl("", attr.enum.enumerants, found, case,
                          !if(!eq(case.symbol, value), case.str, found));
  let summary = attr.summary # " (default " # keyword # ")";
}
class Winnow_EnumOptionOr<string name, Winnow_EnumAttr attr, string value>
    : Winnow_Option<name, Winnow_EnumDefault<attr, value>,
                    "::winnow::OptionSpec::keyword<::winnow::" #
                        attr.enum.className # "Attr, ::winnow::" #
                        attr.enum.className # ">(\"" # name #
                        "\", /*required=*/false)">;

// A C++ member that lists the specs of `options` in canonical order.
class Winnow_OptionSpecs<list<Winnow_Option> options> {
  string decl = [{
    /// The options, in canonical order, with their ranges.
    static ::llvm::ArrayRef<::winnow::OptionSpec> getOptionSpecs() {
      static const ::winnow::OptionSpec specs[] = {
        }] # !interleave(!foreach(o, options, o.spec), ",\n        ") # [{
      };
      return specs;
    }
  }];
}

// Facts that types and operations share. The limits are the dialect's own,
// generous ones: what a kernel accepts is its contract's business.
def Winnow_QueryLen
    : Winnow_IntOption<"query_len", 1, 65536, "rows of each request">;
// Of the rows behind a value: either every request has as many, or `ragged`.
def Winnow_RowsFact
    : Winnow_IntOptionOrWord<"query_len", 1, 65536, "ragged",
                             "rows of each request">;
def Winnow_Heads : Winnow_IntOption<"heads", 1, 128, "index heads">;
def Winnow_BlockSize
    : Winnow_IntOption<"block_size", 1, 65536, "tokens of a block">;
def Winnow_Sides : Winnow_IntOption<"sides", 1, 1024, "sides of a block">;
def Winnow_K : Winnow_IntOption<"k", 1, 2048, "blocks kept">;

#endif // WINNOW_IR_WINNOWOPTIONS_TD
