-- What became of webhooks, for analysts. The state store has it for 30 days after
-- a delivery has ended; here it stays.
CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "attempt"}} {{.OnCluster}}
(
    delivery_id String COMMENT 'delivery, dlv_…',
    number UInt8 COMMENT 'of the attempt in its delivery, 1-8',
    event_id String COMMENT 'event, evt_…: the same in all deliveries of it',
    event_type LowCardinality(String) COMMENT 'what happened, such as recharge.completed',
    webhook_id LowCardinality(String) COMMENT 'subscription, wh_…',
    account_id LowCardinality(String) COMMENT 'account, acc_…',
    retry_of String COMMENT 'delivery for which a retry by hand made this one; empty for none',
    at DateTime64(6, 'UTC') COMMENT 'when the attempt began, UTC' CODEC(DoubleDelta, LZ4),
    duration UInt64 COMMENT 'how long it took, microseconds',
    stage Enum8('none' = 0, 'dns' = 1, 'connect' = 2, 'tls' = 3, 'write' = 4, 'wait' = 5, 'status' = 6) COMMENT 'how far it got; none: it was broken off before anything, status: there was an answer',
    http_status UInt16 COMMENT 'status of the answer; 0 for none',
    error String COMMENT 'why it was no success; empty for one',
    body_bytes UInt16 COMMENT 'length of what was kept of the answer, bytes, 1024 at most; the text itself is not copied',
    state Enum8('waiting' = 1, 'delivered' = 2, 'failed' = 3) COMMENT 'state of the delivery after the attempt',
    recorded_at DateTime64(6, 'UTC') COMMENT 'when it was stored in the state store, UTC; the copier goes on behind the latest' CODEC(DoubleDelta, LZ4)
)
ENGINE = {{engine "ReplacingMergeTree" "recorded_at"}}
PARTITION BY toYYYYMM(recorded_at)
ORDER BY (account_id, webhook_id, at, delivery_id, number)
COMMENT 'Attempts to deliver webhooks. Written by dispatch/delivery only. Read with FINAL.';
{{distributed "attempt" "cityHash64(webhook_id)"}}
