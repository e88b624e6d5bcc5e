// SPDX-License-Identifier: Apache-2.0
// Handshakes, keyed hashes and digests.
#include "wire/proof.hpp"

#include <dlfcn.h>

#include <string_view>
#include <vector>

#include "fairlead/error.hpp"
#include "wire/little_endian.hpp"

namespace fairlead::relay {
namespace {

constexpr std::uint32_t kHelloMagic = 0x48524c46;  // "FLRH"
constexpr std::uint16_t kVersion = 1;

// Different words, so that no proof can be sent back as another one.
constexpr std::string_view kOfJob = "fairlead job";
constexpr std::string_view kOfAnswerer = "fairlead answerer";
constexpr std::string_view kOfCaller = "fairlead caller";

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

void append(std::vector<std::byte>& text, std::span<const std::byte> part) {
  text.insert(text.end(), part.begin(), part.end());
}

Proof proof_by(std::string_view who, const HelloBytes& hello, const Nonce& nonce, const Key& key) {
  std::vector<std::byte> text;
  append(text, bytes_of(who));
  append(text, hello);
  append(text, nonce);
  Proof proof{};
  Sodium::loaded().keyed_hash(proof, text, key);
  return proof;
}

Nonce nonce_of(const AnswerBytes& answer) {
  Nonce nonce{};
  Reader(answer).bytes(nonce);
  return nonce;
}

#ifndef FAIRLEAD_LINKS_SODIUM
template <class Function>
void find(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw Error(std::string("libsodium has no ") + name);
}
#endif

}  // namespace

#ifdef FAIRLEAD_LINKS_SODIUM

// <sodium.h> declares them so, since version 1.0.12.
extern "C" {
int sodium_init();
void randombytes_buf(void* bytes, std::size_t size);
int crypto_generichash(unsigned char* hash, std::size_t hash_size, const unsigned char* text,
                       unsigned long long text_size, const unsigned char* key,
                       std::size_t key_size);
int crypto_shorthash(unsigned char* hash, const unsigned char* text, unsigned long long text_size,
                     const unsigned char* key);
int sodium_memcmp(const void* a, const void* b, std::size_t size);
int sodium_hex2bin(unsigned char* bytes, std::size_t max_size, const char* text,
                   std::size_t text_size, const char* ignored, std::size_t* size, const char** end);
}

Sodium::Sodium()
    : randombytes_buf_(randombytes_buf),
      crypto_generichash_(crypto_generichash),
      crypto_shorthash_(crypto_shorthash),
      memcmp_(sodium_memcmp),
      hex2bin_(sodium_hex2bin) {
  if (sodium_init() < 0) throw Error("libsodium cannot be used: sodium_init failed");
}

#else

Sodium::Sodium() {
  void* library = nullptr;
  // The names of versions 1.0.12 to 1.0.18, and since 1.0.19.
  for (const char* const name : {"libsodium.so.23", "libsodium.so.26", "libsodium.so"}) {
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) throw Error("libsodium is missing (Debian, Ubuntu: libsodium23)");
  int (*init)() = nullptr;
  find(library, init, "sodium_init");
  find(library, randombytes_buf_, "randombytes_buf");
  find(library, crypto_generichash_, "crypto_generichash");
  find(library, crypto_shorthash_, "crypto_shorthash");
  find(library, memcmp_, "sodium_memcmp");
  find(library, hex2bin_, "sodium_hex2bin");
  if (init() < 0) throw Error("libsodium cannot be used: sodium_init failed");
}

#endif

const Sodium& Sodium::loaded() {
  static const Sodium sodium;
  return sodium;
}

void Sodium::keyed_hash(std::span<std::byte> hash, std::span<const std::byte> text,
                        const Key& key) const {
  crypto_generichash_(reinterpret_cast<unsigned char*>(hash.data()), hash.size(),
                      reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                      reinterpret_cast<const unsigned char*>(key.data()), key.size());
}

std::uint64_t Sodium::short_hash(std::span<const std::byte> text,
                                 std::span<const std::byte, 16> key) const {
  std::array<std::byte, 8> hash{};
  crypto_shorthash_(reinterpret_cast<unsigned char*>(hash.data()),
                    reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                    reinterpret_cast<const unsigned char*>(key.data()));
  return Reader(hash).number<std::uint64_t>();
}

bool Sodium::are_equal(const Proof& a, const Proof& b) const {
  return memcmp_(a.data(), b.data(), a.size()) == 0;
}

bool Sodium::read_hex(std::string_view text, std::span<std::byte> bytes) const {
  std::size_t size = 0;
  const char* end = nullptr;
  const int code = hex2bin_(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(),
                            text.data(), text.size(), nullptr, &size, &end);
  return code == 0 && size == bytes.size() && end == text.data() + text.size();
}

std::optional<Key> parse_key(std::string_view text) {
  Key key{};
  if (!Sodium::loaded().read_hex(text, key)) return std::nullopt;
  return key;
}

JobId job_of(const Key& key) {
  JobId job{};
  Sodium::loaded().keyed_hash(job, bytes_of(kOfJob), key);
  return job;
}

Hello make_hello(Role role, std::uint32_t index, const Key& key) {
  Hello hello{.role = role, .index = index, .job = job_of(key), .nonce = {}};
  Sodium::loaded().fill_random(hello.nonce);
  return hello;
}

HelloBytes to_bytes(const Hello& hello) {
  HelloBytes bytes{};
  Writer writer(bytes);
  writer.number(kHelloMagic);
  writer.number(kVersion);
  writer.number(static_cast<std::uint8_t>(hello.role));
  writer.number(std::uint8_t{0});
  writer.number(hello.index);
  writer.bytes(hello.job);
  writer.bytes(hello.nonce);
  return bytes;
}

std::optional<Hello> parse_hello(std::span<const std::byte, kHelloBytes> bytes) {
  Reader reader(bytes);
  if (reader.number<std::uint32_t>() != kHelloMagic) return std::nullopt;
  if (reader.number<std::uint16_t>() != kVersion) return std::nullopt;
  const auto role = reader.number<std::uint8_t>();
  const auto unused = reader.number<std::uint8_t>();
  if (role < 1 || role > 2 || unused != 0) return std::nullopt;
  Hello hello{.role = static_cast<Role>(role), .index = 0, .job = {}, .nonce = {}};
  hello.index = reader.number<std::uint32_t>();
  reader.bytes(hello.job);
  reader.bytes(hello.nonce);
  return hello;
}

AnswerBytes make_answer(const HelloBytes& hello, const Key& key) {
  Nonce nonce{};
  Sodium::loaded().fill_random(nonce);
  const Proof proof = proof_by(kOfAnswerer, hello, nonce, key);
  AnswerBytes bytes{};
  Writer writer(bytes);
  writer.bytes(nonce);
  writer.bytes(proof);
  return bytes;
}

std::optional<Proof> check_answer(const HelloBytes& hello, const AnswerBytes& answer,
                                  const Key& key) {
  Reader reader(answer);
  Nonce nonce{};
  Proof given{};
  reader.bytes(nonce);
  reader.bytes(given);
  const Proof expected = proof_by(kOfAnswerer, hello, nonce, key);
  if (!Sodium::loaded().are_equal(expected, given)) return std::nullopt;
  return proof_by(kOfCaller, hello, nonce, key);
}

bool check_proof(const HelloBytes& hello, const AnswerBytes& answer, const Proof& proof,
                 const Key& key) {
  return Sodium::loaded().are_equal(proof, proof_by(kOfCaller, hello, nonce_of(answer), key));
}

std::uint64_t digest_of(const FrameHeader& header, std::span<const std::byte> payload,
                        const Key& key) {
  const Sodium& sodium = Sodium::loaded();
  const auto short_key = std::span(key).first<16>();
  // The fields that a router changes are left out.
  FrameHeader fixed = header;
  fixed.hop = 0;
  fixed.held_16us = {};
  fixed.hop_us = {};
  fixed.digest = payload.empty() ? 0 : sodium.short_hash(payload, short_key);
  return sodium.short_hash(to_bytes(fixed), short_key);
}

}  // namespace fairlead::relay
