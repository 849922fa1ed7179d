// Plugins that are classes in Python: objects of the kernel's interfaces that call them, on any thread.
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
  /// Takes the interpreter's lock, unless there is no interpreter any more.
  ~HeldObject();
  HeldObject(const HeldObject&) = delete;
  HeldObject& operator=(const HeldObject&) = delete;

  nb::handle get() const { return object_; }

 private:
  nb::object object_;
};
using HeldPtr = std::shared_ptr<const HeldObject>;

/// Throws what Python raised as the kernel's errors: those of tunesmith.errors as what they stand for, any
/// other as "FILE:LINE, in FUNCTION: TYPE: MESSAGE".
[[noreturn]] void throw_raised(const nb::python_error& raised);

/// `function()` with the interpreter's lock. It answers nothing of Python's.
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

/// What a call may use while it lasts: objects of Python that refer to it may outlive it.
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

/// Ends what is lent when the call returns.
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

/// "an int", "None": what an object is, for messages.
std::string kind_of_object(nb::handle object);

/// Schedule for Python, with intrinsics that live as long as it does.
ScheduleRef schedule_ref(Schedule schedule);

/// Objects of the interfaces, as ScriptPlugin::create answers them. `object` is one of the class. With the
/// interpreter's lock.
std::shared_ptr<void> module_of(HeldPtr object);
std::shared_ptr<void> searcher_of(HeldPtr object);
std::shared_ptr<void> cost_model_of(HeldPtr object);
std::shared_ptr<void> task_scheduler_of(HeldPtr object);

void bind_plugins(nb::module_& module);
void bind_module_context(nb::module_& module);
void bind_search_context(nb::module_& module);
void bind_task_set(nb::module_& module);

}  // namespace tunesmith::python
