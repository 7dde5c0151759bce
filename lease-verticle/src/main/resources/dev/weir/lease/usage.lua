-- Adds up what the nodes report of usage, and seals the windows that nobody can add to any more.
-- Reports are cumulative and may come again: what is known of an entry is kept beside the totals of
-- its window until that is sealed, and only the difference counts.
--
-- KEYS:
--   <prefix>:{<prefix>:usage}:state   a hash: until when windows are sealed, "sealed"; when a node
--                                     last called, "called", and since when some node has all the
--                                     time, "since"; the last number given to an incarnation, "ids"
-- It stands for further names, which are in the same slot; times are in milliseconds:
--   <prefix>:usage                          the stream, of records and of reports
--   <prefix>:{<prefix>:usage}:nodes         a hash by incarnation, "<last batch> <watermark> <id>
--                                           <node>"
--   <prefix>:{<prefix>:usage}:heard         incarnations sorted by when they were last heard of
--   <prefix>:{<prefix>:usage}:gone          those that have said that they are gone, by when
--   <prefix>:{<prefix>:usage}:windows       open records, sorted by the end of their window
--   <prefix>:{<prefix>:usage}:open:<record> a hash: "key"; "plan"; "total", "<spent> <degraded>
--                                           <denied> <would deny> <authorized> ,<id>,<id>,"; and
--                                           "<id>:<entry>" of each entry, its four counts
--   <prefix>:{<prefix>:usage}:recent:<hour>:<key>   a hash by "<start>:<plan>" of the windows that
--                                           began in that hour, "<end>" and the five totals
--
-- ARGV of a report:
--   "report"; incarnation, or "" of someone who only has windows sealed; node; number of the batch,
--   of one without reports that of the last one whose outcome is known; watermark, before which all
--   its windows are reported to the end, or ""; "gone" or ""; until when windows are sealed as far
--   as the incarnation was told; entries that the stream may have; entries up to which reports are
--   added to it; then per report:
--     entry; record, "<end>:<start>:<plan>:<key>", escaped; hour and key, "<hour>:<key>", escaped;
--     key; plan; start; end; spent, degraded, denied, would deny in all; authorized; spent,
--     degraded, denied, would deny that no batch has had
-- Returns: the store's time; number of the last batch of this incarnation; until when windows are
--   sealed; 1 if the store has lost data that this incarnation had reported, else 0; 1 if the stream
--   is full, so that no report counted, else 0; entries that were dropped unread; entries in the
--   stream; open records; the lowest watermark of those that are heard of, or the store's time
--
-- ARGV of a look at recent windows of a key:
--   "recent"; hours that it had windows in, "<hour>:<key>", escaped
-- Returns: until when windows are sealed; then fields and values of the hashes
--
-- ARGV of a reader that comes, and has all that is in the stream before it:
--   "join"; its group
-- ARGV of one that goes, and may be forgotten if it has acknowledged all that it has read:
--   "leave"; its group; its name in the group
-- Returns: nothing
--
-- Runs on Redis 6.2 and later (effects replication, which lets a script write after TIME).

-- Who was not heard of for this long no longer holds up sealing.
local GONE_MILLIS = 60000
-- How long after its end a window is sealed at the earliest, and how long a store that was away, or
-- has lost its data, waits for all nodes to tell what they know.
local SETTLE_MILLIS = 10000
-- What is not sealed or not read outlives its last use by this much.
local KEPT_MILLIS = 400 * 86400000
-- An incarnation that is gone may repeat its last batch for this long.
local GONE_KEPT_MILLIS = 86400000
local HOUR_MILLIS = 3600000
-- A script holds up all other keys.
local MOST_SEALED = 50
local MOST_TRIMMED = 1000
local MOST_FORGOTTEN = 10
local ARGUMENTS_PER_REPORT = 16

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local base = string.sub(KEYS[1], 1, -6)
local stream = string.match(KEYS[1], '{(.*)}')

