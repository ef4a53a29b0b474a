// The only C++ of kc: lld::lldMain behind a C function, and stubs for what its ELF driver mentions but a link of one
// AMD object never reaches: link-time optimisation of bitcode, and the code generators of other processors. Without the
// stubs the program would hold all of LLVM.
#include "targets/hip/lld_shim.h"
#include "lld/Common/Driver.h"
#include "llvm/LTO/LTO.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>
#include <string>

LLD_HAS_DRIVER(elf)

extern "C" int kc_lld_link(int argc, const char **argv, char **said) {
    std::string text;
    llvm::raw_string_ostream out(text);
    lld::Result result = lld::lldMain(llvm::ArrayRef<const char *>(argv, argc), out, out,
                                      {{lld::Gnu, &lld::elf::link}});
    *said = text.empty() ? nullptr : strdup(text.c_str());
    return result.retCode;
}

// ---- code generators that are not linked ----------------------------------------------------------------------
// SELECT(OURS_x NOTHING, STUB, _) is NOTHING when OURS_x is defined (its comma shifts the arguments), else STUB.
#define PICK(a, b, ...) b
#define SELECT(...) PICK(__VA_ARGS__)
#define OURS_AMDGPU _,
#define OURS_NVPTX _,
#define NOTHING(T)
#define STUB(T)                                                                                    \
    void LLVMInitialize##T##Target(void) {}                                                        \
    void LLVMInitialize##T##TargetInfo(void) {}                                                    \
    void LLVMInitialize##T##TargetMC(void) {}                                                      \
    void LLVMInitialize##T##AsmPrinter(void) {}                                                    \
    void LLVMInitialize##T##AsmParser(void) {}
#define LLVM_TARGET(T) SELECT(OURS_##T NOTHING, STUB, _)(T)
extern "C" {
#include "llvm/Config/Targets.def"
}

// ---- link-time optimisation --------------------------------------------------------------------------------------
// lld makes one BitcodeCompiler for every link and asks it for objects: it has none.
namespace lld::elf {
struct Ctx;
class BitcodeFile;
class BitcodeCompiler {
public:
    BitcodeCompiler(Ctx &);
    ~BitcodeCompiler();
    void add(BitcodeFile &);
    llvm::SmallVector<void *, 0> compile(); // really unique_ptrs to InputFile; alike in memory when empty
};
BitcodeCompiler::BitcodeCompiler(Ctx &) {}
BitcodeCompiler::~BitcodeCompiler() {}
void BitcodeCompiler::add(BitcodeFile &) { abort(); }
llvm::SmallVector<void *, 0> BitcodeCompiler::compile() { return {}; }
} // namespace lld::elf

namespace llvm::lto {
Expected<std::unique_ptr<InputFile>> InputFile::create(MemoryBufferRef) { abort(); }
InputFile::~InputFile() {}
StringRef InputFile::getName() const { abort(); }
SmallVector<const char *> LTO::getRuntimeLibcallSymbols(const Triple &) { return {}; }
std::string getThinLTOOutputFile(StringRef, StringRef, StringRef) { abort(); }
} // namespace llvm::lto
