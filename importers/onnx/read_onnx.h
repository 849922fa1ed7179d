// ONNX's format: a model is one protobuf message.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include <tunesmith/network/network.h>

namespace tunesmith::onnx_reader {

/// Recognises the format by the file's name, or by the first fields of the message.
bool looks_like_onnx(std::string_view file_name, std::span<const std::byte> head);

/// Implements Importer::import.
network::Network read_onnx(std::span<const std::byte> bytes, const std::filesystem::path& folder);

/// Implements Importer::read_tensor.
std::shared_ptr<const network::Constant> read_tensor(std::span<const std::byte> bytes);

}  // namespace tunesmith::onnx_reader
