// SPDX-License-Identifier: Apache-2.0
// How both ends of a connection prove that they know the job's key, before they send anything else.
// The caller is the end that connects, the answerer the end that accepts:
//
//   caller   Hello: its role and index, the job, a random number
//   answerer Answer: another random number, and a keyed hash of all of it
//   caller   Proof: another keyed hash of all of it
//
// Hashes are BLAKE2b of libsodium, which is loaded when it is needed: a traced program must not
// depend on it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "wire/frame.hpp"

namespace fairlead::relay {

inline constexpr std::size_t kKeyBytes = 32;
inline constexpr std::size_t kJobBytes = 16;
inline constexpr std::size_t kNonceBytes = 16;
inline constexpr std::size_t kProofBytes = 32;
inline constexpr std::size_t kHelloBytes = 44;
inline constexpr std::size_t kAnswerBytes = kNonceBytes + kProofBytes;

/// The random key that the routers and processes of a job share.
using Key = std::array<std::byte, kKeyBytes>;
/// What identifies a job without revealing its key.
using JobId = std::array<std::byte, kJobBytes>;
using Nonce = std::array<std::byte, kNonceBytes>;
using Proof = std::array<std::byte, kProofBytes>;
using HelloBytes = std::array<std::byte, kHelloBytes>;
using AnswerBytes = std::array<std::byte, kAnswerBytes>;

enum class Role : std::uint8_t {
  router = 1,
  process = 2,
};

struct Hello {
  Role role = Role::process;
  /// The host of a router, or the rank of a process.
  std::uint32_t index = 0;
  JobId job{};
  Nonce nonce{};
};

struct Answer {
  Nonce nonce{};
  Proof proof{};
};

/// The functions of libsodium that are used.
class Sodium {
 public:
  /// @throws Error  the library is not installed
  [[nodiscard]] static const Sodium& loaded();

  void fill_random(std::span<std::byte> bytes) const {
    randombytes_buf_(bytes.data(), bytes.size());
  }
  void keyed_hash(std::span<std::byte> hash, std::span<const std::byte> text, const Key& key) const;
  [[nodiscard]] std::uint64_t short_hash(std::span<const std::byte> text,
                                         std::span<const std::byte, 16> key) const;
  /// Compares in a time that does not depend on where they differ.
  [[nodiscard]] bool are_equal(const Proof& a, const Proof& b) const;
  /// Whether the text is exactly these bytes in hexadecimal digits.
  [[nodiscard]] bool read_hex(std::string_view text, std::span<std::byte> bytes) const;

 private:
  Sodium();

  void (*randombytes_buf_)(void*, std::size_t) = nullptr;
  int (*crypto_generichash_)(unsigned char*, std::size_t, const unsigned char*, unsigned long long,
                             const unsigned char*, std::size_t) = nullptr;
  int (*crypto_shorthash_)(unsigned char*, const unsigned char*, unsigned long long,
                           const unsigned char*) = nullptr;
  int (*memcmp_)(const void*, const void*, std::size_t) = nullptr;
  int (*hex2bin_)(unsigned char*, std::size_t, const char*, std::size_t, const char*, std::size_t*,
                  const char**) = nullptr;
};

/// @return nothing if the text is no key, which has 64 hexadecimal digits
[[nodiscard]] std::optional<Key> parse_key(std::string_view text);

[[nodiscard]] JobId job_of(const Key& key);

[[nodiscard]] Hello make_hello(Role role, std::uint32_t index, const Key& key);
[[nodiscard]] HelloBytes to_bytes(const Hello& hello);
/// @return nothing if the bytes are no handshake
[[nodiscard]] std::optional<Hello> parse_hello(std::span<const std::byte, kHelloBytes> bytes);

[[nodiscard]] AnswerBytes make_answer(const HelloBytes& hello, const Key& key);
/// @return the caller's proof, or nothing if the answerer does not know the key
[[nodiscard]] std::optional<Proof> check_answer(const HelloBytes& hello, const AnswerBytes& answer,
                                                const Key& key);
[[nodiscard]] bool check_proof(const HelloBytes& hello, const AnswerBytes& answer,
                               const Proof& proof, const Key& key);

/// The digest of a frame: SipHash of the payload and of the fields that stay the same.
[[nodiscard]] std::uint64_t digest_of(const FrameHeader& header, std::span<const std::byte> payload,
                                      const Key& key);

}  // namespace fairlead::relay
