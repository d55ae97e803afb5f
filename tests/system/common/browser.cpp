// SPDX-License-Identifier: MIT
#include "tests/system/common/browser.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace heddle::tests {

using json = nlohmann::json;

namespace {

constexpr int timeout_ms = 60000;

std::string in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/" + name).c_str(), X_OK) == 0) return folder + "/" + name;
  return "";
}

std::string decoded(const std::string& base64) {
  std::string out;
  unsigned bits = 0, held = 0;
  for (const char c : base64) {
    static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const auto digit = digits.find(c);
    if (digit == std::string::npos) break;
    held = held << 6 | static_cast<unsigned>(digit);
    if ((bits += 6) < 8) continue;
    bits -= 8;
    out += static_cast<char>(held >> bits & 0xff);
  }
  return out;
}

}  // namespace

std::string browser::program() {
  if (const char* named = std::getenv("HEDDLE_BROWSER")) return named;
  for (const char* name : {"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"})
    if (std::string found = in_path(name); !found.empty()) return found;
  return "";
}

browser::browser(const std::string& program, const std::string& folder) {
  ::signal(SIGPIPE, SIG_IGN);  // a closed pipe is reported by an exception
  profile_ = folder + "/browser-" + std::to_string(::getpid());
  std::filesystem::create_directories(profile_);
  int down[2], up[2];
  if (::pipe2(down, O_CLOEXEC) != 0 || ::pipe2(up, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  // Above 4, so that they do not clash with the descriptors that the browser uses.
  const int in = ::fcntl(down[0], F_DUPFD_CLOEXEC, 10), out = ::fcntl(up[1], F_DUPFD_CLOEXEC, 10);
  const std::string data = "--user-data-dir=" + profile_;
  process_ = ::fork();
  if (process_ == 0) {
    ::setpgid(0, 0);
    ::dup2(in, 3);
    ::dup2(out, 4);
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2}) ::dup2(nowhere, fd);
    ::execl(program.c_str(), program.c_str(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--no-first-run", "--disable-dev-shm-usage", "--remote-debugging-pipe", data.c_str(), "about:blank",
            static_cast<char*>(nullptr));
    ::_exit(127);
  }
  for (const int fd : {down[0], up[1], in, out}) ::close(fd);
  to_ = down[1];
  from_ = up[0];
  const json page = call("Target.createTarget", {{"url", "about:blank"}})["targetId"];
  session_ = call("Target.attachToTarget", {{"targetId", page}, {"flatten", true}})["sessionId"];
  for (const char* domain : {"Page", "Runtime", "Log", "Network"}) call(std::string(domain) + ".enable");
}

browser::~browser() {
  ::close(to_);
  ::close(from_);
  if (process_ <= 0) return;
  ::kill(-process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  std::error_code ignored;  // its helper processes may still be exiting
  std::filesystem::remove_all(profile_, ignored);
}

json browser::call(const std::string& method, const json& parameters) {
  json message = {{"id", ++last_id_}, {"method", method}, {"params", parameters}};
  if (!session_.empty()) message["sessionId"] = session_;
  const std::string text = message.dump() + '\0';
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(to_, text.data() + done, text.size() - done);
    if (n <= 0) throw std::runtime_error("the browser has gone");
    done += static_cast<std::size_t>(n);
  }
  for (;;) {
    json answer = receive();
    if (!answer.contains("id")) {
      note(answer);
      continue;
    }
    if (answer["id"] != last_id_) continue;
    if (answer.contains("error")) throw std::runtime_error(method + ": " + answer["error"].dump());
    return answer["result"];
  }
}

json browser::receive() {
  for (;;) {
    if (const auto end = pending_.find('\0'); end != std::string::npos) {
      json message = json::parse(pending_.substr(0, end));
      pending_.erase(0, end + 1);
      return message;
    }
    pollfd ready{from_, POLLIN, 0};
    char chunk[65536];
    if (::poll(&ready, 1, timeout_ms) <= 0) throw std::runtime_error("the browser says nothing");
    const ssize_t n = ::read(from_, chunk, sizeof chunk);
    if (n <= 0) throw std::runtime_error("the browser has gone");
    pending_.append(chunk, static_cast<std::size_t>(n));
  }
}

void browser::note(const json& event) {
  const std::string method = event.value("method", "");
  const json& p = event.contains("params") ? event["params"] : event;
  if (method == "Page.loadEventFired") loaded_ = true;
  if (method == "Runtime.exceptionThrown") complaints_.push_back("exception: " + p["exceptionDetails"].dump());
  if (method == "Runtime.consoleAPICalled")
    complaints_.push_back("console " + p.value("type", "") + ": " + p["args"].dump());
  if (method == "Log.entryAdded") complaints_.push_back("log: " + p["entry"].dump());
  if (method == "Network.requestWillBeSent")
    if (const std::string url = p["request"]["url"]; url.rfind("file:", 0) != 0 && url.rfind("data:", 0) != 0 &&
                                                     url.rfind("blob:", 0) != 0 &&
                                                     (address_.empty() || url.rfind(address_, 0) != 0))
      complaints_.push_back("request: " + url);
}

void browser::set_viewport(unsigned width, bool dark) {
  width_ = width;
  call("Emulation.setDeviceMetricsOverride",
       {{"width", width}, {"height", 900}, {"deviceScaleFactor", 1}, {"mobile", false}});
  const json scheme = {{"name", "prefers-color-scheme"}, {"value", dark ? "dark" : "light"}};
  call("Emulation.setEmulatedMedia", {{"features", json::array({scheme})}});
}

void browser::change(unsigned width, bool dark) {
  set_viewport(width, dark);
  // Waits for resize observers, the page's own delay, and a frame.
  evaluate("new Promise(done => setTimeout(() => requestAnimationFrame(() => done()), 120))");
}

void browser::open(const std::string& file, unsigned width, bool dark) {
  std::string url = "file://";
  for (const char c : file) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '/' || c == '.' || c == '_' || c == '-') {
      url += c;
      continue;
    }
    char escape[4];
    std::snprintf(escape, sizeof escape, "%%%02X", static_cast<unsigned char>(c));
    url += escape;
  }
  address_.clear();
  visit(url, width, dark);
}

