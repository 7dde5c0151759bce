package dev.weir.bench;

import com.alibaba.csp.sentinel.Entry;
import com.alibaba.csp.sentinel.EntryType;
import com.alibaba.csp.sentinel.SphU;
import com.alibaba.csp.sentinel.log.LogBase;
import com.alibaba.csp.sentinel.slots.block.BlockException;
import com.alibaba.csp.sentinel.slots.block.flow.param.ParamFlowRule;
import com.alibaba.csp.sentinel.slots.block.flow.param.ParamFlowRuleManager;
import java.util.List;

/**
 * Sentinel's limit by the value of a parameter. A resource for each key is what it has no room for:
 * it passes all requests of those beyond the first 6,000 (Constants.MAX_SLOT_CHAIN_SIZE).
 */
final class SentinelByParameter implements Contender {

  private static final String RESOURCE = "checks";

  /** Its logs, which it writes into the home directory otherwise, until the process ends. */
  private static final TemporaryDirectory LOGS = TemporaryDirectory.make();

  static {
    System.setProperty(LogBase.LOG_DIR, LOGS.path().toString());
    Runtime.getRuntime().addShutdownHook(new Thread(LOGS::close, "end-sentinel"));
  }

  SentinelByParameter(int limit) {
    ParamFlowRuleManager.loadRules(
        List.of(new ParamFlowRule(RESOURCE).setParamIdx(0).setCount(limit)));
  }

  @Override
  public Object decide(String key) {
    try {
      Entry entry = SphU.entry(RESOURCE, EntryType.IN, 1, key);
      entry.exit(1, key);
      return true;
    } catch (BlockException e) {
      return false;
    }
  }
}
