-- Takes, returns and charges permits of limits: one atomic step per key, many keys a call. The
-- exact twin of EmbeddedStore; both follow the algorithms of dev.weir.config in the order of every
-- operation, since both compute in doubles and have to round alike.
--
-- A call of many keys keeps the server's only thread busy, and what it does for each key is what
-- limits a fleet. So numbers go in, come out and are kept as they are in memory, not as text (all
-- big-endian, doubles but where another size is given): as text they took as long as all the rest.
--
-- KEYS, one per take, those of a step side by side:
--   <prefix>:{<key>}:<limit>:level   how the limit is counted, and of a bucket all there is:
--     kind                     one letter, see below; a capital while there are reservations
--     index, authorized        permits granted in the accounting window of that index
--     lives, expires           until when the entry lives, and what counts has to be known, milliseconds
--     due, leaked              after a capital: when the first reservation ends, microseconds; what
--                              a bucket has leaked since there were any, permits
--     b: used, at              a bucket: permits used; the time it was true, microseconds
--     f, s: number, end, and   windows, fixed or sliding: the last one written to, and its end,
--           period, a text     microseconds; what tells the windows from those of another period
--     l: window                a log, whose window is in microseconds
--     n                        nothing counts; what was authorized does
-- Each stands for further names, which only the store can complete, since its clock chooses the
-- window; they have the same hash tag, hence the same slot:
--   <prefix>:{<key>}:<limit>:window:<number>             permits used in a window; of a sliding one
--                                                        also the times at which the first and the
--                                                        last of them came
--   <prefix>:{<key>}:<limit>:log                         sorted by time, "<total> <cost>": units of
--                                                        this entry, and of it and all before
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
--   with where there is none; then the steps, all in one string. Texts in it follow their length,
--   two bytes, and times are microseconds. Of each step
--     "r"    jitter of its key; number of takes, one byte; then per take
--       a letter, which tells the algorithm with its numbers, and as a capital, that the node was told
--       in another epoch: then follows what it was told to be used, of a bucket and a log as of now, of
--       a window as of the one of "granted in"
--         b  rate, period, capacity
--         s  limit, window in digits, jitter of its key; a sliding window
--         f  limit, window in digits, jitter of its key; a fixed one
--         c  limit, its name, ends of the windows before, at and after about now; of a calendar
--         l  limit, window; a log
--         n  ends all that the limit has counted; nothing follows
--       returned, granted in (a window's end), charged, need, ask
--     "d"    the reservation's id or "", its time to live; what is asked or "" if that is not for
--            once; number of takes, one byte, and of bytes, four, of the "r" that follows and is decided
--     "s"    the reservation's id; permits that are spent of it, or -1 for all; the rest goes back
--
-- Returns the store's time, microseconds; the mark if it is not the one that should be there, else
-- "": then nothing was done, and nothing follows, unless any would do; then what came of the steps,
-- all in one string. Of each take, in the order of KEYS:
--   how many numbers there are of what is counted, one byte, and 16 more where there are
--   reservations, which may go back at any time; granted; authorized in this accounting window; then
--     1  used; of a bucket
--     3  used, previous and left, as in dev.weir.config.Consumption; of a fixed window and a log
--     7  those, and first and last of both counts; of a sliding window
-- Before those of a step that decides, a letter:
--   "n"  new
--   "a"  made before: the store's time of then; the id of what was reserved, or ""; what follows is
--        of then
--   "o"  something else was asked then, and nothing follows
-- Of one that settles, a letter, and how much was reserved:
--   "s" settled, "b" it was before, "u" it is not open any more or never was, "m" more is spent than
--   was reserved
--
-- Runs on Redis 6.2 and later (effects replication, which lets a script write after TIME).

-- Forgives the rounding of level arithmetic: Algorithm.ROUNDING.
local ROUNDING = 2 ^ -48
-- An entry outlives its time to empty by this much, so that clocks may differ.
local MARGIN_MILLIS = 10000
-- PX is added to the time of day and must not overflow 64 bits.
local MAX_TTL_MILLIS = 9e18
-- Levels live longer than they have to by up to twice this, since a new time to live costs as much
-- as half a write.
local SLACK_MILLIS = 30000
-- How long the outcome of a step that is made once is known.
local ONCE_MILLIS = 60000
-- How much longer than it could have been open a reservation is known to be settled.
local SETTLED_MILLIS = 60000
-- How many reservations whose time is over one look ends: a script holds up all other keys.
local MOST_ENDED = 1000
-- In a reply, on top of how many numbers there are.
local RESERVED = 16
-- How long a mark outlives its last use, at least half of it.
local EPOCH_MILLIS = 400 * 86400000
-- Totals of a log stay below 2^53, up to which doubles count every unit.
local MAX_LOGGED = 2 ^ 51
local MAX_TOTAL = 2 ^ 52

local time = redis.call('TIME')
-- Globals and fields cost a search at each use.
local call, format, byte, sub = redis.call, string.format, string.byte, string.sub
local ceil, floor, max, min = math.ceil, math.floor, math.max, math.min
local pack, read = struct.pack, struct.unpack

local now = time[1] * 1000000 + time[2]
local now_millis = floor(now / 1000)
local window = tonumber(ARGV[1])

-- Microseconds, units and indexes in full: a number by itself would turn into 1.7e+15.
local function digits(number)
  return format('%.0f', number)
end

-- ---- the epoch

local epoch
do
  local name = KEYS[#KEYS]
  local expires
  epoch, expires = string.match(call('GET', name) or '', '^(%S+) (%S+)$')
  epoch = epoch or ARGV[3] .. '-' .. digits(now)
  if not expires or expires - now_millis < EPOCH_MILLIS / 2 then
    call('SET', name, epoch .. ' ' .. digits(now_millis + EPOCH_MILLIS), 'PX', digits(EPOCH_MILLIS))
  end
  if ARGV[2] ~= '' and ARGV[2] ~= epoch then
    return { now, epoch }
  end
end

-- ---- levels as they are kept

local BUCKET, CALENDAR, FIXED, LOG, NOTHING, SLIDING = byte('bcflns', 1, 6)
-- Letters below are capitals, which are that much less than the small ones.
local SMALL, CAPITAL = 97, 32

-- The accounting window of the step, and until when what it authorizes is known, milliseconds.
local index, accounted = 0, 0

local function nothing(name, of, units, lives)
  return { name = name, kind = NOTHING, index = of, authorized = units, lives = lives, expires = 0 }
end

local function packed(level)
  local kind, open = level.kind, level.open
  if kind == BUCKET and not open then
    return pack('>Bdddddd', kind, level.index, level.authorized, level.lives, level.expires, level.used, level.at)
  end
  local text = pack('>Bdddd', open and kind - CAPITAL or kind, level.index, level.authorized, level.lives,
    level.expires)
  if open then
    text = text .. pack('>dd', open.due, open.leaked)
  end
  if kind == BUCKET then
    return text .. pack('>dd', level.used, level.at)
  elseif kind == LOG then
    return text .. pack('>d', level.length)
  elseif kind == NOTHING then
    return text
  end
  return text .. pack('>dd', level.number, level.ends) .. level.period
end

local function base_of(level)
  -- The name without "level".
  return sub(level.name, 1, -6)
end

-- Permits granted in the accounting window. Where the clock has stepped back, it is the later one.
local function authorized(level)
  return level.index < index and 0 or level.authorized
end

-- Nothing counts any more but what is authorized. Reservations end with what they are of.
local function clear(level)
  level.kind, level.open, level.expires = NOTHING, nil, 0
end

-- Writes a level down, which lives as long as it does.
local function rewrite(level)
  if level.kind == NOTHING and level.authorized == 0 then
    call('DEL', level.name)
    level.lives = 0
  else
    call('SET', level.name, packed(level), 'KEEPTTL')
  end
end

local function level_of(name, stored)
  if not stored then
    return nothing(name, 0, 0, 0)
  end
  local kind, of, units, lives, expires, next = read('>Bdddd', stored)
  if expires <= now_millis then
    local level = nothing(name, of, units, lives)
    if kind < SMALL then
      -- Reservations are gone with it, also for a clock that steps back.
      rewrite(level)
    end
    return level
  elseif kind == BUCKET then
    local used, at = read('>dd', stored, next)
    return {
      name = name, kind = kind, index = of, authorized = units, lives = lives, expires = expires,
      used = used, at = at,
    }
  end
  local level = { name = name, kind = kind, index = of, authorized = units, lives = lives, expires = expires }
  if kind < SMALL then
    kind = kind + CAPITAL
    local open = {}
    open.due, open.leaked, next = read('>dd', stored, next)
    level.kind, level.open = kind, open
  end
  if kind == BUCKET then
    level.used, level.at = read('>dd', stored, next)
  elseif kind == LOG then
    level.length = read('>d', stored, next)
  else
    level.number, level.ends, next = read('>dd', stored, next)
    level.period = sub(stored, next)
  end
  return level
end

-- Writes a level of the step down, which lives until it expires and what is authorized is over.
local function keep(level)
  local lives = level.expires
  if authorized(level) > 0 then
    lives = max(lives, level.index > index and level.lives or accounted)
  end
  if level.lives >= lives and level.lives <= lives + 2 * SLACK_MILLIS or lives == 0 then
    rewrite(level)
    return
  end
  local ttl = min(lives - now_millis + SLACK_MILLIS, MAX_TTL_MILLIS)
  level.lives = now_millis + ttl
  call('SET', level.name, packed(level), 'PX', digits(ttl))
  if level.open then
    call('PEXPIRE', base_of(level) .. 'reserved', digits(ttl))
  end
end

-- ---- logs

local function entry(member)
  local total, cost = string.match(member, '^(%d+) (%d+)$')
  return tonumber(total), tonumber(cost)
end

-- The units of all entries that there ever were, and the time of the newest.
local function newest(log)
  local last = call('ZREVRANGE', log, 0, 0, 'WITHSCORES')
  if not last[1] then
    return 0, 0
  end
  return entry(last[1]), tonumber(last[2])
end

-- Units that count now. Entries of the future do: the clock has stepped back.
local function logged(log, length)
  local first = call('ZRANGEBYSCORE', log, '(' .. digits(now - length), '+inf', 'LIMIT', 0, 1)[1]
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
  local low, high = 0, call('ZCARD', log) - 1
  while low < high do
    local middle = floor((low + high) / 2)
    if entry(call('ZRANGE', log, middle, middle)[1]) >= enough then
      high = middle
    else
      low = middle + 1
    end
  end
  return call('ZRANGE', log, low, low, 'WITHSCORES')[2] + length - now
end

local function keep_log(log, level, length)
  local ttl = ceil(length / 1000) + MARGIN_MILLIS
  call('PEXPIRE', log, digits(ttl))
  level.kind, level.length, level.expires = LOG, length, now_millis + ttl
  keep(level)
end

-- Writes an entry of now, which takes in those of now and of the future, and drops what is over.
local function append(log, level, length, units)
  local total, at = newest(log)
  local cost = units
  if total > 0 and at >= now then
    local upto, own = entry(call('ZRANGEBYSCORE', log, digits(now), '+inf', 'LIMIT', 0, 1)[1])
    cost = cost + total - upto + own
    call('ZREMRANGEBYSCORE', log, digits(now), '+inf')
  end
  if cost > 0 then
    call('ZADD', log, digits(now), digits(total + units) .. ' ' .. digits(cost))
  end
  call('ZREMRANGEBYSCORE', log, '-inf', digits(now - length))
  if total + units > MAX_TOTAL then
    local all = call('ZRANGE', log, 0, -1, 'WITHSCORES')
    call('DEL', log)
    local sum = 0
    for i = 1, #all, 2 do
      local _, own = entry(all[i])
      sum = sum + own
      call('ZADD', log, all[i + 1], digits(sum) .. ' ' .. digits(own))
    end
  end
  keep_log(log, level, length)
end

-- Takes `units` off the entry of the time `at`, if it still counts; later ones move up.
local function take_back(log, level, length, at, units)
  if at <= now - length then
    return
  end
  local rest = call('ZRANGEBYSCORE', log, digits(at), '+inf', 'WITHSCORES')
  if not rest[1] or tonumber(rest[2]) ~= at then
    return
  end
  local _, back = entry(rest[1])
  back = min(back, units)
  call('ZREMRANGEBYSCORE', log, digits(at), '+inf')
  for i = 1, #rest, 2 do
    local total, cost = entry(rest[i])
    if i == 1 then
      cost = cost - back
    end
    if cost > 0 then
      call('ZADD', log, rest[i + 1], digits(total - back) .. ' ' .. digits(cost))
    end
  end
  keep_log(log, level, length)
end

-- ---- counts of windows

local EMPTY = { units = 0, first = 0, last = 0 }

local function read_count(text)
  if not text then
    return EMPTY
  elseif #text == 8 then
    return { units = read('>d', text) }
  end
  local units, first, last = read('>ddd', text)
  return { units = units, first = first, last = last }
end

local function write_count(name, count, ...)
  if count.units == 0 then
    call('DEL', name)
  elseif count.first then
    call('SET', name, pack('>ddd', count.units, count.first, count.last), ...)
  else
    call('SET', name, pack('>d', count.units), ...)
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
    last = max(count.last, now),
  }
end

-- What still counts of a window that is over: SlidingWindow.counting.
local function counting(count, length)
  local over = now - count.first - length
  if count.units < 1 or over < 0 then
    return count.units
  end
  local later = floor(over * count.units / length)
  local span = count.last - count.first
  if span > 0 then
    later = min(later, floor(over * (count.units - 1) / span))
  end
  return max(0, count.units - 1 - later)
end

-- How long ago, as in dev.weir.config.Consumption.
local function came(count)
  if count.units == 0 then
    return 0, 0
  end
  return now - count.first, now - count.last
end

-- ---- reservations

-- Takes `units` that were reserved off a level. A bucket's are taken off as of when its level was
-- true, less what has leaked of them until then: what is left is never below what it would be without
-- the reservation. `all` tells that nothing was spent of it.
local function give_back(level, units, mark, all)
  if level.kind == BUCKET then
    local left = max(0, units - (level.open.leaked - mark))
    local rest = max(0, level.used - left)
    if rest == 0 then
      clear(level)
      return
    end
    local at_millis = floor(level.at / 1000)
    local life = level.expires - at_millis - MARGIN_MILLIS
    level.expires = at_millis + ceil(life * (rest / level.used)) + MARGIN_MILLIS
    level.used = rest
  elseif level.kind == LOG then
    take_back(base_of(level) .. 'log', level, level.length, tonumber(mark), units)
  elseif level.kind ~= NOTHING then
    local number, at = string.match(mark, '^(%d+)@(%d+)$')
    local counter = base_of(level) .. 'window:' .. number
    local count = less(read_count(call('GET', counter)), units)
    if all and count.first and tonumber(at) <= count.first then
      -- It was the first that came. When the next one did is not known: no later than the last.
      count.first = count.last
    end
    write_count(counter, count, 'KEEPTTL')
  end
end

-- Writes down what is left after reservations have ended.
local function ended(level)
  local reserved = base_of(level) .. 'reserved'
  local first = call('ZRANGE', reserved, 0, 0, 'WITHSCORES')
  if level.open and first[1] then
    level.open.due = tonumber(first[2])
  else
    level.open = nil
    call('DEL', reserved)
  end
  rewrite(level)
end

-- What a level is once reservations whose time is over have ended; whether there were any.
local function opened(name, stored)
  local level = level_of(name, stored)
  if not level.open or level.open.due > now then
    return level, false
  end
  local reserved = base_of(level) .. 'reserved'
  local all = call('ZRANGEBYSCORE', reserved, '-inf', digits(now), 'LIMIT', 0, MOST_ENDED)
  for _, over in ipairs(all) do
    local _, units, mark = string.match(over, '^(%S+) (%S+) (%S+)$')
    give_back(level, tonumber(units), mark, true)
  end
  if all[1] then
    call('ZREM', reserved, unpack(all))
  end
  ended(level)
  return level, true
end

-- Notes that `units`, just granted, are reserved; how a reservation is written under its own name.
local function reserve(take, units, id, ends)
  local level = take.level
  local reserved = base_of(level) .. 'reserved'
  if not level.open then
    -- Those that are there are of a level that is not any more.
    call('DEL', reserved)
    level.open = { due = ends, leaked = 0 }
  end
  local open = level.open
  open.due = min(open.due, ends)
  local mark
  if level.kind == LOG then
    mark = digits(now)
  elseif level.kind == BUCKET then
    mark = format('%.17g', open.leaked)
  else
    mark = digits(take.number) .. '@' .. digits(now)
  end
  call('ZADD', reserved, digits(ends), id .. ' ' .. digits(units) .. ' ' .. mark)
  call('PEXPIRE', reserved, digits(level.lives - now_millis))
  rewrite(level)
  return ' ' .. string.match(level.name, '}:(.+):level$') .. ' ' .. digits(units) .. ' ' .. mark
end

-- ---- from one way of counting to another

-- What counts now of what was counted in another way, permits; the end of the window that it was
-- counted in, 0 for a bucket; the names that are of no use any more, level apart.
local function carried(level)
  local base, kind = base_of(level), level.kind
  -- Reservations end with the way of counting: what they hold stays used.
  level.open = nil
  if kind == BUCKET then
    -- Its rate is not kept, but how long it was given to live tells it.
    local life = (level.expires - floor(level.at / 1000) - MARGIN_MILLIS) * 1000
    local left = life - max(0, now - level.at)
    return left > 0 and level.used * (left / life) or 0, 0, {}
  elseif kind == LOG then
    return logged(base .. 'log', level.length), -1, { base .. 'log' }
  end
  local names = { base .. 'window:' .. digits(level.number), base .. 'window:' .. digits(level.number - 1) }
  local counts = call('MGET', names[1], names[2])
  local used, left, units = read_count(counts[1]), level.ends - now, 0
  local length = tonumber(level.period)
  if left > 0 then
    units = used.units
    if kind == SLIDING then
      units = units + counting(read_count(counts[2]), length)
    end
  elseif kind == SLIDING and left + length > 0 then
    units = counting(used, length)
  end
  return units, level.ends, names
end

-- The same in whole permits, after what the node gives back of it.
local function carried_whole(level, returned, granted_in)
  local units, ends, names = carried(level)
  if granted_in == ends then
    units = max(0, units - returned)
  end
  return ceil(units * (1 - ROUNDING)), names
end

-- Drops what was counted in another way.
local function void(level, names)
  clear(level)
  if names[1] then
    call('DEL', unpack(names))
  end
end

-- ---- takes: what they find, and what they leave

local reply, replies = {}, 0

local function say(text)
  replies = replies + 1
  reply[replies] = text
end

-- Of the step under way, if it reserves.
local reserving

-- How many numbers follow that are of what is counted, and whether some of it is reserved.
local function head(level, granted, numbers)
  if level.open or reserving and granted > 0 then
    return numbers + RESERVED
  end
  return numbers
end

-- All steps in one string, and how far it has been read.
local steps, at = ARGV[4], 1

local function find_bucket(name, told)
  local rate, period, capacity, returned, charged, need, ask, _
  rate, period, capacity, returned, _, charged, need, ask, at = read('>dddddddd', steps, at)

  local level = opened(name, call('GET', name))
  local used, elapsed, stale = 0, 0, nil
  if level.kind == BUCKET then
    used, elapsed = level.used, now - level.at
  elseif level.kind ~= NOTHING then
    local units, _, names = carried(level)
    -- What is above the capacity might leak for longer than the bucket takes to fill.
    used, stale = min(units, capacity), names
  end
  if elapsed > 0 then
    local leaked = elapsed * rate / period
    used = max(0, used - leaked)
    if level.open then
      level.open.leaked = level.open.leaked + leaked
    end
  end
  local moved = returned > 0 or charged > 0 or told > used
  used = max(0, max(used, told) - returned) + charged
  local bound = capacity * (1 + ROUNDING)
  return {
    level = level,
    used = used,
    need = need,
    ask = ask,
    free = max(0, floor(bound - used)),
    fits = used + need <= bound,
    micros = period,
    permits = rate,
    moved = moved,
    -- The clock stepped back: nothing leaks until it has caught up, unless re-anchored.
    ahead = elapsed < 0,
    stale = stale,
  }
end

local function settle_bucket(take, granted)
  local level, used = take.level, take.used + granted
  local empty_millis = ceil(used * take.micros / take.permits / 1000)
  local write = granted > 0 or take.moved
  if not write and take.ask > 0 and level.kind ~= NOTHING then
    -- Denied. Worth a write only if the level would not leak, or would be forgotten too early
    -- because the limit has become slower since it was written, or was counted in another way.
    write = take.ahead or take.stale or now_millis + empty_millis > level.expires
  end
  if write then
    if take.stale then
      void(level, take.stale)
    end
    if used > 0 then
      level.kind, level.used, level.at = BUCKET, used, now
      level.expires = now_millis + min(empty_millis + MARGIN_MILLIS, MAX_TTL_MILLIS)
      keep(level)
    elseif level.lives > 0 then
      clear(level)
      rewrite(level)
    end
  end
  say(pack('>Bddd', head(level, granted, 1), granted, authorized(level), used))
end

-- The window that now lies in: number, end, end of the next one.
local function every(length, jitter)
  local number = floor((now + jitter) / length)
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
    ends = after + floor((now - at) / length) * length
    next_ends = ends + length
  end
  return floor(ends / 1000000), ends, next_ends
end

local function find_window(name, told, letter)
  local sliding = letter == SLIDING
  local kind = sliding and SLIDING or FIXED
  local limit, period, number, ends, next_ends, length
  if letter == CALENDAR then
    local before, this, after
    limit, period, before, this, after, at = read('>dHc0ddd', steps, at)
    number, ends, next_ends = calendar(before, this, after)
  else
    local jitter
    limit, period, jitter, at = read('>dHc0d', steps, at)
    length = tonumber(period)
    number, ends, next_ends = every(length, jitter)
  end
  local returned, granted_in, charged, need, ask
  returned, granted_in, charged, need, ask, at = read('>ddddd', steps, at)

  local base = sub(name, 1, -6)
  local counter, former = base .. 'window:' .. digits(number), base .. 'window:' .. digits(number - 1)
  local function found_now()
    if sliding then
      return call('MGET', name, counter, former)
    end
    return call('MGET', name, counter)
  end
  local found = found_now()
  local level, changed = opened(name, found[1])
  if changed then
    found = found_now()
  end
  local take = {
    level = level,
    kind = kind,
    period = period,
    number = number,
    ends = ends,
    next_ends = next_ends,
    counter = counter,
    former = former,
    previous = EMPTY,
    need = need,
    ask = ask,
    write = charged > 0,
  }
  local used = EMPTY
  if level.kind == kind and level.period == period and level.ends <= next_ends then
    used = read_count(found[2])
    take.lives = found[2]
    take.previous = read_count(found[3])
    if returned > 0 and granted_in == ends then
      used = less(used, returned)
      take.write = true
    elseif returned > 0 and sliding and granted_in == ends - length then
      take.previous = less(take.previous, returned)
      take.write_previous = true
    end
    -- A clock that stepped back into the window before leaves the level where it is.
    take.write_level = level.ends < ends
  else
    if level.kind ~= NOTHING then
      local units
      units, take.stale = carried_whole(level, returned, granted_in)
      if sliding then
        -- What is above the limit would outlast the window.
        units = min(units, limit)
      end
      used = more(used, units, sliding)
      take.write = take.write or ask > 0 or returned > 0
    end
    take.stale_former = found[3]
    take.write_level = true
  end
  told = max(0, told - returned)
  if told > used.units and granted_in == ends then
    used = more(used, told - used.units, sliding)
    take.write = true
  elseif told > take.previous.units and sliding and granted_in == ends - length then
    -- When they came has been lost with them: they count until this window ends.
    take.previous = { units = told, first = granted_in, last = granted_in }
    take.write, take.write_previous, take.write_level, take.stale_former = true, true, true, nil
  end
  take.used = more(used, charged, sliding)
  local units = take.used.units
  if sliding then
    units = units + counting(take.previous, length)
  end
  local bound = limit * (1 + ROUNDING)
  take.free = max(0, floor(bound - units))
  take.fits = units + need <= bound
  return take
end

local function settle_window(take, granted)
  local level, sliding = take.level, take.kind == SLIDING
  local used = more(take.used, granted, sliding)
  -- This window and the next.
  local ttl = ceil((take.next_ends - now) / 1000) + MARGIN_MILLIS
  if take.write_previous then
    write_count(take.former, take.previous, 'PX', digits(ttl))
  end
  if take.write or granted > 0 then
    if take.stale then
      void(level, take.stale)
    end
    if take.stale_former then
      call('DEL', take.former)
    end
    if take.lives then
      write_count(take.counter, used, 'KEEPTTL')
    else
      write_count(take.counter, used, 'PX', digits(ttl))
    end
    if take.write_level and (used.units > 0 or take.write_previous) then
      level.kind, level.period, level.number, level.ends = take.kind, take.period, take.number, take.ends
      level.expires = now_millis + ttl
      keep(level)
    elseif granted > 0 or take.stale then
      -- For what is authorized.
      keep(level)
    end
  end
  if not sliding then
    say(pack('>Bddddd', head(level, granted, 3), granted, authorized(level), used.units, 0, take.ends - now))
    return
  end
  local first, last = came(used)
  say(pack('>Bddddddddd', head(level, granted, 7), granted, authorized(level), used.units, take.previous.units,
    take.ends - now, first, last, came(take.previous)))
end

local function find_log(name, told)
  local limit, length, returned, granted_in, charged, need, ask
  limit, length, returned, granted_in, charged, need, ask, at = read('>ddddddd', steps, at)
  local log = sub(name, 1, -6) .. 'log'
  local level = opened(name, call('GET', name))
  local touched = ask > 0 or returned > 0 or charged > 0

  local used
  if level.kind == NOTHING then
    used = 0
    if touched then
      call('DEL', log)
    end
  elseif level.kind ~= LOG then
    local names
    used, names = carried_whole(level, returned, granted_in)
    if touched then
      void(level, names)
      if used > 0 then
        append(log, level, length, used)
      else
        rewrite(level)
      end
    end
  else
    if touched then
      local _, newest_at = newest(log)
      -- Entries of the future would stay for longer than a window.
      if newest_at > now or level.length ~= length then
        append(log, level, length, 0)
      end
    end
    if returned > 0 then
      take_back(log, level, length, granted_in, returned)
    end
    used = logged(log, length)
  end
  told = max(0, told - returned)
  if told > used then
    append(log, level, length, told - used)
    used = told
  end
  charged = max(0, min(charged, MAX_LOGGED - used))
  if charged > 0 then
    append(log, level, length, charged)
    used = used + charged
  end

  local bound = limit * (1 + ROUNDING)
  return {
    level = level,
    limit = limit,
    length = length,
    log = log,
    used = used,
    need = need,
    ask = ask,
    free = max(0, floor(bound - used)),
    fits = used + need <= bound,
  }
end

local function settle_log(take, granted)
  local level, denied, wait = take.level, 0, 0
  if granted > 0 then
    append(take.log, level, take.length, granted)
  elseif take.need > 0 and not take.fits then
    denied, wait = take.need, until_logged_fits(take.log, take.length, take.limit, take.need)
  end
  say(pack('>Bddddd', head(level, granted, 3), granted, authorized(level), take.used + granted, denied, wait))
end

local function find_nothing(name)
  local level = opened(name, call('GET', name))
  if level.kind ~= NOTHING then
    local _, _, names = carried(level)
    void(level, names)
    rewrite(level)
  end
  return { level = level, need = 0, ask = 0, free = 0 }
end

local function settle_nothing(take)
  say(pack('>Bddd', 1, 0, authorized(take.level), 0))
end

local find_by = {
  [BUCKET] = find_bucket, [SLIDING] = find_window, [FIXED] = find_window, [CALENDAR] = find_window,
  [LOG] = find_log, [NOTHING] = find_nothing,
}
local settle_by = {
  [BUCKET] = settle_bucket, [SLIDING] = settle_window, [FIXED] = settle_window, [CALENDAR] = settle_window,
  [LOG] = settle_log, [NOTHING] = settle_nothing,
}

-- ---- the steps

local key = 0

-- Takes of one step, all or none; how they are written of the reservation `id`, if there is one.
local function refill(id, ends)
  local jitter, count
  reserving = id
  jitter, count, at = read('>dB', steps, at)
  index = floor((now + jitter) / window)
  accounted = ceil(((index + 1) * window - jitter) / 1000) + MARGIN_MILLIS

  local takes = {}
  local fits = true
  for i = 1, count do
    local letter, told = byte(steps, at), 0
    at = at + 1
    if letter < SMALL then
      letter = letter + CAPITAL
      told, at = read('>d', steps, at)
    end
    local take = find_by[letter](KEYS[key + i], told, letter)
    take.letter = letter
    if take.need > 0 and not take.fits then
      fits = false
    end
    takes[i] = take
  end

  local held = ''
  for i = 1, count do
    local take = takes[i]
    local level = take.level
    local granted = fits and max(take.need, min(take.ask, take.free)) or 0
    if granted > 0 then
      level.authorized = authorized(level) + granted
      level.index = max(level.index, index)
    end
    settle_by[take.letter](take, granted)
    if id and granted > 0 then
      held = held .. reserve(take, granted, id, ends)
    end
  end
  key = key + count
  return held
end

local function limit_of(name)
  return string.match(name, '}(:.+):level$')
end

local function decide()
  local id, ttl, request, takes, length
  id, ttl, request, takes, length, at = read('>Hc0dHc0BI4', steps, at)
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

  local known = once and call('HGET', once, 'request')
  if known then
    if known == request then
      say('a' .. call('HGET', once, 'outcome'))
      for i = 1, takes do
        -- A limit that the plan has had since then was asked for nothing.
        say(call('HGET', once, limit_of(KEYS[key + i])) or pack('>Bddddd', 3, 0, 0, 0, 0, 0))
      end
    else
      say('o')
    end
    at = at + length
  else
    say('n')
    local before, first = replies, key
    local ends = reservation and now + ttl
    at = at + 1
    local held = refill(reservation and id, ends)
    if held ~= '' then
      -- A step that reserves is granted the same of each limit.
      local _, granted = read('>Bd', reply[before + 1])
      call('SET', reservation, 'open ' .. digits(ends) .. ' ' .. digits(granted) .. held,
        'PX', digits(ceil(ttl / 1000) + MARGIN_MILLIS))
    end
    if once then
      local reserved = held ~= '' and id or ''
      local kept = { 'request', request, 'outcome', pack('>dHc0', now, #reserved, reserved) }
      for i = 1, takes do
        kept[#kept + 1] = limit_of(KEYS[first + i])
        kept[#kept + 1] = reply[before + i]
      end
      call('HSET', once, unpack(kept))
      call('PEXPIRE', once, ONCE_MILLIS)
    end
  end
  key = names
end

local function settle()
  local reservation, id, kept = KEYS[key + 1]
  id, kept, at = read('>Hc0d', steps, at)
  key = key + 1
  local stored = call('GET', reservation)
  local state, ends, units = string.match(stored or 'unknown 0 0', '^(%S+) (%S+) (%S+)')
  units = tonumber(units)
  kept = kept < 0 and units or kept
  local verdict = 's'
  if state == 'settled' then
    verdict = 'b'
  elseif tonumber(ends) <= now then
    verdict, units = 'u', 0
  elseif kept > units then
    verdict = 'm'
  else
    local tag = string.match(reservation, '^.-}')
    local parts = string.gmatch(stored, '(%S+) (%S+) (%S+)')
    parts()
    for limit, part, mark in parts do
      local name = tag .. ':' .. limit .. ':level'
      local level = opened(name, call('GET', name))
      local reserved = tag .. ':' .. limit .. ':reserved'
      if level.open and call('ZREM', reserved, id .. ' ' .. part .. ' ' .. mark) == 1 then
        if units > kept then
          give_back(level, units - kept, mark, kept == 0)
        end
        ended(level)
      end
    end
    -- Known to be settled for a minute longer than it could have been open.
    call('SET', reservation, 'settled ' .. ends .. ' ' .. digits(units),
      'PX', digits(ceil((ends - now) / 1000) + SETTLED_MILLIS))
  end
  say(verdict .. pack('>d', units))
end

local step_by = { [byte('r')] = refill, [byte('d')] = decide, [byte('s')] = settle }

local length = #steps
while at <= length do
  local step = byte(steps, at)
  at = at + 1
  step_by[step]()
end

return { now, epoch == ARGV[2] and '' or epoch, table.concat(reply) }
