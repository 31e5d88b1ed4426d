#include "native/addon/mailbox.h"

#include <utility>

#include "native/addon/error.h"

namespace halogen::addon {

std::shared_ptr<Mailbox> Mailbox::create(Napi::Env env, Environment& environment) {
  std::shared_ptr<Mailbox> mailbox(new Mailbox(environment));
  mailbox->env_ = env;
  auto owner = std::make_unique<std::shared_ptr<Mailbox>>(mailbox);
  const napi_status made =
      napi_create_threadsafe_function(env, nullptr, nullptr, Napi::String::New(env, "halogen"), 0, 1, owner.get(),
                                      finalize, owner.get(), open_letters, &mailbox->function_);
  if (made != napi_ok) throw Napi::Error::New(env);
  owner.release();  // NOLINT: finalize() deletes it
  napi_unref_threadsafe_function(env, mailbox->function_);
  return mailbox;
}

void Mailbox::post(Letter letter) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  letters_.push_back(std::move(letter));
  if (letters_.size() > 1) return;  // the one that was first has called
  napi_call_threadsafe_function(function_, nullptr, napi_tsfn_nonblocking);
}

void Mailbox::hold() {
  if (held_++ == 0 && !closed_) napi_ref_threadsafe_function(env_, function_);
}

void Mailbox::release() {
  if (--held_ == 0 && !closed_) napi_unref_threadsafe_function(env_, function_);
}

void Mailbox::close() {
  std::vector<Letter> unread;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    unread.swap(letters_);
  }
}

void Mailbox::open_letters(napi_env env, napi_value /*callback*/, void* context, void* /*data*/) {
  if (env == nullptr) return;  // the environment ends
  const std::shared_ptr<Mailbox> mailbox = *static_cast<std::shared_ptr<Mailbox>*>(context);
  mailbox->deliver(Napi::Env(env));
}

void Mailbox::finalize(napi_env /*env*/, void* data, void* /*hint*/) {
  auto* owner = static_cast<std::shared_ptr<Mailbox>*>(data);
  (*owner)->close();
  delete owner;
}

void Mailbox::deliver(Napi::Env env) {
  std::vector<Letter> letters;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    letters.swap(letters_);
  }
  for (Letter& letter : letters) {
    Napi::HandleScope scope(env);
    try {
      guarded(env, [&] { letter(environment_, env); });
    } catch (const Napi::Error& error) {
      // A callback of the user's threw: that is an uncaught exception of theirs, and the other letters still count.
      napi_fatal_exception(env, error.Value());
    }
  }
}

}  // namespace halogen::addon
