-- Takes, returns and charges permits of token buckets: one atomic step per key, many keys a call.
-- The exact twin of EmbeddedStore; both follow dev.weir.config.TokenBucket in the order of every
-- operation, since both compute in doubles and have to round alike.
--
-- KEYS, one per take, those of a step side by side:
--   <prefix>:{<key>}:<limit>:level   "<used> <at> <expires>": permits used, in full precision; the
--                                    time it was true, microseconds; until when the entry was given
--                                    to live, milliseconds
-- Each stands for a second name as well, which only the store can complete, since its clock chooses
-- the window; it has the same hash tag, hence the same slot:
--   <prefix>:{<key>}:<limit>:authorized:<window index>   permits granted in that window
--
-- ARGV:
--   accounting window, microseconds; then per step:
--     jitter of its key, microseconds; number of takes; then per take:
--       rate, period (microseconds), capacity, returned, charged, need, ask
--
-- Returns one flat array:
--   the store's time, microseconds; then per take, in the order of KEYS:
--     granted; used, a string, since a reply cuts numbers to integers; authorized in this window
--
-- Runs on Redis 6.2 and later (effects replication, which lets a script write after TIME).

-- Forgives the rounding of level arithmetic: TokenBucket.ROUNDING.
local ROUNDING = 2 ^ -48
-- An entry outlives its time to empty by this much, so that clocks may differ.
local MARGIN_MILLIS = 10000
-- PX is added to the time of day and must not overflow 64 bits.
local MAX_TTL_MILLIS = 9e18

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_millis = math.floor(now / 1000)
local window = tonumber(ARGV[1])

local reply = { now }
local key = 0
local arg = 2

while arg <= #ARGV do
  local index = string.format('%.0f', math.floor((now + ARGV[arg]) / window))
  local takes = tonumber(ARGV[arg + 1])
  arg = arg + 2

  local levels = {}
  local fits = true
  for i = 1, takes do
    local rate, period, capacity = tonumber(ARGV[arg]), tonumber(ARGV[arg + 1]), tonumber(ARGV[arg + 2])
    local returned, charged = tonumber(ARGV[arg + 3]), tonumber(ARGV[arg + 4])
    local need, ask = tonumber(ARGV[arg + 5]), tonumber(ARGV[arg + 6])
    arg = arg + 7

    local used, elapsed, expires = 0, 0, 0
    local stored = redis.call('GET', KEYS[key + i])
    if stored then
      local at
      used, at, expires = string.match(stored, '^(%S+) (%S+) (%S+)$')
      used, elapsed, expires = tonumber(used), now - at, tonumber(expires)
    end
    if elapsed > 0 then
      used = math.max(0, used - elapsed * rate / period)
    end
    used = math.max(0, used - returned) + charged

    local bound = capacity * (1 + ROUNDING)
    if need > 0 and used + need > bound then
      fits = false
    end
    levels[i] = {
      used = used,
      free = math.max(0, math.floor(bound - used)),
      need = need,
      ask = ask,
      micros_per_permit = { period, rate },
      stored = stored,
      expires = expires,
      moved = returned > 0 or charged > 0,
      -- The clock stepped back: nothing leaks until it has caught up, unless re-anchored.
      ahead = elapsed < 0,
    }
  end

  for i = 1, takes do
    local level = levels[i]
    local name = KEYS[key + i]
    local used, granted = level.used, 0
    if fits then
      granted = math.max(level.need, math.min(level.ask, level.free))
      used = used + granted
    end

    local empty_millis = math.ceil(used * level.micros_per_permit[1] / level.micros_per_permit[2] / 1000)
    local write = granted > 0 or level.moved
    if not write and level.ask > 0 then
      -- Denied. Worth a write only if the level would not leak, or would be forgotten too early
      -- because the limit has become slower since it was written.
      write = level.ahead or (level.stored and now_millis + empty_millis > level.expires)
    end
    if write and used > 0 then
      local ttl = math.min(empty_millis + MARGIN_MILLIS, MAX_TTL_MILLIS)
      redis.call('SET', name, string.format('%.17g %.0f %.0f', used, now, now_millis + ttl),
        'PX', string.format('%.0f', ttl))
    elseif write and level.stored then
      redis.call('DEL', name)
    end

    -- The name without "level".
    local counter = string.sub(name, 1, -6) .. 'authorized:' .. index
    local authorized
    if granted > 0 then
      authorized = redis.call('INCRBY', counter, string.format('%.0f', granted))
      if authorized == granted then
        redis.call('PEXPIRE', counter, string.format('%.0f', math.ceil(window / 500)))
      end
    else
      authorized = tonumber(redis.call('GET', counter) or 0)
    end

    reply[#reply + 1] = granted
    reply[#reply + 1] = string.format('%.17g', used)
    reply[#reply + 1] = authorized
  end
  key = key + takes
end

return reply
