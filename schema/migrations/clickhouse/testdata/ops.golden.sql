CREATE DATABASE IF NOT EXISTS vayu_ops ;

CREATE TABLE IF NOT EXISTS vayu_ops.migration 
(
    version UInt32 COMMENT 'number of the file',
    name String COMMENT 'file name',
    checksum String COMMENT 'first 16 hexadecimal digits of the SHA-256 of the file',
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when it was applied, UTC'
)
ENGINE = ReplacingMergeTree(applied_at)
ORDER BY version
COMMENT 'Migrations that were applied. Written by internal/columnstore/migration only.';

-- What collectors did, for operators: runs of sources, and the values that they rejected.
CREATE TABLE IF NOT EXISTS vayu_ops.source_run 
(
    run UInt64 COMMENT 'start of the run, microseconds since 1970-01-01 UTC; reading.run of its readings',
    world Enum8('live' = 1, 'sandbox' = 2) COMMENT 'live or sandbox: the database vayu or vayu_sandbox',
    source LowCardinality(String) COMMENT 'name of the source; reading.source of its readings',
    kind Enum8('live' = 1, 'backfill' = 2, 'import' = 3) COMMENT 'live: the newest readings; backfill: a slice of the history; import: a file by command',
    started DateTime64(6, 'UTC') COMMENT 'when the run began, UTC' CODEC(DoubleDelta, LZ4),
    seconds Float64 COMMENT 'duration with storing and roll-up',
    window_from DateTime('UTC') COMMENT 'start of the requested time range, UTC' CODEC(DoubleDelta, LZ4),
    window_to DateTime('UTC') COMMENT 'end of the requested time range, UTC' CODEC(DoubleDelta, LZ4),
    outcome LowCardinality(String) COMMENT 'done, or why the run failed, as in the metric vayu_source_runs_total',
    error String COMMENT 'error message without secrets; empty for outcome done',
    requests UInt32 COMMENT 'HTTP requests; 0 for files',
    bytes UInt64 COMMENT 'size of the replies with status 200, without compression, or of the files',
    body_sha256 String COMMENT 'SHA-256 of the received bytes in order, hexadecimal; empty if there were none',
    stored UInt64 COMMENT 'readings that the run stored; after a failure of ClickHouse also those that the run before fetched',
    withdrawn UInt64 COMMENT 'stored readings that the source now reports as missing',
    rejected Map(LowCardinality(String), UInt64) COMMENT 'rejected values by reason'
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(started)
ORDER BY (source, world, run)
COMMENT 'Runs of sources. Written by ingest/journal only. Read with FINAL.';



CREATE TABLE IF NOT EXISTS vayu_ops.rejected 
(
    run UInt64 COMMENT 'source_run.run',
    world Enum8('live' = 1, 'sandbox' = 2) COMMENT 'live or sandbox',
    source LowCardinality(String) COMMENT 'name of the source',
    started DateTime64(6, 'UTC') COMMENT 'when the run began, UTC' CODEC(DoubleDelta, LZ4),
    number UInt32 COMMENT 'of the row in its run, from 0',
    reason LowCardinality(String) COMMENT 'why the value was rejected, as in the metric vayu_readings_total',
    field LowCardinality(String) COMMENT 'parameter, field or column of the value; empty if the whole record was rejected',
    line UInt64 COMMENT 'number of the record in the run or line of the file, from 1; 0 if unknown',
    raw String COMMENT 'text of the record, at most 2 KiB' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(started)
ORDER BY (source, world, run, number)
COMMENT 'Rejected values: the first 100 of each reason in a run. Written by ingest/journal only. Read with FINAL.';

-- The age of a source's data, without a scan of its readings.
ALTER TABLE vayu_ops.source_run 
ADD COLUMN IF NOT EXISTS newest DateTime('UTC') COMMENT 'end of the averaging interval of the newest stored reading, UTC; 1970 if the run stored none' CODEC(DoubleDelta, LZ4) AFTER withdrawn;

-- Of what the records of a run consist, to detect a changed source.
ALTER TABLE vayu_ops.source_run 
    ADD COLUMN IF NOT EXISTS config_sha256 String COMMENT 'SHA-256 of the configuration of the source, hexadecimal: of the file for a description; empty for an import' AFTER rejected,
    ADD COLUMN IF NOT EXISTS fingerprint String COMMENT 'identifies the names in fields and all of units; empty without fields' AFTER config_sha256,
    ADD COLUMN IF NOT EXISTS fields Map(LowCardinality(String), LowCardinality(String)) COMMENT 'types of each field or column of the records: text, number, bool, list or object, joined by |; empty for a field that was always null; at most 500 fields, from a sample of the records' AFTER fingerprint,
ADD COLUMN IF NOT EXISTS units Map(LowCardinality(String), Array(LowCardinality(String))) COMMENT 'units that the records state for each parameter, as the source spells them' AFTER fields;

-- The readings of each hour, to find hours with fewer than usual, and the stations of rejected values.
ALTER TABLE vayu_ops.source_run 
ADD COLUMN IF NOT EXISTS hours Map(DateTime('UTC'), UInt32) COMMENT 'stored readings by the end of their hour, UTC; hours are those of an Indian clock, so they end at hh:30; only hours of the last 8 days' AFTER units;

ALTER TABLE vayu_ops.rejected 
ADD COLUMN IF NOT EXISTS station String COMMENT 'station.id of the value; empty if its record was rejected before the station was known' AFTER field;