if ARGV[1] == 'recent' then
  local reply = { tonumber(redis.call('HGET', KEYS[1], 'sealed') or 0) }
  for i = 2, #ARGV do
    for _, text in ipairs(redis.call('HGETALL', base .. 'recent:' .. ARGV[i])) do
      reply[#reply + 1] = text
    end
  end
  return reply
end

local function field(of, name)
  for i = 1, #of, 2 do
    if of[i] == name then
      return of[i + 1]
    end
  end
end

local function has_group(name)
  if redis.call('EXISTS', stream) == 1 then
    for _, group in ipairs(redis.call('XINFO', 'GROUPS', stream)) do
      if field(group, 'name') == name then
        return true
      end
    end
  end
  return false
end

if ARGV[1] == 'join' then
  if not has_group(ARGV[2]) then
    redis.call('XGROUP', 'CREATE', stream, ARGV[2], '0', 'MKSTREAM')
    redis.call('PEXPIRE', stream, KEPT_MILLIS)
  end
  return
end
if ARGV[1] == 'leave' then
  if has_group(ARGV[2]) and #redis.call('XPENDING', stream, ARGV[2], '-', '+', 1, ARGV[3]) == 0 then
    redis.call('XGROUP', 'DELCONSUMER', stream, ARGV[2], ARGV[3])
  end
  return
end

-- Milliseconds in full: a number by itself would turn into 1.7e+12.
local function digits(number)
  return string.format('%.0f', number)
end

-- ---- counts: decimal, up to 2^63, beyond what a double holds exactly

local LIMB = 1000000000
-- Two numbers of fewer digits than this add up exactly.
local EXACT_DIGITS = 16

local function less(a, b)
  return #a < #b or #a == #b and a < b
end

local function limbs(text)
  return tonumber(string.sub(text, 1, -10)) or 0, tonumber(string.sub(text, -9))
end

-- sum + now_counted - before, of which the last is not above the one before it.
local function grown(sum, now_counted, before)
  if now_counted == before then
    return sum
  end
  if #sum < EXACT_DIGITS and #now_counted < EXACT_DIGITS then
    return digits(tonumber(sum) + tonumber(now_counted) - tonumber(before))
  end
  local sum_high, sum_low = limbs(sum)
  local now_high, now_low = limbs(now_counted)
  local before_high, before_low = limbs(before)
  local low = sum_low + now_low - before_low
  local carry = math.floor(low / LIMB)
  local high = sum_high + now_high - before_high + carry
  low = low - carry * LIMB
  return high == 0 and digits(low) or string.format('%.0f%09.0f', high, low)
end

local function larger(a, b)
  return less(a, b) and b or a
end

-- ---- the stream

local cap = tonumber(ARGV[8])
local reports_until = tonumber(ARGV[9])
local length = redis.call('XLEN', stream)

local function add(...)
  redis.call('XADD', stream, '*', ...)
  length = length + 1
end

local function before(a, b)
  local a_millis, a_sequence = string.match(a, '^(%d+)-(%d+)$')
  local b_millis, b_sequence = string.match(b, '^(%d+)-(%d+)$')
  return less(a_millis, b_millis) or a_millis == b_millis and less(a_sequence, b_sequence)
end

-- Before which all groups have acknowledged everything; none if there are no groups.
local function acknowledged()
  local lowest
  for _, group in ipairs(redis.call('XINFO', 'GROUPS', stream)) do
    local pending = redis.call('XPENDING', stream, field(group, 'name'))
    local id = pending[1] > 0 and pending[2] or field(group, 'last-delivered-id')
    if not lowest or before(id, lowest) then
      lowest = id
    end
  end
  return lowest
end

local read = redis.call('EXISTS', stream) == 1 and acknowledged()
if read then
  length = length - redis.call('XTRIM', stream, 'MINID', '~', read, 'LIMIT', MOST_TRIMMED)
end
local full = read and length >= cap

-- ---- who reports

local incarnation = ARGV[2]
local sealed, called, since = unpack(redis.call('HMGET', KEYS[1], 'sealed', 'called', 'since'))
sealed = math.max(tonumber(sealed or 0), tonumber(ARGV[7]))
called = tonumber(called or 0)
since = math.min(tonumber(since or now), now)
if incarnation ~= '' then
  if now - called > SETTLE_MILLIS then
    since = now
  end
  called = now
end

local number = tonumber(ARGV[4])
local count = (#ARGV - 9) / ARGUMENTS_PER_REPORT
local last, watermark, id = 0, 0, nil
local lost = 0
local counts = false
if incarnation ~= '' then
  local known = redis.call('HGET', base .. 'nodes', incarnation)
  if known then
    last, watermark, id = string.match(known, '^(%d+) (%d+) (%d+) ')
    last, watermark = tonumber(last), tonumber(watermark)
  else
    id = digits(redis.call('HINCRBY', KEYS[1], 'ids', 1))
  end
  counts = count > 0 and number > last and not full
  if number > last + (count > 0 and 1 or 0) then
    lost = 1
  end
  if counts then
    last = number
  end
  -- What was lost has yet to be reported again, though the incarnation does not know.
  local whole = lost == 0 and not (full and count > 0)
  if ARGV[5] ~= '' and whole then
    watermark = math.max(watermark, tonumber(ARGV[5]))
  end
  redis.call('HSET', base .. 'nodes', incarnation,
    digits(last) .. ' ' .. digits(watermark) .. ' ' .. id .. ' ' .. ARGV[3])
  local gone = ARGV[6] == 'gone' and whole
  redis.call('ZREM', base .. (gone and 'heard' or 'gone'), incarnation)
  redis.call('ZADD', base .. (gone and 'gone' or 'heard'), digits(now), incarnation)
end

-- ---- what is reported

local function remember(window, start, plan, ends, total)
  local name = base .. 'recent:' .. window
  if redis.call('HSET', name, start .. ':' .. plan, ends .. ' ' .. total) == 1 then
    redis.call('PEXPIRE', name, 3 * HOUR_MILLIS)
  end
end

-- Of a window that is sealed: a record of its own, of what no batch has had.
local function add_late(at)
  local spent, degraded, denied, would = ARGV[at + 12], ARGV[at + 13], ARGV[at + 14], ARGV[at + 15]
  if spent == '0' and degraded == '0' and denied == '0' and would == '0' then
    return
  end
  local window, key, plan, start, ends = unpack(ARGV, at + 2, at + 6)
  local authorized = '0'
  local total = redis.call('HGET', base .. 'recent:' .. window, start .. ':' .. plan)
  if total then
    local s, d, n, w, a = string.match(total, ' (%d+) (%d+) (%d+) (%d+) (%d+)$')
    local highest = larger(a, ARGV[at + 11])
    authorized = grown('0', highest, a)
    remember(window, start, plan, ends, table.concat({ grown(s, spent, '0'),
      grown(d, degraded, '0'), grown(n, denied, '0'), grown(w, would, '0'), highest }, ' '))
  end
  add('state', 'late', 'key', key, 'plan', plan, 'window_start', start, 'window_end', ends,
    'spent', spent, 'degraded', degraded, 'denied', denied, 'would_deny', would,
    'authorized', authorized, 'nodes', '1', 'node', ARGV[3], 'incarnation', incarnation)
end

local function nodes_in(ids)
  local _, commas = string.gsub(ids, ',', '')
  return digits(commas - 1)
end

local function add_report(at)
  local entry, record, window, key, plan, start, ends, spent, degraded, denied, would, authorized =
    unpack(ARGV, at, at + 11)
  local name = base .. 'open:' .. record
  local own = id .. ':' .. entry
  local known = redis.call('HMGET', name, 'total', own)
  if not known[1] and tonumber(ends) <= sealed then
    return add_late(at)
  end
  local s, d, n, w, a, ids =
    string.match(known[1] or '0 0 0 0 0 ,', '^(%d+) (%d+) (%d+) (%d+) (%d+) (%S+)$')
  local s0, d0, n0, w0 = string.match(known[2] or '0 0 0 0', '^(%d+) (%d+) (%d+) (%d+)$')
  -- A journal that survived a crash of its machine may know less than it has reported.
  spent, degraded, denied, would =
    larger(s0, spent), larger(d0, degraded), larger(n0, denied), larger(w0, would)
  local counted = table.concat({ spent, degraded, denied, would }, ' ')
  if known[2] == counted and not less(a, authorized) then
    return
  end
  s, d, n, w = grown(s, spent, s0), grown(d, degraded, d0), grown(n, denied, n0), grown(w, would, w0)
  a = larger(a, authorized)
  if not known[2] and not string.find(ids, ',' .. id .. ',', 1, true) then
    ids = ids .. id .. ','
  end
  local total = table.concat({ s, d, n, w, a }, ' ')
  if known[1] then
    redis.call('HSET', name, 'total', total .. ' ' .. ids, own, counted)
  else
    redis.call('HSET', name, 'total', total .. ' ' .. ids, own, counted, 'key', key, 'plan', plan)
    redis.call('PEXPIRE', name, KEPT_MILLIS)
    redis.call('ZADD', base .. 'windows', ends, record)
  end
  if tonumber(start) > now - 2 * HOUR_MILLIS then
    remember(window, start, plan, ends, total)
  end
  if length < reports_until then
    add('state', 'report', 'key', key, 'plan', plan, 'window_start', start, 'window_end', ends,
      'spent', spent, 'degraded', degraded, 'denied', denied, 'would_deny', would,
      'authorized', authorized, 'node', ARGV[3], 'incarnation', incarnation, 'entry', entry,
      'all_spent', s, 'all_degraded', d, 'all_denied', n, 'all_would_deny', w,
      'all_authorized', a, 'all_nodes', nodes_in(ids))
  end
end

if counts then
  for at = 10, #ARGV, ARGUMENTS_PER_REPORT do
    add_report(at)
  end
end

-- ---- sealing

local lowest = now
local heard = redis.call('ZRANGEBYSCORE', base .. 'heard', '(' .. digits(now - GONE_MILLIS), '+inf')
if #heard > 0 then
  for _, node in ipairs(redis.call('HMGET', base .. 'nodes', unpack(heard))) do
    lowest = math.min(lowest, tonumber(string.match(node or '', '^%d+ (%d+) ') or 0))
  end
end

if not full and now - since >= SETTLE_MILLIS then
  local upto = math.min(lowest, now - SETTLE_MILLIS)
  local due = redis.call('ZRANGEBYSCORE', base .. 'windows', '-inf', digits(upto),
    'LIMIT', 0, MOST_SEALED)
  local names = {}
  for i, record in ipairs(due) do
    local ends, start = string.match(record, '^(%d+):(%d+):')
    names[i] = base .. 'open:' .. record
    local key, plan, total = unpack(redis.call('HMGET', names[i], 'key', 'plan', 'total'))
    if total then
      local s, d, n, w, a, ids =
        string.match(total, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%S+)$')
      add('state', 'sealed', 'key', key, 'plan', plan, 'window_start', start, 'window_end', ends,
        'spent', s, 'degraded', d, 'denied', n, 'would_deny', w, 'authorized', a,
        'nodes', nodes_in(ids))
    end
    sealed = math.max(sealed, tonumber(ends))
  end
  if #due > 0 then
    redis.call('UNLINK', unpack(names))
    redis.call('ZREM', base .. 'windows', unpack(due))
  end
  if #due < MOST_SEALED then
    sealed = math.max(sealed, upto)
  end
end
redis.call('HSET', KEYS[1], 'sealed', digits(sealed), 'called', digits(called),
  'since', digits(since))

-- Nobody has ever asked for usage: the oldest goes.
local dropped = 0
if not read and length > cap then
  dropped = redis.call('XTRIM', stream, 'MAXLEN', '~', cap)
  length = length - dropped
end

-- ---- what is over

local function forget(name, millis)
  local over = redis.call('ZRANGEBYSCORE', name, '-inf', digits(now - millis),
    'LIMIT', 0, MOST_FORGOTTEN)
  if #over > 0 then
    redis.call('HDEL', base .. 'nodes', unpack(over))
    redis.call('ZREM', name, unpack(over))
  end
end

forget(base .. 'heard', KEPT_MILLIS)
forget(base .. 'gone', GONE_KEPT_MILLIS)
redis.call('PEXPIRE', stream, KEPT_MILLIS)
for _, name in ipairs({ 'state', 'nodes', 'heard', 'gone', 'windows' }) do
  redis.call('PEXPIRE', base .. name, KEPT_MILLIS)
end

return { now, last, sealed, lost, full and 1 or 0, dropped, length,
  redis.call('ZCARD', base .. 'windows'), lowest }
