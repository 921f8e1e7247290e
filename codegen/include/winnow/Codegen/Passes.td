// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pipeline from a description to kernel plans, one pass a decision.
#ifndef WINNOW_CODEGEN_PASSES
#define WINNOW_CODEGEN_PASSES

include "mlir/Pass/PassBase.td"

def VerifyContract : Pass<"winnow-verify-contract", "::mlir::ModuleOp"> {
  let summary = "report every limit of the named contract that an entry breaks";
  let description = [{
    For each entry with a `winnow.contract`, evaluates every limit of that
    contract against the facts of the description and of the target. Each limit
    that fails is an error at the operation or argument that fixes the value,
    with the value found and the value needed. A limit over a fact that is known
    only at run time is left to the runtime, which evaluates the same data.
  }];
  let options = [
    Option<"arch", "arch", "std::string", /*default=*/"\"gfx950\"",
           "Architecture that the kernels are for (empty: known at run time).">,
  ];
}

def SelectLowering : Pass<"winnow-select-lowering", "::mlir::ModuleOp"> {
  let summary = "choose a lowering for each operation, with the reasons";
  let description = [{
    Writes `winnow.lowering` on every operation of an entry, and
    `winnow.refusals` with every reason for which a better lowering was refused.
    Scoring and selecting are decided apart; a topk and what is made of its
    selection share a kernel, so one lowering has to take them all. Rows go with
    the first operation that reads them.

    An operation that no lowering takes is an error that lists all reasons of
    all lowerings. The program is checked as a whole too: a value that nothing
    reads, and an attention (`winnow.attention`) that reads another page table
    than the one that is emitted.

    An operation that has a `winnow.lowering` already gets that one or none; the
    option `prefer` names a lowering that is tried before the others.
  }];
  let options = [
    Option<"arch", "arch", "std::string", /*default=*/"\"gfx950\"",
           "Architecture that the kernels are for.">,
    Option<"prefer", "prefer", "std::string", /*default=*/"\"\"",
           "Lowering to try first: mfma, mma or generic (empty: the best first).">,
  ];
}

def Schedule : Pass<"winnow-schedule", "::mlir::ModuleOp"> {
  let summary = "turn an entry into kernels made of stages, and their launches";
  let description = [{
    Replaces the body of each entry by the launches of `winnow.kernel`
    operations that it adds to the module: one that scores (`<entry>_score`) and
    one that selects and emits the page table (`<entry>_select`). Each kernel
    gets a schedule (waves, chunks, slots a lane, ...): what `winnow.schedule`
    of the entry and the option `schedule` fix, and what a model chooses from
    the bounds for the rest. It stands on the kernel as `winnow.schedule`, and
    in `winnow.schedule_from` what somebody fixed. A schedule that a kernel
    cannot have is an error.
  }];
  let options = [
    Option<"arch", "arch", "std::string", /*default=*/"\"gfx950\"",
           "Architecture that the kernels are for.">,
    Option<"schedule", "schedule", "std::string", /*default=*/"\"\"",
           "Parameters to fix, going before those of the description: "
           "score.waves=8,chunks=4.">,
    Option<"scheduleFrom", "schedule-from", "std::string",
           /*default=*/"\"option\"", "Where those come from.">,
    Option<"ignoreOwnSchedule", "ignore-own-schedule", "bool",
           /*default=*/"false", "Leave out what entries fix themselves.">,
  ];
  let dependentDialects = ["::winnow::WinnowDialect"];
}

def Fuse : Pass<"winnow-fuse", "::mlir::ModuleOp"> {
  let summary = "join a score and a select kernel into one launch";
  let description = [{
    A launch that `winnow-schedule` marked with `winnow.join` is joined to the
    one before it: the stages of the first kernel, then `count_arrivals`, where
    all workgroups of a request but the last one end, then those of the second
    kernel for every row and index head of the request. The launch gets one more
    workspace, the counters, and the kernel one set of constants, those of both
    kernels and `kArrivals`.

    Refused, with what was found: kernels that are not those of uniform rows,
    that differ in lowering or waves, or in a constant that both have.
  }];
  let dependentDialects = ["::winnow::WinnowDialect"];
}

#endif // WINNOW_CODEGEN_PASSES
