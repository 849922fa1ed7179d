#include <algorithm>
#include <memory>
#include <utility>

#include "api/handles.h"
#include "tunesmith/analysis/schedule_error.h"
#include "tunesmith/lower/lower.h"

namespace tunesmith::api {

Unsupported::~Unsupported() = default;

void misuse(std::string_view call, std::string_view reason, std::string detail) {
  throw ScheduleMisuse(call, reason, std::move(detail));
}

namespace {

/// The error for the exception being handled.
tunesmith_error* error_of(uint32_t kind, const std::exception* standard,
                          const ScheduleError* refusal = nullptr) {
  return new tunesmith_error{std::current_exception(), kind, standard, refusal};
}

}  // namespace

tunesmith_error* run_guarded(void (*body)(void* context), void* context) noexcept {
  try {
    body(context);
    return nullptr;
  } catch (const ScheduleMisuse& mistake) {
    return error_of(TUNESMITH_ERROR_KIND_MISUSE, &mistake, &mistake);
  } catch (const ScheduleError& refusal) {
    return error_of(TUNESMITH_ERROR_KIND_REFUSED, &refusal, &refusal);
  } catch (const UserError& user) {
    return error_of(TUNESMITH_ERROR_KIND_USER, &user);
  } catch (const Unsupported& unknown) {
    return error_of(TUNESMITH_ERROR_KIND_UNSUPPORTED, &unknown);
  } catch (const EnvironmentError& environment) {
    return error_of(TUNESMITH_ERROR_KIND_ENVIRONMENT, &environment);
  } catch (const LowerError& lowering) {
    return error_of(TUNESMITH_ERROR_KIND_LOWERING, &lowering);
  } catch (const std::exception& other) {
    return error_of(TUNESMITH_ERROR_KIND_INTERNAL, &other);
  } catch (...) {  // an unknown exception without a message is passed on
    return error_of(TUNESMITH_ERROR_KIND_INTERNAL, nullptr);
  }
}

void rethrow(tunesmith_error* error) {
  const std::unique_ptr<tunesmith_error> owned(error);
  std::rethrow_exception(std::move(owned->exception));
}

namespace {

/// Throws the kernel's exception for an error that begins in a plugin.
[[noreturn]] void throw_told(const tunesmith_error_info& told) {
  const std::string message(view(told.message));
  const std::string_view primitive = view(told.primitive);
  const std::string_view reason = view(told.reason);
  const std::string detail(view(told.detail));
  switch (told.kind) {
    case TUNESMITH_ERROR_KIND_REFUSED:
      throw ScheduleError(primitive, reason, detail);
    case TUNESMITH_ERROR_KIND_MISUSE:
      throw ScheduleMisuse(primitive, reason, detail);
    case TUNESMITH_ERROR_KIND_USER:
      throw UserError(message);
    case TUNESMITH_ERROR_KIND_ENVIRONMENT:
      throw EnvironmentError(message);
    case TUNESMITH_ERROR_KIND_LOWERING:
      throw LowerError(primitive, reason, detail);
    case TUNESMITH_ERROR_KIND_UNSUPPORTED:
      throw Unsupported(message);
    default:
      throw InternalError(message);
  }
}

tunesmith_error* make(const tunesmith_error_info* told) noexcept {
  return guarded([&] { throw_told(given(told, "error.make")); });
}

void info(const tunesmith_error* error, tunesmith_error_info* info) noexcept {
  if (error == nullptr || info == nullptr) return;
  tunesmith_error_info known = {sizeof(tunesmith_error_info), error->kind, 0, {}, {}, {}, {}};
  known.message =
      text(error->standard != nullptr ? error->standard->what() : "something that is no exception");
  if (error->refusal != nullptr) {
    known.primitive = text(error->refusal->primitive());
    known.reason = text(error->refusal->reason());
    known.detail = text(error->refusal->detail());
  }
  fill(info, known);
}

void release(tunesmith_error* error) noexcept { delete error; }

}  // namespace

const tunesmith_error_table k_error_table = {sizeof(tunesmith_error_table), make, info, release};

}  // namespace tunesmith::api
