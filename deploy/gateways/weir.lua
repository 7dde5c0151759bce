-- Asks Weir about a request: http-request lua.weir (HAProxy 2.5 or later).
--
-- A denied request is answered here, with Weir's own answer. What Weir says of an allowed one is
-- left in variables: its headers (RateLimit-Policy is txn.ratelimit_policy), txn.weir_key and
-- txn.weir_plan, and in txn.weir whether the request may go on: "allowed", or "away" when there
-- was nobody to ask. Without txn.weir something has gone wrong here, and it may not.

local URL = "http://127.0.0.1:8080/v1/authorize"
local TIMEOUT_MS = 1000

-- Only these of the client's headers are passed on: X-Forwarded-Uri of its own would name another
-- endpoint.
local PASSED = { "x-api-key", "authorization" }

local TOLD = {
  "ratelimit", "ratelimit-policy", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset",
}

-- HAProxy counts the values of a header from 0, its HTTP client wants them from 1.
local function values(header)
  local list = {}
  for i = 0, header and #header or -1 do
    list[#list + 1] = header[i]
  end
  return list
end

-- Said once, not with every request.
local away = false

core.register_action("weir", { "http-req" }, function(txn)
  local from = txn.http:req_get_headers()
  local headers = {
    ["x-forwarded-method"] = { txn.f:method() },
    ["x-forwarded-uri"] = { txn.f:pathq() },
    ["x-forwarded-for"] = values(from["x-forwarded-for"]),
    -- If Weir has an http.token: ["x-weir-token"] = { "the-token" },
  }
  table.insert(headers["x-forwarded-for"], txn.f:src())
  for _, name in ipairs(PASSED) do
    if from[name] then
      headers[name] = values(from[name])
    end
  end

  local answer = core.httpclient():get({ url = URL, headers = headers, timeout = TIMEOUT_MS })
  local key = answer.headers and answer.headers["x-weir-key"]

  -- What HAProxy makes up itself when there is nobody to ask. A limiter that is away must not take
  -- the application with it.
  if not key and answer.status and answer.status >= 502 and answer.status <= 504 then
    if not away then
      core.Warning("weir: no answer from " .. URL .. ", requests pass unlimited")
    end
    away = true
    txn:set_var("txn.weir", "away")
    return
  end
  away = false

  if answer.status ~= 200 then
    local reply = txn:reply({ status = answer.status, body = answer.body })
    for name, list in pairs(answer.headers) do
      if name ~= "content-length" and name ~= "connection" and name:sub(1, 7) ~= "x-weir-" then
        for _, value in ipairs(values(list)) do
          reply:add_header(name, value)
        end
      end
    end
    txn:done(reply)
  end

  txn:set_var("txn.weir_key", key[0])
  txn:set_var("txn.weir_plan", answer.headers["x-weir-plan"][0])
  for _, name in ipairs(TOLD) do
    if answer.headers[name] then
      txn:set_var("txn." .. name:gsub("-", "_"), answer.headers[name][0])
    end
  end
  txn:set_var("txn.weir", "allowed")
end)
