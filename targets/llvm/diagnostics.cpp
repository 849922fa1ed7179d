#include "diagnostics.h"

#include <memory>

#include <fmt/format.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include "assembly_places.h"

namespace tunesmith::llvm_target {
namespace {

struct Finding {
  uint64_t cookie = 0;
  std::string text;
};

Finding finding_of(const llvm::DiagnosticInfo& info) {
  if (const auto* source = llvm::dyn_cast<llvm::DiagnosticInfoSrcMgr>(&info)) {
    const llvm::SMDiagnostic& found = source->getSMDiag();
    return {source->getLocCookie(),
            fmt::format("{}: {}", found.getMessage().str(), found.getLineContents().ltrim().str())};
  }
  if (const auto* assembly = llvm::dyn_cast<llvm::DiagnosticInfoInlineAsm>(&info))
    return {assembly->getLocCookie(), assembly->getMsgStr().str()};
  Finding finding;
  llvm::raw_string_ostream stream(finding.text);
  llvm::DiagnosticPrinterRawOStream printer(stream);
  info.print(printer);
  return finding;
}

}  // namespace

class Diagnostics::Handler final : public llvm::DiagnosticHandler {
 public:
  explicit Handler(Diagnostics& owner) : owner_(owner) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error || owner_.failed()) return true;
    const Finding finding = finding_of(info);
    const std::string place =
        owner_.module_ == nullptr ? "" : assembly_place(*owner_.module_, finding.cookie);
    owner_.error_ = fmt::format("{}{}", place.empty() ? "LLVM: " : place + ": ",
                                finding.text.substr(0, finding.text.find('\n')));
    return true;
  }

 private:
  Diagnostics& owner_;
};

Diagnostics::Diagnostics(llvm::LLVMContext& context) {
  context.setDiagnosticHandler(std::make_unique<Handler>(*this));
}

}  // namespace tunesmith::llvm_target
