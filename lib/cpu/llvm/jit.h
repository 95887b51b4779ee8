// From an LLVM module to machine code. Private to lib/cpu/llvm.
#ifndef HLO_CPU_LLVM_JIT_H
#define HLO_CPU_LLVM_JIT_H

#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>

#include "lib/cpu/llvm/emit.h"

// The machine this process runs on.
HLO_MUST_USE HloStatus target_machine_new(LLVMTargetMachineRef *out);
// Runs the pass pipeline; INTERNAL when LLVM refuses.
HLO_MUST_USE HloStatus module_optimize(LLVMModuleRef mod, LLVMTargetMachineRef machine);
// INTERNAL with LLVM's words when the module is not well formed.
HLO_MUST_USE HloStatus module_verify(LLVMModuleRef mod);
HLO_MUST_USE HloStatus module_machine_code(LLVMModuleRef mod, LLVMTargetMachineRef machine, LLVMCodeGenFileType type,
                                           HloBuffer *out);

// Compiles a module (taken over in every case) and looks up a function.
HLO_MUST_USE HloStatus jit_new(LLVMOrcThreadSafeContextRef context, LLVMModuleRef mod, const char *symbol,
                               LLVMOrcLLJITRef *jit, uint64_t *address);

#endif
