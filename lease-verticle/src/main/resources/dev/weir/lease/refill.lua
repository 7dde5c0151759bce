-- Takes, returns and charges permits of limits: one atomic step per key, many keys a call. The
-- exact twin of EmbeddedStore; both follow the algorithms of dev.weir.config in the order of every
-- operation, since both compute in doubles and have to round alike.
--
-- KEYS, one per take, those of a step side by side:
--   <prefix>:{<key>}:<limit>:level   how the limit is counted, and of a bucket all there is:
--     "<used> <at> <expires>"             a bucket: permits used, in full precision; the time it was
--                                         true, microseconds; until when the entry was given to
--                                         live, milliseconds
--     "<kind> <period> <number> <end>"    windows, "fixed" or "sliding": the last one written to,
--                                         and its end, microseconds
--     "log <window>"                      a log, whose window is in microseconds
--   and while there are reservations of it, ";<due> <leaked>" behind that: when the first of them
--   ends, microseconds; what a bucket has leaked since there were any, permits
-- Each stands for further names, which only the store can complete, since its clock chooses the
-- window; they have the same hash tag, hence the same slot:
--   <prefix>:{<key>}:<limit>:window:<number>             permits used in a window; of a sliding one
--                                                        "<used> <first> <last>", the times at which
--                                                        the first and the last of them came
--   <prefix>:{<key>}:<limit>:log                         sorted by time, "<total> <cost>": units of
--                                                        this entry, and of it and all before
--   <prefix>:{<key>}:<limit>:authorized:<window index>   permits granted in an accounting window
--   <prefix>:{<key>}:<limit>:reserved                    reservations that are open, sorted by when
--                                                        they end, "<id> <permits> <mark>": the
--                                                        mark is what the bucket had leaked, the
--                                                        window as "<number>@<time of the grant>",
--                                                        the time of the entry
-- Counters, logs and reservations that no level stands for are void.
--
-- KEYS, behind those of the takes of a step that decides (no limit has an empty name):
--   <prefix>:{<key>}::reservation:<id>   if it reserves; "<open or settled> <ends> <permits>", and
--                                        while open " <limit> <permits> <mark>" of each limit
--   <prefix>:{<key>}::once:<id>          if it is made once; a hash of what was asked, "request",
--                                        and answered, "outcome" and ":<limit>" of each limit
-- KEYS, of a step that settles:
--   <prefix>:{<key>}::reservation:<id>
--
-- KEYS, the last:
--   <prefix>:{<tag>}:epoch               the mark of the store's epoch, "<mark> <expires>", which is
--                                        gone when the data is; in a cluster, of the slot's
--
-- ARGV:
--   accounting window, microseconds; the mark that should be there, or "" for any; what to begin one
--   with where there is none; then per step:
--     jitter of its key, microseconds; number of takes; then per take, times in microseconds:
--       of a bucket   rate, period, capacity, returned, charged, need, ask
--       of all others the algorithm with its numbers, then
--                     returned, granted in (a window's end), charged, need, ask; the algorithm is
--         "sliding", limit, window, jitter of its key
--         "fixed", limit, window, jitter of its key
--         "calendar", limit, its name, ends of the windows before, at and after about now
--         "log", limit, window
--       before these, if the node was told in another epoch, "told" and what it was told to be
--         used: of a bucket and a log, as of now; of a window, as of the one of "granted in"
--       or "forget", alone, which ends all that the limit has counted
--   before a step that decides:
--     "decide", the reservation's id or "", its time to live, microseconds; what is asked or "" if
--     that is not for once; number of arguments of the step
--   or instead of a step:
--     "settle", the reservation's id, permits that are spent of it, or "all"; the rest goes back
--
-- Returns one flat array:
--   the store's time, microseconds; the mark if it is not the one that should be there, else "":
--   then nothing was done, and nothing follows, unless any would do; then per take, in the order of
--   KEYS:
--     granted; what is counted, a string, since a reply cuts numbers to integers: "<used>" of a
--     bucket, else "<used> <previous> <left>" as in dev.weir.config.Consumption, which of a sliding
--     window "<first> <last>" of both counts follow, and a "~" before all of it where there are
--     reservations, which may go back at any time; authorized in this accounting window
--   before that, of a step that decides:
--     "new"; "again <the store's time> <reservation or ->" if it was made before, and what follows
--     is of then; "other" if something else was asked then, and nothing follows
--   of one that settles:
--     "settled", "before" if it was already, "unknown" if it is not open any more or never was,
--     "more" if less was reserved; and how much was
--
-- Runs on Redis 6.2 and later (effects replication, which lets a script write after TIME).

-- Forgives the rounding of level arithmetic: Algorithm.ROUNDING.
local ROUNDING = 2 ^ -48
-- An entry outlives its time to empty by this much, so that clocks may differ.
local MARGIN_MILLIS = 10000
-- PX is added to the time of day and must not overflow 64 bits.
local MAX_TTL_MILLIS = 9e18
-- How long the outcome of a step that is made once is known.
local ONCE_MILLIS = 60000
-- How much longer than it could have been open a reservation is known to be settled.
local SETTLED_MILLIS = 60000
-- How many reservations whose time is over one look ends: a script holds up all other keys.
local MOST_ENDED = 1000
-- How long a mark outlives its last use, at least half of it.
local EPOCH_MILLIS = 400 * 86400000
-- Totals of a log stay below 2^53, up to which doubles count every unit.
local MAX_LOGGED = 2 ^ 51
local MAX_TOTAL = 2 ^ 52

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_millis = math.floor(now / 1000)
local window = tonumber(ARGV[1])

-- Microseconds, units and indexes in full: a number by itself would turn into 1.7e+15.
local function digits(number)
  return string.format('%.0f', number)
end

-- ---- the epoch

local epoch
do
  local name = KEYS[#KEYS]
  local expires
  epoch, expires = string.match(redis.call('GET', name) or '', '^(%S+) (%S+)$')
  epoch = epoch or ARGV[3] .. '-' .. digits(now)
  if not expires or expires - now_millis < EPOCH_MILLIS / 2 then
    redis.call('SET', name, epoch .. ' ' .. digits(now_millis + EPOCH_MILLIS), 'PX', digits(EPOCH_MILLIS))
  end
  if ARGV[2] ~= '' and ARGV[2] ~= epoch then
    return { now, epoch }
  end
end

-- ---- levels as they are kept

-- Of levels with reservations: { due =, leaked = }, as of the last look.
local opens = {}

local function with_open(name, text)
  local open = opens[name]
  return open and text .. ';' .. digits(open.due) .. ' ' .. string.format('%.17g', open.leaked) or text
end

local function keep(name, text, ttl)
  redis.call('SET', name, with_open(name, text), 'PX', ttl)
  if opens[name] then
    redis.call('PEXPIRE', string.sub(name, 1, -6) .. 'reserved', ttl)
  end
end

-- ---- logs

local function entry(member)
  local total, cost = string.match(member, '^(%d+) (%d+)$')
  return tonumber(total), tonumber(cost)
end

-- The units of all entries that there ever were, and the time of the newest.
local function newest(log)
  local last = redis.call('ZREVRANGE', log, 0, 0, 'WITHSCORES')
  if not last[1] then
    return 0, 0
  end
  return entry(last[1]), tonumber(last[2])
end

-- Units that count now. Entries of the future do: the clock has stepped back.
local function logged(log, length)
  local first = redis.call('ZRANGEBYSCORE', log, '(' .. digits(now - length), '+inf', 'LIMIT', 0, 1)[1]
  if not first then
    return 0
  end
  local upto, cost = entry(first)
  return newest(log) - upto + cost
end

-- Microseconds until `cost` units fit, which do not fit now: the first entry after which enough have
-- left is found by halves, since totals grow with time.
local function until_logged_fits(log, length, limit, cost)
  if cost > limit then
    return 0
  end
  local enough = newest(log) + cost - limit
  local low, high = 0, redis.call('ZCARD', log) - 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if entry(redis.call('ZRANGE', log, middle, middle)[1]) >= enough then
      high = middle
    else
      low = middle + 1
    end
  end
  return redis.call('ZRANGE', log, low, low, 'WITHSCORES')[2] + length - now
end

local function keep_log(log, name, length)
  local ttl = digits(math.ceil(length / 1000) + MARGIN_MILLIS)
  redis.call('PEXPIRE', log, ttl)
  keep(name, 'log ' .. digits(length), ttl)
end

-- Writes an entry of now, which takes in those of now and of the future, and drops what is over.
local function append(log, name, length, units)
  local total, at = newest(log)
  local cost = units
  if total > 0 and at >= now then
    local upto, own = entry(redis.call('ZRANGEBYSCORE', log, digits(now), '+inf', 'LIMIT', 0, 1)[1])
    cost = cost + total - upto + own
    redis.call('ZREMRANGEBYSCORE', log, digits(now), '+inf')
  end
  if cost > 0 then
    redis.call('ZADD', log, digits(now), digits(total + units) .. ' ' .. digits(cost))
  end
  redis.call('ZREMRANGEBYSCORE', log, '-inf', digits(now - length))
  if total + units > MAX_TOTAL then
    local all = redis.call('ZRANGE', log, 0, -1, 'WITHSCORES')
    redis.call('DEL', log)
    local sum = 0
    for i = 1, #all, 2 do
      local _, own = entry(all[i])
      sum = sum + own
      redis.call('ZADD', log, all[i + 1], digits(sum) .. ' ' .. digits(own))
    end
  end
  keep_log(log, name, length)
end

-- Takes `units` off the entry of the time `at`, if it still counts; later ones move up.
local function take_back(log, name, length, at, units)
  if at <= now - length then
    return
  end
  local rest = redis.call('ZRANGEBYSCORE', log, digits(at), '+inf', 'WITHSCORES')
  if not rest[1] or tonumber(rest[2]) ~= at then
    return
  end
  local _, back = entry(rest[1])
  back = math.min(back, units)
  redis.call('ZREMRANGEBYSCORE', log, digits(at), '+inf')
  for i = 1, #rest, 2 do
    local total, cost = entry(rest[i])
    if i == 1 then
      cost = cost - back
    end
    if cost > 0 then
      redis.call('ZADD', log, rest[i + 1], digits(total - back) .. ' ' .. digits(cost))
    end
  end
  keep_log(log, name, length)
end

-- ---- counts of windows

local EMPTY = { units = 0, first = 0, last = 0 }

local function read_count(text)
  if not text then
    return EMPTY
  end
  local units, first, last = string.match(text, '^(%S+) ?(%S*) ?(%S*)$')
  return { units = tonumber(units), first = tonumber(first), last = tonumber(last) }
end

local function write_count(name, count, ...)
  if count.units == 0 then
    redis.call('DEL', name)
  else
    local text = string.format('%.17g', count.units)
    if count.first then
      text = text .. ' ' .. digits(count.first) .. ' ' .. digits(count.last)
    end
    redis.call('SET', name, text, ...)
  end
end

local function less(count, returned)
  local units = count.units - returned
  return units > 0 and { units = units, first = count.first, last = count.last } or EMPTY
end

-- Of fixed windows it does not matter when permits came.
local function more(count, units, sliding)
  if units == 0 then
    return count
  elseif not sliding then
    return { units = count.units + units }
  end
  return {
    units = count.units + units,
    first = count.units > 0 and count.first or now,
    last = math.max(count.last, now),
  }
end

-- What still counts of a window that is over: SlidingWindow.counting.
local function counting(count, length)
  local over = now - count.first - length
  if count.units < 1 or over < 0 then
    return count.units
  end
  local later = math.floor(over * count.units / length)
  local span = count.last - count.first
  if span > 0 then
    later = math.min(later, math.floor(over * (count.units - 1) / span))
  end
  return math.max(0, count.units - 1 - later)
end

-- How long ago, as in dev.weir.config.Consumption.
local function came(count)
  if count.units == 0 then
    return ' 0 0'
  end
  return ' ' .. digits(now - count.first) .. ' ' .. digits(now - count.last)
end

-- ---- reservations

-- Takes `units` that were reserved off what `stored` says; what is to be stored instead, nil if
-- that is nothing. A bucket's are taken off as of when its level was true, less what has leaked of
-- them until then: what is left is never below what it would be without the reservation. `all` tells
-- that nothing was spent of it.
local function give_back(name, stored, units, mark, all)
  local base = string.sub(name, 1, -6)
  if string.byte(stored) <= 57 then
    local used, at, expires = string.match(stored, '^(%S+) (%S+) (%S+)$')
    local left = math.max(0, units - (opens[name].leaked - mark))
    local rest = math.max(0, used - left)
    if rest == 0 then
      return nil
    end
    local at_millis = math.floor(at / 1000)
    local life = expires - at_millis - MARGIN_MILLIS
    return string.format('%.17g %.0f %.0f', rest, at,
      at_millis + math.ceil(life * (rest / used)) + MARGIN_MILLIS)
  end
  local length = string.match(stored, '^log (%S+)$')
  if length then
    take_back(base .. 'log', name, tonumber(length), tonumber(mark), units)
  else
    local number, at = string.match(mark, '^(%d+)@(%d+)$')
    local counter = base .. 'window:' .. number
    local count = less(read_count(redis.call('GET', counter)), units)
    if all and count.first and tonumber(at) <= count.first then
      -- It was the first that came. When the next one did is not known: no later than the last.
      count.first = count.last
    end
    write_count(counter, count, 'KEEPTTL')
  end
  return stored
end

-- Writes down what is stored after reservations have ended.
local function ended(name, stored)
  local reserved = string.sub(name, 1, -6) .. 'reserved'
  local first = redis.call('ZRANGE', reserved, 0, 0, 'WITHSCORES')
  if stored and first[1] then
    opens[name].due = tonumber(first[2])
  else
    opens[name] = nil
  end
  if stored then
    redis.call('SET', name, with_open(name, stored), 'KEEPTTL')
  else
    redis.call('DEL', name, reserved)
  end
  return stored
end

-- What is stored of a level, reservations apart, once those whose time is over have ended; whether
-- any has. Nothing runs when their time is over: whoever comes next gives back, a peek as well.
local function opened(name, stored)
  opens[name] = nil
  local mark = stored and string.find(stored, ';', 1, true)
  if not mark then
    return stored, false
  end
  local due, leaked = string.match(stored, '^(%S+) (%S+)$', mark + 1)
  opens[name] = { due = tonumber(due), leaked = tonumber(leaked) }
  stored = string.sub(stored, 1, mark - 1)
  if opens[name].due > now then
    return stored, false
  end
  local reserved = string.sub(name, 1, -6) .. 'reserved'
  local all = redis.call('ZRANGEBYSCORE', reserved, '-inf', digits(now), 'LIMIT', 0, MOST_ENDED)
  for _, over in ipairs(all) do
    local _, units, granted = string.match(over, '^(%S+) (%S+) (%S+)$')
    stored = stored and give_back(name, stored, tonumber(units), granted, true)
  end
  if all[1] then
    redis.call('ZREM', reserved, unpack(all))
  end
  return ended(name, stored), true
end

-- Notes that `units`, just granted, are reserved; how a reservation is written under its own name.
local function reserve(name, level, units, id, ends)
  local base = string.sub(name, 1, -6)
  local reserved = base .. 'reserved'
  if not opens[name] then
    -- Those that are there are of a level that is not any more.
    redis.call('DEL', reserved)
    opens[name] = { due = ends, leaked = 0 }
  end
  local open = opens[name]
  open.due = math.min(open.due, ends)
  local mark
  if level.kind == 'log' then
    mark = digits(now)
  elseif level.kind then
    mark = digits(level.number) .. '@' .. digits(now)
  else
    mark = string.format('%.17g', open.leaked)
  end
  redis.call('ZADD', reserved, digits(ends), id .. ' ' .. digits(units) .. ' ' .. mark)
  -- As long as the level, which was not written if the clock has stepped back a window.
  redis.call('PEXPIRE', reserved, redis.call('PTTL', name))
  local stored = string.match(redis.call('GET', name), '^[^;]+')
  redis.call('SET', name, with_open(name, stored), 'KEEPTTL')
  return ' ' .. string.match(name, '}:(.+):level$') .. ' ' .. digits(units) .. ' ' .. mark
end

-- ---- from one way of counting to another

-- What counts now of what `stored` says was counted in another way, permits; the end of the window
-- that it was counted in, 0 for a bucket; the names that are of no use any more, level apart.
local function carried(base, stored)
  -- Reservations end with the way of counting: what they hold stays used.
  opens[base .. 'level'] = nil
  if string.byte(stored) <= 57 then
    local used, at, expires = string.match(stored, '^(%S+) (%S+) (%S+)$')
    -- Its rate is not kept, but how long it was given to live tells it.
    local life = (expires - math.floor(at / 1000) - MARGIN_MILLIS) * 1000
    local left = life - math.max(0, now - at)
    return left > 0 and used * (left / life) or 0, 0, {}
  end
  local kind, period, number, ends = string.match(stored, '^(%S+) (%S+) ?(%S*) ?(%S*)$')
  if kind == 'log' then
    return logged(base .. 'log', tonumber(period)), -1, { base .. 'log' }
  end
  local names = { base .. 'window:' .. number, base .. 'window:' .. digits(number - 1) }
  local counts = redis.call('MGET', names[1], names[2])
  local used, left, level = read_count(counts[1]), ends - now, 0
  local length = tonumber(period)
  if left > 0 then
    level = used.units
    if kind == 'sliding' then
      level = level + counting(read_count(counts[2]), length)
    end
  elseif kind == 'sliding' and left + length > 0 then
    level = counting(used, length)
  end
  return level, tonumber(ends), names
end

-- The same in whole permits, after what the node gives back of it.
local function carried_whole(base, stored, returned, granted_in)
  local level, ends, names = carried(base, stored)
  if granted_in == ends then
    level = math.max(0, level - returned)
  end
  return math.ceil(level * (1 - ROUNDING)), names
end

-- ---- windows and logs: what a take finds, and what it leaves

-- The window that now lies in: number, end, end of the next one.
local function every(length, jitter)
  local number = math.floor((now + jitter) / length)
  local ends = (number + 1) * length - jitter
  return number, ends, ends + length
end

local function calendar(before, at, after)
  local ends, next_ends
  if now < before then
    ends, next_ends = before, at
  elseif now < at then
    ends, next_ends = at, after
  else
    -- Beyond the window after, the node's clock was off by more than one; its next call knows better.
    local length = after - at
    ends = after + math.floor((now - at) / length) * length
    next_ends = ends + length
  end
  return math.floor(ends / 1000000), ends, next_ends
end

local function find_window(name, arg, told)
  local algorithm, limit, period = ARGV[arg], tonumber(ARGV[arg + 1]), ARGV[arg + 2]
  local sliding = algorithm == 'sliding'
  local kind = sliding and 'sliding' or 'fixed'
  local number, ends, next_ends, length
  if algorithm == 'calendar' then
    number, ends, next_ends = calendar(tonumber(ARGV[arg + 3]), tonumber(ARGV[arg + 4]), tonumber(ARGV[arg + 5]))
    arg = arg + 6
  else
    length = tonumber(period)
    number, ends, next_ends = every(length, tonumber(ARGV[arg + 3]))
    arg = arg + 4
  end
  local returned, granted_in, charged = tonumber(ARGV[arg]), tonumber(ARGV[arg + 1]), tonumber(ARGV[arg + 2])
  local ask = tonumber(ARGV[arg + 4])

  local base = string.sub(name, 1, -6)
  local counter, former = base .. 'window:' .. digits(number), base .. 'window:' .. digits(number - 1)
  local function found_now()
    if sliding then
      return redis.call('MGET', name, counter, former)
    end
    return redis.call('MGET', name, counter)
  end
  local found = found_now()
  local stored, changed = opened(name, found[1])
  if changed then
    found = found_now()
  end
  local state = {
    kind = kind,
    period = period,
    number = number,
    ends = ends,
    next_ends = next_ends,
    counter = counter,
    former = former,
    previous = EMPTY,
    need = tonumber(ARGV[arg + 3]),
    ask = ask,
    write = charged > 0,
  }
  local used = EMPTY
  local kind_before, period_before, _, ends_before
  if stored then
    kind_before, period_before, _, ends_before = string.match(stored, '^(%S+) (%S+) (%S+) (%S+)$')
  end
  if kind_before == kind and period_before == period and tonumber(ends_before) <= next_ends then
    used = read_count(found[2])
    state.previous = read_count(found[3])
    if returned > 0 and granted_in == ends then
      used = less(used, returned)
      state.write = true
    elseif returned > 0 and sliding and granted_in == ends - length then
      state.previous = less(state.previous, returned)
      state.write_previous = true
    end
    -- A clock that stepped back into the window before leaves the level where it is.
    state.write_level = tonumber(ends_before) < ends
  else
    if stored then
      local level
      level, state.void = carried_whole(base, stored, returned, granted_in)
      if sliding then
        -- What is above the limit would outlast the window.
        level = math.min(level, limit)
      end
      used = more(used, level, sliding)
      state.write = state.write or ask > 0 or returned > 0
    end
    state.stale = found[3]
    state.write_level = true
  end
  told = math.max(0, told - returned)
  if told > used.units and granted_in == ends then
    used = more(used, told - used.units, sliding)
    state.write = true
  elseif told > state.previous.units and sliding and granted_in == ends - length then
    -- When they came has been lost with them: they count until this window ends.
    state.previous = { units = told, first = granted_in, last = granted_in }
    state.write, state.write_previous, state.write_level, state.stale = true, true, true, nil
  end
  state.used = more(used, charged, sliding)
  local level = state.used.units
  if sliding then
    level = level + counting(state.previous, length)
  end
  local bound = limit * (1 + ROUNDING)
  state.free = math.max(0, math.floor(bound - level))
  state.fits = level + state.need <= bound
  return state, arg + 5
end

local function settle_window(name, state, granted)
  local sliding = state.kind == 'sliding'
  local used = more(state.used, granted, sliding)
  local write = state.write or granted > 0
  -- This window and the next.
  local ttl = digits(math.ceil((state.next_ends - now) / 1000) + MARGIN_MILLIS)
  if state.write_previous then
    write_count(state.former, state.previous, 'PX', ttl)
  end
  if write then
    if state.void then
      redis.call('DEL', name, unpack(state.void))
    end
    if state.stale then
      redis.call('DEL', state.former)
    end
    write_count(state.counter, used, 'PX', ttl)
    if state.write_level and (used.units > 0 or state.write_previous) then
      keep(name, state.kind .. ' ' .. state.period .. ' ' .. digits(state.number)
        .. ' ' .. digits(state.ends), ttl)
    end
  end
  local told = string.format('%.17g %.17g %.0f', used.units, state.previous.units, state.ends - now)
  return sliding and told .. came(used) .. came(state.previous) or told
end

local function find_log(name, arg, told)
  local limit, length = tonumber(ARGV[arg + 1]), tonumber(ARGV[arg + 2])
  local returned, granted_in, charged = tonumber(ARGV[arg + 3]), tonumber(ARGV[arg + 4]), tonumber(ARGV[arg + 5])
  local need, ask = tonumber(ARGV[arg + 6]), tonumber(ARGV[arg + 7])
  local base = string.sub(name, 1, -6)
  local log = base .. 'log'
  local stored = opened(name, redis.call('GET', name))
  local touched = ask > 0 or returned > 0 or charged > 0

  local used
  if not stored then
    used = 0
    if touched then
      redis.call('DEL', log)
    end
  elseif string.sub(stored, 1, 4) ~= 'log ' then
    local void
    used, void = carried_whole(base, stored, returned, granted_in)
    if touched then
      redis.call('DEL', name, unpack(void))
      if used > 0 then
        append(log, name, length, used)
      end
    end
  else
    if touched then
      local _, at = newest(log)
      -- Entries of the future would stay for longer than a window.
      if at > now or stored ~= 'log ' .. digits(length) then
        append(log, name, length, 0)
      end
    end
    if returned > 0 then
      take_back(log, name, length, granted_in, returned)
    end
    used = logged(log, length)
  end
  told = math.max(0, told - returned)
  if told > used then
    append(log, name, length, told - used)
    used = told
  end
  charged = math.max(0, math.min(charged, MAX_LOGGED - used))
  if charged > 0 then
    append(log, name, length, charged)
    used = used + charged
  end

  local bound = limit * (1 + ROUNDING)
  return {
    kind = 'log',
    limit = limit,
    length = length,
    log = log,
    used = used,
    need = need,
    ask = ask,
    free = math.max(0, math.floor(bound - used)),
    fits = used + need <= bound,
  }, arg + 8
end

local function settle_log(name, state, granted)
  if granted > 0 then
    append(state.log, name, state.length, granted)
  elseif state.need > 0 and not state.fits then
    return string.format('%.0f %.0f %.0f', state.used, state.need,
      until_logged_fits(state.log, state.length, state.limit, state.need))
  end
  return string.format('%.0f 0 0', state.used + granted)
end

local function find_forget(name, arg)
  local stored = opened(name, redis.call('GET', name))
  if stored then
    local _, _, void = carried(string.sub(name, 1, -6), stored)
    redis.call('DEL', name, unpack(void))
  end
  return { kind = 'forget', need = 0, ask = 0, free = 0, used = 0 }, arg + 1
end

local find_by = {
  sliding = find_window, fixed = find_window, calendar = find_window, log = find_log, forget = find_forget,
}
local settle_by = {
  sliding = settle_window, fixed = settle_window, log = settle_log,
  forget = function() return '0' end,
}

-- ---- the steps

local reply = { now, epoch == ARGV[2] and '' or epoch }
local key = 0
local arg = 4

-- Takes of one step, all or none; how they are written of the reservation `id`, if there is one.
local function refill(id, ends)
  local index = digits(math.floor((now + ARGV[arg]) / window))
  local takes = tonumber(ARGV[arg + 1])
  arg = arg + 2

  local levels = {}
  local fits = true
  for i = 1, takes do
    local told = 0
    if ARGV[arg] == 'told' then
      told = tonumber(ARGV[arg + 1])
      arg = arg + 2
    end
    local rate = tonumber(ARGV[arg])
    if rate then
      local period, capacity = tonumber(ARGV[arg + 1]), tonumber(ARGV[arg + 2])
      local returned, charged = tonumber(ARGV[arg + 3]), tonumber(ARGV[arg + 4])
      local need, ask = tonumber(ARGV[arg + 5]), tonumber(ARGV[arg + 6])
      arg = arg + 7

      local used, elapsed, expires, void = 0, 0, 0, nil
      local stored = opened(KEYS[key + i], redis.call('GET', KEYS[key + i]))
      if stored then
        if string.byte(stored) <= 57 then
          local at
          used, at, expires = string.match(stored, '^(%S+) (%S+) (%S+)$')
          used, elapsed, expires = tonumber(used), now - at, tonumber(expires)
        else
          local level, _, names = carried(string.sub(KEYS[key + i], 1, -6), stored)
          -- What is above the capacity might leak for longer than the bucket takes to fill.
          used, void = math.min(level, capacity), names
        end
      end
      if elapsed > 0 then
        used = math.max(0, used - elapsed * rate / period)
        local open = opens[KEYS[key + i]]
        if open then
          open.leaked = open.leaked + elapsed * rate / period
        end
      end
      local recalled = told > used
      used = math.max(0, math.max(used, told) - returned) + charged

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
        moved = returned > 0 or charged > 0 or recalled,
        -- The clock stepped back: nothing leaks until it has caught up, unless re-anchored.
        ahead = elapsed < 0,
        void = void,
      }
    else
      local level
      level, arg = find_by[ARGV[arg]](KEYS[key + i], arg, told)
      if level.need > 0 and not level.fits then
        fits = false
      end
      levels[i] = level
    end
  end

  local held = ''
  for i = 1, takes do
    local level = levels[i]
    local name = KEYS[key + i]
    local granted = 0
    if fits then
      granted = math.max(level.need, math.min(level.ask, level.free))
    end

    local counted
    if level.kind then
      counted = settle_by[level.kind](name, level, granted)
    else
      local used = level.used + granted
      local empty_millis = math.ceil(used * level.micros_per_permit[1] / level.micros_per_permit[2] / 1000)
      local write = granted > 0 or level.moved
      if not write and level.ask > 0 then
        -- Denied. Worth a write only if the level would not leak, or would be forgotten too early
        -- because the limit has become slower since it was written, or was counted in another way.
        write = level.ahead or (level.stored and now_millis + empty_millis > level.expires)
      end
      if write and level.void then
        redis.call('DEL', unpack(level.void))
      end
      if write and used > 0 then
        local ttl = math.min(empty_millis + MARGIN_MILLIS, MAX_TTL_MILLIS)
        keep(name, string.format('%.17g %.0f %.0f', used, now, now_millis + ttl), digits(ttl))
      elseif write and level.stored then
        redis.call('DEL', name)
        opens[name] = nil
      end
      counted = string.format('%.17g', used)
    end
    if id and granted > 0 then
      held = held .. reserve(name, level, granted, id, ends)
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
    reply[#reply + 1] = opens[name] and '~' .. counted or counted
    reply[#reply + 1] = authorized
  end
  key = key + takes
  return held
end

local function decide()
  local id, ttl, request = ARGV[arg + 1], tonumber(ARGV[arg + 2]), ARGV[arg + 3]
  local arguments, takes = tonumber(ARGV[arg + 4]), tonumber(ARGV[arg + 6])
  arg = arg + 5
  local names = key + takes
  local reservation, once
  if id ~= '' then
    names = names + 1
    reservation = KEYS[names]
  end
  if request ~= '' then
    names = names + 1
    once = KEYS[names]
  end

  local known = once and redis.call('HGET', once, 'request')
  if known then
    if known == request then
      reply[#reply + 1] = 'again ' .. redis.call('HGET', once, 'outcome')
      for i = 1, takes do
        -- A limit that the plan has had since then was asked for nothing.
        local told = redis.call('HGET', once, string.match(KEYS[key + i], '}(:.+):level$')) or '0;0 0 0;0'
        local granted, counted, authorized = string.match(told, '^(.+);(.+);(.+)$')
        reply[#reply + 1] = granted
        reply[#reply + 1] = counted
        reply[#reply + 1] = authorized
      end
    else
      reply[#reply + 1] = 'other'
    end
    arg = arg + arguments
  else
    reply[#reply + 1] = 'new'
    local at, first = #reply, key
    local ends = reservation and now + ttl
    local held = refill(reservation and id, ends)
    if held ~= '' then
      -- A step that reserves is granted the same of each limit.
      redis.call('SET', reservation, 'open ' .. digits(ends) .. ' ' .. digits(reply[at + 1]) .. held,
        'PX', digits(math.ceil(ttl / 1000) + MARGIN_MILLIS))
    end
    if once then
      local kept = { 'request', request, 'outcome', digits(now) .. ' ' .. (held ~= '' and id or '-') }
      for i = 1, takes do
        kept[#kept + 1] = string.match(KEYS[first + i], '}(:.+):level$')
        kept[#kept + 1] = digits(reply[at + 1]) .. ';' .. reply[at + 2] .. ';' .. digits(reply[at + 3])
        at = at + 3
      end
      redis.call('HSET', once, unpack(kept))
      redis.call('PEXPIRE', once, ONCE_MILLIS)
    end
  end
  key = names
end

local function settle()
  local reservation, id, kept = KEYS[key + 1], ARGV[arg + 1], tonumber(ARGV[arg + 2])
  key, arg = key + 1, arg + 3
  local stored = redis.call('GET', reservation)
  local state, ends, units = string.match(stored or 'unknown 0 0', '^(%S+) (%S+) (%S+)')
  units = tonumber(units)
  kept = kept or units
  if state == 'settled' then
    state = 'before'
  elseif tonumber(ends) <= now then
    state, units = 'unknown', 0
  elseif kept > units then
    state = 'more'
  else
    local tag = string.match(reservation, '^.-}')
    local parts = string.gmatch(stored, '(%S+) (%S+) (%S+)')
    parts()
    for limit, part, mark in parts do
      local name = tag .. ':' .. limit .. ':level'
      local level = opened(name, redis.call('GET', name))
      local reserved = tag .. ':' .. limit .. ':reserved'
      if opens[name] and redis.call('ZREM', reserved, id .. ' ' .. part .. ' ' .. mark) == 1 then
        if units > kept then
          level = give_back(name, level, units - kept, mark, kept == 0)
        end
        ended(name, level)
      end
    end
    -- Known to be settled for a minute longer than it could have been open.
    redis.call('SET', reservation, 'settled ' .. ends .. ' ' .. digits(units),
      'PX', digits(math.ceil((ends - now) / 1000) + SETTLED_MILLIS))
    state = 'settled'
  end
  reply[#reply + 1] = state
  reply[#reply + 1] = digits(units)
end

while arg <= #ARGV do
  if ARGV[arg] == 'decide' then
    decide()
  elseif ARGV[arg] == 'settle' then
    settle()
  else
    refill()
  end
end

return reply
