// Target machine, pass pipeline, and the just-in-time compiler.

#include "lib/cpu/llvm/jit.h"

#include <stdlib.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "lib/cpu/llvm/runtime.h"

// Kernels come with bottom-tested loops and little redundancy, so this is far less than O2: clean up, hoist, unroll
// short inner loops, vectorize, clean up again. Compile time counts as much as speed here.
static const char PIPELINE[] =
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(licm<allowspeculation>),"
    "loop(indvars,loop-idiom,loop-deletion,loop-unroll-full),instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-vectorize,loop-load-elim,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(licm<allowspeculation>)),globaldce";

static HloStatus llvm_error(LLVMErrorRef error, const char *what) {
    if (!error) return hlo_ok();
    char *message = LLVMGetErrorMessage(error);
    HloStatus status = hlo_error(HLO_INTERNAL, "%s: %s", what, message);
    LLVMDisposeErrorMessage(message);
    return status;
}

HloStatus target_machine_new(LLVMTargetMachineRef *out) {
    if (LLVMInitializeNativeTarget() || LLVMInitializeNativeAsmPrinter()) {
        return hlo_error(HLO_INTERNAL, "LLVM has no code generator for this machine");
    }
    LLVMInitializeNativeAsmParser();
    char *triple = LLVMGetDefaultTargetTriple(), *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
    char *message = NULL;
    LLVMTargetRef target = NULL;
    HloStatus status = hlo_ok();
    if (LLVMGetTargetFromTriple(triple, &target, &message)) {
        status = hlo_error(HLO_INTERNAL, "no LLVM target for %s: %s", triple, message);
        LLVMDisposeMessage(message);
    } else {
        *out = LLVMCreateTargetMachine(target, triple, cpu, features, LLVMCodeGenLevelDefault, LLVMRelocPIC,
                                       LLVMCodeModelJITDefault);
        if (!*out) status = hlo_error(HLO_INTERNAL, "failed to create a target machine for %s", cpu);
    }
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    return status;
}

HloStatus module_verify(LLVMModuleRef mod) {
    char *message = NULL;
    HloStatus status = hlo_ok();
    if (LLVMVerifyModule(mod, LLVMReturnStatusAction, &message)) {
        status = hlo_error(HLO_INTERNAL, "invalid LLVM IR before optimization: %s", message);
    }
    LLVMDisposeMessage(message);
    return status;
}

HloStatus module_optimize(LLVMModuleRef mod, LLVMTargetMachineRef machine) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopVectorization(options, true);
    LLVMPassBuilderOptionsSetLoopInterleaving(options, true);
    LLVMPassBuilderOptionsSetSLPVectorization(options, false);
    LLVMErrorRef error = LLVMRunPasses(mod, PIPELINE, machine, options);
    LLVMDisposePassBuilderOptions(options);
    return llvm_error(error, "LLVM's passes failed");
}

HloStatus module_machine_code(LLVMModuleRef mod, LLVMTargetMachineRef machine, LLVMCodeGenFileType type,
                              HloBuffer *out) {
    char *message = NULL;
    LLVMMemoryBufferRef text = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, mod, type, &message, &text)) {
        HloStatus status = hlo_error(HLO_INTERNAL, "LLVM's code generator failed: %s", message);
        LLVMDisposeMessage(message);
        return status;
    }
    hlo_put(out, LLVMGetBufferStart(text), LLVMGetBufferSize(text));
    LLVMDisposeMemoryBuffer(text);
    return hlo_buffer_status(out);
}

// ---- just in time ---------------------------------------------------------------------------------------

static HloStatus define_symbols(LLVMOrcLLJITRef jit) {
    size_t count;
    const RuntimeSymbol *symbols = runtime_symbols(&count);
    LLVMOrcCSymbolMapPair *pairs = calloc(count, sizeof *pairs);
    if (!pairs) return hlo_out_of_memory();
    for (size_t k = 0; k < count; k++) {
        pairs[k].Name = LLVMOrcLLJITMangleAndIntern(jit, symbols[k].name);
        pairs[k].Sym.Address = (LLVMOrcExecutorAddress)(uintptr_t)symbols[k].address;
        pairs[k].Sym.Flags.GenericFlags = LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
    }
    LLVMOrcMaterializationUnitRef unit = LLVMOrcAbsoluteSymbols(pairs, count);
    LLVMErrorRef error = LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit), unit);
    if (error) LLVMOrcDisposeMaterializationUnit(unit);
    free(pairs);
    return llvm_error(error, "defining the runtime's symbols");
}

// Machine code keeps nothing of the machine description, but the builder takes it over, so it gets its own.
static HloStatus jit_builder(LLVMOrcLLJITBuilderRef *out) {
    LLVMTargetMachineRef own = NULL;
    HLO_TRY(target_machine_new(&own));
    *out = LLVMOrcCreateLLJITBuilder();
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(*out, LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(own));
    return hlo_ok();
}

static HloStatus add_and_find(LLVMOrcLLJITRef jit, LLVMOrcThreadSafeModuleRef module, const char *symbol,
                              uint64_t *address) {
    HloStatus status = define_symbols(jit);
    if (!hlo_is_ok(status)) {
        LLVMOrcDisposeThreadSafeModule(module);
        return status;
    }
    LLVMErrorRef error = LLVMOrcLLJITAddLLVMIRModule(jit, LLVMOrcLLJITGetMainJITDylib(jit), module);
    HLO_TRY(llvm_error(error, "adding the module to the compiler"));
    LLVMOrcExecutorAddress found = 0;
    HLO_TRY(llvm_error(LLVMOrcLLJITLookup(jit, &found, symbol), "compiling the module"));
    *address = found;
    return hlo_ok();
}

HloStatus jit_new(LLVMOrcThreadSafeContextRef context, LLVMModuleRef mod, const char *symbol, LLVMOrcLLJITRef *out,
                  uint64_t *address) {
    LLVMOrcThreadSafeModuleRef module = LLVMOrcCreateNewThreadSafeModule(mod, context);
    LLVMOrcLLJITBuilderRef builder = NULL;
    HloStatus status = jit_builder(&builder);
    LLVMOrcLLJITRef jit = NULL;
    if (hlo_is_ok(status)) status = llvm_error(LLVMOrcCreateLLJIT(&jit, builder), "starting the compiler");
    if (!hlo_is_ok(status)) {
        LLVMOrcDisposeThreadSafeModule(module);
        return status;
    }
    status = add_and_find(jit, module, symbol, address);
    if (!hlo_is_ok(status)) {
        HloStatus closing = llvm_error(LLVMOrcDisposeLLJIT(jit), "closing the compiler");
        hlo_status_free(closing);
        return status;
    }
    *out = jit;
    return hlo_ok();
}
