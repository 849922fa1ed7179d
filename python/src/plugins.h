// Plugins that are Python classes: implementations of the kernel's interfaces that call them from any thread.
#pragma once

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <tunesmith/plugin/script_plugin.h>
#include <tunesmith/space/module.h>

#include "refs.h"

namespace tunesmith::python {

/// An object of Python that C++ holds.
class HeldObject {
 public:
  explicit HeldObject(nb::object object) : object_(std::move(object)) {}
  /// Takes the interpreter's lock, unless the interpreter has ended.
  ~HeldObject();
  HeldObject(const HeldObject&) = delete;
  HeldObject& operator=(const HeldObject&) = delete;

  nb::handle get() const { return object_; }

 private:
  nb::object object_;
};
using HeldPtr = std::shared_ptr<const HeldObject>;

/// Converts a Python exception to a kernel error: those of tunesmith.errors
/// to their counterparts, others to "FILE:LINE, in FUNCTION: TYPE: MESSAGE".
[[noreturn]] void throw_raised(const nb::python_error& raised);

/// Calls `function()` with the interpreter's lock. Its result must contain no Python object.
template <typename Function>
auto in_python(const Function& function) {
  if (!Py_IsInitialized()) throw EnvironmentError("Python has ended");
  const nb::gil_scoped_acquire locked;
  try {
    return function();
  } catch (const nb::python_error& raised) {
    throw_raised(raised);
  } catch (const nb::cast_error&) {
    throw std::runtime_error("it answered an object of a type that is not expected");
  }
}

/// A reference that a call may use while it lasts; Python objects that hold it may outlive the call.
template <typename T>
class Lent {
 public:
  explicit Lent(T& value) : value_(&value) {}
  T& get() const {
    if (value_ == nullptr) throw UserError("this was valid during one call, which has ended");
    return *value_;
  }
  void end() { value_ = nullptr; }

 private:
  T* value_;
};

/// Ends the loan when the call returns.
template <typename T>
class Lending {
 public:
  explicit Lending(T& value) : lent_(std::make_shared<Lent<T>>(value)) {}
  ~Lending() { lent_->end(); }
  Lending(const Lending&) = delete;
  Lending& operator=(const Lending&) = delete;

  const std::shared_ptr<Lent<T>>& lent() const { return lent_; }

 private:
  std::shared_ptr<Lent<T>> lent_;
};

/// "an int", "None": the kind of an object, for messages.
std::string kind_of_object(nb::handle object);

/// Schedule for Python, with intrinsics that live as long as it does.
ScheduleRef schedule_ref(Schedule schedule);

/// Implementations of the interfaces, as results of ScriptPlugin::create.
/// `object`: an instance of the class. Call with the interpreter's lock.
std::shared_ptr<void> module_of(HeldPtr object);
std::shared_ptr<void> searcher_of(HeldPtr object);
std::shared_ptr<void> cost_model_of(HeldPtr object);
std::shared_ptr<void> task_scheduler_of(HeldPtr object);

void bind_plugins(nb::module_& module);
void bind_module_context(nb::module_& module);
void bind_search_context(nb::module_& module);
void bind_task_set(nb::module_& module);

}  // namespace tunesmith::python
