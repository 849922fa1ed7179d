#include "candidates/candidate_object.h"

#include <cstring>
#include <type_traits>

#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith::cuda {
namespace {

constexpr char kMagic[] = "tunesmith cuda candidate 7\n";

class Writer {
 public:
  template <class Number>
  void number(Number value) {
    static_assert(std::is_trivially_copyable_v<Number>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(const std::string& value) {
    number(value.size());
    bytes_ += value;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_ = kMagic;
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {
    if (!bytes.starts_with(kMagic)) fail();
    at_ = sizeof kMagic - 1;
  }
  template <class Number>
  Number number() {
    Number value;
    if (bytes_.size() - at_ < sizeof value) fail();
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string text() {
    const auto size = number<size_t>();
    if (bytes_.size() - at_ < size) fail();
    std::string value = bytes_.substr(at_, size);
    at_ += size;
    return value;
  }
  /// The number of items that take at least a byte each.
  size_t count() {
    const auto value = number<size_t>();
    if (value > bytes_.size() - at_) fail();
    return value;
  }
  bool at_end() const { return at_ == bytes_.size(); }
  [[noreturn]] static void fail() { throw EnvironmentError("the object of a candidate is damaged"); }

 private:
  const std::string& bytes_;
  size_t at_ = 0;
};

}  // namespace

std::string CandidateObject::bytes() const {
  Writer writer;
  writer.number(runs_on);
  writer.number(modelled_seconds);
  writer.number(checks_depend_on_data);
  writer.text(source);
  writer.number(outputs.size());
  for (const int64_t output : outputs) writer.number(output);
  writer.number(launches.size());
  for (const ObjectLaunch& launch : launches) {
    writer.text(launch.kernel);
    writer.number(launch.launch);
    writer.number(launch.arguments.size());
    for (const ObjectArgument& argument : launch.arguments) {
      writer.text(argument.name);
      writer.number(argument.in_workspace);
      writer.number(argument.position);
      writer.number(argument.bytes);
      writer.text(argument.type);
      writer.number(argument.tensor);
    }
    writer.text(launch.program);
  }
  std::string content = writer.take();
  // The last 8 bytes are a checksum of the others.
  const uint64_t sum = hash_bytes(content);
  content.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  return content;
}

CandidateObject CandidateObject::parse(const std::string& bytes) {
  uint64_t sum = 0;
  if (bytes.size() < sizeof sum) Reader::fail();
  const std::string content = bytes.substr(0, bytes.size() - sizeof sum);
  std::memcpy(&sum, bytes.data() + content.size(), sizeof sum);
  if (sum != hash_bytes(content)) Reader::fail();
  Reader reader(content);
  CandidateObject object;
  object.runs_on = reader.number<RunsOn>();
  object.modelled_seconds = reader.number<double>();
  object.checks_depend_on_data = reader.number<bool>();
  object.source = reader.text();
  object.outputs.resize(reader.count());
  for (int64_t& output : object.outputs) output = reader.number<int64_t>();
  object.launches.resize(reader.count());
  for (ObjectLaunch& launch : object.launches) {
    launch.kernel = reader.text();
    launch.launch = reader.number<Launch>();
    launch.arguments.resize(reader.count());
    for (ObjectArgument& argument : launch.arguments) {
      argument.name = reader.text();
      argument.in_workspace = reader.number<bool>();
      argument.position = reader.number<int64_t>();
      argument.bytes = reader.number<int64_t>();
      argument.type = reader.text();
      argument.tensor = reader.number<BoxedTensor>();
    }
    launch.program = reader.text();
  }
  if (!reader.at_end()) Reader::fail();
  return object;
}

}  // namespace tunesmith::cuda
