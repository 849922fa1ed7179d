// Models in protobuf's text format, and the importer's answers.
#pragma once

#include <filesystem>
#include <regex>
#include <string>

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "proto.h"
#include "read_onnx.h"
#include "tunesmith/support/error.h"

namespace tunesmith::onnx_reader {

inline onnx::ModelProto model_of(const std::string& text) {
  onnx::ModelProto model;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &model)) << text;
  return model;
}

/// A model of format 8 and operator set 17 with this graph.
inline onnx::ModelProto model_with(const std::string& graph) {
  return model_of("ir_version: 8 opset_import {version: 17} graph {name: \"g\" " + graph + "}");
}

inline network::Network import_bytes(const std::string& bytes,
                                     const std::filesystem::path& folder = "/nonexistent") {
  network::Network network = read_onnx(std::as_bytes(std::span(bytes)), folder);
  network::check_invariants(network);
  return network;
}

inline network::Network import(const onnx::ModelProto& model,
                               const std::filesystem::path& folder = "/nonexistent") {
  return import_bytes(model.SerializeAsString(), folder);
}

/// The message that refuses the model.
inline std::string refusal(const onnx::ModelProto& model,
                           const std::filesystem::path& folder = "/nonexistent") {
  try {
    return "accepted:\n" + to_text(import(model, folder));
  } catch (const UserError& error) {
    return error.what();
  }
}

/// The text without constants' hashes.
inline std::string without_hashes(const std::string& text) {
  return std::regex_replace(text, std::regex("#[0-9a-f]{16}"), "#");
}

/// "input {name: NAME type {...}}", of f32.
inline std::string value(const std::string& kind, const std::string& name,
                         const std::vector<std::string>& dims) {
  std::string text = kind + " {name: \"" + name + "\" type {tensor_type {elem_type: 1 shape {";
  for (const std::string& dim : dims) text += "dim {" + dim + "} ";
  return text + "}}}} ";
}

}  // namespace tunesmith::onnx_reader