void browser::open_address(const std::string& url, unsigned width, bool dark) {
  address_ = url;
  visit(url, width, dark);
}

void browser::visit(const std::string& url, unsigned width, bool dark) {
  set_viewport(width, dark);
  complaints_.clear();
  loaded_ = false;
  call("Page.navigate", {{"url", url}});
  while (!loaded_) note(receive());
  change(width, dark);
  // An opening page draws its charts one by one; what is not drawn after ten seconds is the test's to find.
  evaluate(R"(new Promise(done => {
    const look = (left) => left === 0 || [...document.querySelectorAll('.chart')].every((c) => c.dataset.drawn === 'yes')
        ? requestAnimationFrame(() => done()) : setTimeout(look, 20, left - 1);
    look(500); }))");
}

json browser::evaluate(const std::string& expression) {
  const json answer =
      call("Runtime.evaluate", {{"expression", expression}, {"returnByValue", true}, {"awaitPromise", true}});
  if (answer.contains("exceptionDetails")) throw std::runtime_error(answer["exceptionDetails"].dump());
  return answer["result"].contains("value") ? answer["result"]["value"] : json();
}

void browser::press(const std::string& key) {
  const int code = key == "Tab" ? 9 : key == "Enter" ? 13 : key == "ArrowDown" ? 40 : key == "End" ? 35 : 32;
  json event = {{"type", "keyDown"}, {"key", key}, {"code", key}, {"windowsVirtualKeyCode", code}};
  if (key == "Enter") event["text"] = "\r";
  call("Input.dispatchKeyEvent", event);
  event["type"] = "keyUp";
  event.erase("text");
  call("Input.dispatchKeyEvent", event);
}

std::string browser::picture(unsigned top, unsigned height) {
  if (height == 0) height = evaluate("document.documentElement.scrollHeight").get<unsigned>() - top;
  const json clip = {{"x", 0}, {"y", top}, {"width", width_}, {"height", height}, {"scale", 1}};
  return decoded(call("Page.captureScreenshot", {{"captureBeyondViewport", true}, {"clip", clip}})["data"]);
}

std::vector<std::string> browser::complaints() {
  evaluate("0");  // earlier messages have arrived by now
  return complaints_;
}

}  // namespace heddle::tests
