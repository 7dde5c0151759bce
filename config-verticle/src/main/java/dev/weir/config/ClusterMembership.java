package dev.weir.config;

import com.hazelcast.cluster.Address;
import com.hazelcast.cluster.InitialMembershipEvent;
import com.hazelcast.cluster.InitialMembershipListener;
import com.hazelcast.cluster.Member;
import com.hazelcast.cluster.MembershipEvent;
import com.hazelcast.core.EntryEvent;
import com.hazelcast.core.HazelcastException;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceNotActiveException;
import com.hazelcast.map.IMap;
import com.hazelcast.map.listener.EntryAddedListener;
import com.hazelcast.map.listener.EntryRemovedListener;
import com.hazelcast.map.listener.EntryUpdatedListener;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The members of a Hazelcast cluster.
 *
 * <p>The count follows Hazelcast's own events, which come one after another from one thread.
 * Statuses travel through a map by member: what listeners bring is held here, so that no read waits
 * for another node, and an entry that its node stops renewing runs out by itself.
 *
 * <p>A node that leaves takes its status away first. One that goes without that is missing, until
 * another one is there at its address, or an hour has passed.
 */
final class ClusterMembership implements Membership {

  private static final Logger LOG = LoggerFactory.getLogger(ClusterMembership.class);
  private static final String STATUSES = "weir.nodes";
  private static final long STATUS_LIFE_SECONDS = 60;
  private static final long MISSING_MICROS = TimeUnit.HOURS.toMicros(1);

  private final HazelcastInstance hazelcast;
  private final Executor worker;
  private final Clock clock;
  private final IMap<UUID, String> statuses;
  private final Map<UUID, NodeStatus> known = new ConcurrentHashMap<>();
  private final AtomicReference<NodeStatus> unpublished = new AtomicReference<>();
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private final UUID membershipListener;
  private final UUID statusListener;
  private volatile Set<UUID> live;

  /** Whoever is missing, by address, and since when. */
  private final Map<Address, Long> missing = new ConcurrentHashMap<>();

  private Map<UUID, Address> addresses = Map.of();

  /** Blocks until it knows who is there. */
  ClusterMembership(HazelcastInstance hazelcast, Executor worker, Clock clock) {
    this.hazelcast = hazelcast;
    this.clock = clock;
    this.worker = worker;
    live = Set.of(self());
    statuses = hazelcast.getMap(STATUSES);
    statusListener = statuses.addEntryListener(new StatusListener(), true);
    statuses.forEach(this::learn);
    membershipListener = hazelcast.getCluster().addMembershipListener(new CountListener());
  }

  @Override
  public int nodes() {
    return live.size();
  }

  @Override
  public int leasing() {
    return live.size() + missing.size();
  }

  @Override
  public List<NodeStatus> members() {
    Set<UUID> now = live;
    return known.entrySet().stream()
        .filter(entry -> now.contains(entry.getKey()))
        .map(Map.Entry::getValue)
        .sorted(Comparator.comparing(NodeStatus::address))
        .toList();
  }

  @Override
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }

  /** Only the latest status counts: one that is still waiting to be sent gives way to it. */
  @Override
  public void publish(NodeStatus status) {
    known.put(self(), status);
    long before = clock.micros() - MISSING_MICROS;
    if (missing.values().removeIf(since -> since < before)) {
      tell();
    }
    if (unpublished.getAndSet(status) == null) {
      try {
        worker.execute(this::send);
      } catch (RejectedExecutionException e) {
        LOG.debug("the status of this node is not shared any more: it is leaving");
      }
    }
  }

  /** Blocks. */
  void close() {
    try {
      hazelcast.getCluster().removeMembershipListener(membershipListener);
      statuses.removeEntryListener(statusListener);
      statuses.delete(self());
    } catch (HazelcastInstanceNotActiveException e) {
      LOG.debug("Hazelcast has gone first, and the listeners with it");
    }
  }

  /** Not kept: a member gets another id when its part of a split cluster joins the larger one. */
  private UUID self() {
    return hazelcast.getCluster().getLocalMember().getUuid();
  }

  private void send() {
    NodeStatus status = unpublished.getAndSet(null);
    JsonObject json =
        new JsonObject()
            .put("address", status.address())
            .put("config_version", status.configVersion())
            .put("given", status.given())
            .put("saved_given", status.savedGiven())
            .put("region", status.region())
            .put("started_at", status.startedAtMillis())
            .put("store", status.store());
    try {
      statuses.set(self(), json.encode(), STATUS_LIFE_SECONDS, TimeUnit.SECONDS);
    } catch (HazelcastException | HazelcastInstanceNotActiveException e) {
      // The next one comes in a moment.
      LOG.debug("the status of this node was not shared: {}", e.toString());
    }
  }

  private void learn(UUID member, String text) {
    try {
      JsonObject json = new JsonObject(text);
      known.put(
          member,
          new NodeStatus(
              json.getString("address", ""),
              json.getLong("config_version", 0L),
              json.getString("given", ""),
              json.getString("saved_given", ""),
              json.getString("region", ""),
              json.getLong("started_at", 0L),
              json.getString("store", "")));
    } catch (DecodeException | ClassCastException e) {
      LOG.debug("the status of member {} cannot be read: {}", member, e.toString());
    }
  }

  private void count(Set<Member> members) {
    Set<UUID> now = members.stream().map(Member::getUuid).collect(Collectors.toSet());
    // This node is there as long as it counts, whatever a cluster that is falling apart says.
    now.add(self());
    Set<UUID> before = live;
    int leasingBefore = leasing();
    before.stream()
        .filter(gone -> !now.contains(gone) && known.containsKey(gone))
        .map(addresses::get)
        .filter(Objects::nonNull)
        .forEach(address -> missing.put(address, clock.micros()));
    addresses = members.stream().collect(Collectors.toMap(Member::getUuid, Member::getAddress));
    missing.keySet().removeAll(addresses.values());
    live = Set.copyOf(now);
    known.keySet().retainAll(now);
    if (now.size() != before.size()) {
      LOG.info("nodes in the cluster: {}", now.size());
    }
    if (now.size() != before.size() || leasing() != leasingBefore) {
      tell();
    }
  }

  private void tell() {
    for (Runnable listener : listeners) {
      try {
        listener.run();
      } catch (RuntimeException e) {
        LOG.error("a listener failed on the count of nodes", e);
      }
    }
  }

  private final class CountListener implements InitialMembershipListener {

    @Override
    public void init(InitialMembershipEvent event) {
      count(event.getMembers());
    }

    @Override
    public void memberAdded(MembershipEvent event) {
      count(event.getMembers());
    }

    @Override
    public void memberRemoved(MembershipEvent event) {
      count(event.getMembers());
    }
  }

  private final class StatusListener
      implements EntryAddedListener<UUID, String>,
          EntryUpdatedListener<UUID, String>,
          EntryRemovedListener<UUID, String> {

    @Override
    public void entryAdded(EntryEvent<UUID, String> event) {
      learn(event.getKey(), event.getValue());
    }

    @Override
    public void entryUpdated(EntryEvent<UUID, String> event) {
      learn(event.getKey(), event.getValue());
    }

    @Override
    public void entryRemoved(EntryEvent<UUID, String> event) {
      known.remove(event.getKey());
    }
  }
}
